/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: a call site that is split charges each distinct value of its keys
 * (stack, node, size, ...) to an id with counters of its own. For the allocators.
 *
 * What is split by node, size or accounted alone finds its context without a call:
 * the allocator says the value. All else is left to codetag_context_id().
 */
#ifndef _MM_CODETAG_CONTEXT_H
#define _MM_CODETAG_CONTEXT_H

#include <linux/alloc_tag.h>
#include <linux/bits.h>
#include <linux/gfp_types.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/static_key.h>
#include "query.h"

struct folio;
struct page;

/* ---- sites and contexts -------------------------------------------------------- */

/* The words of a context's values before its stack: as many as keys need them */
#define CODETAG_VALUE_WORDS	6

/*
 * Return addresses by which a site knows where it is in a stack: more than one if
 * its function is inlined. Those beyond are looked up by their names each time.
 */
#define CODETAG_SITE_CALLS	16

/**
 * struct codetag_site - a call site that is or was split
 * @by_tag:	finds it by @ct, under RCU; not once its module is gone
 * @by_id:	finds it by @id, under RCU
 * @list:	in codetag_sites, in the order of ids
 * @rcu:	to free it
 * @contexts:	its contexts, under RCU
 * @ct:		its tag; dangles once the module is gone
 * @id:		its own id
 * @what:	what its contexts are of, see codetag_context_what()
 * @wanted:	by what it is to be split while it is profiled, see codetag_site_how();
 *		0: it is not any more
 * @how:	by what its allocations are split now, 0: they are not
 * @keys:	bits of all keys that it has been split by
 * @max:	contexts it may have
 * @nr:		contexts it has
 * @lost:	allocations that got no context
 * @calls:	where the calls of its allocator return to, as far as they are known
 *
 * Allocators find it under RCU; changed with codetag_context_lock held.
 */
struct codetag_site {
	struct hlist_node by_tag;
	struct hlist_node by_id;
	struct list_head list;
	struct rcu_head rcu;
	struct list_head contexts;
	struct codetag *ct;
	u16 id;
	u64 what;
	unsigned int wanted;
	unsigned int how;
	unsigned int keys;
	unsigned int max;
	unsigned int nr;
	unsigned long __percpu *lost;
	unsigned long calls[CODETAG_SITE_CALLS];
};

/* Bits of enum codetag_key, and the depth of a stack above these */
#define CODETAG_HOW_KEYS	0xffffU
#define CODETAG_HOW_DEPTH	16

static inline unsigned int codetag_site_how(unsigned int keys, unsigned int depth)
{
	return keys & BIT(CODETAG_KEY_STACK) ? keys | depth << CODETAG_HOW_DEPTH : keys;
}

static_assert(CODETAG_NR_KEYS <= CODETAG_HOW_DEPTH);

struct codetag_stack_text;

/* What a context is used for */
enum codetag_context_state {
	CODETAG_CONTEXT_FREE,
	CODETAG_CONTEXT_LIVE,	/* allocations find it */
	CODETAG_CONTEXT_LEAVING,/* they do not; it may be free soon, or live again */
	CODETAG_CONTEXT_OLD,	/* they do not, and never will */
	CODETAG_CONTEXT_OLD_LEAVING, /* the same, and it may be free soon */
	CODETAG_CONTEXT_GONE,	/* it has no site any more, and is about to be free */
};

/**
 * struct codetag_context - an id of its own for a part of what a site allocates
 * @node:	in the hash table if it is live, else in the list of free ones
 * @list:	in the contexts of @site
 * @site:	the site, NULL if it is free
 * @hash:	of the values
 * @what:	the site and the value, see codetag_context_what()
 * @how:	by what its site was split
 * @id:		its id
 * @state:	see above
 * @nr_words:	values in @words
 * @nr_frames:	frames in @stack
 * @counters:	counters of the id
 * @allocs:	all allocations since it exists
 * @seen:	what @allocs was when it was looked at last
 * @text:	the stack as text, once a module in it is gone
 * @words:	the values of its keys, packed, in the order of enum codetag_key
 * @stack:	return addresses, the innermost first
 *
 * Allocators find it under RCU, and what it says does not change while they can.
 * Everything but the counters is changed with codetag_context_lock held.
 */
struct codetag_context {
	struct hlist_node node;
	struct list_head list;
	struct codetag_site *site;
	u64 what;
	u32 hash;
	unsigned int how;
	u16 id;
	u8 state;
	u8 nr_words;
	u8 nr_frames;
	struct alloc_tag_counters __percpu *counters;
	u64 __percpu *allocs;
	u64 seen;
	struct codetag_stack_text *text;
	u64 words[CODETAG_VALUE_WORDS];
	unsigned long stack[CODETAG_DEPTH_MAX];
};

/*
 * The first word of the values has what is small:
 *
 *	 63         32  30   29           16 15      0
 *	+-------------+------+---------------+---------+
 *	|     gfp     | acc. |      cpu      | node + 1|
 *	+-------------+------+---------------+---------+
 */
#define CODETAG_SMALL_KEYS	(BIT(CODETAG_KEY_NODE) | BIT(CODETAG_KEY_CPU) | \
				 BIT(CODETAG_KEY_ACCOUNTED) | BIT(CODETAG_KEY_GFP))
#define CODETAG_CPU_SHIFT	16
#define CODETAG_ACCOUNTED_SHIFT	30
#define CODETAG_GFP_SHIFT	32

/*
 * A context whose only value is one that allocators say has its site and that in one
 * word, for one look at it: the site's id, what is left below that to spread sites in
 * the hash table, and, by exclusive or, the value. A size is less than the id, values of
 * other keys are negative, so that bit 63 says that the id is inverted, too.
 */
#define CODETAG_WHAT_ID_SHIFT	47
static_assert(CODETAG_ID_MAX < 1 << (63 - CODETAG_WHAT_ID_SHIFT));
#define CODETAG_WHAT_NODE	((u64)S32_MIN)
#define CODETAG_WHAT_ACCOUNTED	(CODETAG_WHAT_NODE + BIT_ULL(CODETAG_ACCOUNTED_SHIFT - 1))

#ifdef CONFIG_MEM_ALLOC_PROFILING

#ifdef CONFIG_CODETAG_CONTEXTS

/* ---- finding them --------------------------------------------------------------- */

#define CODETAG_SITE_BITS	10
#define CODETAG_CONTEXT_BITS	12

/* The sites that are or were split, and live contexts by the hash of their values. */
extern struct hlist_head codetag_sites_by_tag[1 << CODETAG_SITE_BITS];
extern struct hlist_head codetag_context_table[1 << CODETAG_CONTEXT_BITS];

/* A random odd number, see codetag_what_hash(). */
extern u32 codetag_hash_factor;

static __always_inline struct hlist_head *codetag_sites_of(const struct codetag *ct)
{
	return &codetag_sites_by_tag[hash_32((unsigned long)ct, CODETAG_SITE_BITS)];
}

/**
 * codetag_site_by_tag - the site of a tag, if it is or was split
 * @ct: the tag
 *
 * Context: Any, with preemption disabled for as long as the site is used.
 * Return: The site or NULL.
 */
static __always_inline struct codetag_site *codetag_site_by_tag(const struct codetag *ct)
{
	struct codetag_site *site;

	hlist_for_each_entry_rcu(site, codetag_sites_of(ct), by_tag, true)
		if (likely(site->ct == ct))
			return site;
	return NULL;
}

/**
 * codetag_how_split - by what the site of a tag is split now
 * @ct:		the tag, whose id has been looked at
 * @site:	its site on return
 *
 * Context: Any, with preemption disabled for as long as the site is used.
 * Return: See codetag_site_how(), 0: it is not split.
 */
static __always_inline unsigned int codetag_how_split(const struct codetag *ct,
						      struct codetag_site **site)
{
	unsigned int how = 0;

	*site = codetag_site_by_tag(ct);
	if (*site)
		how = READ_ONCE((*site)->how);
	smp_rmb(); /* pairs with codetag_set_charging(): before another look at the id */
	return how;
}

/* What small keys make of an allocation. */
static __always_inline u64 codetag_small_values(unsigned int how, int nid, gfp_t gfp,
						bool accounted)
{
	u64 small = 0;

	if (how & BIT(CODETAG_KEY_NODE))
		small |= nid + 1;
	if (how & BIT(CODETAG_KEY_CPU))
		small |= raw_smp_processor_id() << CODETAG_CPU_SHIFT;
	if (how & BIT(CODETAG_KEY_ACCOUNTED) && accounted)
		small |= 1U << CODETAG_ACCOUNTED_SHIFT;
	if (how & BIT(CODETAG_KEY_GFP))
		small |= (u64)(__force unsigned int)gfp << CODETAG_GFP_SHIFT;
	return small;
}

static __always_inline struct hlist_head *codetag_contexts_of(u32 hash)
{
	return &codetag_context_table[hash >> (32 - CODETAG_CONTEXT_BITS)];
}

/* The hash of a context that is of this alone. Users choose sizes: the factor is secret. */
static __always_inline u32 codetag_what_hash(u64 what)
{
	return (u32)what * codetag_hash_factor;
}

static __always_inline u64 codetag_what_accounted(bool accounted)
{
	u64 value = CODETAG_WHAT_ACCOUNTED;

	if (accounted) {
		value += BIT(CODETAG_ACCOUNTED_SHIFT);
		/* A jump more, or it would be computed without one. */
		OPTIMIZER_HIDE_VAR(value);
	}
	return value;
}

/**
 * codetag_context_what - what a context is of, if it has one value that allocators say
 * @site:	the site
 * @how:	by what it is split
 * @value:	the first of the values
 *
 * Context: Any.
 * Return: A word that says it all, 0 if there is more to it.
 */
static __always_inline u64 codetag_context_what(const struct codetag_site *site,
						unsigned int how, u64 value)
{
	if (how == BIT(CODETAG_KEY_NODE))
		value += CODETAG_WHAT_NODE;
	else if (how == BIT(CODETAG_KEY_ACCOUNTED))
		value += CODETAG_WHAT_ACCOUNTED;
	else if (how != BIT(CODETAG_KEY_SIZE) || value >> CODETAG_WHAT_ID_SHIFT)
		return 0;
	return site->what ^ value;
}

/**
 * codetag_context_find - the context of an allocation, by its site and only value
 * @what:	these, see codetag_context_what()
 *
 * Context: Any, with preemption disabled until the context is charged.
 * Return: The context, NULL if there is none yet.
 */
static __always_inline struct codetag_context *codetag_context_find(u64 what)
{
	struct hlist_head *head = codetag_contexts_of(codetag_what_hash(what));
	struct codetag_context *ctx;

	hlist_for_each_entry_rcu(ctx, head, node, true)
		if (ctx->what == what)
			return ctx;
	return NULL;
}

/**
 * codetag_context_soon - the context of an allocation, if its site is split by one of
 *			  the keys that the allocator says the value of
 * @site:	the site
 * @how:	by what it is split
 * @nid:	node of the memory
 * @accounted:	whether it is accounted to a memory control group
 * @size:	bytes that were asked for, no more than there can be memory
 *
 * No more than one of the values is evaluated: it is not known before @how is.
 *
 * Context: As codetag_context_find().
 * Return: The context, NULL if there is none yet or codetag_context_id() has to look
 *	   for it.
 */
#define codetag_context_soon(site, how, nid, accounted, size)			\
({										\
	unsigned int _how = (how);						\
	bool _known = true;							\
	u64 _value = 0;								\
										\
	if (_how == BIT(CODETAG_KEY_NODE))					\
		_value = CODETAG_WHAT_NODE + (nid) + 1;				\
	else if (_how == BIT(CODETAG_KEY_ACCOUNTED))				\
		_value = codetag_what_accounted(accounted);			\
	else if (_how == BIT(CODETAG_KEY_SIZE))					\
		_value = (size);						\
	else									\
		_known = false;							\
	_known ? codetag_context_find((site)->what ^ _value) : NULL;		\
})

/**
 * codetag_context_charge - count an allocation that has found its context
 * @ctx:	the context
 * @bytes:	size of the memory
 *
 * Context: As codetag_context_find().
 */
static __always_inline void codetag_context_charge(const struct codetag_context *ctx,
						   size_t bytes)
{
	this_cpu_inc(*ctx->allocs);
	alloc_tag_count(ctx->counters, bytes, 1);
}

unsigned int codetag_context_id(int nid, gfp_t gfp, bool accounted, size_t size,
				unsigned int max_id);
u16 codetag_context_split(u16 id, size_t bytes, unsigned long parts);
u16 codetag_context_moved(u16 id, size_t bytes, int nid);

/* ---- values that are known later ------------------------------------------------ */

/* Has any site contexts by size, or by control group? */
DECLARE_STATIC_KEY_FALSE(codetag_by_size_key);
DECLARE_STATIC_KEY_FALSE(codetag_by_cgroup_key);

void __codetag_page_asked(struct page *page, unsigned int order, size_t size);
void __codetag_page_charged(struct page *page, unsigned int order);
void __codetag_folio_charged(struct folio *folio);

/**
 * codetag_page_asked - how much was asked for of an allocation of pages
 * @page:	first page
 * @order:	order of the allocation
 * @size:	bytes that were asked for
 *
 * Context: Any but NMI; nobody else may know the pages yet.
 */
static __always_inline void codetag_page_asked(struct page *page, unsigned int order, size_t size)
{
	if (static_branch_unlikely(&codetag_by_size_key))
		__codetag_page_asked(page, order, size);
}

/**
 * codetag_page_charged - an allocation of pages was charged to a memory control group
 * @page:	first page
 * @order:	order of the allocation
 *
 * Pages are charged after they are allocated: only now their group is known.
 *
 * Context: Any but NMI; nobody else may free the pages or change their group.
 */
static __always_inline void codetag_page_charged(struct page *page, unsigned int order)
{
	if (static_branch_unlikely(&codetag_by_cgroup_key))
		__codetag_page_charged(page, order);
}

/**
 * codetag_folio_charged - codetag_page_charged() for a folio
 * @folio: the folio
 */
static __always_inline void codetag_folio_charged(struct folio *folio)
{
	if (static_branch_unlikely(&codetag_by_cgroup_key))
		__codetag_folio_charged(folio);
}

#else /* CONFIG_CODETAG_CONTEXTS */

static inline unsigned int codetag_context_id(int nid, gfp_t gfp, bool accounted, size_t size,
					      unsigned int max_id)
{
	return CODETAG_ID_NONE;
}

static inline u16 codetag_context_split(u16 id, size_t bytes, unsigned long parts)
{
	alloc_tag_charge(id, 0, parts - 1);
	return id;
}

static inline u16 codetag_context_moved(u16 id, size_t bytes, int nid)
{
	return id;
}

static inline void codetag_page_asked(struct page *page, unsigned int order, size_t size) {}
static inline void codetag_page_charged(struct page *page, unsigned int order) {}
static inline void codetag_folio_charged(struct folio *folio) {}

#endif /* CONFIG_CODETAG_CONTEXTS */

/**
 * codetag_charged_id - the id that an allocation is to be charged to
 * @nid:	node of the memory, NUMA_NO_NODE for several
 * @gfp:	how it was allocated
 * @accounted:	whether it is accounted to a memory control group
 * @size:	bytes that were asked for
 * @max_id:	the highest id that can be stored
 *
 * Context: Any but NMI, with preemption disabled until the allocation is charged.
 * Return: The id of the current call site or of one of its contexts,
 *	   CODETAG_ID_NONE if it is not to be charged. A site's own id can be
 *	   above @max_id.
 */
static inline unsigned int codetag_charged_id(int nid, gfp_t gfp, bool accounted, size_t size,
					      unsigned int max_id)
{
	const struct alloc_tag *tag = alloc_tag_current();
	unsigned int id = alloc_tag_id(tag);

	if (!id && alloc_tag_split(tag))
		id = codetag_context_id(nid, gfp, accounted, size, max_id);
	return id;
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline void codetag_page_asked(struct page *page, unsigned int order, size_t size) {}
static inline void codetag_page_charged(struct page *page, unsigned int order) {}
static inline void codetag_folio_charged(struct folio *folio) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_CODETAG_CONTEXT_H */
