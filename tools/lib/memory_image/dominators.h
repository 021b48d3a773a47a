/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dominators of a graph: a node is below the one that all pointers to it go through, coming
 * from the roots. What is below a node would be free if the node did not point to it.
 */
#ifndef CODETAG_IMAGE_DOMINATORS_H
#define CODETAG_IMAGE_DOMINATORS_H

#include "memory_image/graph.h"

/*
 * Of all nodes that roots lead to: @order has them so that each comes behind the one that it is
 * below; @above[node] is that one, 0 if there is no single one. All else is 0.
 */
struct dominators {
	uint32_t *order, *above;
	uint32_t count;
};

struct dominators *dominators_find(const struct graph *graph);
void dominators_free(struct dominators *dominators);

#endif
