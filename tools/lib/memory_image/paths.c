// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/paths.h"

#include <stdlib.h>

#include "base/memory.h"

static size_t hash(uint32_t above, uint32_t group)
{
	uint64_t key = (uint64_t)above << 32 | group;

	return (size_t)(key * 0x9e3779b97f4a7c15ULL >> 20);
}

static void rehash(struct paths *p)
{
	p->slots = p->slots ? 2 * p->slots : 1024;
	free(p->slot);
	p->slot = xcalloc(p->slots, sizeof(*p->slot));
	for (size_t i = 1; i < p->count; i++) {
		size_t s = hash(p->path[i].above, p->path[i].group) & (p->slots - 1);

		while (p->slot[s])
			s = (s + 1) & (p->slots - 1);
		p->slot[s] = (uint32_t)i + 1;
	}
}

/* The path of a group below another path, or that path itself if the group is already on it. */
static uint32_t below(struct paths *p, uint32_t above, uint32_t group)
{
	size_t s;

	for (uint32_t i = above; i; i = p->path[i].above)
		if (p->path[i].group == group)
			return i;
	if (2 * p->count >= p->slots)
		rehash(p);
	s = hash(above, group) & (p->slots - 1);
	for (; p->slot[s]; s = (s + 1) & (p->slots - 1)) {
		const struct path *path = &p->path[p->slot[s] - 1];

		if (path->above == above && path->group == group)
			return p->slot[s] - 1;
	}
	GROW(p->path, p->count, p->room);
	p->path[p->count] = (struct path){ .above = above, .group = group };
	p->slot[s] = (uint32_t)++p->count;
	return (uint32_t)p->count - 1;
}

static void add(struct paths *p, const struct graph *graph, uint32_t path, uint32_t node)
{
	if (node >= graph->objects->nodes || !graph->objects->id[node] ||
	    kobjects_is_container(graph->objects, node))
		return;
	p->path[path].bytes += kobjects_bytes(graph->objects, node);
	p->path[path].objects++;
}

struct paths *paths_find(const struct graph *graph, const struct dominators *dominators,
			 const uint8_t *chosen)
{
	struct paths *p = xcalloc(1, sizeof(*p));
	uint32_t *of = xcalloc(graph->nodes, sizeof(*of));
	uint8_t *reached = xcalloc(graph->nodes, 1);
	uint32_t lost;

	GROW(p->path, p->count, p->room);
	p->path[p->count++] = (struct path){ 0 };
	for (uint32_t i = 0; i < dominators->count; i++) {
		uint32_t node = dominators->order[i], above = of[dominators->above[node]];

		reached[node] = 1;
		if (chosen && !above && !chosen[node])
			continue;
		of[node] = below(p, above, graph_group(graph, node, false));
		add(p, graph, of[node], node);
	}
	for (uint32_t node = 1; node < graph->objects->nodes; node++) {
		if (reached[node] || !graph->objects->id[node] || (chosen && !chosen[node]))
			continue;
		lost = chosen ? 0 : below(p, 0, GRAPH_LABELS);
		add(p, graph, below(p, lost, graph_group(graph, node, false)), node);
	}
	for (size_t i = p->count; i-- > 1;) {
		struct path *path = &p->path[i];

		path->all_bytes += path->bytes;
		path->all_objects += path->objects;
		p->path[path->above].all_bytes += path->all_bytes;
		p->path[path->above].all_objects += path->all_objects;
	}
	free(of);
	free(reached);
	return p;
}

void paths_free(struct paths *paths)
{
	if (!paths)
		return;
	free(paths->path);
	free(paths->slot);
	free(paths);
}
