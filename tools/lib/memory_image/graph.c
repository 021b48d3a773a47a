// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory_image/scan_objects.h"
#include "memory_image/scan_roots.h"
#include "memory_image/scan_words.h"

/* As many as the kernel can allocate at once */
static unsigned int max_followers(const struct image *image)
{
	return 1U << (image->page_shift == 16 ? IMAGE_MAX_ALLOC_ORDER : image->page_shift == 14 ? 11 : 10);
}

/* ---- reading ---------------------------------------------------------------------- */

struct graph *graph_read(struct kernel_objects *objects, graph_progress *progress, void *data)
{
	struct graph *g = xcalloc(1, sizeof(*g));
	struct image *image = objects->image;
	const uint64_t *n = image->n;
	struct scan s = {
		.graph = g, .objects = objects, .image = image,
		.direct_map = image->layout.direct_map, .max_pa = image->max_pa,
		.memory_map = image->layout.memory_map, .struct_page = n[N_PAGE_SIZE_OF],
		.page_shift = image->page_shift,
		.memory_map_size = (image->max_pa >> image->page_shift) * n[N_PAGE_SIZE_OF],
		.text = n[N_TEXT], .text_size = n[N_KERNEL_END] - n[N_TEXT],
		.cpu0 = image->cpu_offset[0], .hardened = n[N_HARDENED],
		.progress = progress, .data = data, .all = dump_size(image->dump),
	};

	if (objects->areas) {
		s.area_low = objects->area[0].start;
		s.area_high = objects->area[objects->areas - 1].end;
	}
	scan_find_small_percpu(&s);
	g->objects = objects;
	g->first = xcalloc(objects->nodes + 1UL, sizeof(*g->first));
	scan_set_aside(&s);
	scan_find_tasks(&s);
	scan_find_kept_pages(&s);
	scan_find_modules(&s);
	scan_find_writers(&s);
	scan_objects(&s);
	scan_roots(&s);
	g->nodes = objects->nodes + (uint32_t)g->roots;
	g->first[g->nodes] = g->edges;
	free(s.task);
	free(s.area);
	free(s.skip.at);
	free(s.writes_next);
	return g;
}

void graph_free(struct graph *graph)
{
	if (!graph)
		return;
	free(graph->root_label);
	free(graph->first);
	free(graph->edge);
	strmap_free(&graph->labels);
	free(graph);
}

/* ---- reaching --------------------------------------------------------------------- */

static bool is_single(const struct graph *g, const struct extent *extent)
{
	return !extent->order && extent->count == 1 && g->objects->id[extent->first] &&
	       !(extent->flags & (EXTENT_QUIET | EXTENT_SLAB));
}

uint32_t graph_follower(const struct graph *graph, uint32_t node, unsigned int i)
{
	struct kernel_objects *o = graph->objects;
	const struct extent *first = kobjects_extent_of(o, node), *next;
	uint64_t block = 2;

	if (!first || first->first != node || !(first->flags & EXTENT_POINTED) ||
	    !is_single(graph, first) || i + 1 >= max_followers(o->image))
		return 0;
	while (block < i + 2)
		block *= 2;
	next = first->pfn % block ? NULL : kobjects_extent(o, first->pfn + i + 1);
	if (!next || !is_single(graph, next) || o->id[next->first] != o->id[node])
		return 0;
	return next->first;
}

bool graph_is_root(const struct graph *graph, uint32_t node)
{
	const struct extent *extent;

	if (node >= graph->objects->nodes || kobjects_bit(graph->objects->is_ids, node))
		return true;
	extent = kobjects_extent_of(graph->objects, node);
	return extent && node == extent->first && (extent->flags & EXTENT_USED || extent->label);
}

static uint32_t push(uint32_t to, const uint8_t *without, uint8_t *reached, uint32_t *stack,
		     uint32_t depth)
{
	if (reached[to] || (without && without[to]))
		return depth;
	reached[to] = 1;
	stack[depth] = to;
	return depth + 1;
}

void graph_reach_from(const struct graph *graph, uint32_t node, const uint8_t *without,
		      uint8_t *reached, uint32_t *stack)
{
	uint32_t depth = push(node, without, reached, stack, 0), next;

	while (depth) {
		uint32_t at = stack[--depth];

		for (uint64_t e = graph->first[at]; e < graph->first[at + 1]; e++)
			depth = push(graph->edge[e].to, without, reached, stack, depth);
		for (unsigned int i = 0; (next = graph_follower(graph, at, i)); i++)
			depth = push(next, without, reached, stack, depth);
	}
}

void graph_reach(const struct graph *graph, const uint8_t *without, uint8_t *reached)
{
	const struct kernel_objects *o = graph->objects;
	uint32_t *stack = xcalloc(graph->nodes + 1UL, sizeof(*stack));

	memset(reached, 0, graph->nodes);
	for (uint32_t node = o->nodes; node < graph->nodes; node++)
		graph_reach_from(graph, node, without, reached, stack);
	for (uint32_t node = 1; node < o->nodes; node++)
		if (kobjects_bit(o->is_ids, node))
			graph_reach_from(graph, node, without, reached, stack);
	for (size_t i = 0; i < o->extents; i++)
		if (graph_is_root(graph, o->extent[i].first))
			graph_reach_from(graph, o->extent[i].first, without, reached, stack);
	free(stack);
}

/* ---- names ------------------------------------------------------------------------ */

uint32_t graph_group(const struct graph *graph, uint32_t node, bool contexts)
{
	const struct kernel_objects *o = graph->objects;
	const struct extent *extent;

	if (node >= o->nodes)
		return GRAPH_LABELS + graph->root_label[node - o->nodes];
	extent = kobjects_extent_of(o, node);
	if (extent && node == extent->first && extent->label)
		return GRAPH_LABELS + extent->label;
	return contexts ? o->id[node] : image_site_id(o->sites, o->id[node]);
}

void graph_group_name(const struct graph *graph, uint32_t group, struct text *name)
{
	if (group == GRAPH_LABELS)
		text_puts(name, "lost");
	else if (group > GRAPH_LABELS)
		text_puts(name, graph->labels.entry[group - GRAPH_LABELS - 1].key);
	else if (!group)
		text_puts(name, "memory of slabs without a call site");
	else if (!image_site_text(graph->objects->sites, (uint16_t)group, name))
		text_puts(name, "an id that no tag has");
}
