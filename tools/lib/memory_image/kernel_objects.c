// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/kernel_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Page frames in a piece of the table */
#define PIECE_SHIFT 15
#define PIECE (1U << PIECE_SHIFT)

#define MAX_NODES 0xfff00000U
#define MAX_ORDER 18

struct builder {
	struct kernel_objects *objects;
	struct image_page page;		/* the piece that was looked at last */
	size_t id_room, extent_room, percpu_room, chunk_room;
	bool percpu_done;
};

void frames_add(struct frames_list *list, uint64_t first, uint64_t end)
{
	if (list->count && list->at[list->count - 1].end == first) {
		list->at[list->count - 1].end = end;
		return;
	}
	GROW(list->at, list->count, list->room);
	list->at[list->count++] = (struct frames){ first, end };
}

/* ---- nodes ------------------------------------------------------------------------- */

static uint32_t add_nodes(struct builder *b, uint32_t count)
{
	struct kernel_objects *objects = b->objects;
	uint32_t first = objects->nodes;

	if (objects->nodes + (uint64_t)count > MAX_NODES) {
		objects->image->unnumbered += count;
		return 0;
	}
	if (objects->nodes + (size_t)count > b->id_room) {
		b->id_room = 2 * (objects->nodes + (size_t)count);
		objects->id = xreallocarray(objects->id, b->id_room, sizeof(*objects->id));
	}
	memset(objects->id + first, 0, count * sizeof(*objects->id));
	objects->nodes += count;
	return first;
}

static void set_id(struct kernel_objects *objects, uint32_t node, uint16_t id)
{
	objects->live += !objects->id[node];
	objects->id[node] = id;
}

static struct extent *current(struct builder *b)
{
	struct kernel_objects *objects = b->objects;
	struct extent *last = objects->extents ? &objects->extent[objects->extents - 1] : NULL;

	return last && last->pfn == b->page.pfn ? last : NULL;
}

static struct extent *add_extent(struct builder *b, unsigned int order)
{
	struct kernel_objects *objects = b->objects;
	struct image *image = objects->image;
	uint64_t pfn = b->page.pfn, type = b->page.type >> 24;
	const uint64_t *n = image->n;
	struct extent extent = { .pfn = pfn, .count = 1, .order = (uint8_t)order };

	/* In a damaged image */
	if (order > (b->page.is_head ? MAX_ORDER : IMAGE_MAX_ALLOC_ORDER) ||
	    (pfn + (1ULL << order)) << image->page_shift > image->max_pa)
		extent.order = 0;
	if (objects->extents >= UINT32_MAX - 1 || kobjects_extent(objects, pfn) ||
	    (pfn + (1ULL << extent.order)) >> PIECE_SHIFT >= objects->pieces)
		return NULL;
	extent.first = add_nodes(b, 1);
	if (!extent.first)
		return NULL;
	if (b->page.is_head)
		extent.flags |= EXTENT_COMPOUND;
	if (b->page.is_slab)
		extent.flags |= EXTENT_QUIET | EXTENT_USED | EXTENT_CONTAINER;
	else if (type == n[N_TYPE_TABLE] || type == n[N_TYPE_HUGETLB] || b->page.mapping)
		extent.flags |= EXTENT_QUIET;
	GROW(objects->extent, objects->extents, b->extent_room);
	objects->extent[objects->extents++] = extent;
	for (uint64_t i = pfn; i < pfn + (1ULL << extent.order); i++) {
		uint32_t **piece = &objects->extent_of[i >> PIECE_SHIFT];

		if (!*piece)
			*piece = xcalloc(PIECE, sizeof(**piece));
		if (!(*piece)[i % PIECE])
			(*piece)[i % PIECE] = (uint32_t)objects->extents;
	}
	return &objects->extent[objects->extents - 1];
}

static void add_object(struct builder *b, const struct holding *h)
{
	struct kernel_objects *objects = b->objects;
	struct extent *extent = current(b);
	struct image *image = objects->image;
	uint64_t start = image->layout.direct_map + (h->pfn << image->page_shift), i;

	if (!extent)
		extent = add_extent(b, h->order);
	if (!extent)
		return;
	if (!extent->cache) {
		uint32_t count = (uint32_t)((image->page_size << extent->order) / h->cache->size);

		if (start - objects->kfence < objects->kfence_size) {
			extent->kfence = true;
			count = 1;
		}
		if (!add_nodes(b, count))
			return;
		extent->cache = h->cache;
		extent->count = 1 + count;
		extent->flags |= EXTENT_SLAB | EXTENT_QUIET | EXTENT_USED;
	}
	i = extent->kfence ? 0 : (h->address - start) / extent->cache->size;
	if (i + 1 < extent->count)
		set_id(objects, extent->first + 1 + (uint32_t)i, h->id);
}

static int by_percpu_address(const void *a, const void *b)
{
	const struct percpu_object *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* All chunks come before the first page. */
static void end_percpu(struct builder *b)
{
	struct kernel_objects *objects = b->objects;
	uint32_t first;

	if (b->percpu_done)
		return;
	b->percpu_done = true;
	if (!objects->percpus)
		return;
	qsort(objects->percpu, objects->percpus, sizeof(*objects->percpu), by_percpu_address);
	first = add_nodes(b, objects->percpus);
	for (uint32_t i = 0; i < objects->percpus; i++)
		set_id(objects, first + i, objects->percpu[i].id);
}

static void add_percpu(struct builder *b, const struct holding *h)
{
	struct kernel_objects *objects = b->objects;
	uint64_t size = h->bytes / objects->image->cpus;

	if (objects->percpus >= MAX_NODES / 2)
		return;
	GROW(objects->percpu, objects->percpus, b->percpu_room);
	objects->percpu[objects->percpus++] = (struct percpu_object){
		h->address, (uint32_t)size, h->id,
	};
}

static void add(void *data, const struct holding *h)
{
	struct builder *b = data;
	struct extent *extent;

	switch (h->holder) {
	case HOLDER_PERCPU:
		add_percpu(b, h);
		break;
	case HOLDER_PAGES:
		extent = add_extent(b, h->order);
		if (extent)
			set_id(b->objects, extent->first, h->id);
		break;
	case HOLDER_OBJECT:
		add_object(b, h);
		break;
	}
}

static void add_page(void *data, const struct image_page *page, uint64_t nr)
{
	struct builder *b = data;
	struct kernel_objects *objects = b->objects;
	const uint64_t *n = objects->image->n;

	end_percpu(b);
	b->page = *page;
	if (page->id || page->is_slab || kobjects_extent(objects, page->pfn))
		return;
	if (page->flags >> n[N_PG_RESERVED] & 1)
		frames_add(&objects->reserved, page->pfn, page->pfn + nr);
	else if (page->references && page->type >> 24 != n[N_TYPE_BUDDY] &&
		 page->type >> 24 != n[N_TYPE_OFFLINE] && !page->mapping)
		frames_add(&objects->unknown, page->pfn, page->pfn + nr);
}

static void add_ids(struct kernel_objects *objects, uint64_t address)
{
	GROW(objects->ids, objects->nr_ids, objects->ids_room);
	objects->ids[objects->nr_ids++] = address;
}

/* Vectors of ids that are not in the slab itself */
static void find_ids(struct kernel_objects *objects)
{
	struct image_page page;
	struct image_slab slab;
	uint32_t node;

	objects->is_ids = xcalloc(objects->nodes / 8 + 1, 1);
	for (size_t i = 0; i < objects->extents; i++) {
		const struct extent *extent = &objects->extent[i];

		if (extent->cache && extent->cache->vector && !extent->kfence &&
		    image_page_read(objects->recount, extent->pfn, &page) &&
		    image_slab_read(objects->recount, &page, &slab) &&
		    slab.ids - slab.start >= objects->image->page_size << extent->order)
			add_ids(objects, slab.ids);
	}
	for (size_t i = 0; i < objects->nr_ids; i++) {
		node = kobjects_at(objects, objects->ids[i]);
		if (node)
			kobjects_set_bit(objects->is_ids, node);
	}
}

/* ---- percpu memory and vmalloc space ------------------------------------------------- */

static void add_chunk(void *data, const struct percpu_chunk *chunk)
{
	struct builder *b = data;
	struct kernel_objects *objects = b->objects;

	GROW(objects->chunk, objects->chunks, b->chunk_room);
	objects->chunk[objects->chunks++] = *chunk;
	for (uint64_t i = 0; i < chunk->size >> objects->image->page_shift; i++)
		if (chunk->ids[i])
			add_ids(objects, chunk->ids[i]);
	objects->chunk[objects->chunks - 1].ids = NULL;
}

static int by_unit_start(const void *a, const void *b)
{
	const struct percpu_unit *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void mark_chunk(struct kernel_objects *objects, const struct percpu_unit *unit)
{
	struct image *image = objects->image;
	uint64_t va = unit->start - image_in_page(image, unit->start), pa;

	for (; va < unit->start + unit->size && image_step(image); va += image->page_size) {
		struct extent *extent = image_translate(image, va, &pa) ?
					kobjects_extent(objects, pa >> image->page_shift) : NULL;

		if (extent)
			extent->flags |= EXTENT_CONTAINER;
	}
}

/* Chunks can share a page, so a unit is only the part that its chunk allocates from. */
static void find_units(struct kernel_objects *objects)
{
	struct image *image = objects->image;
	size_t room = 0;

	for (size_t c = 0; c < objects->chunks; c++) {
		const struct percpu_chunk *chunk = &objects->chunk[c];

		for (size_t cpu = 0; cpu < image->cpus && image_step(image); cpu++) {
			if (chunk->begin >= chunk->end)
				break;
			GROW(objects->unit, objects->units, room);
			objects->unit[objects->units++] = (struct percpu_unit){
				chunk->base + chunk->begin + image->unit_offset[cpu],
				chunk->end - chunk->begin, chunk->base + chunk->begin,
			};
			mark_chunk(objects, &objects->unit[objects->units - 1]);
		}
	}
	if (!objects->units)
		return;
	qsort(objects->unit, objects->units, sizeof(*objects->unit), by_unit_start);
	objects->unit_low = objects->unit[0].start;
	objects->unit_high = objects->unit[objects->units - 1].start +
			     objects->unit[objects->units - 1].size;
}

static int by_area_start(const void *a, const void *b)
{
	const struct vmalloc_area *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The number of areas that begin at or below an address */
static size_t areas_to(const struct kernel_objects *objects, uint64_t va)
{
	size_t low = 0, high = objects->areas;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (objects->area[middle].start <= va)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether an object can be a vmap_area, and which range it then is of; free ones begin at 1. */
static bool read_range(struct kernel_objects *objects, uint64_t at, struct vmalloc_area *area)
{
	struct image *image = objects->image;
	const uint64_t *n = image->n;

	area->start = image_u64(image, at + n[N_AREA_START]);
	area->end = image_u64(image, at + n[N_AREA_END]);
	return (!image_in_page(image, area->start) || area->start == 1) && !image_in_page(image, area->end) &&
	       area->start < area->end && area->end >= 1ULL << 63;
}

typedef void area_function(struct kernel_objects *objects, uint32_t node);

/* Calls @function for each object that is as large as a vmap_area. */
static void each_area(struct kernel_objects *objects, area_function *function)
{
	const uint64_t *n = objects->image->n;

	for (size_t i = 0; i < objects->extents && n[N_AREA_SIZE_OF] && n[N_VM_SIZE_OF]; i++) {
		const struct extent *extent = &objects->extent[i];

		if (!extent->cache || extent->cache->object_size < n[N_AREA_SIZE_OF] ||
		    extent->cache->object_size > 2 * n[N_AREA_SIZE_OF])
			continue;
		for (uint32_t node = extent->first + 1; node < extent->first + extent->count; node++)
			if (objects->id[node] && !image_exhausted(objects->image))
				function(objects, node);
	}
}

/*
 * An object is the vmap_area of an area in use if it leads to a vm_struct that says the same: no
 * other has two pages' addresses that fit.
 */
static void add_area(struct kernel_objects *objects, uint32_t node)
{
	uint64_t at = kobjects_address(objects, node), vm;
	struct image *image = objects->image;
	struct vmalloc_area area;

	if (!read_range(objects, at, &area) || area.start < 1ULL << 63)
		return;
	vm = image_u64(image, at + image->n[N_AREA_VM]);
	area.node = kobjects_at(objects, vm);
	if (!area.node || image_u64(image, vm + image->n[N_VM_ADDRESS]) != area.start)
		return;
	GROW(objects->area, objects->areas, objects->areas_room);
	objects->area[objects->areas++] = area;
	kobjects_set_bit(objects->is_area, node);
	kobjects_set_bit(objects->is_vm, area.node);
}

/*
 * A vmap_area of no area in use: it is free, or waits to be freed, when another allocation can
 * already have the memory of its vm_struct. It is recognised by its range, which lies between areas
 * in use.
 */
static void add_free_area(struct kernel_objects *objects, uint32_t node)
{
	uint64_t vmalloc = objects->image->layout.vmalloc;
	struct vmalloc_area area;
	size_t next;

	if (kobjects_bit(objects->is_area, node) ||
	    !read_range(objects, kobjects_address(objects, node), &area) || area.end < vmalloc ||
	    (area.start < vmalloc && area.start != 1))
		return;
	next = areas_to(objects, area.start);
	if ((!next || objects->area[next - 1].end <= area.start) &&
	    (next == objects->areas || objects->area[next].start >= area.end))
		kobjects_set_bit(objects->is_area, node);
}

static void find_areas(struct kernel_objects *objects)
{
	objects->is_area = xcalloc(objects->nodes / 8 + 1, 1);
	objects->is_vm = xcalloc(objects->nodes / 8 + 1, 1);
	each_area(objects, add_area);
	if (!objects->areas)
		return;
	qsort(objects->area, objects->areas, sizeof(*objects->area), by_area_start);
	each_area(objects, add_free_area);
}

/* ---- begin and end -------------------------------------------------------------------- */

struct kernel_objects *kobjects_read(struct image *image, const struct image_sites *sites,
			     struct recount *recount)
{
	struct kernel_objects *objects = xcalloc(1, sizeof(*objects));
	struct builder b = { .objects = objects };
	const uint64_t *n = image->n;

	objects->image = image;
	objects->sites = sites;
	objects->recount = recount;
	objects->pieces = (image->max_pa >> image->page_shift >> PIECE_SHIFT) + 2;
	objects->extent_of = xcalloc(objects->pieces, sizeof(*objects->extent_of));
	if (n[N_KFENCE_POOL]) {
		objects->kfence = image_u64(image, n[N_KFENCE_POOL]);
		objects->kfence_size = objects->kfence ? n[N_KFENCE_SIZE] : 0;
	}
	add_nodes(&b, 1);	/* 0 is none */
	recount->visit = add;
	recount->visit_page = add_page;
	recount->visit_chunk = add_chunk;
	recount->data = &b;
	recount_all(recount);
	end_percpu(&b);
	recount->visit_page = NULL;
	recount->visit_chunk = NULL;
	find_units(objects);
	find_areas(objects);
	find_ids(objects);
	return objects;
}

void kobjects_free(struct kernel_objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->pieces; i++)
		free(objects->extent_of[i]);
	free(objects->extent_of);
	free(objects->extent);
	free(objects->id);
	free(objects->percpu);
	free(objects->unit);
	free(objects->chunk);
	free(objects->area);
	free(objects->is_area);
	free(objects->is_vm);
	free(objects->is_ids);
	free(objects->ids);
	free(objects->reserved.at);
	free(objects->unknown.at);
	free(objects);
}

/* ---- looking up ----------------------------------------------------------------------- */

struct extent *kobjects_extent(const struct kernel_objects *objects, uint64_t pfn)
{
	const uint32_t *piece = pfn >> PIECE_SHIFT < objects->pieces ?
				objects->extent_of[pfn >> PIECE_SHIFT] : NULL;
	uint32_t i = piece ? piece[pfn % PIECE] : 0;

	return i ? &objects->extent[i - 1] : NULL;
}

struct extent *kobjects_extent_of(const struct kernel_objects *objects, uint32_t node)
{
	size_t low = 0, high = objects->extents;

	if (node <= objects->percpus || node >= objects->nodes)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (objects->extent[middle].first <= node)
			low = middle;
		else
			high = middle;
	}
	return &objects->extent[low];
}

uint32_t kobjects_at_physical(const struct kernel_objects *objects, uint64_t pa)
{
	unsigned int shift = objects->image->page_shift;
	const struct extent *extent = kobjects_extent(objects, pa >> shift);
	uint64_t i;
	uint32_t node;

	if (!extent)
		return 0;
	node = extent->first;
	if (extent->flags & EXTENT_SLAB) {
		i = extent->kfence ? 0 : (pa - (extent->pfn << shift)) / extent->cache->size;
		if (i + 1 >= extent->count)
			return 0;
		node += 1 + (uint32_t)i;
	} else if (extent->flags & EXTENT_USED) {
		/* A slab without objects, or the pages of a chunk of percpu memory */
		return 0;
	}
	return objects->id[node] ? node : 0;
}

static uint32_t percpu_object(const struct kernel_objects *objects, uint64_t address)
{
	size_t low = 0, high = objects->percpus;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (objects->percpu[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - objects->percpu[low - 1].address >= objects->percpu[low - 1].size)
		return 0;
	return (uint32_t)low;
}

uint32_t kobjects_at_percpu(const struct kernel_objects *objects, uint64_t va)
{
	size_t low = 0, high = objects->units;
	const struct percpu_unit *unit;

	if (va < objects->unit_low || va >= objects->unit_high)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (objects->unit[middle].start <= va)
			low = middle + 1;
		else
			high = middle;
	}
	unit = &objects->unit[low - 1];
	return va - unit->start < unit->size ? percpu_object(objects, unit->base + (va - unit->start)) : 0;
}

const struct vmalloc_area *kobjects_area(const struct kernel_objects *objects, uint64_t va)
{
	size_t i = areas_to(objects, va);

	return i && va < objects->area[i - 1].end ? &objects->area[i - 1] : NULL;
}

uint32_t kobjects_at(const struct kernel_objects *objects, uint64_t va)
{
	struct image *image = objects->image;
	uint32_t node = kobjects_at_percpu(objects, va);
	uint64_t pa;

	if (!node && image_translate(image, va, &pa))
		node = kobjects_at_physical(objects, pa);
	return node;
}

uint64_t kobjects_address(const struct kernel_objects *objects, uint32_t node)
{
	const struct extent *extent = kobjects_extent_of(objects, node);
	uint64_t start;

	if (!extent)
		return node && node <= objects->percpus ? objects->percpu[node - 1].address : 0;
	start = objects->image->layout.direct_map + (extent->pfn << objects->image->page_shift);
	if (node == extent->first)
		return start;
	if (extent->kfence)
		return image_kfence_object(objects->image, start);
	return start + (uint64_t)(node - extent->first - 1) * extent->cache->size + extent->cache->pad;
}

bool kobjects_is_container(const struct kernel_objects *objects, uint32_t node)
{
	const struct extent *extent = kobjects_extent_of(objects, node);

	return extent && node == extent->first && extent->flags & EXTENT_CONTAINER;
}

uint64_t kobjects_bytes(const struct kernel_objects *objects, uint32_t node)
{
	const struct extent *extent = kobjects_extent_of(objects, node);

	if (!extent)
		return node && node <= objects->percpus ?
		       objects->percpu[node - 1].size * objects->image->cpus : 0;
	return node == extent->first ? objects->image->page_size << extent->order : extent->cache->size;
}
