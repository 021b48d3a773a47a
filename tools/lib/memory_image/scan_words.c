// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/scan_words.h"

#include <string.h>

#include "base/memory.h"

/* Physical addresses and page frame numbers below this are more often other small numbers. */
#define LOWEST_ADDRESS (1ULL << 16)

/* arm64's interrupt translation service: an entry of its tables is valid. */
#define ITS_VALID (1ULL << 63)

/* Percpu pointers below this are numbers as other code has them, too. */
#define SMALL_POINTER (1ULL << 32)

/*
 * Memory that was never cleared has tables of what used to be there. Words on each side of a doubtful
 * one that are looked at, and how many small ones of them may be no percpu pointers.
 */
#define NEAR_NUMBERS 8
#define NEAR_POINTERS 4
#define NEAR_ADDRESSES 16
#define MAX_NUMBERS 1

/* ---- pointers --------------------------------------------------------------------- */

void scan_add_edge(struct scan *s, uint32_t to, uint32_t offset)
{
	struct graph *g = s->graph;

	if (!to || to == s->from)
		return;
	GROW(g->edge, g->edges, g->edge_room);
	g->edge[g->edges++] = (struct edge){ to, offset };
}

static uint32_t at_physical(struct scan *s, uint64_t pa)
{
	struct kernel_objects *o = s->objects;
	struct extent *extent = kobjects_extent(o, pa >> s->page_shift);

	if (!extent)
		return kobjects_at_percpu(o, s->direct_map + pa);
	extent->flags |= EXTENT_POINTED;
	return kobjects_at_physical(o, pa);
}

/* The node that begins at the physical address @w; 0 if there is none */
static uint32_t at_number(struct scan *s, uint64_t w)
{
	struct kernel_objects *o = s->objects;
	uint32_t node;

	if (w < LOWEST_ADDRESS || w >= s->max_pa || image_in_page(s->image, w))
		return 0;
	node = kobjects_at_physical(o, w);
	return node && kobjects_address(o, node) == s->direct_map + w ? node : 0;
}

/*
 * The same for the current word. Arrays of small numbers look like physical addresses. So a word
 * beside it has to be one, too, of another object of the same call site. In registers and on stacks
 * one is enough.
 */
static uint32_t at_physical_address(struct scan *s, uint64_t w)
{
	const struct kernel_objects *o = s->objects;
	uint32_t node = at_number(s, w), before = 0, after = 0;

	if (!node)
		return 0;
	if (!s->alone) {
		if (s->at >= 8)
			before = at_number(s, get64(s->words, s->at - 8));
		if (s->at + 16 <= s->len)
			after = at_number(s, get64(s->words, s->at + 8));
		if ((before == node || o->id[before] != o->id[node]) &&
		    (after == node || o->id[after] != o->id[node]))
			return 0;
	}
	kobjects_extent(o, w >> s->page_shift)->flags |= EXTENT_POINTED;
	return node;
}

/* Entries of an ITS table are physical addresses of further tables, with the top bit set. */
static uint32_t at_table(struct scan *s, uint64_t pa)
{
	uint32_t node = at_number(s, pa);

	if (node)
		kobjects_extent(s->objects, pa >> s->page_shift)->flags |= EXTENT_POINTED;
	return node;
}

/* The pages that begin at page frame @pfn; NULL if there are none */
static struct extent *at_frame(struct scan *s, uint64_t pfn)
{
	struct extent *extent;

	if (pfn < LOWEST_ADDRESS >> s->page_shift || pfn >= s->max_pa >> s->page_shift)
		return NULL;
	extent = kobjects_extent(s->objects, pfn);
	return extent && extent->pfn == pfn && !(extent->flags & EXTENT_USED) &&
	       s->objects->id[extent->first] ? extent : NULL;
}

/*
 * Whether a word ends the list of a bucket (hlist_nulls): an odd number with the number of the bucket,
 * of which the low bits tell where in a page the bucket is. Those beside it are 2 away.
 */
static bool is_end_of_list(uint64_t w, uint64_t before, uint64_t after, uint32_t offset)
{
	return w & 1 && (w >> 1) % (DUMP_PAGE / 8) == offset / 8 % (DUMP_PAGE / 8) &&
	       (w - before == 2 || after - w == 2);
}

/* A single small number is no page frame: there are too many of them. */
static void look_frame(struct scan *s, uint64_t w, uint64_t before, uint64_t after, uint32_t offset)
{
	struct extent *extent = at_frame(s, w), *other;

	if (!extent || is_end_of_list(w, before, after, offset))
		return;
	for (unsigned int i = 0; i < 2; i++) {
		other = at_frame(s, i ? after : before);
		if (!other || other == extent ||
		    s->objects->id[other->first] != s->objects->id[extent->first])
			continue;
		extent->flags |= EXTENT_POINTED;
		scan_add_edge(s, extent->first, offset);
		return;
	}
}

/* Percpu memory by the pointer that alloc_percpu() returns, whose low bits are ignored */
static uint32_t at_percpu_pointer(struct scan *s, uint64_t w)
{
	struct kernel_objects *o = s->objects;
	uint64_t pointer = (w & ~3ULL) + s->cpu0;
	uint32_t node;

	if (pointer < o->unit_low || pointer >= o->unit_high)
		return 0;
	node = kobjects_at_percpu(o, pointer);
	return node && o->percpu[node - 1].address + s->image->unit_offset[0] == pointer ? node : 0;
}

static inline bool is_small_percpu(const struct scan *s, uint64_t w)
{
	return w >= s->percpu_low && w < s->percpu_high;
}

typedef bool word_function(struct scan *s, uint64_t w);

/* Counts the words near the current one for which @function is true. */
static unsigned int count_near(struct scan *s, unsigned int words, word_function *function)
{
	size_t from = s->at > words * 8 ? s->at - words * 8 : s->at % 8, to = s->at + words * 8;
	unsigned int count = 0;

	for (size_t i = from; i <= to && i + 8 <= s->len; i += 8)
		count += function(s, get64(s->words, i));
	return count;
}

/* A small multiple of the page size that is no percpu pointer is a size. */
static bool is_number(struct scan *s, uint64_t w)
{
	return is_small_percpu(s, w) && image_in_page(s->image, w) && !at_percpu_pointer(s, w);
}

static bool is_address(struct scan *s, uint64_t w)
{
	(void)s;
	return w >= 1ULL << 63 && w < -4096ULL;
}

/*
 * Whether a small percpu pointer is an offset in relocations or symbols of modules. Structures have
 * other pointers beside it, and memory that is never freed was cleared.
 */
static bool is_offset(struct scan *s)
{
	return s->from < s->objects->nodes && count_near(s, NEAR_NUMBERS, is_number) > MAX_NUMBERS &&
	       !count_near(s, NEAR_POINTERS, is_address);
}

/* An address where no area is, or behind the first page of one */
static bool is_old_address(struct scan *s, uint64_t w)
{
	const struct vmalloc_area *area;

	if (w < s->area_low || w >= s->area_high)
		return false;
	area = kobjects_area(s->objects, w);
	return area ? w - area->start >= s->image->page_size : w - s->text >= s->text_size &&
	       !kobjects_at_percpu(s->objects, w);
}

/*
 * The holder of an area has a pointer to its first byte, or to a structure in its first page. Other
 * addresses in the area can be older than the area, from a stack or a module's file that was there
 * before. Words near such addresses can be old as well, except in the kernel's own data and on
 * stacks.
 */
static bool is_area_pointer(struct scan *s, const struct vmalloc_area *area, uint64_t w)
{
	uint64_t offset = w - area->start;

	if (offset < 4 || offset >= s->image->page_size)
		return offset < 4;
	return s->from >= s->objects->nodes ||
	       (!(w & 4) && !count_near(s, NEAR_ADDRESSES, is_old_address));
}

/* The target of a word that is not an address in the direct map */
static uint32_t at_other(struct scan *s, uint64_t w)
{
	struct kernel_objects *o = s->objects;
	const struct vmalloc_area *area;
	uint32_t node = at_percpu_pointer(s, w);

	if (node)
		return is_small_percpu(s, w) && is_offset(s) ? 0 : node;
	if (w < 1ULL << 52)
		return at_physical_address(s, w);
	if (s->image->arm64 && w >> 52 == ITS_VALID >> 52)
		return at_table(s, w - ITS_VALID);
	if (w - s->text < s->text_size)
		return 0;
	node = kobjects_at_percpu(o, w);
	if (node || w < s->area_low || w >= s->area_high)
		return node;
	area = kobjects_area(o, w);
	return area && is_area_pointer(s, area, w) ? area->node : 0;
}

/* Struct pages come first: without vmemmap they are in the direct map. */
static inline uint32_t at_word(struct scan *s, uint64_t w)
{
	struct extent *extent;

	if (w - s->memory_map < s->memory_map_size) {
		extent = kobjects_extent(s->objects, (w - s->memory_map) / s->struct_page);
		return extent && s->objects->id[extent->first] ? extent->first : 0;
	}
	return w - s->direct_map < s->max_pa ? at_physical(s, w - s->direct_map) : at_other(s, w);
}

/*
 * Whether the current word is the owner of a rw_semaphore: it stays when the last reader is gone, and
 * leads to a task that may be gone, too. Such a semaphore has no count and no queue.
 */
static bool is_old_owner(struct scan *s, uint64_t w)
{
	uint64_t queue;

	if (!(w & 1) || s->at < 8 || s->at + 32 > s->len || get64(s->words, s->at - 8) ||
	    get64(s->words, s->at + 8))
		return false;
	queue = get64(s->words, s->at + 16);
	return queue == get64(s->words, s->at + 24) && is_address(s, queue) &&
	       queue % DUMP_PAGE == (s->in_page + s->at + 16) % DUMP_PAGE;
}

void scan_words(struct scan *s, const uint8_t *words, size_t len, size_t in_page, uint32_t offset)
{
	s->words = words;
	s->len = len;
	s->in_page = in_page;
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t w = image_untagged(s->image, get64(words, i));

		s->at = i;

		/* No pointer, however it is coded, is as small. */
		if (w < 256 || is_old_owner(s, w))
			continue;
		if (w < s->max_pa >> s->page_shift)
			look_frame(s, w, i ? get64(words, i - 8) : 0,
				   i + 16 <= len ? get64(words, i + 8) : 0, offset + (uint32_t)i);
		scan_add_edge(s, at_word(s, w), offset + (uint32_t)i);
	}
}

/* Whether a word may be an entry of a page table, and for which memory */
static bool is_entry(const struct scan *s, uint64_t w, uint64_t *pa)
{
	unsigned int shift = 2 * s->page_shift - 3;

	/* An entry of this level can be for a table, for a page, or for larger memory. */
	return image_entry(s->image, w, shift, pa) != ENTRY_NONE && *pa >= LOWEST_ADDRESS;
}

/*
 * Firmware, and the code that enters the kernel, have page tables of their own. Only other tables
 * have the addresses of these pages, with the bits of entries. DUMP_PAGE bytes are of a table if
 * each of their words is an entry or 0. A pointer is even, so it is no entry.
 */
static void look_table(struct scan *s, const uint8_t *page, uint32_t offset)
{
	uint64_t pa;

	for (size_t i = 0; i < DUMP_PAGE; i += 8)
		if (get64(page, i) && !is_entry(s, get64(page, i), &pa))
			return;
	for (size_t i = 0; i < DUMP_PAGE; i += 8) {
		struct extent *extent;

		if (!is_entry(s, get64(page, i), &pa))
			continue;
		extent = at_frame(s, pa >> s->page_shift);
		if (extent && !extent->cache) {
			extent->flags |= EXTENT_POINTED;
			scan_add_edge(s, extent->first, offset + (uint32_t)i);
		}
	}
}

/* The first chunk is beside the percpu variables, so its pointers are small. */
void scan_find_small_percpu(struct scan *s)
{
	const struct kernel_objects *o = s->objects;

	for (size_t i = 0; i < o->chunks; i++) {
		uint64_t low = o->chunk[i].base + s->image->unit_offset[0] - s->cpu0;

		if (low >= SMALL_POINTER || o->chunk[i].size > SMALL_POINTER)
			continue;
		if (!s->percpu_high || low < s->percpu_low)
			s->percpu_low = low;
		if (low + o->chunk[i].size > s->percpu_high)
			s->percpu_high = low + o->chunk[i].size;
	}
}

/* ---- memory ----------------------------------------------------------------------- */

void scan_physical(struct scan *s, uint64_t pa, uint64_t len, uint32_t offset)
{
	struct graph *g = s->graph;

	while (len && !image_exhausted(s->image)) {
		size_t in = pa % DUMP_PAGE, part = DUMP_PAGE - in;
		const uint8_t *page;

		if (part > len)
			part = (size_t)len;
		page = image_page(s->image, pa - in, part);
		if (page)
			scan_words(s, page + in, part, in, offset);
		if (page && part == DUMP_PAGE)
			look_table(s, page, offset);
		pa += part;
		len -= part;
		offset += (uint32_t)part;
		g->scanned += part;
		if (s->progress && g->scanned >> 26 != (g->scanned - part) >> 26)
			s->progress(s->data, g->scanned, s->all);
	}
}

void scan_virtual(struct scan *s, uint64_t va, uint64_t len, uint32_t offset)
{
	while (len && !image_exhausted(s->image)) {
		uint64_t part = DUMP_PAGE - va % DUMP_PAGE, pa;

		if (part > len)
			part = len;
		if (image_translate(s->image, va, &pa))
			scan_physical(s, pa, part, offset);
		va += part;
		len -= part;
		offset += (uint32_t)part;
	}
}

/* ---- page tables ------------------------------------------------------------------ */

/* Calls @function for each table, and for each mapped page, below entries of a table. */
static void walk_tables(struct scan *s, uint64_t table, unsigned int shift, unsigned int from,
			unsigned int to, scan_entry *function)
{
	uint64_t at = table + from * 8ULL, end = table + to * 8ULL, entries[DUMP_PAGE / 8], last = 0, part;
	unsigned int bits = s->page_shift - 3;

	for (; at < end && !image_exhausted(s->image); at += part) {
		size_t in = at % DUMP_PAGE;
		const uint8_t *page = image_page(s->image, at - in, DUMP_PAGE);

		part = end - at < DUMP_PAGE - in ? end - at : DUMP_PAGE - in;
		if (!page)
			continue;
		memcpy(entries, page + in, part);
		for (unsigned int i = 0; i < part / 8; i++) {
			uint64_t entry = entries[i], pa;
			enum entry_kind kind = image_entry(s->image, entry, shift, &pa);

			/* KASAN's shadow repeats the same table many times. */
			if (kind == ENTRY_NONE || entry == last || image_exhausted(s->image))
				continue;
			last = entry;
			function(s, pa, kind == ENTRY_TABLE);
			if (kind == ENTRY_TABLE)
				walk_tables(s, pa, shift - bits, 0, 1U << bits, function);
		}
	}
}

/* The top table: x86 has the kernel's half and a process's in one, arm64 has a table for each. */
void scan_tables(struct scan *s, uint64_t table, bool kernel, scan_entry *function)
{
	const struct image *image = s->image;
	unsigned int entries = 1U << image->layout.top_bits;
	unsigned int from = kernel && !image->arm64 ? entries / 2 : 0;
	unsigned int to = kernel || image->arm64 ? entries : entries / 2;

	walk_tables(s, table, (unsigned int)image->layout.top_shift, from, to, function);
}
