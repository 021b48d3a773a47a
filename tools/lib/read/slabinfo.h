/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/slabinfo, version 2.1; the output of slabtop -o; and the list "Unreclaimable slab info"
 * that a kernel prints when memory is short.
 */
#ifndef CODETAG_SLABINFO_H
#define CODETAG_SLABINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"
#include "base/memory.h"

struct slab_cache {
	const char *name;
	int64_t active, objects;	/* objects in use, and all objects */
	int64_t object_size;		/* with padding and metadata */
	int64_t objects_per_slab, pages_per_slab;
	int64_t active_slabs, slabs;
	int64_t kb_used, kb;		/* from the kernel's log, which lacks everything else */
	enum { RECLAIM_UNKNOWN, RECLAIM_YES, RECLAIM_NO } reclaim;	/* its flag, on this machine */
};

enum slabinfo_from { SLABINFO_PROC, SLABINFO_SLABTOP, SLABINFO_LOG };

struct slabinfo {
	struct slab_cache *cache;
	size_t count, room;
	enum slabinfo_from from;
	size_t lists;			/* lists with a heading in the text; this is the last */
	struct bad_lines bad;
	char *text;		/* the names point into it … */
	struct arena strings;	/* … or into this */
};

/* Takes over @text; afterwards @info has to be freed in any case. */
void slabinfo_parse(struct slabinfo *info, char *text, size_t len);

/* Returns false with errno if @path cannot be read. */
bool slabinfo_read(struct slabinfo *info, const char *path);

/* Whether caches may be missing: the list is from slabtop, a log or a grep. */
bool slabinfo_part(const struct slabinfo *info);

/* Bytes of a cache's objects in use, and of all of them. */
int64_t slab_cache_used(const struct slab_cache *cache);

int64_t slabinfo_object_bytes(const struct slabinfo *info);
void slabinfo_free(struct slabinfo *info);

#endif
