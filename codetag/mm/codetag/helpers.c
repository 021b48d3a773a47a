// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that allocate on behalf of others. The key "caller" passes over them.
 *
 * The list holds patterns for names of functions. Finding the name of a function takes
 * thousands of instructions, so the answer for each return address is remembered. So is the
 * size of its frame, with which codetag_caller_value() finds the next one. That table is read
 * without a lock.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/parser.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "helpers.h"
#include "internal.h"
#include "site.h"

#ifdef CODETAG_FRAMES_SIZED
#include <asm/unwind.h>
#endif

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

/* Limits of one write, and of the list */
#define WRITE_MAX	SZ_4K
#define LIST_MAX	SZ_16K

/* Patterns, each with its '\0'. */
static const char default_list[] =
	/* network buffers and sockets */
	"__alloc_skb\0alloc_skb*\0*netdev_alloc_skb*\0*napi_alloc_skb*\0"
	"*build_skb*\0kmalloc_reserve\0skb_clone*\0__skb_clone\0skb_copy*\0"
	"*pskb_copy*\0pskb_expand_head\0skb_expand_head\0skb_page_frag_refill\0"
	"sock_alloc_send_*\0sock_wmalloc\0sock_kmalloc\0sk_alloc\0sk_prot_alloc\0"
	"sk_clone*\0sk_page_frag_refill\0tcp_stream_alloc_skb\0*page_frag_*\0"
	"page_pool_*\0nlmsg_new\0"
	/* strings and copies */
	"kvasprintf*\0kasprintf\0kstrdup*\0kstrndup\0kmemdup*\0kvmemdup\0"
	"memdup_user*\0vmemdup_user\0strndup_user\0*kvmalloc*\0kvrealloc*\0"
	"krealloc*\0devm_k*\0*devres_alloc*\0"
	/* files */
	"seq_open*\0*seq_open_private\0single_open*\0seq_read*\0alloc_inode\0"
	"*_alloc_inode\0new_inode*\0iget_locked\0iget5_locked*\0d_alloc*\0"
	"__d_alloc\0*kernfs_new_node\0*kernfs_create_*\0sysfs_*\0xfs_buf_*\0_xfs_buf_*\0"
	/* blocks */
	"bio_alloc*\0bio_kmalloc\0bvec_alloc\0bioset_init\0mempool_*\0*sg_alloc_*\0"
	"sg_kmalloc\0sbitmap_*\0"
	/* trees and tables */
	"radix_tree_*\0*xas_*\0*xa_*\0idr_*\0ida_*\0mas_*\0mtree_*\0"
	/* others */
	"crypto_alloc_*\0crypto_create_tfm*\0dma_alloc_*\0dma_pool_*\0zs_malloc\0"
	"spl_kmem_*\0";

/* The list; changed with helpers_mutex and codetag_context_lock held, read with either. */
static DEFINE_MUTEX(helpers_mutex);
static const char *list = default_list;
static size_t list_len = sizeof(default_list) - 1;

unsigned long codetag_code_table[1 << CODETAG_CODE_BITS][CODETAG_CODE_WAYS];

static bool in_list(const char *name)
{
	const char *pattern;

	for (pattern = list; pattern < list + list_len; pattern += strlen(pattern) + 1)
		if (match_wildcard(pattern, name))
			return true;
	return false;
}

/* The list has the name of a wrapper, and the function inside of it is a helper, too. */
static bool is_helper_name(char *name)
{
	char *end = strstr(name, "_noprof");

	if (in_list(name))
		return true;
	if (!end || strcmp(end, "_noprof"))
		return false;
	*end = '\0';
	return in_list(name);
}

static bool is_helper(unsigned long entry)
{
	/* Names are long, and there can be little stack left. Protected by codetag_context_lock. */
	static char name[KSYM_NAME_LEN];

	/* A call can be the last instruction of a function. */
	if (lookup_symbol_name(entry - 1, name))
		return false;
	/* Without the suffix that the compiler gives a copy or a part. */
	name[strcspn(name, ".")] = '\0';
	return is_helper_name(name);
}

#ifdef CONFIG_64BIT
/* See codetag_code_size(). Not of code that nobody says is gone, such as BPF programs. */
static unsigned long frame_size(unsigned long entry)
{
	unsigned long size = 0;

	if (!core_kernel_text(entry - 1) && !is_module_text_address(entry - 1))
		return 0;
#if defined(CODETAG_FRAMES_SIZED)
	size = unwind_frame_size(entry) / sizeof(long);
#elif defined(CODETAG_FRAMES_LINKED)
	size = 1;
#endif
	return size <= CODETAG_CODE_SIZE_MAX ? size : 0;
}
#endif

/* The place for a return address that nothing is known of; with codetag_context_lock held. */
static unsigned long *place_of(unsigned long entry)
{
	unsigned long *set = codetag_code_table[codetag_code_hash(entry)];
	static unsigned int victim;
	unsigned int i;

	for (i = 0; i < CODETAG_CODE_WAYS; i++)
		if (!set[i] || codetag_code_is_at(set[i], entry))
			return &set[i];
	return &set[victim++ % CODETAG_CODE_WAYS];
}

static noinline unsigned long learn_code(unsigned long entry, unsigned long known)
{
	unsigned long flags, code;

	flags = codetag_context_lock();
	code = entry << CODETAG_CODE_OTHER_BITS >> CODETAG_CODE_OTHER_BITS;
	if (is_helper(entry))
		code |= CODETAG_CODE_HELPER;
#ifdef CONFIG_64BIT
	code |= frame_size(entry) << CODETAG_CODE_SIZE_SHIFT;
#endif
	code |= known;
	WRITE_ONCE(*place_of(entry), code);
	codetag_context_unlock(flags);
	return code;
}

/**
 * codetag_is_helper - is a function a helper?
 * @entry: a return address in it
 *
 * Context: Any but NMI, with preemption disabled; must not be called while
 *	    codetag_context_locked().
 * Return: Whether it is in the list.
 */
bool codetag_is_helper(unsigned long entry)
{
	unsigned long code = codetag_code_known(entry) ?: learn_code(entry, 0);

	return code & CODETAG_CODE_HELPER;
}

/**
 * codetag_code_is_call - remember that a return address is that of a site's call
 * @entry: the address
 *
 * Context: As codetag_is_helper().
 */
void codetag_code_is_call(unsigned long entry)
{
	if (~codetag_code_known(entry) & CODETAG_CODE_CALL)
		learn_code(entry, CODETAG_CODE_CALL);
}

/**
 * codetag_helpers_forget - forget what functions are at which addresses
 *
 * Context: Process; code of a module has gone.
 */
void codetag_helpers_forget(void)
{
	unsigned long flags = codetag_context_lock();

	memset(codetag_code_table, 0, sizeof(codetag_code_table));
	codetag_context_unlock(flags);
}

static int bad_word(const char *word, const char *why)
{
	pr_warn_ratelimited("helpers: '%*pE': %s\n", (int)min_t(size_t, strlen(word), 64), word,
			    why);
	return -EINVAL;
}

/* The pattern in a list, NULL: it is not there. */
static char *find_pattern(char *text, size_t len, const char *pattern)
{
	char *at;

	for (at = text; at < text + len; at += strlen(at) + 1)
		if (!strcmp(at, pattern))
			return at;
	return NULL;
}

/* Apply one word, PATTERN or -PATTERN, to a list that has LIST_MAX bytes of room. */
static int change_list(char *text, size_t *len, const char *word)
{
	bool remove = *word == '-';
	const char *pattern = word + remove, *s;
	size_t size = strlen(pattern) + 1;
	char *at = find_pattern(text, *len, pattern);

	for (s = pattern; *s; s++)
		if (!isalnum(*s) && *s != '_' && *s != '*' && *s != '?')
			return bad_word(word, "not a name of a function, or a pattern for names");
	if (size == 1 || size > KSYM_NAME_LEN)
		return bad_word(word, "not a name of a function, or a pattern for names");
	if (remove) {
		if (!at)
			return bad_word(word, "not in the list");
		*len -= size;
		memmove(at, at + size, text + *len - at);
	} else if (!at) {
		if (*len + size > LIST_MAX)
			return bad_word(word, "the list is full");
		memcpy(text + *len, pattern, size);
		*len += size;
	}
	return 0;
}

static void set_list(const char *text, size_t len)
{
	const char *old = list;
	unsigned long flags;

	flags = codetag_context_lock();
	list = text;
	list_len = len;
	memset(codetag_code_table, 0, sizeof(codetag_code_table));
	codetag_context_unlock(flags);
	if (old != default_list)
		kfree(old);
}

/**
 * codetag_helpers_change - change the list of helpers
 * @text: words separated by blanks or commas: PATTERN adds one, -PATTERN removes it; it is
 *	  changed
 *
 * Not static for the tests.
 *
 * Context: Process.
 * Return: 0; -EINVAL and a message for a bad word, -ENOMEM: nothing has changed.
 */
int codetag_helpers_change(char *text)
{
	char *new = kmalloc(LIST_MAX, CODETAG_GFP), *word;
	size_t len;
	int ret = 0;

	if (!new)
		return -ENOMEM;
	mutex_lock(&helpers_mutex);
	len = list_len;
	memcpy(new, list, len);
	while (!ret && (word = strsep(&text, " \t\n,")))
		if (*word)
			ret = change_list(new, &len, word);
	if (ret)
		kfree(new);
	else
		set_list(new, len);
	mutex_unlock(&helpers_mutex);
	return ret;
}

/* ---- the file, and the boot parameter -------------------------------------------- */

static char *boot_helpers;
module_param_named(helpers, boot_helpers, charp, 0);

static int helpers_show(struct seq_file *m, void *v)
{
	const char *pattern;

	mutex_lock(&helpers_mutex);
	for (pattern = list; pattern < list + list_len; pattern += strlen(pattern) + 1)
		seq_printf(m, "%s\n", pattern);
	mutex_unlock(&helpers_mutex);
	return 0;
}

static ssize_t helpers_write(struct file *file, const char __user *buf, size_t len, loff_t *ppos)
{
	char *text;
	int ret;

	ret = codetag_may_change();
	if (ret)
		return ret;
	/* A buffered writer splits its text at a multiple of its buffer's size. */
	if (len >= WRITE_MAX) {
		pr_warn_ratelimited("helpers: a write has less than %d bytes\n", WRITE_MAX);
		return -E2BIG;
	}
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) == len)
		ret = codetag_helpers_change(text);
	else
		ret = bad_word(text, "a NUL byte follows");
	kfree(text);
	return ret ?: len;
}

CODETAG_DEFINE_FILE(helpers, helpers_show, helpers_write);

/**
 * codetag_helpers_boot - change the list of helpers as the kernel's command line says
 *
 * Context: Boot, before the first site is split.
 */
void __init codetag_helpers_boot(void)
{
	if (boot_helpers)
		codetag_helpers_change(boot_helpers);
}

static int __init helpers_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("helpers", 0600, codetag_debugfs_dir(), NULL, &helpers_fops);
	return 0;
}
late_initcall(helpers_init);
