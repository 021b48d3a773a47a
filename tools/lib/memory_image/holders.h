/* SPDX-License-Identifier: GPL-2.0 */
/* What points to chosen objects of a graph, and what would go with them. */
#ifndef CODETAG_IMAGE_HOLDERS_H
#define CODETAG_IMAGE_HOLDERS_H

#include "memory_image/graph.h"

struct pointers_row {
	uint32_t group;
	uint64_t pointers, objects, holders;	/* objects: that these point to */
	uint64_t example;			/* address of a pointer, or of its holder */
	uint32_t example_offset;		/* in its holder; EDGE_MAPPED: not known */
	uint32_t last_holder;
};

struct pointers {
	struct pointers_row *row;		/* with most objects first */
	size_t rows, room;
	uint64_t chosen, bytes;		/* objects that were chosen */
	uint64_t unheld;		/* of these, what nothing points to */
};

/* @chosen has a byte for each node. Pointers among the chosen ones count, too. */
struct pointers *pointers_find(const struct graph *graph, const uint8_t *chosen, bool contexts);
void pointers_free(struct pointers *holders);

/* What only the chosen objects lead to, with themselves, by site, largest first. */
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
