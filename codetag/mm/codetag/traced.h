/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * traced.c: events for the allocations and frees of traced call sites.
 */
#ifndef _MM_CODETAG_TRACED_H
#define _MM_CODETAG_TRACED_H

#include <linux/alloc_tag.h>
#include <linux/gfp_types.h>
#include <linux/tracepoint-defs.h>

#ifdef CONFIG_CODETAG_CONTEXTS

DECLARE_TRACEPOINT(alloc);

bool codetag_id_traced(u16 id);
void __codetag_traced_alloc(u16 id, const void *address, size_t bytes, gfp_t gfp, int nid);
bool codetag_traced_uncharge(u16 id, const void *address, size_t bytes, int nid);

/**
 * codetag_traced_alloc - emit an event if the call site of an allocation is traced
 * @id:		the id that the allocation was charged to, by codetag_context_id()
 * @address:	of the memory
 * @bytes:	size of the memory, as charged
 * @gfp:	flags of the allocation
 * @nid:	node of the memory, NUMA_NO_NODE for several
 *
 * Context: Any; nobody else may free the memory yet.
 */
static __always_inline void codetag_traced_alloc(u16 id, const void *address, size_t bytes,
						 gfp_t gfp, int nid)
{
	if (tracepoint_enabled(alloc))
		__codetag_traced_alloc(id, address, bytes, gfp, nid);
}

#else /* CONFIG_CODETAG_CONTEXTS */

static inline bool codetag_id_traced(u16 id) { return false; }
static inline void codetag_traced_alloc(u16 id, const void *address, size_t bytes, gfp_t gfp,
					int nid) {}

static inline bool codetag_traced_uncharge(u16 id, const void *address, size_t bytes, int nid)
{
	return false;
}

#endif /* CONFIG_CODETAG_CONTEXTS */

#ifdef CONFIG_MEM_ALLOC_PROFILING
/* Whether an id that a page or object holds has counters, also if it is traced */
static inline bool codetag_id_known(u16 id)
{
	return alloc_tag_id_counted(id) || codetag_id_traced(id);
}
#endif

#endif /* _MM_CODETAG_TRACED_H */
