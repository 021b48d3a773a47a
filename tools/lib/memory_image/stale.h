/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Old pointers in memory that the kernel does not clear between one use and the next. They lead to
 * memory that was freed since, and that another call site has now.
 */
#ifndef CODETAG_IMAGE_STALE_H
#define CODETAG_IMAGE_STALE_H

#include "memory_image/edge.h"
#include "memory_image/kernel_objects.h"

/*
 * Drops the edges of free block requests from those of the pages of an extent. Sorts the others to
 * the begin of @edge, and returns their number.
 *
 * A driver's data behind a request can have memory of its own for good: each request then has
 * another pointer at the same place, to memory of the same call site. These edges stay.
 */
size_t stale_drop_requests(const struct kernel_objects *objects, const struct extent *extent,
			   struct edge *edge, size_t edges);

/*
 * Whether the object @va is a struct net that nobody uses any more. It waits on a list for its free,
 * by the pointer at *@next.
 */
bool stale_net(struct image *image, const struct image_cache *cache, uint64_t va, uint32_t *next);

#endif
