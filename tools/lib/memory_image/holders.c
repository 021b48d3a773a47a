// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/holders.h"

#include <stdlib.h>

#include "base/memory.h"

struct counter {
	const struct graph *graph;
	bool contexts;
	struct pointers *holders;
	uint32_t *index;	/* group + 1 */
	uint32_t *seen_by;	/* row + 1 of the last count of this object */
	uint8_t *held;
};

static size_t groups(const struct graph *graph)
{
	return GRAPH_LABELS + graph->labels.count + 1;
}

static void count(struct counter *c, uint32_t from, uint32_t to, uint32_t offset)
{
	struct pointers *h = c->holders;
	uint32_t group = graph_group(c->graph, from, c->contexts), *index = &c->index[group];
	struct pointers_row *row;

	c->held[to] = 1;
	if (!*index) {
		GROW(h->row, h->rows, h->room);
		h->row[h->rows++] = (struct pointers_row){
			.group = group, .example_offset = offset,
			.example = kobjects_address(c->graph->objects, from),
		};
		*index = (uint32_t)h->rows;
	}
	row = &h->row[*index - 1];
	row->pointers++;
	row->holders += row->last_holder != from;
	row->last_holder = from;
	if (c->seen_by[to] != *index) {
		c->seen_by[to] = *index;
		row->objects++;
	}
}

static int by_objects(const void *a, const void *b)
{
	const struct pointers_row *x = a, *y = b;

	if (x->objects != y->objects)
		return x->objects < y->objects ? 1 : -1;
	if (x->pointers != y->pointers)
		return x->pointers < y->pointers ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

struct pointers *pointers_find(const struct graph *graph, const uint8_t *chosen, bool contexts)
{
	struct pointers *holders = xcalloc(1, sizeof(*holders));
	struct counter c = {
		.graph = graph, .contexts = contexts, .holders = holders,
		.index = xcalloc(groups(graph), sizeof(*c.index)),
		.seen_by = xcalloc(graph->nodes, sizeof(*c.seen_by)),
		.held = xcalloc(graph->nodes, 1),
	};
	uint32_t next;

	for (uint32_t from = 1; from < graph->nodes; from++) {
		for (uint64_t e = graph->first[from]; e < graph->first[from + 1]; e++)
			if (chosen[graph->edge[e].to])
				count(&c, from, graph->edge[e].to, graph->edge[e].offset);
		for (unsigned int i = 0; (next = graph_follower(graph, from, i)); i++)
			if (chosen[next])
				count(&c, from, next, EDGE_ELSEWHERE);
	}
	for (uint32_t node = 1; node < graph->objects->nodes; node++) {
		if (!chosen[node])
			continue;
		holders->chosen++;
		holders->bytes += kobjects_bytes(graph->objects, node);
		holders->unheld += !c.held[node] && !graph_is_root(graph, node);
	}
	if (holders->rows)
		qsort(holders->row, holders->rows, sizeof(*holders->row), by_objects);
	free(c.index);
	free(c.seen_by);
	free(c.held);
	return holders;
}

void pointers_free(struct pointers *holders)
{
	if (holders)
		free(holders->row);
	free(holders);
}

static int by_bytes(const void *a, const void *b)
{
	const struct retained_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

struct retained *retained_find(const struct graph *graph, const uint8_t *chosen, bool contexts)
{
	struct retained *retained = xcalloc(1, sizeof(*retained));
	uint32_t *index = xcalloc(groups(graph), sizeof(*index));
	uint8_t *with = xcalloc(graph->nodes, 1), *without = xcalloc(graph->nodes, 1);

	graph_reach(graph, NULL, with);
	graph_reach(graph, chosen, without);
	for (uint32_t node = 1; node < graph->objects->nodes; node++) {
		uint32_t group;
		uint64_t bytes;

		if (!graph->objects->id[node] || without[node] || !(with[node] || chosen[node]) ||
		    kobjects_is_container(graph->objects, node))
			continue;
		group = graph_group(graph, node, contexts);
		bytes = kobjects_bytes(graph->objects, node);
		if (!index[group]) {
			GROW(retained->row, retained->rows, retained->room);
			retained->row[retained->rows++] = (struct retained_row){ .group = group };
			index[group] = (uint32_t)retained->rows;
		}
		retained->row[index[group] - 1].bytes += bytes;
		retained->row[index[group] - 1].objects++;
		retained->bytes += bytes;
		retained->objects++;
	}
	if (retained->rows)
		qsort(retained->row, retained->rows, sizeof(*retained->row), by_bytes);
	free(index);
	free(with);
	free(without);
	return retained;
}

void retained_free(struct retained *retained)
{
	if (retained)
		free(retained->row);
	free(retained);
}
