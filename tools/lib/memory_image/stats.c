// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/stats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "memory_image/contexts.h"

#define MAX_BLOCKS 65536

struct writer {
	const struct image_sites *sites;
	struct recount *recount;
	struct image *image;
	const uint64_t *n;
	struct text *out;
	uint64_t percpu;	/* bytes of the ids of percpu memory */
};

static void put(const struct writer *w, const char *name, uint64_t value)
{
	text_printf(w->out, "%s: %" PRId64 "\n", name, (int64_t)value);
}

static void put_variable(const struct writer *w, const char *name, enum number number)
{
	put(w, name, image_u64(w->image, w->n[number]));
}

static uint64_t sum_percpu(const struct writer *w, enum number number)
{
	uint64_t sum = 0;

	for (size_t cpu = 0; cpu < w->image->cpus; cpu++)
		sum += image_u64(w->image, w->n[number] + w->image->cpu_offset[cpu]);
	return sum;
}

/* Pages of all nodes. */
static uint64_t present_pages(const struct writer *w)
{
	struct image *image = w->image;
	uint64_t pages = 0;

	for (uint64_t i = 0; i < (w->n[N_NODE_DATA] ? image->layout.nr_nodes : 1); i++) {
		uint64_t node = w->n[N_NODE_DATA] ? image_u64(image, w->n[N_NODE_DATA] + 8 * i) :
						    w->n[N_ONE_NODE];

		for (uint64_t zone = 0; node && zone < w->n[N_NR_ZONES]; zone++)
			pages += image_u64(image, node + w->n[N_NODE_ZONES] + zone * w->n[N_ZONE_SIZE] +
					   w->n[N_ZONE_PRESENT]);
	}
	return pages;
}

static void put_store(const struct writer *w)
{
	uint32_t store = image_u32(w->image, w->n[N_STORE]);
	uint64_t bytes = 0, bits = 16;
	const char *name = "none";

	if (store == w->n[N_STORE_FLAGS]) {
		name = "flags";
		bits = w->image->layout.flags_bits;
	} else if (store == w->n[N_STORE_SLOT]) {
		name = "slot";
		bytes = image_u64(w->image, w->n[N_SLOT_BYTES]);
	} else if (store == w->n[N_STORE_EXT]) {
		name = "page_ext";
		bytes = present_pages(w) * 2;
	} else {
		bits = 0;
	}
	text_printf(w->out, "store: %s\n", name);
	put(w, "store_bits", bits);
	put(w, "free_page_flag_bits", (uint64_t)(int32_t)image_u32(w->image, w->n[N_FREE_FLAG_BITS]));
	put(w, "mem_page_refs", bytes);
	put_variable(w, "pages_without_store", N_PAGES_LOST);
	put_variable(w, "pages_not_representable", N_NOT_REPRESENTABLE);
	put_variable(w, "pages_freed_in_parts", N_FREED_IN_PARTS);
}

static uint64_t free_ids(const struct writer *w)
{
	uint64_t size = w->n[N_BLOCK_SIZE], blocks, used = 0;

	if (!size)
		return 0;
	blocks = image_u32(w->image, w->n[N_ID_END]) / size;
	for (uint64_t i = 0; i < blocks && i < MAX_BLOCKS; i++)
		used += image_u64(w->image, w->n[N_BLOCKS_USED] + i / 64 * 8) >> i % 64 & 1;
	return (blocks - used) * size;
}

static void put_ids(const struct writer *w)
{
	const struct image_sites *sites = w->sites;
	const uint64_t *n = w->n;
	uint64_t builtin = sites->builtin_end - n[N_ID_FIRST], cpus = w->image->cpus;
	uint64_t modules = 0, unloaded = 0, without = sites->builtin - builtin, blocks = n[N_NR_BLOCKS];
	/* The tags of reserved ids, and of all modules: two arrays of pointers, sizes, a bitmap. */
	uint64_t tags = (sites->builtin + n[N_ID_UNTAGGED] + 1) * n[N_TAG_SIZE] +
			blocks * (8 + 8 + 2) + (blocks + 63) / 64 * 8;
	uint64_t counters = (sites->builtin + n[N_ID_FIRST]) * cpus * n[N_COUNTERS_SIZE];

	for (size_t i = 0; i < sites->ranges; i++) {
		const struct image_range *range = &sites->range[i];

		if (range->block)
			continue;
		*(!range->first ? &without : range->unloaded ? &unloaded : &modules) += range->nr;
		tags += n[N_RANGE_SIZE] + (range->tags ? range->nr * n[N_TAG_SIZE] : 0);
		counters += range->first ? range->nr * cpus * n[N_COUNTERS_SIZE] : 0;
	}
	put(w, "ids_reserved", n[N_ID_FIRST]);
	put(w, "ids_builtin", builtin);
	put(w, "ids_module_used", modules);
	put(w, "ids_unloaded", unloaded);
	put(w, "ids_module_free", free_ids(w));
	put(w, "tags_without_id", without);
	put_variable(w, "modules_without_id", N_MODULES_WITHOUT_ID);
	put_variable(w, "names_lost", N_NAMES_LOST);
	put_variable(w, "ids_damaged", N_IDS_DAMAGED);
	put_variable(w, "parts_lost", N_PARTS_LOST);
	put(w, "mem_tags", tags);
	put(w, "mem_counters", counters);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Memory of the stack texts, each counted once: contexts can share a text. */
static uint64_t text_bytes(const struct writer *w, uint64_t *text, size_t count)
{
	uint64_t bytes = 0;

	if (count)
		qsort(text, count, sizeof(*text), by_value);
	for (size_t i = 0; i < count; i++)
		if (!i || text[i] != text[i - 1])
			bytes += image_u32(w->image, text[i] + w->n[N_STACK_TEXT_BYTES]);
	return bytes;
}

static void put_contexts(const struct writer *w)
{
	const struct image_sites *sites = w->sites;
	const uint64_t *n = w->n;
	uint64_t used = 0, free_contexts = 0, bytes = 0, all, split, cpus = w->image->cpus, *text = NULL;
	size_t texts = 0, room = 0;

	if (!n[N_SITES])
		return;
	split = image_sites_split(sites, &all);
	for (size_t i = 0; i < sites->ranges; i++) {
		const struct image_range *range = &sites->range[i];

		if (!range->block)
			continue;
		bytes += n[N_BLOCK_SIZE_OF] + cpus * n[N_BLOCK_COUNTERS_SIZE];
		for (uint32_t k = 0; k < range->nr; k++) {
			uint64_t at = range->block + n[N_BLOCK_CONTEXTS] + k * n[N_CONTEXT_SIZE];

			/*
			 * Ranges overlap only in a damaged image: then an id belongs to one of
			 * them.
			 */
			if (sites->range_of[range->first + k] != i + 1)
				continue;
			if (!sites->site_of[range->first + k]) {
				free_contexts++;
				continue;
			}
			used++;
			at = image_u64(w->image, at + n[N_CONTEXT_TEXT]);
			if (!at)
				continue;
			GROW(text, texts, room);
			text[texts++] = at;
		}
	}
	bytes += all * (n[N_SITE_SIZE] + cpus * 8) + text_bytes(w, text, texts);
	free(text);
	put(w, "sites_split", split);
	put(w, "contexts_max", image_u32(w->image, n[N_MAX_CONTEXTS]));
	put(w, "contexts_used", used);
	put(w, "contexts_free", free_contexts);
	put(w, "contexts_lost", sum_percpu(w, N_CONTEXTS_LOST));
	put(w, "mem_contexts", bytes);
}

static void add_chunk(void *data, const struct percpu_chunk *chunk)
{
	struct writer *w = data;
	uint64_t pages = chunk->size >> w->image->page_shift;

	w->percpu += pages * 8;
	for (uint64_t i = 0; i < pages; i++)
		w->percpu += chunk->ids[i] ? w->image->page_size / w->n[N_CHUNK_UNIT] * 2 : 0;
}

static void no_visit(void *data, const struct holding *holding)
{
	(void)data;
	(void)holding;
}

bool image_stats(const struct image_sites *sites, struct recount *recount, struct text *text)
{
	struct image *image = sites->image;
	struct writer w = { sites, recount, image, image->n, text, 0 };
	uint64_t inlined, vectors;

	if (!w.n[N_PROFILING])
		return false;
	put(&w, "enabled", (int32_t)image_u32(image, w.n[N_PROFILING] + w.n[N_KEY_ENABLED]) > 0);
	put_store(&w);
	put_ids(&w);
	put_contexts(&w);
	inlined = sum_percpu(&w, N_INLINE_BYTES);
	vectors = sum_percpu(&w, N_VECTOR_BYTES);
	put(&w, "mem_slab_refs", inlined + vectors);
	put(&w, "mem_slab_refs_inline", inlined);
	put(&w, "mem_slab_refs_vectors", vectors);
	put_variable(&w, "slab_vectors_failed", N_VECTORS_FAILED);
	recount->visit = no_visit;
	recount->visit_chunk = add_chunk;
	recount->data = &w;
	recount_percpu(recount);
	recount->visit_chunk = NULL;
	put(&w, "mem_percpu_refs", w.percpu);
	return true;
}
