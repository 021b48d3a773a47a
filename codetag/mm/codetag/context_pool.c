// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contexts that there are: free ones, prepared in blocks of ids like those of modules, and
 * those in use.
 *
 * An allocation takes a free context under a lock that any task can take. It can neither
 * wait nor allocate, so a worker prepares more before they are used up.
 */
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/memblock.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "context_pool.h"
#include "internal.h"
#include "page_store.h"
#include "site.h"
#include "split.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "codetag."

/*
 * Limit of contexts of all sites; UINT_MAX until codetag_contexts_init(), unless the boot
 * parameter sets it.
 */
unsigned int codetag_max_contexts = UINT_MAX;
module_param_cb(max_contexts, &codetag_param_ops, &codetag_max_contexts, 0644);

/* Free contexts that there shall be, at least and for each site that is split. */
#define FREE_MIN	256
#define FREE_PER_SITE	4

struct codetag_context_pool codetag_context_pool = {
	.mutex = __MUTEX_INITIALIZER(codetag_context_pool.mutex),
	.blocks = LIST_HEAD_INIT(codetag_context_pool.blocks),
};

/* ---- taking and putting back --------------------------------------------------- */

/* For long work, on any CPU. NULL if there was no memory for it at boot. */
struct workqueue_struct *codetag_context_wq __ro_after_init;

static void refill_by_work(struct work_struct *work);
static DECLARE_WORK(refill_work, refill_by_work);

static void queue_refill(struct irq_work *irq_work)
{
	if (codetag_context_wq)
		queue_work(codetag_context_wq, &refill_work);
}

/* The allocating task may hold the locks of the workqueues. */
static DEFINE_IRQ_WORK(refill_irq_work, queue_refill);

/* When the last refill failed. Do not retry for one second. */
static unsigned long refill_failed = INITIAL_JIFFIES - HZ;

static unsigned int free_target(bool traced)
{
	unsigned int sites = READ_ONCE(codetag_context_pool.supply[traced].nr_sites);
	unsigned int max = READ_ONCE(codetag_max_contexts);

	if (!sites)
		return 0;
	return min(FREE_MIN + FREE_PER_SITE * sites,
		   max - min(max, READ_ONCE(codetag_context_pool.nr_used)));
}

static bool too_few(bool traced)
{
	return READ_ONCE(codetag_context_pool.supply[traced].nr_free) < free_target(traced);
}

/**
 * codetag_pool_low - are there too few free contexts?
 * @traced: for traced sites
 *
 * Context: Any.
 * Return: Whether it is time for codetag_pool_refill_later().
 */
bool codetag_pool_low(bool traced)
{
	unsigned long failed = READ_ONCE(refill_failed);

	/*
	 * A range check, because a plain time_before() is wrong once 32-bit jiffies have
	 * wrapped.
	 */
	return too_few(traced) && !time_in_range_open(jiffies, failed, failed + HZ);
}

/**
 * codetag_pool_may_take - is there a chance of a free context?
 * @traced: for a traced site
 *
 * Once a limit is reached, every allocation on all CPUs may ask for one, and must not wait
 * for the lock in vain.
 *
 * Context: Any.
 * Return: false if there is none, and none is to be expected soon.
 */
bool codetag_pool_may_take(bool traced)
{
	return READ_ONCE(codetag_context_pool.nr_used) < READ_ONCE(codetag_max_contexts) &&
	       (READ_ONCE(codetag_context_pool.supply[traced].nr_free) || codetag_pool_low(traced));
}

/**
 * codetag_pool_refill_later - have more free contexts prepared
 *
 * Context: Any but NMI.
 */
void codetag_pool_refill_later(void)
{
	irq_work_queue(&refill_irq_work);
}

/**
 * codetag_pool_take - take a free context
 * @max_id:	the highest id that will do
 * @traced:	for a traced site
 *
 * Context: With codetag_context_lock held.
 * Return: The context, NULL if there is none.
 */
struct codetag_context *codetag_pool_take(unsigned int max_id, bool traced)
{
	struct codetag_supply *supply = &codetag_context_pool.supply[traced];
	struct hlist_node *first = supply->free[0].first ?: supply->free[1].first;
	struct codetag_context *ctx;

	if (!first || codetag_context_pool.nr_used >= READ_ONCE(codetag_max_contexts))
		return NULL;
	ctx = hlist_entry(first, struct codetag_context, node);
	if (ctx->id > max_id)
		return NULL;

	hlist_del(&ctx->node);
	supply->nr_free--;
	codetag_context_pool.nr_used++;
	codetag_block_of(ctx)->nr_used++;
	return ctx;
}

/* ---- blocks -------------------------------------------------------------------- */

static void free_block(struct codetag_block *block)
{
	if (block)
		free_percpu(block->counters);
	kvfree(block);
}

/* With codetag_context_lock held. */
static void add_free(struct codetag_context *ctx)
{
	struct codetag_supply *supply = &codetag_context_pool.supply[codetag_block_of(ctx)->traced];

	supply->nr_free++;
	hlist_add_head(&ctx->node, &supply->free[ctx->id > page_tag_max_id]);
}

/**
 * codetag_pool_put - undo codetag_pool_take()
 * @ctx: the context, which nothing refers to
 *
 * Context: With codetag_context_lock held.
 */
void codetag_pool_put(struct codetag_context *ctx)
{
	codetag_block_of(ctx)->nr_used--;
	codetag_context_pool.nr_used--;
	add_free(ctx);
}

/* In the order of ids. */
static void list_block(struct codetag_block *new)
{
	struct codetag_block *before;

	list_for_each_entry_reverse(before, &codetag_context_pool.blocks, list)
		if (before->first < new->first)
			break;
	list_add(&new->list, &before->list);
}

static bool add_block(bool traced)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN;
	struct codetag_block *block = kvzalloc(sizeof(*block), gfp);
	unsigned long flags;
	int i;

	lockdep_assert_held(&codetag_context_pool.mutex);
	if (!block)
		return false;
	block->traced = traced;
	block->counters = alloc_percpu_gfp(struct codetag_block_counters, gfp);
	if (!block->counters || !codetag_block_add(block)) {
		free_block(block);
		return false;
	}
	list_block(block);

	flags = codetag_context_lock();
	for (i = CODETAG_BLOCK_SIZE - 1; i >= 0; i--) {
		struct codetag_context *ctx = &block->contexts[i];

		ctx->id = block->first + i;
		ctx->counters = &block->counters->held[i];
		ctx->parts = &block->counters->parts[i];
		add_free(ctx);
	}
	codetag_context_unlock(flags);
	return true;
}

static void refill(bool traced)
{
	bool added;

	do {
		mutex_lock(&codetag_context_pool.mutex);
		added = too_few(traced);
		if (added && !add_block(traced)) {
			WRITE_ONCE(refill_failed, jiffies);
			added = false;
		}
		mutex_unlock(&codetag_context_pool.mutex);
		codetag_rest(CODETAG_BLOCK_SIZE * num_possible_cpus());
	} while (added);
}

/**
 * codetag_pool_refill - prepare as many free contexts as the split sites need
 *
 * Context: Process.
 */
void codetag_pool_refill(void)
{
	refill(false);
	refill(true);
}

static void refill_by_work(struct work_struct *work)
{
	codetag_pool_refill();
}

/* Free a block if none of it is in use. */
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
		codetag_context_pool.supply[block->traced].nr_free -= CODETAG_BLOCK_SIZE;
	codetag_context_unlock(flags);
	if (!unused)
		return false;

	list_del(&block->list);
	codetag_block_remove(block);
	free_percpu(block->counters);
	kvfree_rcu(block, rcu);
	return true;
}

/**
 * codetag_pool_shrink - free the blocks that are not needed, the highest ids first
 *
 * Context: Process, with the lock of codetag_contexts_reap() held.
 */
void codetag_pool_shrink(void)
{
	struct codetag_block *block, *before;
	unsigned int keep[2] = {};

	for (unsigned int traced = 0; traced < 2; traced++)
		if (READ_ONCE(codetag_context_pool.supply[traced].nr_sites))
			keep[traced] = 2 * free_target(traced) + CODETAG_BLOCK_SIZE;
	mutex_lock(&codetag_context_pool.mutex);
	list_for_each_entry_safe_reverse(block, before, &codetag_context_pool.blocks, list) {
		struct codetag_supply *supply = &codetag_context_pool.supply[block->traced];

		if (READ_ONCE(supply->nr_free) >= keep[block->traced] + CODETAG_BLOCK_SIZE)
			remove_block(block);
	}
	mutex_unlock(&codetag_context_pool.mutex);
}

/**
 * codetag_pool_walk - call a function for each block
 * @function: the function, called with the mutex of the pool held
 *
 * Context: Process, with the lock of codetag_contexts_reap() held.
 * Return: Whether a call returned true.
 */
bool codetag_pool_walk(bool (*function)(struct codetag_block *block))
{
	struct codetag_block *block;
	bool any = false;

	mutex_lock(&codetag_context_pool.mutex);
	list_for_each_entry(block, &codetag_context_pool.blocks, list) {
		any |= function(block);
		/*
		 * Let other tasks take the mutex. The block stays, because only the reaper
		 * frees blocks.
		 */
		mutex_unlock(&codetag_context_pool.mutex);
		mutex_lock(&codetag_context_pool.mutex);
	}
	mutex_unlock(&codetag_context_pool.mutex);
	return any;
}

/* ---- looking at all of them ----------------------------------------------------- */

/**
 * codetag_contexts_lock - keep all contexts; new ones can still be made
 *
 * Context: Process. Includes codetag_lock(), until codetag_contexts_unlock().
 */
void codetag_contexts_lock(void)
{
	mutex_lock(&codetag_context_pool.mutex);
	codetag_lock();
}

/**
 * codetag_contexts_unlock - undo codetag_contexts_lock()
 *
 * Context: Process, with codetag_contexts_lock() held.
 */
void codetag_contexts_unlock(void)
{
	codetag_unlock();
	mutex_unlock(&codetag_context_pool.mutex);
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
			/* Pairs with new_context(). */
			if (smp_load_acquire(&ctx->site))
				return ctx;
	return NULL;
}

/* ---- boot --------------------------------------------------------------------- */

/**
 * codetag_default_contexts - compute the default limit of contexts
 * @memory:	bytes that the machine has
 * @cpus:	CPUs that there may be
 *
 * A quarter of the ids, if that takes no more than 1/64 of the memory: each CPU
 * counts for itself.
 *
 * Not static for the tests.
 *
 * Context: Any.
 * Return: The number.
 */
unsigned int codetag_default_contexts(u64 memory, unsigned int cpus)
{
	u64 block = sizeof(struct codetag_block) +
		    (u64)cpus * sizeof(struct codetag_block_counters);

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

static int __init pool_init(void)
{
	if (!mem_alloc_profiling_permanently_disabled())
		codetag_context_wq = alloc_workqueue("codetag", WQ_UNBOUND, 0);
	return 0;
}
early_initcall(pool_init);
