/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts that commands about the objects of an image share: options, and the choice of
 * objects.
 */
#ifndef CODETAG_CMD_NODES_H
#define CODETAG_CMD_NODES_H

#include <argp.h>

#include "image.h"
#include "base/text.h"
#include "memory_image/graph.h"
#include "read/query.h"

struct node_choice {
	struct text query_text;
	struct query *query;
	uint64_t *address;
	size_t addresses, room;
};

/* --image, --top, --csv and the like. Arguments are addresses, or a query. */
struct node_options {
	struct image_input input;
	struct output output;
	struct node_choice choice;
	size_t top;
};

/* An argp child: its input is a struct node_options. */
extern const struct argp node_options_argp;

bool node_choice_empty(const struct node_choice *choice);
void node_choice_free(struct node_choice *choice);

/* Whether the query selects a site or label with this name. */
bool node_choice_has(const struct node_choice *choice, const char *name);

/*
 * A byte for each node of the graph, to be freed. NULL after a message if no node is chosen, or
 * if there is nothing at an address.
 */
uint8_t *node_choice_make(const struct node_choice *choice, const struct graph *graph);

#endif
