/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who holds the objects of a slab cache. The kernel does not record that but with
 * slab_debug=U: a trace
 * tells it for certain, for what was allocated while it ran. Without one all there
 * is to go by is size: a call site whose every allocation has the size of a cache's
 * objects, and which holds no more than the cache has, may be one.
 */
#ifndef CODETAG_SLAB_SITES_H
#define CODETAG_SLAB_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group.h"
#include "read/slabinfo.h"

struct alloc_traces;
struct kmem;

struct slab_holder {
	const char *cache;	/* that very string of the slabinfo */
	const char *name;	/* of the call site or caller */
	int64_t objects, bytes;
	unsigned int others;	/* caches that fit as well */
	bool pages;		/* it may as well allocate whole pages */
	bool certain;
};

struct slab_holders {
	struct slab_holder *holder;	/* by cache, most objects first */
	size_t count, room;
	struct groups groups;		/* the names of call sites … */
	struct arena strings;		/* … or in here */
};

/* By size; the names stay valid as long as @holders and @info. */
void slab_holders_by_size(struct slab_holders *holders, const struct slabinfo *slabs,
			  const struct allocinfo *info, int64_t page_size);

/* By trace; the names are those of @kmem. */
void slab_holders_by_trace(struct slab_holders *holders, const struct slabinfo *slabs,
			   const struct kmem *kmem);

/* By what the kernel has recorded of @cache, which is one of the slabinfo's; call it for each. */
void slab_holders_by_traces(struct slab_holders *holders, const struct slab_cache *cache,
			    const struct alloc_traces *traces);

/* The first holder of @cache and how many there are; NULL without any. */
const struct slab_holder *slab_holders_find(const struct slab_holders *holders,
					    const struct slab_cache *cache, size_t *count);
void slab_holders_free(struct slab_holders *holders);

#endif
