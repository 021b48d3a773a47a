// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: a call site that is split charges each distinct value of its keys to
 * an id of its own.
 *
 * An allocation of such a site computes the values, finds the context that has them
 * and is charged to its id. If there is none yet, it takes a free one. Free contexts
 * are prepared beforehand, in blocks of ids like those of modules. A context
 * that is not used for a while and holds nothing becomes free again.
 *
 * Finding a context takes no lock. The allocator disables preemption from finding a context
 * until charging it, and a context becomes free only after a grace period.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/cgroup.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/seq_buf.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/static_key.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include "context.h"
#include "context_stack.h"
#include "helpers.h"
#include "internal.h"
#include "page_store.h"
#include "site.h"
#include "split.h"
#include "stats.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

/* Contexts that there may be, of all sites together: UINT_MAX until it is known. */
unsigned int codetag_max_contexts = UINT_MAX;
module_param_cb(max_contexts, &codetag_param_ops, &codetag_max_contexts, 0644);

/* Length of the intervals that the key "age" tells apart, in seconds. */
unsigned int codetag_age_interval = 60;
module_param_cb(age_interval, &codetag_param_ops, &codetag_age_interval, 0644);

/* Free contexts that there shall be, at least and for each site that is split. */
#define FREE_MIN	256
#define FREE_PER_SITE	4

/* How often it is looked whether contexts are free. */
#define REAP_INTERVAL	(10 * HZ)

struct hlist_head codetag_context_table[1 << CODETAG_CONTEXT_BITS];

/*
 * Secret seeds, which choose_hash() sets before the first site is split. Users choose names
 * and sizes: without the seeds they could choose many with one hash, and chains are walked
 * with codetag_context_lock held.
 */
u32 codetag_hash_factor __read_mostly;
static hsiphash_key_t hash_key __read_mostly;

/* Free contexts: those that every page can hold, and those that only objects can. */
static struct hlist_head free_contexts[2];

static unsigned int nr_used, nr_free, nr_split;

DEFINE_PER_CPU(unsigned long, codetag_contexts_nr_lost);

/*
 * Protects the blocks, and keeps contexts from being freed. Modules that load wait for it,
 * so it is never held over a grace period. codetag_sem nests inside.
 */
static DEFINE_MUTEX(blocks_mutex);
static LIST_HEAD(blocks);

/*
 * Taken to release contexts and blocks: while it is held, no block goes and no other task
 * makes a context free. blocks_mutex nests inside.
 */
static DEFINE_MUTEX(reap_mutex);

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

/* The interval that it is: its start in seconds since boot, and its length above. */
static atomic64_t age_now;
/* When the clock was looked at: once a tick, by one CPU. */
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

/* In interrupts it is nobody's allocation. */
static void task_of_current(u64 words[TASK_WORDS])
{
	const char *comm = in_task() ? current->comm : in_hardirq() ? "<hardirq>" : "<softirq>";
	char name[TASK_COMM_LEN];

	/* It may be changed meanwhile; what is behind it has to be the same, too. */
	strscpy_pad(name, comm);
	memcpy(words, name, sizeof(name));
}

/* Compute the lookup key and the hash of the values. */
static __always_inline void hash_values(const struct codetag_site *site, unsigned int split_by,
					struct values *values)
{
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
static void get_values(struct codetag_site *site, unsigned int split_by, int nid, gfp_t gfp,
		       bool accounted, size_t size, struct values *values,
		       unsigned long *entries)
{
	u64 *word = values->words;

	*word = 0;
	if (split_by & CODETAG_SMALL_KEYS)
		*word++ = codetag_small_values(split_by, nid, gfp, accounted);
	if (split_by & BIT(CODETAG_KEY_SIZE))
		*word++ = size;
	if (split_by & BIT(CODETAG_KEY_AGE))
		*word++ = current_age();
	if (split_by & BIT(CODETAG_KEY_CGROUP))
		*word++ = current_cgroup(accounted);
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

static struct codetag_block *block_of(struct codetag_context *ctx)
{
	return container_of(ctx - ctx->id % CODETAG_BLOCK_SIZE, struct codetag_block, contexts[0]);
}

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

/* For long work, on any CPU. NULL if there was no memory for it at boot. */
static struct workqueue_struct *context_wq __ro_after_init;

static void refill_by_work(struct work_struct *work);
static DECLARE_WORK(refill_work, refill_by_work);

static void queue_refill(struct irq_work *irq_work)
{
	if (context_wq)
		queue_work(context_wq, &refill_work);
}

/* The allocating task may hold the locks of the workqueues. */
static DEFINE_IRQ_WORK(refill_irq_work, queue_refill);

/* When the last try to get more was in vain: for a second nobody tries again. */
static unsigned long refill_failed = INITIAL_JIFFIES - HZ;

static unsigned int wanted_free(void)
{
	unsigned int max = READ_ONCE(codetag_max_contexts);

	if (!READ_ONCE(nr_split))
		return 0;
	return min(FREE_MIN + FREE_PER_SITE * READ_ONCE(nr_split),
		   max - min(max, READ_ONCE(nr_used)));
}

static bool may_refill(void)
{
	unsigned long failed = READ_ONCE(refill_failed);

	/* Jiffies of 32 bits are before anything that is long enough ago. */
	return READ_ONCE(nr_free) < wanted_free() &&
	       !time_in_range_open(jiffies, failed, failed + HZ);
}

/*
 * Is there a chance of a new context? Once a limit is reached, every allocation on all CPUs
 * may come here, and must not wait for the lock in vain.
 */
static bool may_take(const struct codetag_site *site)
{
	return READ_ONCE(site->nr) < READ_ONCE(site->max) &&
	       READ_ONCE(nr_used) < READ_ONCE(codetag_max_contexts) &&
	       (READ_ONCE(nr_free) || may_refill());
}

static unsigned int charge_site_as_lost(struct codetag_site *site)
{
	this_cpu_inc(*site->lost);
	this_cpu_inc(codetag_contexts_nr_lost);
	return site->id;
}

/*
 * May a new context with these values be made? Not if the site was just split by other keys
 * or is not split any more. And not in place of @like if that is stale: addresses in its
 * stack may belong to another module by now.
 */
static bool values_valid(const struct codetag_site *site, unsigned int split_by,
			 const struct values *values, const struct codetag_context *like)
{
	if (like)
		return !values->nr_frames || (like->state != CODETAG_CONTEXT_STALE &&
					      like->state != CODETAG_CONTEXT_STALE_UNHASHED);
	return READ_ONCE(site->split_now) == split_by;
}

/* Take a free context; with codetag_context_lock held. */
static struct codetag_context *take_context(struct codetag_site *site, unsigned int split_by,
					    const struct values *values, unsigned int max_id,
					    const struct codetag_context *like)
{
	struct hlist_node *first = free_contexts[0].first ?: free_contexts[1].first;
	struct codetag_context *ctx;

	if (!values_valid(site, split_by, values, like) || site->nr >= site->max || !first ||
	    nr_used >= READ_ONCE(codetag_max_contexts))
		return NULL;
	ctx = hlist_entry(first, struct codetag_context, node);
	if (ctx->id > max_id)
		return NULL;

	hlist_del(&ctx->node);
	nr_free--;
	nr_used++;
	site->nr++;
	block_of(ctx)->nr_used++;

	ctx->hash = values->hash;
	ctx->lookup_key = values->lookup_key;
	ctx->split_by = split_by;
	ctx->nr_words = values->nr_words;
	ctx->nr_frames = values->nr_frames;
	memcpy(ctx->words, values->words, values->nr_words * sizeof(*ctx->words));
	memcpy(ctx->stack, values->stack, values->nr_frames * sizeof(*ctx->stack));
	ctx->seen = 0;
	ctx->state = CODETAG_CONTEXT_HASHED;
	smp_store_release(&ctx->site, site); /* pairs with codetag_context_next() */
	list_add_tail_rcu(&ctx->list, &site->contexts);
	hlist_add_head_rcu(&ctx->node, codetag_contexts_of(ctx->hash));
	return ctx;
}

/*
 * The first allocation of its kind, unless another CPU has just had one. @like: the
 * context that it was charged to before, NULL for a new allocation.
 */
static noinline struct codetag_context *make_context(struct codetag_site *site,
						     unsigned int split_by,
						     const struct values *values,
						     unsigned int max_id,
						     const struct codetag_context *like)
{
	struct codetag_context *ctx;
	unsigned long flags;
	bool refill;

	if (in_nmi() || !may_take(site) || codetag_context_locked())
		return NULL;

	flags = codetag_context_lock();
	ctx = find_context(site, split_by, values);
	if (!ctx)
		ctx = take_context(site, split_by, values, max_id, like);
	refill = may_refill();
	codetag_context_unlock(flags);
	if (refill)
		irq_work_queue(&refill_irq_work);
	return ctx;
}

/**
 * codetag_context_id - find or make the context of an allocation at a split site
 * @nid:	node of the memory, NUMA_NO_NODE for several
 * @gfp:	how it was allocated
 * @accounted:	whether it is accounted to a memory control group
 * @size:	bytes that were asked for
 * @max_id:	the highest id that can be stored
 *
 * Context: Any but NMI, with preemption disabled until the allocation is charged.
 * Return: The id of a context of the current site, or that of the site.
 */
unsigned int codetag_context_id(int nid, gfp_t gfp, bool accounted, size_t size,
				unsigned int max_id)
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

	/* The code below takes the lock, also to look up the names of a stack. */
	if (in_nmi() || codetag_context_locked())
		return charge_site_as_lost(site);

	get_values(site, split_by, nid, gfp, accounted, size, &values, entries);
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

/* Change what is known later, if it is among the keys. Small values are in the first word. */
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
	alloc_tag_split_into(id, parts);
	if (to != ctx) {
		alloc_tag_charge(id, bytes, 1);
		/* No free: as if it had been allocated there. */
		alloc_tag_count(ctx->counters, -(u64)bytes, -1, false);
	}
	return id;
}

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
u16 codetag_context_split(u16 id, size_t bytes, unsigned long parts)
{
	struct codetag_context *ctx = codetag_context_of(id);
	struct words words;

	if (!ctx) {
		alloc_tag_split_into(id, parts);
		return id;
	}
	preempt_disable();
	words = words_of(ctx);
	set_size(&words, ctx->split_by, bytes / parts);
	id = move_charge(ctx, &words, bytes, parts, page_tag_max_id);
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
	struct codetag_context *ctx = codetag_context_of(id);
	struct words words;

	if (!ctx)
		return id;
	preempt_disable();
	words = words_of(ctx);
	set_node(&words, ctx->split_by, nid);
	id = move_charge(ctx, &words, bytes, 1, page_tag_max_id);
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

	ctx = id < codetag_builtin_end ? NULL : codetag_context_of(id);
	if (!ctx)
		return id;
	preempt_disable();
	words = words_of(ctx);
	set_accounted(&words, ctx->split_by);
	set_cgroup(&words, ctx->split_by, current_cgroup(true));
	id = move_charge(ctx, &words, bytes, 1, CODETAG_ID_MAX);
	preempt_enable();
	return id;
}

/* Which context is the allocation that begins with @page charged to? */
static struct codetag_context *context_of_page(struct page *page)
{
	u16 id = page_tag_get(pgalloc_tag_holder(page));

	return id < codetag_builtin_end ? NULL : codetag_context_of(id);
}

/* Values of the allocation that begins with @page have become known. */
static void page_values(struct page *page, unsigned int order, struct codetag_context *ctx,
			const struct words *words)
{
	u16 now = move_charge(ctx, words, PAGE_SIZE << order, 1, page_tag_max_id);

	if (now != ctx->id)
		page_tag_set(pgalloc_tag_holder(page), now);
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

	if (!tag || alloc_tag_id(tag) || !alloc_tag_split(tag))
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
		WRITE_ONCE(asked->task, NULL);
	ctx = page ? context_of_page(page) : NULL;
	if (!ctx)
		return;
	preempt_disable();
	words = words_of(ctx);
	set_size(&words, ctx->split_by, size);
	page_values(page, order, ctx, &words);
	preempt_enable();
}

#ifdef CONFIG_MEMCG

/**
 * __codetag_page_charged - see codetag_page_charged()
 * @page:	first page
 * @order:	order of the allocation
 */
void __codetag_page_charged(struct page *page, unsigned int order)
{
	struct codetag_context *ctx;
	struct words words;

	ctx = page_tag_has_place(page) ? context_of_page(page) : NULL;
	if (!ctx)
		return;
	preempt_disable();
	words = words_of(ctx);
	rcu_read_lock();
	set_cgroup(&words, ctx->split_by,
		   codetag_cgroup_value(folio_memcg(page_folio(page))->css.cgroup));
	rcu_read_unlock();
	if (folio_memcg_kmem(page_folio(page)))
		set_accounted(&words, ctx->split_by);
	page_values(page, order, ctx, &words);
	preempt_enable();
}

/**
 * __codetag_folio_charged - see codetag_folio_charged()
 * @folio: the folio
 */
void __codetag_folio_charged(struct folio *folio)
{
	__codetag_page_charged(&folio->page, folio_order(folio));
}

#endif

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/* Ask for values that become known later while a site has contexts with these keys. */
static void switch_keys(void)
{
	/* One task at a time, so that the last one sees all changes. */
	static DEFINE_MUTEX(keys_mutex);
	struct codetag_site *site;
	unsigned int keys = 0;

	mutex_lock(&keys_mutex);
	codetag_lock();
	list_for_each_entry(site, &codetag_sites, list)
		keys |= READ_ONCE(site->keys);
	codetag_unlock();
	set_key(&codetag_by_size_key, keys & BIT(CODETAG_KEY_SIZE));
	set_key(&codetag_by_cgroup_key,
		keys & (BIT(CODETAG_KEY_CGROUP) | BIT(CODETAG_KEY_ACCOUNTED)));
	mutex_unlock(&keys_mutex);
}

/* ---- setting aside ------------------------------------------------------------ */

static void free_block(struct codetag_block *block)
{
	if (block)
		free_percpu(block->counters);
	kvfree(block);
}

/* With codetag_context_lock held. */
static void put_free(struct codetag_context *ctx)
{
	nr_free++;
	hlist_add_head(&ctx->node, &free_contexts[ctx->id > page_tag_max_id]);
}

/* In the order of ids. */
static void list_block(struct codetag_block *new)
{
	struct codetag_block *before;

	list_for_each_entry_reverse(before, &blocks, list)
		if (before->first < new->first)
			break;
	list_add(&new->list, &before->list);
}

static bool add_block(void)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN;
	struct codetag_block *block = kvzalloc(sizeof(*block), gfp);
	unsigned long flags;
	int i;

	lockdep_assert_held(&blocks_mutex);
	if (!block)
		return false;
	block->counters = __alloc_percpu_gfp(CODETAG_BLOCK_BYTES, sizeof(*block->counters), gfp);
	if (!block->counters || !codetag_block_add(block)) {
		free_block(block);
		return false;
	}
	list_block(block);

	flags = codetag_context_lock();
	for (i = CODETAG_BLOCK_SIZE - 1; i >= 0; i--) {
		struct codetag_context *ctx = &block->contexts[i];

		ctx->id = block->first + i;
		ctx->counters = &block->counters[i];
		put_free(ctx);
	}
	codetag_context_unlock(flags);
	return true;
}

static void refill(void)
{
	bool added;

	do {
		mutex_lock(&blocks_mutex);
		added = READ_ONCE(nr_free) < wanted_free();
		if (added && !add_block()) {
			WRITE_ONCE(refill_failed, jiffies);
			added = false;
		}
		mutex_unlock(&blocks_mutex);
		codetag_rest(CODETAG_BLOCK_SIZE * num_possible_cpus());
	} while (added);
}

static void refill_by_work(struct work_struct *work)
{
	refill();
}

/* Give back a block if none of it is in use. */
static bool remove_block(struct codetag_block *block)
{
	unsigned long flags;
	bool unused;
	int i;

	flags = codetag_context_lock();
	unused = !block->nr_used;
	for (i = 0; unused && i < CODETAG_BLOCK_SIZE; i++)
		hlist_del(&block->contexts[i].node);
	if (unused)
		nr_free -= CODETAG_BLOCK_SIZE;
	codetag_context_unlock(flags);
	if (!unused)
		return false;

	list_del(&block->list);
	codetag_block_remove(block);
	free_percpu(block->counters);
	kvfree_rcu(block, rcu);
	return true;
}

/* Give back what is not needed any more, the highest ids first. */
static void give_back(void)
{
	struct codetag_block *block, *before;
	unsigned int keep = READ_ONCE(nr_split) ? 2 * wanted_free() + CODETAG_BLOCK_SIZE : 0;

	mutex_lock(&blocks_mutex);
	list_for_each_entry_safe_reverse(block, before, &blocks, list) {
		if (READ_ONCE(nr_free) < keep + CODETAG_BLOCK_SIZE)
			break;
		remove_block(block);
	}
	mutex_unlock(&blocks_mutex);
}

/* ---- giving back -------------------------------------------------------------- */

/**
 * codetag_site_lost - count the allocations of a site that got no context
 * @site: the site
 *
 * Context: Any, while the site stays.
 * Return: The number.
 */
unsigned long codetag_site_lost(const struct codetag_site *site)
{
	unsigned long lost = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		lost += READ_ONCE(*per_cpu_ptr(site->lost, cpu));
	return lost;
}

/* Allocations do not find it any more. */
static void unhash(struct codetag_context *ctx, enum codetag_context_state state)
{
	unsigned long flags;

	flags = codetag_context_lock();
	if (ctx->state == CODETAG_CONTEXT_HASHED)
		hlist_del_init_rcu(&ctx->node);
	ctx->state = state;
	codetag_context_unlock(flags);
}

/* It is used after all; unless another one has taken its place. */
static void rehash(struct codetag_context *ctx)
{
	struct values values = {
		.hash = ctx->hash,
		.nr_words = ctx->nr_words,
		.nr_frames = ctx->nr_frames,
		.stack = ctx->stack,
	};
	unsigned long flags;

	memcpy(values.words, ctx->words, sizeof(values.words));
	flags = codetag_context_lock();
	if (find_context(ctx->site, ctx->split_by, &values)) {
		ctx->state = CODETAG_CONTEXT_STALE;
	} else {
		ctx->state = CODETAG_CONTEXT_HASHED;
		hlist_add_head_rcu(&ctx->node, codetag_contexts_of(ctx->hash));
	}
	codetag_context_unlock(flags);
}

/* The site takes over the counts of a context that holds nothing. */
static void count_at_site(const struct codetag_context *ctx)
{
	struct codetag_sum sum = alloc_tag_read(ctx->id);
	u16 id = ctx->site->id;

	alloc_tag_charge(id, 0, sum.allocs);
	alloc_tag_split_into(id, sum.parts + 1);
	/* A site keeps its id while it has contexts. */
	WARN_ON_ONCE(!alloc_tag_uncharge(id, 0, sum.frees));
}

/* Take it from its site; reports may still look at it. */
static void detach(struct codetag_context *ctx)
{
	unsigned long flags;

	count_at_site(ctx);

	flags = codetag_context_lock();
	list_del_rcu(&ctx->list);
	ctx->site->nr--;
	WRITE_ONCE(ctx->site, NULL);
	ctx->state = CODETAG_CONTEXT_DETACHED;
	codetag_context_unlock(flags);
}

static void free_context(struct codetag_context *ctx)
{
	unsigned long flags;
	int cpu;

	codetag_stack_text_put(ctx->text);
	ctx->text = NULL;
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(ctx->counters, cpu), 0, sizeof(*ctx->counters));
	codetag_parts_forget(ctx->id, 1);

	flags = codetag_context_lock();
	ctx->state = CODETAG_CONTEXT_FREE;
	block_of(ctx)->nr_used--;
	nr_used--;
	put_free(ctx);
	codetag_context_unlock(flags);
}

/* Have it done with each block; says whether any of them wants more to be done. */
static bool with_blocks(bool (*function)(struct codetag_block *))
{
	struct codetag_block *block;
	bool any = false;

	lockdep_assert_held(&reap_mutex);
	mutex_lock(&blocks_mutex);
	list_for_each_entry(block, &blocks, list) {
		any |= function(block);
		/* Let others have it. The block stays, as nobody else reaps. */
		mutex_unlock(&blocks_mutex);
		mutex_lock(&blocks_mutex);
	}
	mutex_unlock(&blocks_mutex);
	return any;
}

/* Let those leave that have not been used since the last time and hold nothing. */
static bool reap_unhash(struct codetag_block *block)
{
	struct codetag_context *ctx = block->contexts;
	bool any = false;
	u32 allocs;

	for (; ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++) {
		if (ctx->state == CODETAG_CONTEXT_STALE)
			unhash(ctx, CODETAG_CONTEXT_STALE_UNHASHED);
		if (ctx->state == CODETAG_CONTEXT_HASHED) {
			allocs = alloc_tag_read(ctx->id).allocs;
			if (allocs == ctx->seen && !codetag_id_holds_memory(ctx->id))
				unhash(ctx, CODETAG_CONTEXT_UNHASHED);
			ctx->seen = allocs;
		}
		any |= ctx->state == CODETAG_CONTEXT_UNHASHED ||
		       ctx->state == CODETAG_CONTEXT_STALE_UNHASHED;
		codetag_rest(num_possible_cpus());
	}
	return any;
}

/*
 * After the grace period no allocation can find the contexts that were leaving before it,
 * so their counters only fall. Contexts that became old meanwhile wait for the next run.
 */
static bool reap_detach(struct codetag_block *block)
{
	struct codetag_context *ctx = block->contexts;
	u32 unused = 0;

	for (; ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++) {
		if (ctx->state != CODETAG_CONTEXT_UNHASHED &&
		    ctx->state != CODETAG_CONTEXT_STALE_UNHASHED)
			continue;
		if (!codetag_id_holds_memory(ctx->id))
			unused |= BIT(ctx - block->contexts);
		else if (ctx->state == CODETAG_CONTEXT_UNHASHED)
			rehash(ctx);
		else
			unhash(ctx, CODETAG_CONTEXT_STALE);
		codetag_rest(num_possible_cpus());
	}
	if (!unused)
		return false;

	/* Code that sums up the contexts of a site holds codetag_lock() only. */
	codetag_lock_all();
	for (ctx = block->contexts; ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++)
		if (unused & BIT(ctx - block->contexts))
			detach(ctx);
	codetag_unlock_all();
	return true;
}

static bool reap_free(struct codetag_block *block)
{
	struct codetag_context *ctx = block->contexts;

	for (; ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++) {
		if (ctx->state != CODETAG_CONTEXT_DETACHED)
			continue;
		free_context(ctx);
		codetag_rest(num_possible_cpus());
	}
	return false;
}

static void count_split(void)
{
	struct codetag_site *site;
	unsigned int nr = 0;

	list_for_each_entry(site, &codetag_sites, list) {
		nr += !!READ_ONCE(site->split_wanted);
		codetag_rest(1);
	}
	WRITE_ONCE(nr_split, nr);
}

/* Sites that are not split any more and have no contexts are forgotten. */
static void reap_sites(void)
{
	struct codetag_site *site, *next;

	codetag_lock_all();
	list_for_each_entry_safe(site, next, &codetag_sites, list)
		if (!READ_ONCE(site->split_wanted) && !READ_ONCE(site->nr))
			codetag_site_release(site->id, false);
	count_split();
	codetag_unlock_all();
}

/**
 * codetag_contexts_reap - release the ids of unused contexts
 *
 * Unused are those that hold nothing and had no allocation since the last call.
 *
 * Context: Process.
 */
void codetag_contexts_reap(void)
{
	bool freed = false;

	mutex_lock(&reap_mutex);
	if (with_blocks(reap_unhash)) {
		synchronize_rcu();
		freed = with_blocks(reap_detach);
		if (freed) {
			synchronize_rcu();
			with_blocks(reap_free);
		}
	}
	reap_sites();
	switch_keys();
	give_back();
	mutex_unlock(&reap_mutex);

	/* Sites of unloaded modules may have waited for that. */
	if (freed)
		codetag_reap();
}

static void reap_by_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, reap_by_work);

static void reap_by_work(struct work_struct *work)
{
	unsigned long start = jiffies;

	codetag_contexts_reap();
	/* With many contexts on thousands of CPUs it takes its time: a tenth of all, at most. */
	if (!list_empty(&codetag_sites))
		queue_delayed_work(context_wq, &reap_work,
				   max_t(unsigned long, REAP_INTERVAL, 9 * (jiffies - start)));
}

/* ---- modules ------------------------------------------------------------------ */

static bool in_stack(const struct codetag_context *ctx, const struct module *mod, bool init)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_frames; i++)
		if (init ? within_module_init(ctx->stack[i], mod) :
			   within_module(ctx->stack[i], mod))
			return true;
	return false;
}

static bool keep_stack(struct codetag_context *ctx, const struct module *mod, bool init)
{
	if (ctx->state == CODETAG_CONTEXT_FREE || ctx->state == CODETAG_CONTEXT_DETACHED ||
	    ctx->text || !in_stack(ctx, mod, init))
		return false;
	unhash(ctx, CODETAG_CONTEXT_STALE);
	ctx->text = codetag_stack_text_get(ctx->stack, ctx->nr_frames);
	/* No stack is better than one with wrong names. */
	if (!ctx->text)
		ctx->nr_frames = 0;
	return true;
}

/* Code of the module goes away: keep the names in stacks, and let no stack have its addresses. */
static void keep_stacks(const struct module *mod, bool init)
{
	struct codetag_block *block;
	unsigned int i;
	bool any;

	mutex_lock(&blocks_mutex);
	/* Until there is none: context_like() may copy one to a block that was looked at. */
	do {
		any = false;
		list_for_each_entry(block, &blocks, list) {
			for (i = 0; i < CODETAG_BLOCK_SIZE; i++)
				any |= keep_stack(&block->contexts[i], mod, init);
			codetag_rest(CODETAG_BLOCK_SIZE);
		}
	} while (any);
	mutex_unlock(&blocks_mutex);
}

/**
 * codetag_contexts_module_gone - remove addresses of a module from all stacks
 * @mod: the module, none of whose code will run any more
 *
 * Most of these stacks became text when the module began to go. Code of the module that
 * still ran then may have allocated meanwhile: such stacks keep the bare addresses.
 *
 * Context: Process.
 */
void codetag_contexts_module_gone(const struct module *mod)
{
	keep_stacks(mod, false);
	codetag_helpers_forget();
}

static int module_notify(struct notifier_block *nb, unsigned long state, void *mod)
{
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING) {
		keep_stacks(mod, state == MODULE_STATE_LIVE);
		codetag_helpers_forget();
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call = module_notify,
};

/**
 * codetag_default_contexts - compute the default limit of contexts
 * @memory:	bytes that the machine has
 * @cpus:	CPUs that there may be
 *
 * A quarter of the ids, if that takes no more than 1/64 of the memory: each CPU
 * counts for itself.
 *
 * Return: The number.
 */
unsigned int codetag_default_contexts(u64 memory, unsigned int cpus)
{
	u64 block = sizeof(struct codetag_block) +
		    (u64)cpus * CODETAG_BLOCK_BYTES;

	return clamp_t(u64, div64_u64(memory / 64, block) * CODETAG_BLOCK_SIZE,
		       CODETAG_BLOCK_SIZE, (CODETAG_ID_MAX + 1) / 4);
}

/**
 * codetag_contexts_init - set the limit of contexts
 *
 * Context: Boot, after the parameters were read.
 */
void __init codetag_contexts_init(void)
{
	if (codetag_max_contexts == UINT_MAX)
		codetag_max_contexts = codetag_default_contexts(memblock_phys_mem_size(),
								num_possible_cpus());
}

static int __init context_init(void)
{
	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	context_wq = alloc_workqueue("codetag", WQ_UNBOUND, 0);
	/* The command line has split sites already. */
	if (context_wq && !list_empty(&codetag_sites))
		queue_delayed_work(context_wq, &reap_work, REAP_INTERVAL);
	return register_module_notifier(&module_nb);
}
early_initcall(context_init);

/* ---- splitting ---------------------------------------------------------------- */

static void choose_hash(void)
{
	if (codetag_hash_factor)
		return;
	get_random_bytes(&hash_key, sizeof(hash_key));
	codetag_hash_factor = get_random_u32() | 1;
}

/**
 * codetag_split_new - prepare to split a site
 * @info:	the site, which has an id
 * @keys:	the keys, and their limits
 *
 * Context: Process, one at a time, with codetag_lock() held.
 * Return: An argument for codetag_split() or codetag_site_free(); NULL without
 *	   memory.
 */
struct codetag_site *codetag_split_new(const struct codetag_info *info,
				       const struct codetag_keys *keys)
{
	struct codetag_site *site;

	choose_hash();
	site = kzalloc(sizeof(*site), CODETAG_GFP);
	if (!site)
		return NULL;
	site->lost = alloc_percpu_gfp(unsigned long, CODETAG_GFP);
	if (!site->lost) {
		kfree(site);
		return NULL;
	}
	site->ct = info->ct;
	site->id = info->id;
	site->lookup_key = (u64)site->id << CODETAG_LOOKUP_ID_SHIFT | hash_32(site->id, 32);
	site->split_wanted = codetag_split_bits(keys->mask, keys->depth);
	site->max = keys->max;
	INIT_LIST_HEAD(&site->contexts);
	return site;
}

/**
 * codetag_split - split a site, or change its keys
 * @site: what codetag_split_new() returned for it, which is used up
 *
 * Context: Process, one at a time, with codetag_lock() held since codetag_split_new();
 *	    codetag_split_switch() is to follow.
 */
void codetag_split(struct codetag_site *site)
{
	if (!codetag_site_split(site))
		codetag_site_free(site);
}

/**
 * codetag_unsplit - end the split of a site
 * @info: the site
 *
 * Its contexts stay until they hold nothing.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_unsplit(const struct codetag_info *info)
{
	if (codetag_profiled(info))
		codetag_set_charging(info, CODETAG_CHARGE_SITE);
	codetag_site_unsplit(info->id);
}

/**
 * codetag_split_wanted - is a site to be split while it is profiled?
 * @info: the site
 *
 * Context: With codetag_lock() held.
 * Return: Whether it is.
 */
bool codetag_split_wanted(const struct codetag_info *info)
{
	const struct codetag_site *site;
	bool wanted;

	if (info->without_id)
		return false;
	preempt_disable();
	site = codetag_site_by_id(info->id);
	wanted = site && READ_ONCE(site->split_wanted);
	preempt_enable();
	return wanted;
}

/**
 * codetag_split_switch - make allocations look for contexts, or not
 *
 * Call it after codetag_split() and codetag_unsplit().
 *
 * Context: Process, one at a time, without codetag_lock().
 */
void codetag_split_switch(void)
{
	struct codetag_site *site;
	struct codetag_info info;

	if (list_empty(&codetag_sites))
		return;

	codetag_lock();
	count_split();
	codetag_unlock();
	switch_keys();
	refill();

	codetag_lock();
	list_for_each_entry(site, &codetag_sites, list) {
		if (READ_ONCE(site->split_wanted) &&
		    READ_ONCE(site->split_now) != READ_ONCE(site->split_wanted) &&
		    codetag_info_of(site->id, &info) && !info.unloaded && codetag_profiled(&info))
			codetag_set_charging(&info, CODETAG_CHARGE_CONTEXTS);
		codetag_rest(1);
	}
	codetag_unlock();
	if (context_wq)
		queue_delayed_work(context_wq, &reap_work, REAP_INTERVAL);
}

/* ---- reports ------------------------------------------------------------------ */

/**
 * codetag_contexts_lock - keep all contexts; new ones can still be made
 *
 * Context: Process. Includes codetag_lock(), until codetag_contexts_unlock().
 */
void codetag_contexts_lock(void)
{
	mutex_lock(&blocks_mutex);
	codetag_lock();
}

/**
 * codetag_contexts_unlock - undo codetag_contexts_lock()
 */
void codetag_contexts_unlock(void)
{
	codetag_unlock();
	mutex_unlock(&blocks_mutex);
}

/**
 * codetag_context_next - find the next context that is not free
 * @id: the id to begin with
 *
 * Context: With codetag_contexts_lock() held.
 * Return: The context with the lowest id from @id on, NULL if there is none.
 */
struct codetag_context *codetag_context_next(unsigned int id)
{
	struct codetag_context *ctx;
	struct codetag_block *block;

	for (; (block = codetag_block_next(id)); id = block->first + CODETAG_BLOCK_SIZE)
		for (ctx = &block->contexts[id > block->first ? id - block->first : 0];
		     ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++)
			/* Pairs with take_context(). */
			if (smp_load_acquire(&ctx->site))
				return ctx;
	return NULL;
}

/**
 * codetag_context_use - report how many contexts there are
 * @use: filled in
 *
 * Context: Process.
 */
void codetag_context_use(struct codetag_context_use *use)
{
	struct codetag_block *block;
	struct codetag_site *site;
	int cpu;

	*use = (struct codetag_context_use) {
		.max = READ_ONCE(codetag_max_contexts),
	};
	for_each_possible_cpu(cpu)
		use->lost += per_cpu(codetag_contexts_nr_lost, cpu);
	codetag_contexts_lock();
	use->used = nr_used;
	use->free = nr_free;
	list_for_each_entry(block, &blocks, list)
		use->bytes += sizeof(*block) +
			      num_possible_cpus() * CODETAG_BLOCK_BYTES;
	list_for_each_entry(site, &codetag_sites, list) {
		use->sites += !!READ_ONCE(site->split_wanted);
		use->bytes += sizeof(*site) + num_possible_cpus() * sizeof(*site->lost);
		codetag_rest(1);
	}
	use->bytes += codetag_stack_text_bytes();
	codetag_contexts_unlock();
}

/* Is a context what its site, its id and the hash table say that it is? */
static const char *what_is_wrong(struct codetag_context *ctx)
{
	struct values values = {
		.hash = ctx->hash,
		.nr_words = ctx->nr_words,
		.nr_frames = ctx->nr_frames,
		.stack = ctx->stack,
	};
	const struct codetag_site *site = ctx->site;

	if (codetag_site_by_id(site->id) != site)
		return "of a site that is not there";
	if (codetag_from_id(ctx->id) != codetag_from_id(site->id))
		return "with the tag of another site";
	memcpy(values.words, ctx->words, sizeof(values.words));
	if (ctx->state == CODETAG_CONTEXT_HASHED &&
	    find_context(site, ctx->split_by, &values) != ctx)
		return "that allocations do not find";
	return NULL;
}

static unsigned int report(struct seq_buf *out, const struct codetag_context *ctx,
			   const char *what)
{
	seq_buf_printf(out, "mismatch: id %u is a context %s\n", ctx->id, what);
	return 1;
}

/* Is each context in the list of its site? One walk over blocks, lists and blocks. */
static unsigned int check_lists(struct seq_buf *out)
{
	struct codetag_context *ctx;
	struct codetag_block *block;
	struct codetag_site *site;
	unsigned int wrong = 0, i;
	unsigned long flags;

	/* Contexts can come meanwhile, but not go. */
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		block_of(ctx)->unlisted |= BIT(ctx->id % CODETAG_BLOCK_SIZE);
		codetag_rest(1);
	}
	/* A context found before is also in its list once take_context() is over. */
	flags = codetag_context_lock();
	codetag_context_unlock(flags);
	list_for_each_entry(site, &codetag_sites, list) {
		list_for_each_entry_rcu(ctx, &site->contexts, list, true) {
			if (ctx->site != site)
				wrong += report(out, ctx, "in the list of another site");
			block_of(ctx)->unlisted &= ~BIT(ctx->id % CODETAG_BLOCK_SIZE);
			codetag_rest(1);
		}
	}
	list_for_each_entry(block, &blocks, list) {
		for (i = 0; i < CODETAG_BLOCK_SIZE; i++)
			if (block->unlisted & BIT(i))
				wrong += report(out, &block->contexts[i],
						"that its site does not have");
		block->unlisted = 0;
		codetag_rest(CODETAG_BLOCK_SIZE);
	}
	return wrong;
}

/**
 * codetag_contexts_check - does each context belong to its site?
 * @out: where to print those to that do not
 *
 * Context: Process, without codetag_lock().
 * Return: How many do not.
 */
unsigned int codetag_contexts_check(struct seq_buf *out)
{
	struct codetag_context *ctx;
	unsigned int wrong = 0;
	unsigned long flags;
	const char *what;

	codetag_contexts_lock();
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		flags = codetag_context_lock();
		what = ctx->site ? what_is_wrong(ctx) : NULL;
		codetag_context_unlock(flags);
		if (what)
			wrong += report(out, ctx, what);
		codetag_rest(1);
	}
	wrong += check_lists(out);
	codetag_contexts_unlock();
	return wrong;
}
