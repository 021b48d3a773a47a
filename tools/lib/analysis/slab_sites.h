/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call sites that hold the objects of a slab cache. The kernel records them only with
 * slab_debug=U; a trace knows them for objects that were allocated while it ran. Otherwise only
 * sizes remain. A call site may be a holder if its allocations all have the size of the cache's
 * objects, and are no more than the cache has.
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
	const char *cache;	/* the string in the slabinfo */
	const char *name;	/* the name of the call site or caller */
	int64_t objects, bytes;
	unsigned int others;	/* other caches that fit as well */
	bool pages;		/* may as well allocate whole pages */
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

/* By trace; the names are those in @kmem. */
void slab_holders_by_trace(struct slab_holders *holders, const struct slabinfo *slabs,
			   const struct kmem *kmem);

/* By the kernel's record of @cache, a cache of the slabinfo; called once for each cache. */
void slab_holders_by_traces(struct slab_holders *holders, const struct slab_cache *cache,
			    const struct alloc_traces *traces);

/* The first holder of @cache, and the number of holders; NULL if there is none. */
const struct slab_holder *slab_holders_find(const struct slab_holders *holders,
					    const struct slab_cache *cache, size_t *count);
void slab_holders_free(struct slab_holders *holders);

#endif
