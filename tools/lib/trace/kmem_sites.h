/* SPDX-License-Identifier: GPL-2.0-only */
/* The callers of a trace as call sites, which can be grouped, drawn and exported. */
#ifndef CODETAG_KMEM_SITES_H
#define CODETAG_KMEM_SITES_H

#include "model/group.h"
#include "read/allocinfo.h"
#include "trace/kmem_rank.h"

/*
 * Adds the callers to @info, after kmem_sum(): their bytes are the value @key, and their calls
 * the number of allocations in it. A caller without a file gets its module instead.
 */
void kmem_sites(const struct kmem *kmem, enum kmem_key key, struct allocinfo *info);

/* The callers with their sums; @to has to be freed with kmem_free(). */
void kmem_group(struct kmem *to, const struct kmem *kmem, struct grouping by);

/* The same by requested bytes, of all allocations that @filter selects. */
void kmem_group_sizes(struct kmem *to, const struct kmem *kmem, const struct kmem_filter *filter);

#endif
