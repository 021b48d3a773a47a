// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/scan_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory_image/scan_words.h"
#include "memory_image/stale.h"

/* ---- pages of kvfree_rcu() -------------------------------------------------------- */

/* Whether the first words at @va are a list_head, and it is on a list. */
static bool is_listed(const struct scan *s, uint64_t va)
{
	uint64_t missing = s->image->missing;
	uint64_t next = image_u64(s->image, va), prev = image_u64(s->image, va + 8);
	bool listed = next && prev && image_u64(s->image, next + 8) == va && image_u64(s->image, prev) == va;

	s->image->missing = missing;
	return listed;
}

/* Whether the call site of an id is one of the functions that get pages for kvfree_rcu(). */
static bool is_of_kvfree(const struct image_sites *sites, uint16_t id)
{
	struct text site = { 0 };
	bool is = image_site_text(sites, id, &site) &&
		  (strstr(site.s, "func:fill_page_cache_func") || strstr(site.s, "func:add_ptr_to_bulk_krc_lock"));

	text_free(&site);
	return is;
}

/*
 * kvfree_rcu() writes addresses of memory to free into pages, and keeps a page for the next ones
 * when that is done. Such a page is on no list_head. Its first word leads to the next one, the others
 * are old. In a page on a list the addresses behind the last one are.
 */
void scan_find_kept_pages(struct scan *s)
{
	struct kernel_objects *o = s->objects;
	uint64_t tag, of_kvfree[2] = { 0 };
	unsigned int known = 0;

	for (unsigned int id = 1; id < IMAGE_IDS && known < 2; id++)
		if ((tag = image_tag_of(o->sites, (uint16_t)id)) && tag != of_kvfree[0] &&
		    is_of_kvfree(o->sites, (uint16_t)id))
			of_kvfree[known++] = tag;
	for (size_t i = 0; i < o->extents && known; i++) {
		struct extent *extent = &o->extent[i];

		if (extent->cache || !o->id[extent->first])
			continue;
		tag = image_tag_of(o->sites, o->id[extent->first]);
		if (tag == of_kvfree[0] || tag == of_kvfree[1])
			extent->flags |= is_listed(s, s->direct_map + (extent->pfn << s->page_shift)) ?
					 EXTENT_RECORDS : EXTENT_KEPT;
	}
}

/*
 * The bytes of a page of kvfree_rcu() with what waits: a list_head, two numbers of grace periods, the
 * number of addresses, and these. The whole page if it cannot be such a number.
 */
static uint64_t records_size(struct scan *s, uint64_t pa)
{
	uint64_t number = image_u64(s->image, s->direct_map + pa + 32);

	return number <= (s->image->page_size - 40) / 8 ? 40 + number * 8 : s->image->page_size;
}

/* ---- pages ------------------------------------------------------------------------ */

/*
 * The freelist of a slab leads to an object of its own. It stays in the struct page when the slab is
 * freed, and leads to pages of others then. The two words before it link slabs, and stay, too.
 */
static void look_struct_page(struct scan *s, uint64_t va, bool slab)
{
	uint32_t freelist = (uint32_t)s->image->n[N_SLAB_COUNTERS] - 8, next = freelist + 8;

	scan_virtual(s, va, slab && freelist >= 16 ? freelist - 16 : freelist, 0);
	if (image_u64(s->image, va + freelist) - s->direct_map >= s->max_pa)
		scan_virtual(s, va + freelist, 8, 0);
	scan_virtual(s, va + next, s->struct_page - next, 0);
}

/* The struct pages of a compound page after the fourth contain nothing. */
static void look_struct_pages(struct scan *s, const struct extent *extent)
{
	uint64_t pages = 1ULL << extent->order;

	if (extent->flags & EXTENT_COMPOUND && pages > 4)
		pages = 4;
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t va = s->memory_map + (extent->pfn + i) * s->struct_page;

		/* The others of a compound page have other members. */
		if (i && extent->flags & EXTENT_COMPOUND)
			scan_virtual(s, va, s->struct_page, 0);
		else
			look_struct_page(s, va, !i && extent->flags & EXTENT_CONTAINER);
	}
}

/*
 * A stack that waits for its free with RCU begins with a struct rcu_head. Its next one is that of
 * any object that waits, too.
 */
static void look_freed_stack(struct scan *s, uint64_t pa)
{
	const uint64_t *n = s->image->n;
	uint64_t function = image_u64(s->image, s->direct_map + pa + 8);

	if (function >= n[N_TEXT] && function < n[N_TEXT_END])
		scan_physical(s, pa, 8, 0);
}

static void look_pages(struct scan *s, const struct extent *extent)
{
	const struct kernel_objects *o = s->objects;
	struct graph *g = s->graph;
	uint64_t pa = extent->pfn << s->page_shift, from = g->edges;

	if (extent->flags & EXTENT_KEPT)
		scan_physical(s, pa, 8, 0);
	else if (extent->flags & EXTENT_RECORDS)
		scan_physical(s, pa, records_size(s, pa), 0);
	else if (!(extent->flags & EXTENT_QUIET) && !kobjects_bit(o->is_ids, extent->first))
		scan_physical(s, pa, s->image->page_size << extent->order, 0);
	else if (!extent->cache && o->id[extent->first])
		look_freed_stack(s, pa);
	if (g->edges > from)
		g->edges = from + stale_drop_requests(o, extent, g->edge + from, g->edges - from);
}

/* ---- objects of slabs ------------------------------------------------------------- */

/* All words of a vmap_area except those that lead to its parts */
static void look_area(struct scan *s, uint64_t pa, uint32_t size)
{
	const uint64_t *n = s->image->n;

	for (uint32_t at = 0; at < size; at += 8)
		if (at != n[N_AREA_START] && at != n[N_AREA_END] && at != n[N_AREA_VM])
			scan_physical(s, pa + at, 8, at);
}

static bool is_next_free(const struct scan *s, const struct extent *extent, uint64_t w)
{
	uint64_t offset = w - s->direct_map - (extent->pfn << s->page_shift) - extent->cache->pad;

	return offset < s->image->page_size << extent->order && offset % extent->cache->size == 0;
}

/* The word of an object that was the pointer to the next free one while it was free */
static bool next_free(const struct scan *s, const struct extent *extent, uint32_t node, uint64_t *w)
{
	const struct image_cache *cache = extent->cache;
	uint32_t next = cache->free_pointer;

	if (s->hardened || extent->kfence || next % 8 || next + 8ULL > cache->object_size ||
	    kobjects_bit(s->objects->is_area, node))
		return false;
	*w = image_u64(s->image, kobjects_address(s->objects, node) + next);
	return true;
}

/*
 * Call sites that write to this word themselves: their links are no list of free objects, which
 * never leads to another slab.
 */
void scan_find_writers(struct scan *s)
{
	struct kernel_objects *o = s->objects;
	uint64_t w;

	s->writes_next = xcalloc(IMAGE_IDS / 8, 1);
	for (size_t i = 0; i < o->extents; i++) {
		const struct extent *extent = &o->extent[i];

		if (!extent->cache || s->hardened)
			continue;
		for (uint32_t node = extent->first + 1; node < extent->first + extent->count; node++)
			if (o->id[node] && next_free(s, extent, node, &w) && w && !is_next_free(s, extent, w))
				kobjects_set_bit(s->writes_next, image_site_id(o->sites, o->id[node]));
	}
}

static void look_object(struct scan *s, const struct extent *extent, uint32_t node)
{
	const struct image_cache *cache = extent->cache;
	uint64_t pa = extent->pfn << s->page_shift, w;
	uint32_t size = cache->object_size, next = cache->free_pointer, next_net;

	if (extent->kfence) {
		scan_physical(s, pa, s->image->page_size, 0);
		return;
	}
	pa += (uint64_t)(node - extent->first - 1) * cache->size + cache->pad;
	if (stale_net(s->image, cache, s->direct_map + pa, &next_net)) {
		scan_physical(s, pa + next_net, 8, next_net);
		return;
	}
	if (kobjects_bit(s->objects->is_area, node)) {
		look_area(s, pa, size);
	} else if (next_free(s, extent, node, &w) && is_next_free(s, extent, w) &&
		   !kobjects_bit(s->writes_next, image_site_id(s->objects->sites, s->objects->id[node]))) {
		scan_physical(s, pa, next, 0);
		scan_physical(s, pa + next + 8, size - next - 8, next + 8);
	} else {
		scan_physical(s, pa, size, 0);
	}
}

/* ---- mapped pages ----------------------------------------------------------------- */

/* The pages that an area maps: its vm_struct holds them. */
static void look_mapped(struct scan *s, const struct vmalloc_area *area)
{
	uint32_t last = 0;
	uint64_t pa;

	for (uint64_t va = area->start; va < area->end && image_step(s->image); va += s->image->page_size) {
		struct extent *extent = image_translate(s->image, va, &pa) ?
					kobjects_extent(s->objects, pa >> s->page_shift) : NULL;

		if (!extent || extent->first == last || !s->objects->id[extent->first])
			continue;
		last = extent->first;
		scan_add_edge(s, last, EDGE_ELSEWHERE);
	}
}

static void user_entry(struct scan *s, uint64_t pa, bool table)
{
	struct extent *extent = kobjects_extent(s->objects, pa >> s->page_shift);

	(void)table;
	if (extent && s->objects->id[extent->first])
		scan_add_edge(s, extent->first, EDGE_ELSEWHERE);
}

/* ---- all nodes -------------------------------------------------------------------- */

static void set_elsewhere(struct graph *g, uint64_t from)
{
	for (; from < g->edges; from++)
		g->edge[from].offset = EDGE_ELSEWHERE;
}

static void look_percpu(struct scan *s, uint32_t node)
{
	const struct percpu_object *object = &s->objects->percpu[node - 1];
	uint64_t from = s->graph->edges;

	for (size_t cpu = 0; cpu < s->image->cpus && image_step(s->image); cpu++)
		scan_virtual(s, object->address + s->image->unit_offset[cpu], object->size, 0);
	set_elsewhere(s->graph, from);
}

static void look_extent(struct scan *s, const struct extent *extent)
{
	struct kernel_objects *o = s->objects;

	scan_begin_node(s, extent->first);
	if (o->id[extent->first] || extent->flags & EXTENT_USED) {
		look_struct_pages(s, extent);
		set_elsewhere(s->graph, s->graph->first[extent->first]);
		look_pages(s, extent);
	}
	for (uint32_t node = extent->first + 1; node < extent->first + extent->count; node++) {
		scan_begin_node(s, node);
		if (!o->id[node] || kobjects_bit(o->is_ids, node))
			continue;
		look_object(s, extent, node);
		while (s->next_area < s->areas && s->area[s->next_area].node <= node)
			look_mapped(s, &s->area[s->next_area++]);
		if (s->image->n[N_MM_TABLES] && !strcmp(extent->cache->name, "mm_struct")) {
			uint64_t tables, pgd = image_u64(s->image, kobjects_address(o, node) +
							 s->image->n[N_MM_TABLES]);

			if (image_translate(s->image, pgd, &tables))
				scan_tables(s, tables & ~7ULL, false, user_entry);
		}
	}
}

static int by_area_node(const void *a, const void *b)
{
	const struct vmalloc_area *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

void scan_objects(struct scan *s)
{
	struct kernel_objects *o = s->objects;

	s->areas = o->areas;
	s->area = xcalloc(s->areas + 1, sizeof(*s->area));
	if (s->areas) {
		memcpy(s->area, o->area, s->areas * sizeof(*s->area));
		qsort(s->area, s->areas, sizeof(*s->area), by_area_node);
	}
	scan_begin_node(s, 0);
	for (uint32_t node = 1; node <= o->percpus; node++) {
		scan_begin_node(s, node);
		look_percpu(s, node);
	}
	for (size_t i = 0; i < o->extents; i++)
		look_extent(s, &o->extent[i]);
}
