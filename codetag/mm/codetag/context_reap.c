// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts that are not needed any more: those that hold nothing are released, and those
 * whose stack has code of a module that goes keep the names of the functions.
 */
#include <linux/alloc_tag.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "context.h"
#include "context_pool.h"
#include "context_stack.h"
#include "helpers.h"
#include "site.h"
#include "split.h"

/* Interval between searches for unused contexts. */
#define REAP_INTERVAL	(10 * HZ)

/*
 * Taken to release contexts and blocks: while it is held, no block goes and no other task
 * makes a context free. The mutex of the pool nests inside.
 */
static DEFINE_MUTEX(reap_mutex);

/* ---- releasing ----------------------------------------------------------------- */

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
	unsigned long flags;

	flags = codetag_context_lock();
	if (codetag_context_found(ctx)) {
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
	alloc_tag_add_parts(id, sum.parts);
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
	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(ctx->counters, cpu), 0, sizeof(*ctx->counters));
		*per_cpu_ptr(ctx->parts, cpu) = 0;
	}

	flags = codetag_context_lock();
	ctx->state = CODETAG_CONTEXT_FREE;
	codetag_pool_put(ctx);
	codetag_context_unlock(flags);
}

/* It waits for a grace period. */
static bool waits(const struct codetag_context *ctx)
{
	enum codetag_context_state state = codetag_context_state(ctx);

	return state == CODETAG_CONTEXT_UNHASHED || state == CODETAG_CONTEXT_STALE_UNHASHED;
}

/* Let those leave that have not been used since the last time and hold nothing. */
static bool reap_unhash(struct codetag_block *block)
{
	struct codetag_context *ctx = block->contexts;
	bool any = false;
	u32 allocs;

	for (; ctx < block->contexts + CODETAG_BLOCK_SIZE; ctx++) {
		if (codetag_context_state(ctx) == CODETAG_CONTEXT_STALE)
			unhash(ctx, CODETAG_CONTEXT_STALE_UNHASHED);
		if (codetag_context_state(ctx) == CODETAG_CONTEXT_HASHED) {
			allocs = alloc_tag_read(ctx->id).allocs;
			if (allocs == ctx->seen && !codetag_id_holds_memory(ctx->id))
				unhash(ctx, CODETAG_CONTEXT_UNHASHED);
			ctx->seen = allocs;
		}
		any |= waits(ctx);
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
		if (!waits(ctx))
			continue;
		if (!codetag_id_holds_memory(ctx->id))
			unused |= BIT(ctx - block->contexts);
		else if (codetag_context_state(ctx) == CODETAG_CONTEXT_UNHASHED)
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
		if (codetag_context_state(ctx) != CODETAG_CONTEXT_DETACHED)
			continue;
		free_context(ctx);
		codetag_rest(num_possible_cpus());
	}
	return false;
}

/**
 * codetag_split_count - set the number of split sites, which sizes the supply of free contexts
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_split_count(void)
{
	struct codetag_site *site;
	unsigned int nr[2] = {};

	list_for_each_entry(site, &codetag_sites, list) {
		unsigned int split_wanted = READ_ONCE(site->split_wanted);

		if (split_wanted)
			nr[!!(split_wanted & CODETAG_SPLIT_TRACE)]++;
		codetag_rest(1);
	}
	WRITE_ONCE(codetag_context_pool.supply[0].nr_sites, nr[0]);
	WRITE_ONCE(codetag_context_pool.supply[1].nr_sites, nr[1]);
}

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/**
 * codetag_split_switch_keys - make allocators report values that become known later
 *
 * They do while a site has contexts with these keys.
 *
 * Context: Process, without codetag_lock().
 */
void codetag_split_switch_keys(void)
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

/* Sites that are not split any more and have no contexts are forgotten. */
static void reap_sites(void)
{
	struct codetag_site *site, *next;

	codetag_lock_all();
	list_for_each_entry_safe(site, next, &codetag_sites, list)
		if (!READ_ONCE(site->split_wanted) && !READ_ONCE(site->nr))
			codetag_site_release(site->id, false);
	codetag_split_count();
	codetag_unlock_all();
}

/**
 * codetag_contexts_reap - release the ids of unused contexts
 *
 * Unused are those that hold nothing and had no allocation since the last call.
 *
 * Not static for the tests.
 *
 * Context: Process.
 */
void codetag_contexts_reap(void)
{
	bool freed = false;

	mutex_lock(&reap_mutex);
	if (codetag_pool_walk(reap_unhash)) {
		synchronize_rcu();
		freed = codetag_pool_walk(reap_detach);
		if (freed) {
			synchronize_rcu();
			codetag_pool_walk(reap_free);
		}
	}
	reap_sites();
	codetag_split_switch_keys();
	codetag_pool_shrink();
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
	/* Wait nine times as long as it took, so that reaping takes at most a tenth of a CPU. */
	if (!list_empty(&codetag_sites))
		queue_delayed_work(codetag_context_wq, &reap_work,
				   max_t(unsigned long, REAP_INTERVAL, 9 * (jiffies - start)));
}

/**
 * codetag_contexts_reap_later - release unused contexts from now on
 *
 * Context: Process.
 */
void codetag_contexts_reap_later(void)
{
	if (codetag_context_wq)
		queue_delayed_work(codetag_context_wq, &reap_work, REAP_INTERVAL);
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
	enum codetag_context_state state = codetag_context_state(ctx);

	if (state == CODETAG_CONTEXT_FREE || state == CODETAG_CONTEXT_DETACHED ||
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

	mutex_lock(&codetag_context_pool.mutex);
	/* Until there is none: context_like() may copy one to a block that was looked at. */
	do {
		any = false;
		list_for_each_entry(block, &codetag_context_pool.blocks, list) {
			for (i = 0; i < CODETAG_BLOCK_SIZE; i++)
				any |= keep_stack(&block->contexts[i], mod, init);
			codetag_rest(CODETAG_BLOCK_SIZE);
		}
	} while (any);
	mutex_unlock(&codetag_context_pool.mutex);
}

/**
 * codetag_contexts_module_gone - remove addresses of a module from all stacks
 * @mod: the module, none of whose code will run any more
 *
 * Most of these stacks became text when the module began to go. Code of the module that
 * still ran then may have allocated meanwhile. Such stacks show [unknown] for these frames.
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

static int __init reap_init(void)
{
	if (mem_alloc_profiling_permanently_disabled())
		return 0;

	/* The command line has split sites already. */
	if (!list_empty(&codetag_sites))
		codetag_contexts_reap_later();
	return register_module_notifier(&module_nb);
}
early_initcall(reap_init);
