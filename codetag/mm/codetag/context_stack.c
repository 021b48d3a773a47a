// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stack of an allocation, from its call site on: without the functions of the
 * allocator, of which there are more or fewer, depending on the way it has taken.
 */
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/stringhash.h>
#include "context_stack.h"
#include "helpers.h"
#include "site.h"

/* ---- where the call site is -------------------------------------------------- */

/*
 * Functions that allocate for their callers have "_noprof" at the end of their names, or a
 * prefix of the profiler. These are the others, of all kernel versions.
 */
static const char * const allocators[] = {
	/* Where what saves stacks does not leave itself out: user-mode Linux. */
	"save_stack_trace",
	"stack_trace_save",
	"___kmalloc_large_node",
	"__alloc_contig_pages",
	"__alloc_workqueue",
	"__vmalloc_area_node",
	"alloc_buddy_hugetlb_folio",
	"alloc_large_by_size",
	"alloc_pages_bulk_array_interleave",
	"alloc_pages_bulk_array_preferred_many",
	"alloc_pages_bulk_interleave",
	"alloc_pages_bulk_preferred_many",
	"alloc_pages_mpol",
	"alloc_pages_preferred_many",
	"alloc_workqueue_lockdep_map",
	"alloc_workqueue_va",
	"mempool_alloc_pages",
	"mempool_alloc_slab",
	"mempool_kmalloc",
	"vm_area_alloc_pages",
};

static bool is_allocator(const char *name, size_t len)
{
	unsigned int i;

	if (len > strlen("_noprof") &&
	    !memcmp(name + len - strlen("_noprof"), "_noprof", strlen("_noprof")))
		return true;
	if (!strncmp(name, "codetag_", strlen("codetag_")) ||
	    !strncmp(name, "__codetag_", strlen("__codetag_")) ||
	    !strncmp(name, "pgalloc_tag_", strlen("pgalloc_tag_")) ||
	    !strncmp(name, "pcpu_codetag_", strlen("pcpu_codetag_")))
		return true;
	for (i = 0; i < ARRAY_SIZE(allocators); i++)
		if (strlen(allocators[i]) == len && !memcmp(allocators[i], name, len))
			return true;
	return false;
}

/* The entry that returns to the function that the tag is in, or is inlined into. */
static unsigned int look_for_call(const struct codetag *ct, const unsigned long *entries,
				  unsigned int nr)
{
	/* Names are long, and there can be little stack left. */
	static char name[KSYM_NAME_LEN];
	unsigned int i, inner = 0;
	bool in_allocator = true;
	size_t len;

	for (i = 0; i < min(nr, CODETAG_STACK_INNER + 1U); i++) {
		/* A call can be the last instruction of a function. */
		if (lookup_symbol_name(entries[i] - 1, name))
			name[0] = '\0';
		/* Without the suffix that the compiler gives a copy or a part. */
		len = strcspn(name, ".");
		if (strlen(ct->function) == len && !memcmp(ct->function, name, len))
			return i;
		in_allocator = in_allocator && is_allocator(name, len);
		if (in_allocator)
			inner = i + 1;
	}
	return inner < nr ? inner : 0;
}

/* As look_for_call(), and remember it. */
static unsigned int learn_call(struct codetag_site *site, const unsigned long *entries,
			       unsigned int nr)
{
	unsigned long flags;
	unsigned int at, i;

	/* Not a lock of its own: tracers below must find it taken, as they do this one. */
	flags = codetag_context_lock();
	at = look_for_call(site->ct, entries, nr);
	for (i = 0; i < CODETAG_SITE_CALLS; i++) {
		if (site->calls[i] == entries[at])
			break;
		if (!site->calls[i]) {
			WRITE_ONCE(site->calls[i], entries[at]);
			break;
		}
	}
	codetag_context_unlock(flags);
	return at;
}

/* Does it return to where the site is known to call? */
static bool is_call(const struct codetag_site *site, unsigned long entry)
{
	return codetag_call_index(site, entry) < CODETAG_SITE_CALLS;
}

/* ---- the stack ----------------------------------------------------------------- */

/**
 * codetag_stack_step - take a stack's next frame, for arch_stack_walk()
 * @cookie:	struct codetag_stack_walk
 * @entry:	return address
 *
 * Context: Any but NMI.
 * Return: Whether there shall be another one.
 */
bool codetag_stack_step(void *cookie, unsigned long entry)
{
	struct codetag_stack_walk *walk = cookie;

	if (walk->pass_helpers) {
		bool helper = codetag_is_helper(entry);

		if (walk->end && helper)
			return true;
		walk->pass_helpers = !walk->end;
	}
	walk->entries[walk->nr++] = entry;
	if (!walk->end) {
		if (!is_call(walk->site, entry))
			return walk->nr <= CODETAG_STACK_INNER;
		if (walk->pass_helpers)
			codetag_code_is_call(entry);
		walk->at = walk->nr - 1;
		walk->end = walk->at + walk->depth;
	}
	return walk->nr < walk->end;
}

/* Remove the helpers that the stack begins with, and return how many they are. */
static unsigned int pass_helpers(unsigned long *stack, unsigned int nr)
{
	unsigned int helpers = 0;

	while (helpers < nr && codetag_is_helper(stack[helpers]))
		helpers++;
	memmove(stack, stack + helpers, (nr - helpers) * sizeof(*stack));
	return helpers;
}

/**
 * codetag_stack_search - the stack of the current allocation, wherever its site calls
 * @site:	the site
 * @split_by:	as codetag_stack_save()
 * @entries:	as codetag_stack_save()
 * @stack:	as codetag_stack_save()
 *
 * Context: Any but NMI, with preemption disabled.
 * Return: How many frames it has.
 */
unsigned int codetag_stack_search(struct codetag_site *site, unsigned int split_by,
				  unsigned long *entries, const unsigned long **stack)
{
	unsigned int depth = split_by >> CODETAG_SPLIT_DEPTH, nr = 0, at;
	bool caller = split_by & BIT(CODETAG_KEY_CALLER);

#ifdef CONFIG_STACKTRACE
	nr = stack_trace_save(entries, caller ? CODETAG_STACK_ENTRIES :
						depth + CODETAG_STACK_INNER, 1);
	if (!in_task())
		nr = filter_irq_stacks(entries, nr);
#endif
	if (!nr)
		return 0;
	for (at = 0; at < nr && !is_call(site, entries[at]); at++)
		;
	if (at == nr)
		at = learn_call(site, entries, nr);
	if (caller)
		nr -= pass_helpers(entries + at + 1, nr - at - 1);
	*stack = entries + at;
	return min(nr - at, depth);
}

/* ---- as text ------------------------------------------------------------------- */

/*
 * Many stacks read the same: a module that is loaded again has those that it had
 * before. So each text is there once. Protected by codetag_context_pool.mutex.
 */
static DEFINE_HASHTABLE(texts, 8);
static size_t text_bytes;

/**
 * codetag_frame_text - a frame of a stack as it is listed
 * @s:		where to write it: CODETAG_FRAME_TEXT bytes and one for the end
 * @address:	the return address
 *
 * Characters in the symbol of a module can neither begin a line nor command a terminal. Code
 * without a symbol, such as a BPF program that a user has loaded, shows no address: the text
 * must not reveal where the kernel is.
 *
 * Context: Process.
 * Return: The length.
 */
unsigned int codetag_frame_text(char *s, unsigned long address)
{
	char name[KSYM_SYMBOL_LEN];
	int len = sprint_symbol(name, address);

	if (strstarts(name, "0x"))
		len = strscpy(name, "[unknown]");
	*s = ' ';
	len = string_escape_mem(name, len, s + 1, KSYM_SYMBOL_LEN,
				ESCAPE_OCTAL | ESCAPE_NAP | ESCAPE_APPEND, "\\");
	len = min_t(int, len, KSYM_SYMBOL_LEN);
	s[1 + len] = '\n';
	s[2 + len] = '\0';
	return len + 2;
}

static char *print_stack(const unsigned long *stack, unsigned int nr, size_t *len)
{
	size_t room = nr * CODETAG_FRAME_TEXT + 1;
	char *s = kmalloc(room, GFP_KERNEL);
	unsigned int i;

	if (!s)
		return NULL;
	s[0] = '\0';
	*len = 0;
	for (i = 0; i < nr; i++)
		*len += codetag_frame_text(s + *len, stack[i]);
	return s;
}

static struct codetag_stack_text *find_text(const char *s, u32 hash)
{
	struct codetag_stack_text *text;

	hash_for_each_possible(texts, text, node, hash)
		if (!strcmp(text->text, s))
			return text;
	return NULL;
}

static struct codetag_stack_text *new_text(const char *s, size_t len, u32 hash)
{
	struct codetag_stack_text *text = kmalloc(struct_size(text, text, len + 1), GFP_KERNEL);

	if (!text)
		return NULL;
	text->users = 0;
	text->bytes = struct_size(text, text, len + 1);
	memcpy(text->text, s, len + 1);
	hash_add(texts, &text->node, hash);
	text_bytes += text->bytes;
	return text;
}

/**
 * codetag_stack_text_get - a stack as it is listed
 * @stack:	its return addresses
 * @nr:		how many
 *
 * Context: Process, with codetag_context_pool.mutex held.
 * Return: The text, to be given to codetag_stack_text_put(); NULL without memory
 *	   for it.
 */
struct codetag_stack_text *codetag_stack_text_get(const unsigned long *stack, unsigned int nr)
{
	struct codetag_stack_text *text;
	size_t len;
	u32 hash;
	char *s;

	s = print_stack(stack, nr, &len);
	if (!s)
		return NULL;
	hash = full_name_hash(NULL, s, len);
	text = find_text(s, hash) ?: new_text(s, len, hash);
	if (text)
		text->users++;
	kfree(s);
	return text;
}

/**
 * codetag_stack_text_put - let go of a stack's text
 * @text: the text, or NULL
 *
 * Context: As codetag_stack_text_get().
 */
void codetag_stack_text_put(struct codetag_stack_text *text)
{
	if (!text || --text->users)
		return;
	hash_del(&text->node);
	text_bytes -= text->bytes;
	kfree(text);
}

/**
 * codetag_stack_text_bytes - memory for the texts of stacks
 *
 * Context: As codetag_stack_text_get().
 * Return: The bytes.
 */
size_t codetag_stack_text_bytes(void)
{
	return text_bytes;
}
