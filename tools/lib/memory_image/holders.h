/* SPDX-License-Identifier: GPL-2.0-only */
/* The holders of chosen objects of a graph, and the memory that would be free without these. */
#ifndef CODETAG_IMAGE_HOLDERS_H
#define CODETAG_IMAGE_HOLDERS_H

#include "memory_image/graph.h"

struct pointers_row {
	uint32_t group;
	uint64_t pointers, objects, holders;	/* chosen objects that it points to */
	uint64_t example;			/* address of a pointer, or of its holder */
	uint32_t example_offset;		/* offset in its holder; or EDGE_ELSEWHERE */
	uint32_t last_holder;
};

struct pointers {
	struct pointers_row *row;		/* the holder of most objects first */
	size_t rows, room;
	uint64_t chosen, bytes;		/* objects that were chosen */
	uint64_t unheld;		/* chosen objects to which nothing points */
};

/* @chosen has a byte for each node. Pointers between chosen objects count, too. */
struct pointers *pointers_find(const struct graph *graph, const uint8_t *chosen, bool contexts);
void pointers_free(struct pointers *holders);

/* The chosen objects, and all that only they reach, by site, the largest first. */
struct retained_row {
	uint32_t group;
	uint64_t bytes, objects;
};

struct retained {
	struct retained_row *row;
	size_t rows, room;
	uint64_t bytes, objects;
};

struct retained *retained_find(const struct graph *graph, const uint8_t *chosen, bool contexts);
void retained_free(struct retained *retained);

#endif
