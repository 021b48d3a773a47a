/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tree of dominators with a node for each chain of call sites: all objects of one site that
 * the same objects hold are one. A site is in each chain once only: the nodes of a list are one.
 * Slab pages and percpu chunks are left out: their content counts.
 */
#ifndef CODETAG_IMAGE_PATHS_H
#define CODETAG_IMAGE_PATHS_H

#include "memory_image/dominators.h"

struct path {
	uint32_t above;		/* index of the path above, smaller than its own; 0: none */
	uint32_t group;
	uint64_t bytes, objects;	/* of itself */
	uint64_t all_bytes, all_objects;	/* and of all below */
};

/*
 * The first entry is above all paths and is none itself. Nodes that no root leads to have
 * GRAPH_LABELS as their root.
 */
struct paths {
	struct path *path;
	size_t count, room;
	uint32_t *slot;		/* index + 1, by hash */
	size_t slots;
};

/* With @chosen, a byte for each node, paths begin at the chosen nodes. */
struct paths *paths_find(const struct graph *graph, const struct dominators *dominators,
			 const uint8_t *chosen);
void paths_free(struct paths *paths);

#endif
