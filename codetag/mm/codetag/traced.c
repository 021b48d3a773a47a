// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traced call sites: an event for each allocation and each free.
 *
 * A site that is traced is split. Its contexts have ids of blocks for which
 * module_alloc_tag_sizes[] is 0. So alloc_tag_uncharge() takes such an id for one that no tag
 * has and leaves it to the path for damaged ids, which asks codetag_traced_uncharge(). This is
 * all that tells a traced id from others: the fast paths have no test for it.
 */
#include <linux/kasan.h>
#include <linux/rcupdate.h>
#include "context.h"
#include "context_pool.h"
#include "ids.h"
#include "traced.h"

#define CREATE_TRACE_POINTS
#include <trace/events/codetag.h>

/* The context of an id if it is traced. Under RCU, as the id may be one that was overwritten. */
static const struct codetag_context *traced_context(u16 id, const struct codetag_site **site)
{
	struct codetag_context *ctx = codetag_context_of(id);

	if (!ctx || !codetag_block_of(ctx)->traced)
		return NULL;
	/* A context that holds memory has a site. */
	*site = READ_ONCE(ctx->site);
	return *site ? ctx : NULL;
}

/* Contexts stay traced until they hold nothing: is tracing switched on by now? */
static bool site_is_traced(const struct codetag_site *site)
{
	return READ_ONCE(site->split_wanted) & CODETAG_SPLIT_TRACE;
}

/**
 * codetag_id_traced - is an id that of a traced allocation?
 * @id: the id that a page or object holds
 *
 * Context: Any.
 * Return: Whether it is.
 */
bool codetag_id_traced(u16 id)
{
	const struct codetag_site *site;
	bool traced;

	rcu_read_lock();
	traced = traced_context(id, &site);
	rcu_read_unlock();
	return traced;
}

/**
 * __codetag_traced_alloc - see codetag_traced_alloc()
 * @id:		the id
 * @address:	of the memory
 * @bytes:	size of the memory
 * @gfp:	flags of the allocation
 * @nid:	node of the memory
 *
 * Context: Any; nobody else may free the memory yet.
 */
void __codetag_traced_alloc(u16 id, const void *address, size_t bytes, gfp_t gfp, int nid)
{
	const struct codetag_site *site;

	rcu_read_lock();
	if (traced_context(id, &site) && site_is_traced(site))
		trace_alloc(site->id, kasan_reset_tag(address), bytes, gfp, nid);
	rcu_read_unlock();
}

/**
 * codetag_traced_uncharge - uncharge memory if it is traced, and emit an event
 * @id:		an id that alloc_tag_uncharge() does not know
 * @address:	of the memory
 * @bytes:	size of the memory
 * @nid:	node of the memory, NUMA_NO_NODE for several
 *
 * Context: Any; the memory is about to be freed.
 * Return: false if the id is not traced: it was overwritten.
 */
bool codetag_traced_uncharge(u16 id, const void *address, size_t bytes, int nid)
{
	const struct codetag_context *ctx;
	const struct codetag_site *site;

	rcu_read_lock();
	ctx = traced_context(id, &site);
	if (ctx) {
		/* First, while the context holds the memory and keeps the site. */
		if (site_is_traced(site))
			trace_free(site->id, kasan_reset_tag(address), bytes, nid);
		alloc_tag_count(ctx->counters, -(u64)bytes, 1, true);
	}
	rcu_read_unlock();
	return ctx;
}
