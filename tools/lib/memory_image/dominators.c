// SPDX-License-Identifier: GPL-2.0-only
/*
 * The algorithm of Lengauer and Tarjan with path compression, without recursion. Nodes are
 * numbered in the order of a depth-first search; number 1 is an artificial root of all roots.
 */
#include "memory_image/dominators.h"

#include <stdlib.h>

#include "base/memory.h"

struct position {
	uint32_t number;
	unsigned int follower;
	uint64_t edge;
};

struct finder {
	const struct graph *graph;
	uint32_t *number;	/* of a node */
	uint32_t *node;		/* node of a number; the following arrays are by number, too: */
	uint32_t *parent, *semi, *idom, *ancestor, *best, *bucket, *next;
	uint32_t count;
	uint64_t *before;	/* start of each node's predecessors in @from */
	uint32_t *from;
	uint32_t *stack;
	struct position *path;	/* of the walk */
	uint32_t depth;
};

/* ---- the walk ----------------------------------------------------------------------- */

static void visit(struct finder *f, uint32_t node, uint32_t parent)
{
	if (f->number[node])
		return;
	f->number[node] = ++f->count;
	f->node[f->count] = node;
	f->parent[f->count] = parent;
	f->path[f->depth++] = (struct position){ f->count, 0, f->graph->first[node] };
}

static void walk(struct finder *f, uint32_t root)
{
	const struct graph *g = f->graph;
	uint32_t next;

	visit(f, root, 1);
	while (f->depth) {
		struct position *top = &f->path[f->depth - 1];
		uint32_t node = f->node[top->number];

		if (top->edge < g->first[node + 1])
			visit(f, g->edge[top->edge++].to, top->number);
		else if ((next = graph_follower(g, node, top->follower++)))
			visit(f, next, top->number);
		else
			f->depth--;
	}
}

/* ---- predecessors -------------------------------------------------------------------- */

/* Counts the predecessors or, with @from, stores them. */
static void predecessors(struct finder *f, bool note)
{
	const struct graph *g = f->graph;
	uint32_t next;

	for (uint32_t i = 2; i <= f->count; i++) {
		uint32_t node = f->node[i];

		for (uint64_t e = g->first[node]; e < g->first[node + 1]; e++) {
			uint32_t to = f->number[g->edge[e].to];

			if (note)
				f->from[f->before[to]++] = i;
			else
				f->before[to + 1]++;
		}
		for (unsigned int k = 0; (next = graph_follower(g, node, k)); k++) {
			uint32_t to = f->number[next];

			if (note)
				f->from[f->before[to]++] = i;
			else
				f->before[to + 1]++;
		}
	}
}

static void find_predecessors(struct finder *f)
{
	f->before = xcalloc(f->count + 2UL, sizeof(*f->before));
	predecessors(f, false);
	for (uint32_t i = 1; i <= f->count + 1; i++)
		f->before[i] += f->before[i - 1];
	f->from = xcalloc(f->before[f->count + 1] + 1, sizeof(*f->from));
	predecessors(f, true);
	/* Each index has moved to the beginning of the next. */
	for (uint32_t i = f->count + 1; i > 0; i--)
		f->before[i] = f->before[i - 1];
	f->before[0] = 0;
}

/* ---- dominators ---------------------------------------------------------------------- */

static uint32_t evaluate(struct finder *f, uint32_t v)
{
	uint32_t depth = 0, top = v;

	if (!f->ancestor[v])
		return v;
	while (f->ancestor[f->ancestor[top]]) {
		f->stack[depth++] = top;
		top = f->ancestor[top];
	}
	while (depth) {
		uint32_t u = f->stack[--depth], above = f->ancestor[u];

		if (f->semi[f->best[above]] < f->semi[f->best[u]])
			f->best[u] = f->best[above];
		f->ancestor[u] = f->ancestor[above];
	}
	return f->best[v];
}

static void find(struct finder *f)
{
	for (uint32_t i = 1; i <= f->count; i++)
		f->semi[i] = f->best[i] = i;
	for (uint32_t w = f->count; w > 1; w--) {
		uint32_t parent = f->parent[w];

		for (uint64_t e = f->before[w]; e < f->before[w + 1]; e++) {
			uint32_t u = evaluate(f, f->from[e]);

			if (f->semi[u] < f->semi[w])
				f->semi[w] = f->semi[u];
		}
		/* Roots are below the artificial root. */
		if (graph_is_root(f->graph, f->node[w]))
			f->semi[w] = 1;
		f->next[w] = f->bucket[f->semi[w]];
		f->bucket[f->semi[w]] = w;
		f->ancestor[w] = parent;
		for (uint32_t v = f->bucket[parent]; v; v = f->next[v]) {
			uint32_t u = evaluate(f, v);

			f->idom[v] = f->semi[u] < f->semi[v] ? u : parent;
		}
		f->bucket[parent] = 0;
	}
	for (uint32_t w = 2; w <= f->count; w++)
		if (f->idom[w] != f->semi[w])
			f->idom[w] = f->idom[f->idom[w]];
}

struct dominators *dominators_find(const struct graph *graph)
{
	struct dominators *d = xcalloc(1, sizeof(*d));
	size_t room = graph->nodes + 3UL;
	struct finder f = {
		.graph = graph, .count = 1,
		.number = xcalloc(room, 4), .node = xcalloc(room, 4), .parent = xcalloc(room, 4),
		.semi = xcalloc(room, 4), .idom = xcalloc(room, 4), .ancestor = xcalloc(room, 4),
		.best = xcalloc(room, 4), .bucket = xcalloc(room, 4), .next = xcalloc(room, 4),
		.stack = xcalloc(room, 4), .path = xcalloc(room, sizeof(*f.path)),
	};

	for (uint32_t node = graph->nodes; node-- > 1;)
		if (graph_is_root(graph, node))
			walk(&f, node);
	find_predecessors(&f);
	find(&f);

	d->order = xcalloc(room, 4);
	d->above = xcalloc(room, 4);
	for (uint32_t i = 2; i <= f.count; i++) {
		d->order[d->count++] = f.node[i];
		d->above[f.node[i]] = f.node[f.idom[i]];
	}
	free(f.number);
	free(f.node);
	free(f.parent);
	free(f.semi);
	free(f.idom);
	free(f.ancestor);
	free(f.best);
	free(f.bucket);
	free(f.next);
	free(f.stack);
	free(f.path);
	free(f.before);
	free(f.from);
	return d;
}

void dominators_free(struct dominators *dominators)
{
	if (!dominators)
		return;
	free(dominators->order);
	free(dominators->above);
	free(dominators);
}
