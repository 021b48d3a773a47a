// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/lost.h"

#include <stdlib.h>

#include "base/memory.h"

struct finder {
	const struct graph *graph;
	struct lost *lost;
	uint32_t *index;	/* of a group + 1 */
	uint8_t *reached, *seen, *head;
	uint32_t *stack;
};

static bool is_lost(const struct finder *f, uint32_t node)
{
	return f->graph->objects->id[node] && !f->reached[node];
}

static void add(struct finder *f, uint32_t node, bool contexts)
{
	struct lost *lost = f->lost;
	uint32_t group = graph_group(f->graph, node, contexts), *index = &f->index[group];
	struct lost_site *site;
	uint64_t bytes = kobjects_bytes(f->graph->objects, node);

	if (!*index) {
		GROW(lost->site, lost->sites, lost->room);
		lost->site[lost->sites++] = (struct lost_site){ .group = group };
		*index = (uint32_t)lost->sites;
	}
	site = &lost->site[*index - 1];
	if (site->examples < LOST_EXAMPLES) {
		/* Heads come before the other examples. */
		if (f->head[node] && site->heads < site->examples) {
			site->example[site->examples] = site->example[site->heads];
			site->example[site->heads] = node;
		} else {
			site->example[site->examples] = node;
		}
		site->examples++;
	}
	site->heads += f->head[node];
	site->objects++;
	site->bytes += bytes;
	lost->objects++;
	lost->bytes += bytes;
}

/*
 * A head is a node that no other lost node leads to. In a ring that only the ring itself leads
 * to, one node is the head.
 */
static void find_heads(struct finder *f)
{
	const struct graph *g = f->graph;
	uint32_t nodes = g->objects->nodes, next;
	uint8_t *pointed = xcalloc(nodes, 1);

	for (uint32_t node = 1; node < nodes; node++) {
		if (!is_lost(f, node))
			continue;
		/* The vm_struct of an area is lost together with its pages. */
		if (kobjects_bit(g->objects->is_vm, node))
			continue;
		for (uint64_t e = g->first[node]; e < g->first[node + 1]; e++)
			pointed[g->edge[e].to] = 1;
		for (unsigned int i = 0; (next = graph_follower(g, node, i)); i++)
			pointed[next] = 1;
	}
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (uint32_t node = 1; node < nodes; node++) {
			if (!is_lost(f, node) || (pass ? f->seen[node] : pointed[node]))
				continue;
			f->head[node] = 1;
			graph_reach_from(g, node, f->reached, f->seen, f->stack);
		}
	}
	free(pointed);
}

static int by_bytes(const void *a, const void *b)
{
	const struct lost_site *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

struct lost *lost_find(const struct graph *graph, bool contexts)
{
	uint32_t nodes = graph->objects->nodes;
	struct lost *lost = xcalloc(1, sizeof(*lost));
	struct finder f = {
		.graph = graph, .lost = lost,
		.index = xcalloc(GRAPH_LABELS + graph->labels.count + 1, sizeof(*f.index)),
		.reached = xcalloc(graph->nodes, 1),
		.seen = xcalloc(graph->nodes, 1),
		.head = xcalloc(graph->nodes, 1),
		.stack = xcalloc(graph->nodes + 1UL, sizeof(*f.stack)),
	};

	graph_reach(graph, NULL, f.reached);
	find_heads(&f);
	for (uint32_t node = 1; node < nodes; node++)
		if (is_lost(&f, node))
			add(&f, node, contexts);
	if (lost->sites)
		qsort(lost->site, lost->sites, sizeof(*lost->site), by_bytes);
	lost->live = graph->objects->live;
	free(f.index);
	free(f.reached);
	free(f.seen);
	free(f.head);
	free(f.stack);
	return lost;
}

void lost_free(struct lost *lost)
{
	if (lost)
		free(lost->site);
	free(lost);
}
