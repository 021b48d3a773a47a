// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports about all contexts: how many there are, and whether they are consistent.
 */
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_buf.h>
#include "context.h"
#include "context_pool.h"
#include "context_stack.h"
#include "site.h"
#include "split.h"
#include "stats.h"

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
	use->used = codetag_context_pool.nr_used;
	use->free = codetag_context_pool.supply[0].nr_free + codetag_context_pool.supply[1].nr_free;
	list_for_each_entry(block, &codetag_context_pool.blocks, list)
		use->bytes += sizeof(*block) +
			      num_possible_cpus() * sizeof(struct codetag_block_counters);
	list_for_each_entry(site, &codetag_sites, list) {
		use->sites += !!READ_ONCE(site->split_wanted);
		use->bytes += sizeof(*site) + num_possible_cpus() * sizeof(*site->lost);
		codetag_rest(1);
	}
	use->bytes += codetag_stack_text_bytes();
	codetag_contexts_unlock();
}

/* Is a context what its site, its id and the hash table say that it is? */
static const char *context_fault(struct codetag_context *ctx)
{
	const struct codetag_site *site = ctx->site;

	if (codetag_site_by_id(site->id) != site)
		return "of a site that is not there";
	if (codetag_from_id(ctx->id) != codetag_from_id(site->id))
		return "with the tag of another site";
	if (!!(ctx->split_by & CODETAG_SPLIT_TRACE) != codetag_block_of(ctx)->traced)
		return "of a block for another kind of sites";
	if (codetag_context_state(ctx) == CODETAG_CONTEXT_HASHED &&
	    codetag_context_found(ctx) != ctx)
		return "that allocations do not find";
	return NULL;
}

static unsigned int report(struct seq_buf *out, const struct codetag_context *ctx,
			   const char *fault)
{
	seq_buf_printf(out, "mismatch: id %u is a context %s\n", ctx->id, fault);
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
		codetag_block_of(ctx)->unlisted |= BIT(ctx->id % CODETAG_BLOCK_SIZE);
		codetag_rest(1);
	}
	/* A context found before is also in its list once new_context() is over. */
	flags = codetag_context_lock();
	codetag_context_unlock(flags);
	list_for_each_entry(site, &codetag_sites, list) {
		list_for_each_entry_rcu(ctx, &site->contexts, list, true) {
			if (ctx->site != site)
				wrong += report(out, ctx, "in the list of another site");
			codetag_block_of(ctx)->unlisted &= ~BIT(ctx->id % CODETAG_BLOCK_SIZE);
			codetag_rest(1);
		}
	}
	list_for_each_entry(block, &codetag_context_pool.blocks, list) {
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
	const char *fault;

	codetag_contexts_lock();
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		flags = codetag_context_lock();
		fault = ctx->site ? context_fault(ctx) : NULL;
		codetag_context_unlock(flags);
		if (fault)
			wrong += report(out, ctx, fault);
		codetag_rest(1);
	}
	wrong += check_lists(out);
	codetag_contexts_unlock();
	return wrong;
}
