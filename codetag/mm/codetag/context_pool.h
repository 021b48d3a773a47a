/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context_pool.c: the contexts that there are, for the files that use and release them.
 */
#ifndef _MM_CODETAG_CONTEXT_POOL_H
#define _MM_CODETAG_CONTEXT_POOL_H

#include <linux/mutex.h>
#include <asm/barrier.h>
#include "ids.h"

struct workqueue_struct;

#ifdef CONFIG_CODETAG_CONTEXTS

/**
 * struct codetag_supply - free contexts of one kind
 * @free:	those that every page can hold, and those that only objects can
 * @nr_free:	how many there are
 * @nr_sites:	sites that are split, for which they are prepared; set by codetag_split_count()
 *		only, with codetag_sem held
 */
struct codetag_supply {
	struct hlist_head free[2];
	unsigned int nr_free;
	unsigned int nr_sites;
};

/**
 * struct codetag_context_pool - contexts, in blocks of neighbouring ids
 * @mutex:	protects @blocks, and keeps contexts from being freed. Modules that load wait
 *		for it, so it is never held over a grace period. codetag_sem nests inside
 * @blocks:	in the order of ids
 * @supply:	free contexts: for sites that are not traced, and for those that are
 * @nr_used:	other contexts
 *
 * codetag_context_lock protects @nr_used, and @supply except for its @nr_sites.
 */
struct codetag_context_pool {
	struct mutex mutex; /* for blocks */
	struct list_head blocks;
	struct codetag_supply supply[2];
	unsigned int nr_used;
};

extern struct codetag_context_pool codetag_context_pool;
extern struct workqueue_struct *codetag_context_wq;

static inline struct codetag_block *codetag_block_of(struct codetag_context *ctx)
{
	return container_of(ctx - ctx->id % CODETAG_BLOCK_SIZE, struct codetag_block, contexts[0]);
}

/*
 * The state of a context, for code that holds the mutex of the pool. One change does not wait
 * for the mutex: a free context can become a hashed one, whose other members are set before.
 */
static inline enum codetag_context_state
codetag_context_state(const struct codetag_context *ctx)
{
	return smp_load_acquire(&ctx->state); /* pairs with new_context() */
}

bool codetag_pool_low(bool traced);
bool codetag_pool_may_take(bool traced);
struct codetag_context *codetag_pool_take(unsigned int max_id, bool traced);
void codetag_pool_put(struct codetag_context *ctx);
void codetag_pool_refill(void);
void codetag_pool_refill_later(void);
void codetag_pool_shrink(void);
bool codetag_pool_walk(bool (*function)(struct codetag_block *block));

#endif /* CONFIG_CODETAG_CONTEXTS */

#endif /* _MM_CODETAG_CONTEXT_POOL_H */
