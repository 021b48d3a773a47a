/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/slabinfo, version 2.1. */
#ifndef CODETAG_SLABINFO_H
#define CODETAG_SLABINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct slab_cache {
	const char *name;
	int64_t active, objects;	/* objects in use, and room for */
	int64_t object_size;		/* with padding and metadata */
	int64_t objects_per_slab, pages_per_slab;
	int64_t active_slabs, slabs;
};

struct slabinfo {
	struct slab_cache *cache;
	size_t count, room;
	size_t bad_lines;
	char *text;		/* the names point into it … */
	struct arena strings;	/* … or into this */
};

/* Takes over @text; @info then always has to be freed. */
void slabinfo_parse(struct slabinfo *info, char *text, size_t len);

/* False with errno if @path cannot be read. */
bool slabinfo_read(struct slabinfo *info, const char *path);

/* Bytes of all objects in use. */
int64_t slabinfo_object_bytes(const struct slabinfo *info);
void slabinfo_free(struct slabinfo *info);

#endif
