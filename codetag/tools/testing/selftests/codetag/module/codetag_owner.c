// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the id of each page with the stack that page_owner has of it:
 * /sys/kernel/debug/codetag_owner. The call site of the page has to be in it: on
 * x86_64 the code of one of the functions there refers to the tag, elsewhere one of the
 * symbols has the name of the site's function.
 *
 * Reading the file goes through all pages. A pair of an id and a stack is looked at
 * once, however many pages have it. Printed are pairs that disagree, and the sum:
 *
 *	pair: PFN FILE:LINE FUNCTION
 *	 SYMBOL+OFFSET/SIZE [MODULE]
 *	...
 *	alone: PFN
 *	 (as above)
 *	pages: BOTH AGREE PAIRS ONLY_CODETAG ONLY_OWNER
 *
 * "alone" are allocations that page_owner knows and codetag does not.
 *
 * Nothing of this is exported, so the parameters are addresses of /proc/kallsyms.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/page_ext.h>
#include <linux/page_tag.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/stackdepot.h>
#include <linux/unaligned.h>
#include <linux/xarray.h>

/* The beginning of what mm/page_owner.c has for each page. */
struct owner {
	unsigned short order;
	short last_migrate_reason;
	gfp_t gfp_mask;
	depot_stack_handle_t handle;
};

#define ADDRESS(_name)							\
	static unsigned long at_##_name;				\
	module_param_named(_name, at_##_name, ulong, 0)

ADDRESS(codetag_from_id);
ADDRESS(codetag_lock);
ADDRESS(codetag_unlock);
ADDRESS(page_tag_ext_get);
ADDRESS(page_tag_slots);
ADDRESS(page_ext_get);
ADDRESS(page_ext_put);
ADDRESS(page_owner_ops);
ADDRESS(max_pfn);
ADDRESS(_stext);
ADDRESS(_etext);

static char *store = "";
module_param(store, charp, 0);
MODULE_PARM_DESC(store, "flags, slot or page_ext");

/* For a test of the test: the id that is looked up is that many higher. */
static int wrong;
module_param(wrong, int, 0);

/**
 * struct sight - what both say of a page
 * @id:		codetag's, CODETAG_ID_NONE if there is none
 * @handle:	the stack of page_owner, 0 if there is none
 * @order:	order of the allocation, as page_owner has it
 */
struct sight {
	u16 id;
	depot_stack_handle_t handle;
	unsigned int order;
};

/**
 * struct totals - totals of the last line, and those that are printed already
 * @both:	allocations that both know
 * @agree:	those whose call site is in the stack
 * @pairs:	pairs that were printed
 * @codetag:	allocations that only codetag knows
 * @owner:	allocations that only page_owner knows
 * @known:	by id and handle: the allocations that have this pair
 */
struct totals {
	unsigned long both;
	unsigned long agree;
	unsigned long pairs;
	unsigned long codetag;
	unsigned long owner;
	struct xarray known;
};

/* A pair of which no more than the number is wanted: it agrees. */
#define AGREES	BIT(0)

/* Sanitizers know nothing of the slots, and page_tag_slot_read() is not exported. */
static noinline __no_sanitize_address u16 read_slot(const u16 *slot)
{
	return READ_ONCE(*slot);
}

static u16 held_by(const struct page *page)
{
	u16 (*ext_get)(const struct page *page) = (void *)at_page_tag_ext_get;

	if (!strcmp(store, "flags"))
		return page_tag_flags_get(page);
	if (!strcmp(store, "slot"))
		return read_slot(*(u16 **)at_page_tag_slots + page_to_pfn(page));
	return ext_get(page);
}

/* If the first page holds a mark, the second one holds the id of both. */
static u16 id_of(const struct page *page)
{
	bool odd = page_to_pfn(page) & 1;
	u16 id = held_by(page);

	if (page_tag_is_mark(odd ? held_by(page - 1) : id))
		id = odd ? CODETAG_ID_NONE : held_by(page + 1);
	return page_tag_is_mark(id) ? CODETAG_ID_NONE : id;
}

static struct sight look_once(const struct page *page)
{
	struct page_ext *(*get)(const struct page *page) = (void *)at_page_ext_get;
	void (*put)(struct page_ext *ext) = (void *)at_page_ext_put;
	struct sight seen = { .id = id_of(page) };
	struct page_ext *ext = get(page);
	struct owner *owner;

	if (!ext)
		return seen;
	owner = page_ext_data(ext, (struct page_ext_operations *)at_page_owner_ops);
	if (test_bit(PAGE_EXT_OWNER, &ext->flags) &&
	    test_bit(PAGE_EXT_OWNER_ALLOCATED, &ext->flags) &&
	    IS_ALIGNED(page_to_pfn(page), 1UL << owner->order)) {
		seen.handle = READ_ONCE(owner->handle);
		seen.order = owner->order;
	}
	put(ext);
	return seen;
}

static bool same(struct sight a, struct sight b)
{
	return a.id == b.id && a.handle == b.handle;
}

/* Reads both twice. False if the page is just being allocated, freed or moved. */
static bool look(const struct page *page, struct sight *seen, unsigned int ms)
{
	*seen = look_once(page);
	if (ms)
		msleep(ms);
	return same(*seen, look_once(page));
}

/* Does the code refer to the tag, by its address or by how far it is away? */
static bool refers(const u8 *code, const u8 *end, const struct codetag *ct)
{
	s32 word;

	for (; code + sizeof(word) <= end; code++) {
		word = get_unaligned((const s32 *)code);
		if (word == (s32)(unsigned long)ct ||
		    code + sizeof(word) + word == (const u8 *)ct)
			return true;
	}
	return false;
}

/* Is the call site in the function that this address is in? */
static bool in_function(const struct codetag *ct, unsigned long address)
{
	size_t len = strlen(ct->function);
	unsigned long offset, size;
	char name[KSYM_SYMBOL_LEN];
	const u8 *code;
	char *plus;

	/* A return address behind the last call can already be in the next function. */
	sprint_symbol(name, --address);
	plus = strchr(name, '+');
	/* Init code has been freed, so compare names. */
	if (!IS_ENABLED(CONFIG_X86_64) || !plus ||
	    sscanf(plus, "+0x%lx/0x%lx", &offset, &size) != 2 ||
	    ((address < at__stext || address >= at__etext) && !strchr(plus, '[')))
		return !strncmp(name, ct->function, len) && strchr(".+", name[len]);
	code = (const u8 *)address - offset;
	return refers(code, code + size, ct);
}

static bool in_stack(const struct codetag *ct, unsigned long *entries, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (in_function(ct, entries[i]))
			return true;
	return false;
}

static void print_stack(struct seq_file *m, unsigned long *entries, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		seq_printf(m, " %pS\n", (void *)entries[i]);
}

/* The first time that a pair is seen. Returns its record. */
static unsigned long judge(struct seq_file *m, struct totals *t, struct sight seen,
			   const struct page *page)
{
	struct codetag *(*from_id)(u16 id) = (void *)at_codetag_from_id;
	unsigned long *entries;
	unsigned int nr = stack_depot_fetch(seen.handle, &entries);
	struct codetag *ct = NULL;

	if (seen.id) {
		ct = from_id(seen.id + wrong);
		if (ct && ct->function && in_stack(ct, entries, nr))
			return AGREES;
	}
	t->pairs++;
	if (!seen.id)
		seq_printf(m, "alone: %lx\n", page_to_pfn(page));
	else if (ct && ct->function)
		seq_printf(m, "pair: %lx %s:%u %s\n", page_to_pfn(page), ct->filename,
			   ct->lineno, ct->function);
	else
		seq_printf(m, "pair: %lx %s:%u -\n", page_to_pfn(page),
			   ct ? ct->filename : "nobody", ct ? ct->lineno : seen.id);
	print_stack(m, entries, nr);
	return 0;
}

static int compare(struct seq_file *m, struct totals *t, const struct page *page)
{
	struct sight seen;
	unsigned long key;
	void *entry;

	if (!look(page, &seen, 0))
		return 0;
	if (!seen.handle) {
		t->codetag += !!seen.id;
		return 0;
	}
	key = (unsigned long)seen.handle << 16 | seen.id;
	entry = xa_load(&t->known, key);
	if (!entry) {
		if (!look(page, &seen, 5) || key != ((unsigned long)seen.handle << 16 | seen.id))
			return 0;
		entry = xa_mk_value(judge(m, t, seen, page));
		if (xa_err(xa_store(&t->known, key, entry, GFP_KERNEL)))
			return -ENOMEM;
	}
	if (!seen.id) {
		t->owner++;
		return 0;
	}
	t->both++;
	t->agree += xa_to_value(entry) & AGREES;
	return 0;
}

static int owner_show(struct seq_file *m, void *v)
{
	void (*lock)(void) = (void *)at_codetag_lock, (*unlock)(void) = (void *)at_codetag_unlock;
	struct totals *t = m->private;
	unsigned long pfn, end = *(unsigned long *)at_max_pfn;
	int ret = 0;

	/* Comes again with a larger buffer when the output was too long. */
	xa_destroy(&t->known);
	memset(t, 0, offsetof(struct totals, known));
	for (pfn = 0; pfn < end && !ret; pfn++) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page)
			continue;
		lock();
		ret = compare(m, t, page);
		unlock();
		cond_resched();
	}
	seq_printf(m, "pages: %lu %lu %lu %lu %lu\n", t->both, t->agree, t->pairs, t->codetag,
		   t->owner);
	return ret;
}

static int owner_open(struct inode *inode, struct file *file)
{
	struct totals *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	xa_init(&t->known);
	ret = single_open_size(file, owner_show, t, SZ_4M);
	if (ret)
		kfree(t);
	return ret;
}

static int owner_release(struct inode *inode, struct file *file)
{
	struct totals *t = ((struct seq_file *)file->private_data)->private;

	xa_destroy(&t->known);
	kfree(t);
	return single_release(inode, file);
}

static const struct file_operations owner_fops = {
	.owner		= THIS_MODULE,
	.open		= owner_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= owner_release,
};

static struct dentry *file;

static int __init owner_init(void)
{
	if (!at_codetag_from_id || !at_codetag_lock || !at_codetag_unlock ||
	    !at_page_tag_ext_get || !at_page_ext_get || !at_page_ext_put ||
	    !at_page_owner_ops || !at_max_pfn || !at__stext || !at__etext ||
	    (!strcmp(store, "slot") && !at_page_tag_slots))
		return -EINVAL;
	file = debugfs_create_file("codetag_owner", 0400, NULL, NULL, &owner_fops);
	return 0;
}

static void __exit owner_exit(void)
{
	debugfs_remove(file);
}

module_init(owner_init);
module_exit(owner_exit);
MODULE_DESCRIPTION("compares the ids of pages with page_owner");
MODULE_LICENSE("GPL");
