/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects of a graph that no root leads to. */
#ifndef CODETAG_IMAGE_LOST_H
#define CODETAG_IMAGE_LOST_H

#include "memory_image/graph.h"

#define LOST_EXAMPLES 16

struct lost_site {
	uint32_t group;
	uint64_t bytes, objects;
	uint64_t heads;		/* no other lost object leads to it; one of each ring */
	uint32_t example[LOST_EXAMPLES];	/* nodes, heads first */
	uint32_t examples;
};

struct lost {
	struct lost_site *site;	/* largest first */
	size_t sites, room;
	uint64_t bytes, objects;
	uint64_t live;		/* number of objects in the image */
};

/* By call site, or by context where a site has contexts. */
struct lost *lost_find(const struct graph *graph, bool contexts);
void lost_free(struct lost *lost);

#endif
