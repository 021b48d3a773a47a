// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Modules that are or were loaded, blocks of contexts, and tags without an id. */
#define MAX_RANGES 65536
#define MAX_WITHOUT_ID 65536

/* The longest name of a file or function that is shown */
#define NAME 512

/* ---- counters -------------------------------------------------------------------- */

static void count(struct image_sites *sites, uint32_t first, uint32_t nr, uint64_t counters)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;
	size_t size = n[N_COUNTERS_SIZE];
	char *of_cpu;

	if (first + nr > IMAGE_IDS)
		nr = IMAGE_IDS - first;
	of_cpu = xmalloc(size * nr + 1);
	for (size_t cpu = 0; cpu < image->cpus && !image_exhausted(image); cpu++) {
		image_read(image, counters + image->cpu_offset[cpu], of_cpu, size * nr);
		for (uint32_t i = 0; i < nr; i++) {
			struct image_counters *sum = &sites->counted[first + i];
			const char *one = of_cpu + i * size;

			/*
			 * Sums of unsigned numbers that may wrap around, because a CPU frees
			 * memory that another allocated.
			 */
			sum->bytes = (int64_t)((uint64_t)sum->bytes + get64(one, n[N_COUNTERS_BYTES]));
			sum->allocs += get32(one, n[N_COUNTERS_ALLOCS]);
			sum->frees += get32(one, n[N_COUNTERS_FREES]);
		}
	}
	free(of_cpu);
}

/* Each part of a split page is freed by itself. */
static void add_parts(struct image_sites *sites)
{
	const uint64_t *n = sites->image->n;
	char raw[256];	/* the largest size that numbers_sane() accepts */

	for (uint64_t i = 0; i < n[N_NR_PARTS] && !image_exhausted(sites->image); i++) {
		if (!image_read(sites->image, n[N_PARTS] + i * n[N_PARTS_SIZE], raw, n[N_PARTS_SIZE]))
			break;
		/* Id 0 marks an unused entry, and no memory is charged to it. */
		if (get32(raw, n[N_PARTS_ID]) < IMAGE_IDS)
			sites->counted[get32(raw, n[N_PARTS_ID])].allocs += get32(raw, n[N_PARTS_NR]);
	}
}

/* Contexts have their parts on each CPU, behind the counters of their block. */
static void add_parts_of_contexts(struct image_sites *sites, const struct image_range *range)
{
	struct image *image = sites->image;
	uint64_t parts = range->counters + image->n[N_BLOCK_PARTS];

	for (size_t cpu = 0; cpu < image->cpus && !image_exhausted(image); cpu++)
		for (uint32_t i = 0; i < range->nr && range->first + i < IMAGE_IDS; i++)
			sites->counted[range->first + i].allocs +=
				image_u32(image, parts + image->cpu_offset[cpu] + 4 * i);
}

/* A small negative number is an error of that kernel, or of an image that was torn. */
static void count_calls(struct image_sites *sites)
{
	for (uint32_t id = 1; id < IMAGE_IDS; id++) {
		struct image_counters *sum = &sites->counted[id];
		uint32_t calls = sum->allocs - sum->frees;

		sum->calls = calls >= UINT32_MAX - (1 << 20) ? (int32_t)calls : (int64_t)calls;
	}
}

/* ---- ranges ----------------------------------------------------------------------- */

static void read_block(struct image_sites *sites, const struct image_range *range)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;

	for (uint32_t i = 0; i < range->nr && range->first + i < IMAGE_IDS; i++) {
		uint64_t site = image_u64(image, range->block + n[N_BLOCK_CONTEXTS] +
					  i * n[N_CONTEXT_SIZE] + n[N_CONTEXT_SITE]);

		if (site)
			sites->site_of[range->first + i] = image_u16(image, site + n[N_SITE_ID]);
	}
}

static void add_range(struct image_sites *sites, const char *raw, uint64_t address)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;
	struct image_range range = {
		.tags = get64(raw, n[N_RANGE_TAGS]),
		.block = get64(raw, n[N_RANGE_BLOCK]),
		.counters = get64(raw, n[N_RANGE_COUNTERS]),
		.nr = get32(raw, n[N_RANGE_NR]),
		.first = get16(raw, n[N_RANGE_FIRST]),
		.unloaded = !get64(raw, n[N_RANGE_MOD]),
	};

	if (range.nr > (range.first ? (uint32_t)(IMAGE_IDS - range.first) : MAX_WITHOUT_ID))
		return;
	image_string(image, address + n[N_RANGE_NAME], range.module, sizeof(range.module));
	GROW(sites->range, sites->ranges, sites->room);
	sites->range[sites->ranges++] = range;
	if (!range.first)
		return;
	for (uint32_t i = 0; i < range.nr; i++)
		sites->range_of[range.first + i] = (uint32_t)sites->ranges;
	count(sites, range.first, range.nr, range.counters);
	if (range.block && n[N_CONTEXT_SIZE]) {
		add_parts_of_contexts(sites, &range);
		read_block(sites, &range);
	}
}

static void read_ranges(struct image_sites *sites)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;
	uint64_t head = n[N_RANGES], at = image_u64(image, head);
	size_t size = n[N_RANGE_SIZE];
	char *raw = xmalloc(size);

	while (at && at != head && sites->ranges < MAX_RANGES) {
		uint64_t address = at - n[N_RANGE_LIST];

		if (!image_read(image, address, raw, size))
			break;
		add_range(sites, raw, address);
		at = get64(raw, n[N_RANGE_LIST]);
	}
	free(raw);
}

struct image_sites *image_sites_read(struct image *image)
{
	struct image_sites *sites = xcalloc(1, sizeof(*sites));
	const uint64_t *n = image->n;
	uint64_t end = image_u64(image, n[N_BUILTIN_END]);
	uint64_t tags = (n[N_TAGS_END] - n[N_TAGS]) / n[N_TAG_SIZE];

	sites->image = image;
	sites->builtin_end = end > IMAGE_IDS ? IMAGE_IDS : (uint32_t)end;
	sites->builtin = tags > 1 << 20 ? 0 : (uint32_t)tags;
	count(sites, 0, sites->builtin_end, image->layout.counters);
	read_ranges(sites);
	add_parts(sites);
	count_calls(sites);
	return sites;
}

void image_sites_free(struct image_sites *sites)
{
	if (sites)
		free(sites->range);
	free(sites);
}

struct image_sites *image_sites_open(const char *path)
{
	struct image *image = image_open(path);

	return image ? image_sites_read(image) : NULL;
}

void image_sites_close(struct image_sites *sites)
{
	struct image *image = sites ? sites->image : NULL;

	image_sites_free(sites);
	image_close(image);
}

/* ---- names ------------------------------------------------------------------------ */

static const struct image_range *range_of(const struct image_sites *sites, uint16_t id)
{
	uint32_t i = id < sites->builtin_end ? 0 : sites->range_of[id];

	return i ? &sites->range[i - 1] : NULL;
}

uint16_t image_site_id(const struct image_sites *sites, uint16_t id)
{
	const struct image_range *range = range_of(sites, id);

	return range && range->block ? sites->site_of[id] : id;
}

uint64_t image_tag_of(const struct image_sites *sites, uint16_t id)
{
	const uint64_t *n = sites->image->n;
	const struct image_range *range;

	id = image_site_id(sites, id);
	if (id < n[N_ID_FIRST]) {
		if (!id || id >= n[N_NR_RESERVED])
			return 0;
		return id == n[N_ID_UNTAGGED] ? n[N_UNTAGGED_TAG] :
		       n[N_RESERVED_TAGS] + id * n[N_TAG_SIZE];
	}
	if (id < sites->builtin_end)
		return n[N_TAGS] + (id - n[N_ID_FIRST]) * n[N_TAG_SIZE];
	range = range_of(sites, id);
	if (!range || range->block)
		return 0;
	/* The kernel had no memory for the names. */
	if (!range->tags)
		return n[N_RESERVED_TAGS] + n[N_ID_UNLOADED] * n[N_TAG_SIZE];
	return range->tags + (id - range->first) * n[N_TAG_SIZE];
}

/* False if the tag has no names: it held nothing when its module was unloaded. */
static bool tag_text(const struct image_sites *sites, uint64_t tag,
		     const struct image_range *range, bool without_id, struct text *text)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;
	char file[NAME], function[NAME];
	uint8_t state = 0;

	image_string(image, image_u64(image, tag + n[N_TAG_FILE]), file, sizeof(file));
	image_string(image, image_u64(image, tag + n[N_TAG_FUNCTION]), function, sizeof(function));
	if (!file[0] || !function[0])
		return false;
	text_printf(text, "%s:%u", file, image_u32(image, tag + n[N_TAG_LINE]));
	if (range)
		text_printf(text, " [%s]", range->module);
	text_printf(text, " func:%s", function);
	image_read(image, tag + n[N_TAG_STATE], &state, sizeof(state));
	if (without_id || state & n[N_STATE_INACCURATE])
		text_puts(text, " accurate:no");
	if (range && range->unloaded)
		text_puts(text, " unloaded:yes");
	return true;
}

bool image_site_text(const struct image_sites *sites, uint16_t id, struct text *text)
{
	uint64_t tag = image_tag_of(sites, id);

	id = image_site_id(sites, id);
	return tag && tag_text(sites, tag, range_of(sites, id), false, text);
}

static void add_line(struct text *text, const struct text *site, int64_t bytes, int64_t calls)
{
	text_printf(text, "%12lld %8lld %s \n", (long long)(bytes > 0 ? bytes : 0),
		    (long long)(calls > 0 ? calls : 0), site->s);
}

static void add_without_id(const struct image_sites *sites, struct text *text)
{
	const uint64_t *n = sites->image->n;
	uint32_t with_id = sites->builtin_end - (uint32_t)n[N_ID_FIRST];
	struct text site = { 0 };

	for (uint32_t i = with_id; i < sites->builtin; i++) {
		text_clear(&site);
		if (tag_text(sites, n[N_TAGS] + i * n[N_TAG_SIZE], NULL, true, &site))
			add_line(text, &site, 0, 0);
	}
	for (size_t r = 0; r < sites->ranges && !sites->range[r].first; r++) {
		const struct image_range *range = &sites->range[r];

		for (uint32_t i = 0; i < range->nr && !image_exhausted(sites->image); i++) {
			text_clear(&site);
			if (tag_text(sites, range->tags + i * n[N_TAG_SIZE], range, true, &site))
				add_line(text, &site, 0, 0);
		}
	}
	text_free(&site);
}

void image_allocinfo(const struct image_sites *sites, struct text *text)
{
	struct image_counters *sum = xcalloc(IMAGE_IDS, sizeof(*sum));
	struct text site = { 0 };

	for (uint32_t id = 1; id < IMAGE_IDS; id++) {
		uint16_t of = image_site_id(sites, (uint16_t)id);

		sum[of].bytes += sites->counted[id].bytes;
		sum[of].calls += sites->counted[id].calls;
	}
	text_puts(text, "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n");
	for (uint32_t id = 1; id < IMAGE_IDS; id++) {
		const struct image_range *range = range_of(sites, (uint16_t)id);

		if ((range && range->block) || !image_tag_of(sites, (uint16_t)id))
			continue;
		if (range && range->unloaded && !sum[id].bytes && !sum[id].calls)
			continue;
		text_clear(&site);
		if (image_site_text(sites, (uint16_t)id, &site))
			add_line(text, &site, sum[id].bytes, sum[id].calls);
	}
	add_without_id(sites, text);
	text_free(&site);
	free(sum);
}
