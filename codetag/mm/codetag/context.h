/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Contexts: a call site that is split charges each distinct value of its keys
 * (stack, node, size, ...) to an id with counters of its own. For the allocators.
 *
 * If a site is split by node, size or accounted alone, the allocator passes the value
 * and finds the context inline. All other keys are looked up by codetag_context_id().
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

struct cgroup;
struct folio;
struct page;

/**
 * struct codetag_alloc - an allocation, as the keys of split sites see it
 * @size:	requested bytes
 * @nid:	node of the memory, NUMA_NO_NODE for several
 * @gfp:	its flags
 * @accounted:	whether it is accounted to a memory control group
 */
struct codetag_alloc {
	size_t size;
	int nid;
	gfp_t gfp;
	bool accounted;
};

/* ---- sites and contexts -------------------------------------------------------- */

/* The words of a context's values before its stack: one for each key that needs one */
#define CODETAG_VALUE_WORDS	6

/*
 * Return addresses by which a site finds its own frame in a stack: more than one if
 * its function is inlined. Further addresses are looked up by name each time.
 */
#define CODETAG_SITE_CALLS	16

/**
 * struct codetag_site - a call site that is or was split
 * @by_tag:	in the hash table by @ct, until its module is gone; RCU
 * @by_id:	in the hash table by @id; RCU
 * @list:	in codetag_sites, in the order of ids
 * @rcu:	to free it
 * @contexts:	its contexts; RCU
 * @ct:		its tag; dangles once the module is gone
 * @id:		its own id
 * @lookup_key:	the part of the keys of its contexts that is the site's, see
 *		codetag_lookup_key()
 * @split_wanted: keys that control asked for, see codetag_split_bits(); 0: none
 * @split_now:	keys that allocations are split by now: @split_wanted while the site is
 *		profiled, else 0
 * @keys:	bits of all keys that it has been split by
 * @max:	number of contexts that it may have
 * @nr:		number of contexts that it has
 * @lost:	allocations that got no context
 * @calls:	known return addresses of the calls of its allocator
 *
 * Allocators find it under RCU; changed with codetag_context_lock held. A site is removed
 * only with codetag_sem held for writing. @lost is per CPU, without a lock.
 */
struct codetag_site {
	struct hlist_node by_tag;
	struct hlist_node by_id;
	struct list_head list;
	struct rcu_head rcu;
	struct list_head contexts;
	struct codetag *ct;
	u16 id;
	u64 lookup_key;
	unsigned int split_wanted;
	unsigned int split_now;
	unsigned int keys;
	unsigned int max;
	unsigned int nr;
	unsigned long __percpu *lost;
	unsigned long calls[CODETAG_SITE_CALLS];
};

/* Split bits: those of enum codetag_key, one for tracing, above these the number of frames */
#define CODETAG_SPLIT_KEYS	0x7fffU
#define CODETAG_SPLIT_TRACE	0x8000U
#define CODETAG_SPLIT_DEPTH	16

static inline unsigned int codetag_split_bits(unsigned int keys, unsigned int depth)
{
	return keys & CODETAG_FRAME_KEYS ? keys | depth << CODETAG_SPLIT_DEPTH : keys;
}

static_assert(CODETAG_NR_KEYS < CODETAG_SPLIT_DEPTH);

struct codetag_stack_text;

/*
 * The states of a context:
 *
 *	FREE -> HASHED -> UNHASHED -> (grace period) -> DETACHED -> (grace period) -> FREE
 *
 * UNHASHED goes back to HASHED if memory was charged before the grace period ended. It
 * becomes STALE instead if an equal context exists by then. Any state but FREE and DETACHED
 * becomes STALE when code of the stack is unloaded.
 *
 *	STALE -> STALE_UNHASHED -> (grace period) -> DETACHED
 *
 * STALE_UNHASHED goes back to STALE if it holds memory after the grace period.
 */
enum codetag_context_state {
	CODETAG_CONTEXT_FREE,
	CODETAG_CONTEXT_HASHED,		/* allocations find it */
	CODETAG_CONTEXT_UNHASHED,	/* allocations do not find it now */
	CODETAG_CONTEXT_STALE,		/* allocations never find it again */
	CODETAG_CONTEXT_STALE_UNHASHED,	/* the same, and it waits for a grace period */
	CODETAG_CONTEXT_DETACHED,	/* not in the list of its site any more */
};

/**
 * struct codetag_context - one value of the keys of a split site, with an id
 * @node:	in the hash table while HASHED, in a free list while FREE, else in none
 * @list:	in the contexts of @site
 * @site:	the site, NULL while DETACHED or FREE
 * @hash:	of the values
 * @lookup_key:	the site and the value in one word, see codetag_lookup_key()
 * @split_by:	keys that its site was split by, see codetag_split_bits()
 * @id:		its id
 * @state:	see above
 * @nr_words:	values in @words
 * @nr_frames:	frames in @stack
 * @counters:	counters of the id
 * @parts:	see struct codetag_block_counters
 * @seen:	number of its allocations when the context was last considered for reuse
 * @text:	the stack as text, once one of its modules is gone
 * @words:	the values of its keys, packed, in the order of enum codetag_key
 * @stack:	return addresses, the innermost first
 *
 * Allocators find it under RCU, and its key does not change while they can.
 *
 * Locks for changes: codetag_context_pool.mutex for @seen, @text, and @nr_frames once the
 * context is stale. The counters have no lock. Everything else: codetag_context_lock.
 * new_context() sets @seen before the context is published.
 */
struct codetag_context {
	struct hlist_node node;
	struct list_head list;
	struct codetag_site *site;
	u64 lookup_key;
	u32 hash;
	unsigned int split_by;
	u16 id;
	u8 state;
	u8 nr_words;
	u8 nr_frames;
	struct alloc_tag_counters __percpu *counters;
	u32 __percpu *parts;
	u32 seen;
	struct codetag_stack_text *text;
	u64 words[CODETAG_VALUE_WORDS];
	unsigned long stack[CODETAG_DEPTH_MAX];
};

/*
 * The first word of the values holds the small ones:
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
 * The value of a control group: its id, which is unique in its hierarchy only, and above it
 * the number of the hierarchy, 0 for version 2. Memory can move to another hierarchy.
 */
#define CODETAG_HIERARCHY_SHIFT	48

/*
 * The site and the only value of a context as one word, so that a lookup is one compare:
 *
 *	key = (id << 47 | hash of the id) ^ value
 *
 * Node and accounted are negative, so they flip bit 63 and all bits of the id; sizes stay
 * below bit 47. The hash spreads sites in the hash table.
 */
#define CODETAG_LOOKUP_ID_SHIFT	47
static_assert(CODETAG_ID_MAX < 1 << (63 - CODETAG_LOOKUP_ID_SHIFT));
#define CODETAG_LOOKUP_NODE	((u64)S32_MIN)
#define CODETAG_LOOKUP_ACCOUNTED	(CODETAG_LOOKUP_NODE + BIT_ULL(CODETAG_ACCOUNTED_SHIFT - 1))

#ifdef CONFIG_MEM_ALLOC_PROFILING

void alloc_tag_add_parts(u16 id, u32 nr); /* ids.c */

#ifdef CONFIG_CODETAG_CONTEXTS

/* ---- finding them --------------------------------------------------------------- */

#define CODETAG_SITE_BITS	10
#define CODETAG_CONTEXT_BITS	12

/* The sites that are or were split, and hashed contexts by the hash of their values */
extern struct hlist_head codetag_sites_by_tag[1 << CODETAG_SITE_BITS];
extern struct hlist_head codetag_context_table[1 << CODETAG_CONTEXT_BITS];

/* A random odd number, see codetag_lookup_hash(). */
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
 * codetag_split_now - keys that the site of a tag is split by now
 * @ct:		the tag, whose id has been looked at
 * @site:	its site on return
 *
 * Context: Any, with preemption disabled for as long as the site is used.
 * Return: See codetag_split_bits(); 0 if the site is not split.
 */
static __always_inline unsigned int codetag_split_now(const struct codetag *ct,
						      struct codetag_site **site)
{
	unsigned int split_by = 0;

	*site = codetag_site_by_tag(ct);
	if (*site)
		split_by = READ_ONCE((*site)->split_now);
	smp_rmb(); /* pairs with codetag_set_charging(): before another look at the id */
	return split_by;
}

/* The word of the small values of an allocation */
static __always_inline u64 codetag_small_values(unsigned int split_by,
						const struct codetag_alloc *alloc)
{
	u64 small = 0;

	if (split_by & BIT(CODETAG_KEY_NODE))
		small |= alloc->nid + 1;
	if (split_by & BIT(CODETAG_KEY_CPU))
		small |= raw_smp_processor_id() << CODETAG_CPU_SHIFT;
	if (split_by & BIT(CODETAG_KEY_ACCOUNTED) && alloc->accounted)
		small |= 1U << CODETAG_ACCOUNTED_SHIFT;
	if (split_by & BIT(CODETAG_KEY_GFP))
		small |= (u64)(__force unsigned int)alloc->gfp << CODETAG_GFP_SHIFT;
	return small;
}

static __always_inline struct hlist_head *codetag_contexts_of(u32 hash)
{
	return &codetag_context_table[hash >> (32 - CODETAG_CONTEXT_BITS)];
}

/* The hash of a lookup key. The factor is secret, since users choose sizes. */
static __always_inline u32 codetag_lookup_hash(u64 lookup_key)
{
	return (u32)lookup_key * codetag_hash_factor;
}

static __always_inline u64 codetag_lookup_accounted(bool accounted)
{
	u64 value = CODETAG_LOOKUP_ACCOUNTED;

	if (accounted) {
		value += BIT(CODETAG_ACCOUNTED_SHIFT);
		/* Keep the branch: without it the compiler adds arithmetic to every call. */
		OPTIMIZER_HIDE_VAR(value);
	}
	return value;
}

/**
 * codetag_lookup_key - a site and its only value as one word
 * @site:	the site
 * @split_by:	keys that it is split by
 * @value:	the first word of the values
 *
 * Context: Any.
 * Return: The key; 0 if the site is split by other keys or by more than one.
 */
static __always_inline u64 codetag_lookup_key(const struct codetag_site *site,
					      unsigned int split_by, u64 value)
{
	if (split_by == BIT(CODETAG_KEY_NODE))
		value += CODETAG_LOOKUP_NODE;
	else if (split_by == BIT(CODETAG_KEY_ACCOUNTED))
		value += CODETAG_LOOKUP_ACCOUNTED;
	else if (split_by != BIT(CODETAG_KEY_SIZE) || value >> CODETAG_LOOKUP_ID_SHIFT)
		return 0;
	return site->lookup_key ^ value;
}

/**
 * codetag_context_find - find a context by its site and only value
 * @lookup_key:	see codetag_lookup_key()
 *
 * Context: Any, with preemption disabled until the context is charged.
 * Return: The context, NULL if there is none yet.
 */
static __always_inline struct codetag_context *codetag_context_find(u64 lookup_key)
{
	struct hlist_head *head = codetag_contexts_of(codetag_lookup_hash(lookup_key));
	struct codetag_context *ctx;

	hlist_for_each_entry_rcu(ctx, head, node, true)
		if (ctx->lookup_key == lookup_key)
			return ctx;
	return NULL;
}

/**
 * codetag_context_lookup_fast - find the context of an allocation inline
 * @site:	the site
 * @split_by:	keys that it is split by
 * @nid:	node of the memory
 * @accounted:	whether it is accounted to a memory control group
 * @size:	requested bytes
 *
 * This works for sites that are split by one of the values that allocators pass. At most
 * one of the values is evaluated, after @split_by.
 *
 * Context: As codetag_context_find().
 * Return: The context; NULL if there is none yet, or if codetag_context_id() must look
 *	   for it.
 */
#define codetag_context_lookup_fast(site, split_by, nid, accounted, size)	\
({										\
	unsigned int _split_by = (split_by);					\
	bool _known = true;							\
	u64 _value = 0;								\
										\
	if (_split_by == BIT(CODETAG_KEY_NODE))					\
		_value = CODETAG_LOOKUP_NODE + (nid) + 1;				\
	else if (_split_by == BIT(CODETAG_KEY_ACCOUNTED))			\
		_value = codetag_lookup_accounted(accounted);			\
	else if (_split_by == BIT(CODETAG_KEY_SIZE))				\
		_value = (size);						\
	else									\
		_known = false;							\
	_known ? codetag_context_find((site)->lookup_key ^ _value) : NULL;	\
})

/**
 * codetag_context_charge - charge an allocation to a context
 * @ctx:	the context
 * @bytes:	size of the memory
 *
 * Context: As codetag_context_find().
 */
static __always_inline void codetag_context_charge(const struct codetag_context *ctx,
						   size_t bytes)
{
	alloc_tag_count(ctx->counters, bytes, 1, false);
}

unsigned int codetag_context_id(const struct codetag_alloc *alloc, unsigned int max_id);
u16 __codetag_context_split(u16 id, size_t bytes, unsigned long parts);
u16 codetag_context_moved(u16 id, size_t bytes, int nid);
u16 codetag_context_accounted(u16 id, size_t bytes);

/* ---- values that are known later ------------------------------------------------ */

/* Does any site have contexts by size, or by control group or accounted? */
DECLARE_STATIC_KEY_FALSE(codetag_by_size_key);
DECLARE_STATIC_KEY_FALSE(codetag_by_cgroup_key);

/**
 * struct codetag_asked - the size that a task requests of the page allocator
 * @task:	the task, NULL: nobody uses this
 * @tag:	its call site
 * @order:	order of the pages
 * @size:	requested bytes
 *
 * Only @task writes and reads the others, so they need no lock.
 */
struct codetag_asked {
	const struct task_struct *task;
	const struct alloc_tag *tag;
	unsigned int order;
	size_t size;
} ____cacheline_aligned_in_smp;

#define CODETAG_ASKED_BITS	6
extern struct codetag_asked codetag_asked_table[1 << CODETAG_ASKED_BITS];

static __always_inline struct codetag_asked *codetag_asked_of(const struct task_struct *task)
{
	return &codetag_asked_table[hash_ptr(task, CODETAG_ASKED_BITS)];
}

struct codetag_asked *codetag_page_ask(unsigned int order, size_t size);
void codetag_page_asked(struct codetag_asked *asked, struct page *page, unsigned int order,
			size_t size);
void __codetag_page_charged(struct page *page, unsigned int order);
void __codetag_folio_charged(struct folio *folio);

/* Is codetag_page_ask() to be called before pages are allocated for a smaller size? */
static __always_inline bool codetag_by_size(void)
{
	return static_branch_unlikely(&codetag_by_size_key);
}

/* The requested size of the pages that the current task allocates now */
static __always_inline size_t codetag_page_size_asked(unsigned int order)
{
	const struct codetag_asked *asked;

	if (codetag_by_size()) {
		asked = codetag_asked_of(current);
		if (READ_ONCE(asked->task) == current && asked->tag == alloc_tag_current() &&
		    asked->order == order)
			return asked->size;
	}
	return PAGE_SIZE << order;
}

/**
 * codetag_page_charged - tell that pages were charged to a memory control group
 * @page:	first page
 * @order:	order of the allocation
 *
 * Pages are charged to their group after they are allocated, so the group of an
 * allocation is known only now.
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
 *
 * Context: As codetag_page_charged().
 */
static __always_inline void codetag_folio_charged(struct folio *folio)
{
	if (static_branch_unlikely(&codetag_by_cgroup_key))
		__codetag_folio_charged(folio);
}

#else /* CONFIG_CODETAG_CONTEXTS */

static inline void codetag_context_charge(const struct codetag_context *ctx, size_t bytes) {}

static inline unsigned int codetag_context_id(const struct codetag_alloc *alloc,
					      unsigned int max_id)
{
	return CODETAG_ID_NONE;
}

static inline u16 __codetag_context_split(u16 id, size_t bytes, unsigned long parts)
{
	alloc_tag_add_parts(id, parts - 1);
	return id;
}

static inline u16 codetag_context_moved(u16 id, size_t bytes, int nid)
{
	return id;
}

static inline void codetag_page_charged(struct page *page, unsigned int order) {}
static inline void codetag_folio_charged(struct folio *folio) {}

#endif /* CONFIG_CODETAG_CONTEXTS */

/**
 * codetag_context_split - an allocation is split into parts
 * @id:		the id that it is charged to
 * @bytes:	its size
 * @parts:	how many it becomes, of the same size each
 *
 * Each of the parts is held and freed like an allocation of that size.
 *
 * Context: Any; nobody else may free or change the allocation.
 * Return: The id that all parts are charged to.
 */
static inline u16 codetag_context_split(u16 id, size_t bytes, unsigned long parts)
{
	/* Ids of built-in code are never those of contexts. */
	if (unlikely(id >= codetag_builtin_end))
		return __codetag_context_split(id, bytes, parts);
	alloc_tag_add_parts(id, parts - 1);
	return id;
}

/**
 * codetag_charged_id - the id to charge an allocation to
 * @alloc:	the allocation
 * @max_id:	the highest id that can be stored
 *
 * Context: Any, with preemption disabled until the allocation is charged. In NMI the allocation
 *	    of a split site is charged to the site and counted as lost.
 * Return: The id of the current call site or of one of its contexts;
 *	   CODETAG_ID_NONE if the site is switched off. A site's own id can be
 *	   above @max_id.
 */
static inline unsigned int codetag_charged_id(const struct codetag_alloc *alloc,
					      unsigned int max_id)
{
	const struct alloc_tag *tag = alloc_tag_current();
	unsigned int id = alloc_tag_id(tag);

	if (!id && alloc_tag_split(tag))
		id = codetag_context_id(alloc, max_id);
	return id;
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline void codetag_page_charged(struct page *page, unsigned int order) {}
static inline void codetag_folio_charged(struct folio *folio) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#if !defined(CONFIG_MEM_ALLOC_PROFILING) || !defined(CONFIG_CODETAG_CONTEXTS)

struct codetag_asked;

static inline bool codetag_by_size(void)
{
	return false;
}

static inline struct codetag_asked *codetag_page_ask(unsigned int order, size_t size)
{
	return NULL;
}

static inline void codetag_page_asked(struct codetag_asked *asked, struct page *page,
				      unsigned int order, size_t size) {}

#endif

#endif /* _MM_CODETAG_CONTEXT_H */
