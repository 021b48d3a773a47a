/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dominators of a graph: all paths from the roots to a node go through its dominator, the
 * closest of which is the node above it. If a node were freed, everything below it would be
 * free, too.
 */
#ifndef CODETAG_IMAGE_DOMINATORS_H
#define CODETAG_IMAGE_DOMINATORS_H

#include "memory_image/graph.h"

/*
 * For all nodes that the roots reach: @order lists them so that each comes after the node above
 * it; @above[node] is that node, 0 if there is no single one. All other nodes get 0.
 */
struct dominators {
	uint32_t *order, *above;
	uint32_t count;
};

struct dominators *dominators_find(const struct graph *graph);
void dominators_free(struct dominators *dominators);

#endif
