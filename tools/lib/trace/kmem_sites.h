/* SPDX-License-Identifier: GPL-2.0 */
/* The callers of a trace as call sites: to be grouped, drawn and exported as these are. */
#ifndef CODETAG_KMEM_SITES_H
#define CODETAG_KMEM_SITES_H

#include "model/group.h"
#include "read/allocinfo.h"
#include "trace/kmem_rank.h"

/*
 * Adds the callers to @info after kmem_sum(): their bytes are what @key says, their
 * calls the allocations that are counted in these. Without a file, the module stands
 * for it.
 */
void kmem_sites(const struct kmem *kmem, enum kmem_key key, struct allocinfo *info);

/* The callers, summed; @to is freed with kmem_free(). */
void kmem_group(struct kmem *to, const struct kmem *kmem, struct grouping by);

/* The same by the bytes that were asked for, of all allocations that @filter lets through. */
void kmem_group_sizes(struct kmem *to, const struct kmem *kmem, const struct kmem_filter *filter);

#endif
