/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts: a call site that is split charges each distinct value of its keys
 * (stack, node, size, ...) to an id with counters of its own. For the allocators.
 */
#ifndef _MM_CODETAG_CONTEXT_H
#define _MM_CODETAG_CONTEXT_H

#include <linux/alloc_tag.h>
#include <linux/gfp_types.h>
#include <linux/sched.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

#ifdef CONFIG_CODETAG_CONTEXTS
unsigned int codetag_context_id(int nid, gfp_t gfp, bool accounted, size_t size,
				unsigned int max_id);
#else
static inline unsigned int codetag_context_id(int nid, gfp_t gfp, bool accounted, size_t size,
					      unsigned int max_id)
{
	return CODETAG_ID_NONE;
}
#endif

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
	const struct alloc_tag *tag = current->alloc_tag;
	unsigned int id = alloc_tag_id(tag);

	if (!id && alloc_tag_split(tag))
		id = codetag_context_id(nid, gfp, accounted, size, max_id);
	return id;
}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_CODETAG_CONTEXT_H */
