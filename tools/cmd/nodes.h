/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of an image that the arguments of a command choose. */
#ifndef CODETAG_CMD_NODES_H
#define CODETAG_CMD_NODES_H

#include <argp.h>

#include "base/text.h"
#include "memory_image/graph.h"
#include "read/query.h"

struct node_choice {
	struct text query_text;
	struct query *query;
	uint64_t *address;
	size_t addresses, room;
};

/* One argument: an address, or a part of a query. */
void node_choice_add(struct node_choice *choice, const char *arg);

/* After the last argument; ends the program if it is no query. */
void node_choice_end(struct node_choice *choice, struct argp_state *state);
bool node_choice_empty(const struct node_choice *choice);
void node_choice_free(struct node_choice *choice);

/* Whether a site or label has a name that is selected. */
bool node_choice_has(const struct node_choice *choice, const char *name);

/*
 * A byte for each node of the graph, to be freed; NULL after a message if nothing of it is
 * there, or if there is nothing at an address.
 */
uint8_t *node_choice_make(const struct node_choice *choice, const struct graph *graph);

#endif
