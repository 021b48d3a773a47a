// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts: a call site that is split charges each distinct value of its keys to
 * an id of its own.
 *
 * An allocation of such a site computes the values, finds the context that has them
 * and is charged to its id. If there is none yet, it takes a free one. A context that is
 * not used for a while and holds nothing becomes free again.
 *
 * Finding a context takes no lock. The allocator disables preemption from finding a context
 * until charging it, and a context becomes free only after a grace period.
 */
#include <linux/cgroup.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/static_key.h>
#include <linux/timekeeping.h>
#include "context.h"
#include "context_pool.h"
#include "context_stack.h"
#include "internal.h"
#include "page_store.h"
#include "site.h"
#include "split.h"
#include "stats.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

/* Length of the intervals that the key "age" tells apart, in seconds. */
unsigned int codetag_age_interval = 60;
module_param_cb(age_interval, &codetag_param_ops, &codetag_age_interval, 0644);

struct hlist_head codetag_context_table[1 << CODETAG_CONTEXT_BITS];

/*
 * Secret seeds, which codetag_contexts_seed() sets before the first site is split. Users
 * choose names and sizes: without the seeds they could choose many with one hash, and chains
 * are walked with codetag_context_lock held.
 */
u32 codetag_hash_factor __read_mostly;
static hsiphash_key_t hash_key __read_mostly;

DEFINE_PER_CPU(unsigned long, codetag_contexts_nr_lost);

/* ---- values ------------------------------------------------------------------ */

/* small, size, age, cgroup, task */
#define TASK_WORDS	(TASK_COMM_LEN / sizeof(u64))
static_assert(4 + TASK_WORDS <= CODETAG_VALUE_WORDS);
static_assert(CONFIG_NR_CPUS <= 1 << (CODETAG_ACCOUNTED_SHIFT - CODETAG_CPU_SHIFT));
static_assert(MAX_NUMNODES < 1 << CODETAG_CPU_SHIFT);

/**
 * struct values - the values of an allocation's keys
 * @lookup_key: like that of a context
 * @hash:	like that of a context
 * @nr_words:	how many @words there are
 * @nr_frames:	how many frames the stack has
 * @stack:	like that of a context
 * @words:	like those of a context
 */
struct values {
	u64 lookup_key;
	u32 hash;
	unsigned int nr_words;
	unsigned int nr_frames;
	const unsigned long *stack;
	u64 words[CODETAG_VALUE_WORDS];
};

/**
 * codetag_uptime - seconds since boot, as ages count them
 *
 * By the clock, suspended or not: jiffies fall behind where ticks get lost, as in a guest
 * on a busy host.
 *
 * Context: Any.
 * Return: The seconds.
 */
unsigned int codetag_uptime(void)
{
	return div_u64(ktime_get_boot_fast_ns(), NSEC_PER_SEC);
}

/*
 * The current age interval: its length in seconds in the high word, its start since boot in
 * the low word.
 */
static atomic64_t age_now;
/* Jiffies of the last clock read; one CPU reads it per tick. */
static unsigned long age_looked;

static noinline u64 look_at_age(void)
{
	unsigned int length = max(READ_ONCE(codetag_age_interval), 1U), now = codetag_uptime();
	s64 age = atomic64_read(&age_now), new = (u64)length << 32 | now;

	if ((u64)age >> 32 == length && now < (u64)(u32)age + length)
		return age;
	/* No lock: a tracer of its contention could allocate. Another CPU may be faster. */
	return atomic64_try_cmpxchg(&age_now, &age, new) ? new : age;
}

static u64 current_age(void)
{
	unsigned long looked = READ_ONCE(age_looked), tick = jiffies;
	u64 age = atomic64_read(&age_now);

	if (unlikely(!age || (looked != tick && try_cmpxchg(&age_looked, &looked, tick))))
		age = look_at_age();
	return age;
}

#ifdef CONFIG_MEMCG
/**
 * codetag_cgroup_value - the word of the key "cgroup"
 * @cgrp: a memory control group
 *
 * Context: Any.
 * Return: Its id, with the number of its hierarchy in front.
 */
u64 codetag_cgroup_value(const struct cgroup *cgrp)
{
	return cgroup_id(cgrp) ^ (u64)cgrp->root->hierarchy_id << CODETAG_HIERARCHY_SHIFT;
}
#endif

/*
 * Accounted kernel memory is charged to the active group of the task, and in the root group
 * to none. All other memory is charged after it is allocated, if at all: see
 * codetag_page_charged().
 */
static u64 current_cgroup(bool accounted)
{
	u64 id = 0;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = NULL;

	if (!accounted || !memcg_kmem_online())
		return 0;

	rcu_read_lock();
	if (in_task())
		memcg = current->active_memcg;
	else
		memcg = this_cpu_read(int_active_memcg);
	if (!memcg && in_task() && current->mm && !(current->flags & PF_KTHREAD))
		memcg = mem_cgroup_from_task(current);
	if (memcg && !mem_cgroup_is_root(memcg))
		id = codetag_cgroup_value(memcg->css.cgroup);
	rcu_read_unlock();
#endif
	return id;
}

/* Interrupts have no task. */
static void task_of_current(u64 words[TASK_WORDS])
{
	const char *comm = in_task() ? current->comm : in_hardirq() ? "<hardirq>" : "<softirq>";
	char name[TASK_COMM_LEN];

	/* comm may change concurrently. Pad it, because names are compared as words. */
	strscpy_pad(name, comm);
	memcpy(words, name, sizeof(name));
}

/**
 * codetag_contexts_seed - choose the seeds of hashes, once
 *
 * Context: Process, before a site is split; one at a time.
 */
void codetag_contexts_seed(void)
{
	if (codetag_hash_factor)
		return;
	get_random_bytes(&hash_key, sizeof(hash_key));
	codetag_hash_factor = get_random_u32() | 1;
}

/* The lookup key of a caller; 0 if there is none, or if the site does not know that call. */
static u64 caller_key(const struct codetag_site *site, const struct values *values)
{
	unsigned int call;

	if (values->nr_frames < 2)
		return 0;
	call = codetag_call_index(site, values->stack[0]);
	if (call == CODETAG_SITE_CALLS)
		return 0;
	return site->lookup_key ^ codetag_lookup_caller(call, values->stack[1]);
}

/* Compute the lookup key and the hash of the values. */
static __always_inline void hash_values(const struct codetag_site *site, unsigned int split_by,
					struct values *values)
{
	if (split_by == CODETAG_SPLIT_BY_CALLER)
		values->lookup_key = caller_key(site, values);
	else
		values->lookup_key = codetag_lookup_key(site, split_by, values->words[0]);
	if (values->lookup_key) {
		values->hash = codetag_lookup_hash(values->lookup_key);
		return;
	}
	values->hash = (unsigned long)site ^
		       hsiphash(values->words, values->nr_words * sizeof(values->words[0]),
				&hash_key);
	if (values->nr_frames)
		values->hash ^= hsiphash(values->stack,
					 values->nr_frames * sizeof(*values->stack), &hash_key);
}

/* The values of an allocation, in the order of the keys. */
static void codetag_get_values(struct codetag_site *site, unsigned int split_by,
			       const struct codetag_alloc *alloc, struct values *values,
			       unsigned long *entries)
{
	u64 *word = values->words;

	*word = 0;
	if (split_by & CODETAG_SMALL_KEYS)
		*word++ = codetag_small_values(split_by, alloc);
	if (split_by & BIT(CODETAG_KEY_SIZE))
		*word++ = alloc->size;
	if (split_by & BIT(CODETAG_KEY_AGE))
		*word++ = current_age();
	if (split_by & BIT(CODETAG_KEY_CGROUP))
		*word++ = current_cgroup(alloc->accounted);
	if (split_by & BIT(CODETAG_KEY_TASK)) {
		task_of_current(word);
		word += TASK_WORDS;
	}
	values->nr_words = word - values->words;
	values->nr_frames = 0;
	if (split_by & CODETAG_FRAME_KEYS)
		values->nr_frames = codetag_stack_save(site, split_by, entries, &values->stack);

	hash_values(site, split_by, values);
}

/* ---- finding and making ------------------------------------------------------ */

static bool values_are(const struct codetag_context *ctx, const struct values *values)
{
	unsigned int i;

	for (i = 0; i < values->nr_words; i++)
		if (ctx->words[i] != values->words[i])
			return false;
	for (i = 0; i < values->nr_frames; i++)
		if (ctx->stack[i] != values->stack[i])
			return false;
	return ctx->nr_frames == values->nr_frames;
}

static struct codetag_context *find_context(const struct codetag_site *site, unsigned int split_by,
					    const struct values *values)
{
	struct codetag_context *ctx;

	hlist_for_each_entry_rcu(ctx, codetag_contexts_of(values->hash), node, true)
		if (ctx->hash == values->hash && ctx->site == site && ctx->split_by == split_by &&
		    values_are(ctx, values))
			return ctx;
	return NULL;
}

static unsigned int charge_site_as_lost(struct codetag_site *site)
{
	this_cpu_inc(*site->lost);
	this_cpu_inc(codetag_contexts_nr_lost);
	return site->id;
}

/* Addresses in the stack of a stale context may belong to another module by now. */
static bool stack_valid(const struct codetag_context *ctx)
{
	enum codetag_context_state state = READ_ONCE(ctx->state);

	return !ctx->nr_frames || (state != CODETAG_CONTEXT_STALE &&
				   state != CODETAG_CONTEXT_STALE_UNHASHED);
}

/*
 * May a new context be made? Not if the site was just split by other keys or is not split any
 * more. And not in place of @like if its stack is not valid.
 */
static bool values_valid(const struct codetag_site *site, unsigned int split_by,
			 const struct codetag_context *like)
{
	return like ? stack_valid(like) : READ_ONCE(site->split_now) == split_by;
}

/* Make a context of a free one; with codetag_context_lock held. */
static struct codetag_context *new_context(struct codetag_site *site, unsigned int split_by,
					   const struct values *values, unsigned int max_id,
					   const struct codetag_context *like)
{
	struct codetag_context *ctx;

	if (!values_valid(site, split_by, like) || site->nr >= site->max)
		return NULL;
	ctx = codetag_pool_take(max_id, split_by & CODETAG_SPLIT_TRACE);
	if (!ctx)
		return NULL;

	site->nr++;
	ctx->hash = values->hash;
	ctx->lookup_key = values->lookup_key;
	ctx->split_by = split_by;
	ctx->nr_words = values->nr_words;
	ctx->nr_frames = values->nr_frames;
	memcpy(ctx->words, values->words, values->nr_words * sizeof(*ctx->words));
	memcpy(ctx->stack, values->stack, values->nr_frames * sizeof(*ctx->stack));
	ctx->seen = 0;
	smp_store_release(&ctx->site, site); /* pairs with codetag_context_next() */
	list_add_tail_rcu(&ctx->list, &site->contexts);
	hlist_add_head_rcu(&ctx->node, codetag_contexts_of(ctx->hash));
	/* pairs with codetag_context_state() */
	smp_store_release(&ctx->state, CODETAG_CONTEXT_HASHED);
	return ctx;
}

/*
 * Make the context for new values; another CPU may have made it already. @like: the
 * context that the allocation was charged to before, NULL for a new allocation.
 */
static noinline struct codetag_context *make_context(struct codetag_site *site,
						     unsigned int split_by,
						     const struct values *values,
						     unsigned int max_id,
						     const struct codetag_context *like)
{
	bool traced = split_by & CODETAG_SPLIT_TRACE;
	struct codetag_context *ctx;
	unsigned long flags;
	bool refill;

	if (in_nmi() || READ_ONCE(site->nr) >= READ_ONCE(site->max) ||
	    !codetag_pool_may_take(traced) || codetag_context_locked())
		return NULL;

	flags = codetag_context_lock();
	ctx = find_context(site, split_by, values);
	if (!ctx)
		ctx = new_context(site, split_by, values, max_id, like);
	refill = codetag_pool_low(traced);
	codetag_context_unlock(flags);
	if (refill)
		codetag_pool_refill_later();
	return ctx;
}

/**
 * codetag_context_found - find the hashed context with the same values as @ctx
 * @ctx: a context that has a site
 *
 * Context: With codetag_context_lock held.
 * Return: The context, which can be @ctx itself; NULL if there is none.
 */
struct codetag_context *codetag_context_found(const struct codetag_context *ctx)
{
	struct values values = {
		.hash = ctx->hash,
		.nr_words = ctx->nr_words,
		.nr_frames = ctx->nr_frames,
		.stack = ctx->stack,
	};

	memcpy(values.words, ctx->words, sizeof(values.words));
	return find_context(ctx->site, ctx->split_by, &values);
}

/**
 * codetag_context_id - find or make the context of an allocation at a split site
 * @alloc:	the allocation
 * @max_id:	the highest id that can be stored
 *
 * Context: Any, with preemption disabled until the allocation is charged. In NMI it is charged
 *	    to the site and counted as lost.
 * Return: The id of a context of the current site, or that of the site.
 */
unsigned int codetag_context_id(const struct codetag_alloc *alloc, unsigned int max_id)
{
	const struct codetag *ct = &alloc_tag_current()->ct;
	/* Deliberately not initialised: only the words that the keys need are written. */
	unsigned long entries[CODETAG_STACK_ENTRIES] __uninitialized;
	struct values values __uninitialized;
	struct codetag_context *ctx;
	struct codetag_site *site;
	unsigned int split_by, id;

	split_by = codetag_split_now(ct, &site);
	if (!split_by) {
		/* Not any more: it has an id now, or it is switched off. */
		id = READ_ONCE(ct->id);
		smp_rmb(); /* or it has been split again */
		split_by = id ? 0 : codetag_split_now(ct, &site);
		if (!split_by)
			return id;
	}

	if (split_by == CODETAG_SPLIT_BY_CALLER) {
		ctx = codetag_context_of_caller(site);
		if (likely(ctx && ctx->id <= max_id))
			return ctx->id;
	}

	/* The code below takes the lock, also to look up the names of a stack. */
	if (in_nmi() || codetag_context_locked())
		return charge_site_as_lost(site);

	codetag_get_values(site, split_by, alloc, &values, entries);
	ctx = find_context(site, split_by, &values);
	if (unlikely(!ctx))
		ctx = make_context(site, split_by, &values, max_id, NULL);
	if (unlikely(!ctx || ctx->id > max_id))
		return charge_site_as_lost(site);
	return ctx->id;
}

/* ---- values that change later --------------------------------------------------- */

DEFINE_STATIC_KEY_FALSE(codetag_by_size_key);
DEFINE_STATIC_KEY_FALSE(codetag_by_cgroup_key);

/* The words of a context, to change values in them. */
struct words {
	u64 word[CODETAG_VALUE_WORDS];
};

static struct words words_of(const struct codetag_context *ctx)
{
	struct words words;

	static_assert(sizeof(words) == sizeof(ctx->words));
	memcpy(words.word, ctx->words, sizeof(words));
	return words;
}

/* Change a value that is known later, if it is a key. Small values are in the first word. */
static void set_node(struct words *words, unsigned int split_by, int nid)
{
	if (split_by & BIT(CODETAG_KEY_NODE))
		words->word[0] = (words->word[0] & ~(u64)U16_MAX) | (nid + 1);
}

static void set_accounted(struct words *words, unsigned int split_by)
{
	if (split_by & BIT(CODETAG_KEY_ACCOUNTED))
		words->word[0] |= 1U << CODETAG_ACCOUNTED_SHIFT;
}

static void set_size(struct words *words, unsigned int split_by, u64 size)
{
	if (split_by & BIT(CODETAG_KEY_SIZE))
		words->word[!!(split_by & CODETAG_SMALL_KEYS)] = size;
}

static void set_cgroup(struct words *words, unsigned int split_by, u64 id)
{
	if (split_by & BIT(CODETAG_KEY_CGROUP))
		words->word[!!(split_by & CODETAG_SMALL_KEYS) +
			    !!(split_by & BIT(CODETAG_KEY_SIZE)) +
			    !!(split_by & BIT(CODETAG_KEY_AGE))] = id;
}

/* The context that differs from @ctx in these values, NULL if there can be none. */
static struct codetag_context *context_like(struct codetag_context *ctx,
					    const struct words *words, unsigned int max_id)
{
	struct codetag_site *site = READ_ONCE(ctx->site);
	struct values values = {
		.nr_words = ctx->nr_words,
		.nr_frames = ctx->nr_frames,
		.stack = ctx->stack,
	};
	struct codetag_context *other;

	/* Its symbols would be those of the other module. */
	if (!stack_valid(ctx))
		return NULL;
	memcpy(values.words, words->word, sizeof(values.words));
	hash_values(site, ctx->split_by, &values);
	other = find_context(site, ctx->split_by, &values);
	if (!other)
		other = make_context(site, ctx->split_by, &values, max_id, ctx);
	return other && other->id <= max_id ? other : NULL;
}

/* Charge an allocation of @ctx, in @parts, to the context with these values instead. */
static u16 move_charge(struct codetag_context *ctx, const struct words *words,
		       size_t bytes, unsigned long parts, unsigned int max_id)
{
	struct codetag_context *to = ctx;
	u16 id;

	/* An id that was overwritten can be that of a free context, which has no site. */
	if (READ_ONCE(ctx->site) &&
	    memcmp(words->word, ctx->words, ctx->nr_words * sizeof(*ctx->words)))
		to = context_like(ctx, words, max_id);
	/* Without a context it is charged to its site, whose id may be too high for pages. */
	if (!to && ctx->site->id > max_id)
		to = ctx;
	if (to)
		id = to->id;
	else
		id = charge_site_as_lost(ctx->site);
	if (to == ctx) {
		alloc_tag_add_parts(id, parts - 1);
		return id;
	}
	/*
	 * Count parts, not an allocation or a free, so that neither counter of the site
	 * falls.
	 */
	alloc_tag_add_parts(id, parts);
	alloc_tag_charge(id, bytes, 0);
	/* Bytes go first and calls last, see alloc_tag_uncharge(). */
	alloc_tag_count(ctx->counters, -(u64)bytes, 0, false);
	this_cpu_dec(*ctx->parts);
	return id;
}

/**
 * __codetag_context_split - see codetag_context_split()
 * @id:		the id that the allocation is charged to
 * @bytes:	its size
 * @parts:	how many it becomes, of the same size each
 *
 * Context: Any; nobody else may free or change the allocation.
 * Return: The id that all parts are charged to.
 */
u16 __codetag_context_split(u16 id, size_t bytes, unsigned long parts)
{
	struct codetag_context *ctx;
	struct words words;

	preempt_disable();
	ctx = codetag_context_of(id);
	if (ctx) {
		words = words_of(ctx);
		set_size(&words, ctx->split_by, bytes / parts);
		id = move_charge(ctx, &words, bytes, parts, page_tag_max_id);
	} else {
		alloc_tag_add_parts(id, parts - 1);
	}
	preempt_enable();
	return id;
}

/**
 * codetag_context_moved - the memory of an allocation has moved to another node
 * @id:		the id that it is charged to
 * @bytes:	its size
 * @nid:	the node
 *
 * Context: Any but NMI; nobody else may free or change the allocation.
 * Return: The id that it is charged to now.
 */
u16 codetag_context_moved(u16 id, size_t bytes, int nid)
{
	struct codetag_context *ctx;
	struct words words;

	preempt_disable();
	ctx = codetag_context_of(id);
	if (ctx) {
		words = words_of(ctx);
		set_node(&words, ctx->split_by, nid);
		id = move_charge(ctx, &words, bytes, 1, page_tag_max_id);
	}
	preempt_enable();
	return id;
}

/**
 * codetag_context_accounted - a slab object is accounted to the group of the current task
 * @id:		the id that it is charged to
 * @bytes:	its size
 *
 * Context: Any but NMI; nobody else may free or change the object.
 * Return: The id that it is charged to now.
 */
u16 codetag_context_accounted(u16 id, size_t bytes)
{
	struct codetag_context *ctx;
	struct words words;

	if (id < codetag_builtin_end)
		return id;
	/* Before the search: if the id was overwritten, the context may be freed. */
	preempt_disable();
	ctx = codetag_context_of(id);
	if (ctx) {
		words = words_of(ctx);
		set_accounted(&words, ctx->split_by);
		set_cgroup(&words, ctx->split_by, current_cgroup(true));
		id = move_charge(ctx, &words, bytes, 1, CODETAG_ID_MAX);
	}
	preempt_enable();
	return id;
}

/* Which context is the allocation that begins with @page charged to? */
static struct codetag_context *context_of_page(struct page *page)
{
	u16 id = page_tag_get(page_tag_holder(page));

	return id < codetag_builtin_end ? NULL : codetag_context_of(id);
}

/* Values of the allocation that begins with @page have become known. */
static void page_values(struct page *page, unsigned int order, struct codetag_context *ctx,
			const struct words *words)
{
	u16 now = move_charge(ctx, words, PAGE_SIZE << order, 1, page_tag_max_id);

	if (now != ctx->id)
		page_tag_set(page_tag_holder(page), now);
}

struct codetag_asked codetag_asked_table[1 << CODETAG_ASKED_BITS];

/**
 * codetag_page_ask - say which size is requested of the page allocator
 * @order:	order of the pages that the current task is about to allocate
 * @size:	requested bytes
 *
 * Without it, the pages would first be charged to a context of their own size, which would
 * stay for some seconds. This still happens in an interrupt, and if another task uses the
 * same element of the table.
 *
 * Context: Any but NMI; codetag_page_asked() is to follow.
 * Return: An argument for codetag_page_asked().
 */
struct codetag_asked *codetag_page_ask(unsigned int order, size_t size)
{
	struct codetag_asked *asked = codetag_asked_of(current);
	struct alloc_tag *tag = alloc_tag_current();

	if (alloc_tag_id(tag) || !alloc_tag_split(tag))
		return NULL;
	if (!in_task() || cmpxchg(&asked->task, NULL, current))
		return NULL;
	asked->tag = tag;
	asked->order = order;
	asked->size = size;
	return asked;
}

/**
 * codetag_page_asked - undo codetag_page_ask()
 * @asked:	what that returned
 * @page:	first page of the allocation, NULL if that failed
 * @order:	order of the allocation
 * @size:	requested bytes
 *
 * Context: Any but NMI; nobody else may know the pages yet.
 */
void codetag_page_asked(struct codetag_asked *asked, struct page *page, unsigned int order,
			size_t size)
{
	struct codetag_context *ctx;
	struct words words;

	if (asked)
		smp_store_release(&asked->task, NULL); /* after all use of the other members */
	if (!page)
		return;
	preempt_disable();
	ctx = context_of_page(page);
	if (ctx) {
		words = words_of(ctx);
		set_size(&words, ctx->split_by, size);
		page_values(page, order, ctx, &words);
	}
	preempt_enable();
}

#ifdef CONFIG_MEMCG

/**
 * __codetag_page_charged - see codetag_page_charged()
 * @page:	first page
 * @order:	order of the allocation
 *
 * Context: As codetag_page_charged().
 */
void __codetag_page_charged(struct page *page, unsigned int order)
{
	struct codetag_context *ctx;
	struct words words;

	if (!page_tag_has_place(page))
		return;
	preempt_disable();
	ctx = context_of_page(page);
	if (ctx) {
		words = words_of(ctx);
		rcu_read_lock();
		set_cgroup(&words, ctx->split_by,
			   codetag_cgroup_value(folio_memcg(page_folio(page))->css.cgroup));
		rcu_read_unlock();
		if (folio_memcg_kmem(page_folio(page)))
			set_accounted(&words, ctx->split_by);
		page_values(page, order, ctx, &words);
	}
	preempt_enable();
}

/**
 * __codetag_folio_charged - see codetag_folio_charged()
 * @folio: the folio
 *
 * Context: As codetag_page_charged().
 */
void __codetag_folio_charged(struct folio *folio)
{
	__codetag_page_charged(&folio->page, folio_order(folio));
}

#endif
