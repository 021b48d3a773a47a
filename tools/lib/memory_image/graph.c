// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory_image/stale.h"

#define MAX_MODULES 65536
#define MAX_FOLLOWERS 1024

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

struct task {
	uint64_t stack, sp;
	uint32_t label;
};

struct scan {
	struct graph *graph;
	struct kernel_objects *objects;
	struct image *image;
	uint64_t direct_map, max_pa, memory_map, memory_map_size, struct_page;
	unsigned int page_shift;
	uint64_t text, text_size, cpu0, area_low, area_high;
	uint64_t percpu_low, percpu_high;	/* of small percpu pointers */
	bool hardened;
	uint32_t from;
	const uint8_t *words;		/* that are looked at, and which of them */
	size_t len, at;
	size_t in_page;			/* the offset of the first of them in its page */
	uint8_t *writes_next;		/* a bit of each id, see find_writers() */

	struct task *task;
	size_t tasks, task_room;
	struct vmalloc_area *area;	/* by node */
	size_t areas, next_area;
	struct frames_list skip;	/* memory that is not searched */

	graph_progress *progress;
	void *data;
	uint64_t all;
};

/* ---- pointers ----------------------------------------------------------------------- */

static void add_edge(struct scan *s, uint32_t to, uint32_t offset)
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
 * The same for the current word. In allocated memory a physical address counts only if a word
 * beside it is one, too, of another object of the same call site: arrays of small numbers look
 * like physical addresses.
 */
static uint32_t at_physical_address(struct scan *s, uint64_t w)
{
	const struct kernel_objects *o = s->objects;
	uint32_t node = at_number(s, w), before = 0, after = 0;

	if (!node)
		return 0;
	if (s->from < o->nodes) {
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
		add_edge(s, extent->first, offset);
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
 * other pointers beside it, and what is never freed was cleared.
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

static void look(struct scan *s, const uint8_t *words, size_t len, uint32_t offset)
{
	s->words = words;
	s->len = len;
	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t w = image_untagged(s->image, get64(words, i));

		s->at = i;

		/* No pointer, however it is coded, is as small. */
		if (w < 256 || is_old_owner(s, w))
			continue;
		if (w < s->max_pa >> s->page_shift)
			look_frame(s, w, i ? get64(words, i - 8) : 0,
				   i + 16 <= len ? get64(words, i + 8) : 0, offset + (uint32_t)i);
		add_edge(s, at_word(s, w), offset + (uint32_t)i);
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
			add_edge(s, extent->first, offset + (uint32_t)i);
		}
	}
}

/* ---- memory ------------------------------------------------------------------------- */

static void look_physical(struct scan *s, uint64_t pa, uint64_t len, uint32_t offset)
{
	struct graph *g = s->graph;

	while (len && !image_exhausted(s->image)) {
		size_t in = pa % DUMP_PAGE, part = DUMP_PAGE - in;
		const uint8_t *page;

		if (part > len)
			part = (size_t)len;
		page = image_page(s->image, pa - in, part);
		s->in_page = in;
		if (page)
			look(s, page + in, part, offset);
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

static void look_virtual(struct scan *s, uint64_t va, uint64_t len, uint32_t offset)
{
	while (len && !image_exhausted(s->image)) {
		uint64_t part = DUMP_PAGE - va % DUMP_PAGE, pa;

		if (part > len)
			part = len;
		if (image_translate(s->image, va, &pa))
			look_physical(s, pa, part, offset);
		va += part;
		len -= part;
		offset += (uint32_t)part;
	}
}

static bool in_frames(const struct frames_list *list, uint64_t pfn)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->at[middle].end <= pfn)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->count && list->at[low].first <= pfn;
}

static int by_frame(const void *a, const void *b)
{
	const struct frames *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void sort_frames(struct frames_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->at, list->count, sizeof(*list->at), by_frame);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && list->at[i].first <= list->at[kept - 1].end) {
			if (list->at[i].end > list->at[kept - 1].end)
				list->at[kept - 1].end = list->at[i].end;
		} else {
			list->at[kept++] = list->at[i];
		}
	}
	list->count = kept;
}

/* ---- memory that is not searched ------------------------------------------------------ */

/* A page of the kernel's own bookkeeping, which is never lost */
static void set_aside(struct scan *s, uint64_t pa)
{
	struct extent *extent = kobjects_extent(s->objects, pa >> s->page_shift);

	if (extent)
		extent->flags |= EXTENT_QUIET | EXTENT_USED;
	else
		frames_add(&s->skip, pa >> s->page_shift, (pa >> s->page_shift) + 1);
}

static void set_aside_virtual(struct scan *s, uint64_t va, uint64_t len)
{
	uint64_t end = va + len, pa;

	for (va -= image_in_page(s->image, va); va < end && image_step(s->image); va += s->image->page_size)
		if (image_translate(s->image, va, &pa))
			set_aside(s, pa);
}

typedef void entry_function(struct scan *s, uint64_t pa, bool table);

/* The top table: x86 has the kernel's half and a process's in one, arm64 has a table for each. */
static unsigned int top_entries(const struct scan *s, bool kernel, unsigned int *from)
{
	unsigned int entries = 1U << s->image->layout.top_bits;

	*from = kernel && !s->image->arm64 ? entries / 2 : 0;
	return kernel || s->image->arm64 ? entries : entries / 2;
}

/* Calls @function for each table, and for each mapped page, below entries of a table. */
static void walk_tables(struct scan *s, uint64_t table, unsigned int shift, unsigned int from,
			unsigned int to, entry_function *function)
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

static void kernel_entry(struct scan *s, uint64_t pa, bool table)
{
	if (table)
		set_aside(s, pa);
}

static void user_entry(struct scan *s, uint64_t pa, bool table)
{
	struct extent *extent = kobjects_extent(s->objects, pa >> s->page_shift);

	(void)table;
	if (extent && s->objects->id[extent->first])
		add_edge(s, extent->first, EDGE_MAPPED);
}

/*
 * Slots and page_ext: four ids can look like an address, and pointers to them are not aligned.
 */
static void set_page_ids_aside(struct scan *s)
{
	uint64_t step = 1ULL << s->image->n[N_SECTION_SHIFT], size;

	for (uint64_t pfn = 0; pfn < s->max_pa >> s->page_shift && image_step(s->image); pfn += step) {
		uint64_t slots = image_page_slots(s->objects->recount, pfn, &size), ext;

		if (slots)
			set_aside_virtual(s, slots, size * step);
		ext = image_page_ext(s->objects->recount, pfn, &size);
		if (ext)
			set_aside_virtual(s, ext, size * step);
	}
}

static void set_bookkeeping_aside(struct scan *s)
{
	struct kernel_objects *o = s->objects;
	struct image *image = s->image;
	const uint64_t *n = image->n;
	uint64_t metadata = n[N_KFENCE_METADATA] ? image_u64(image, n[N_KFENCE_METADATA]) : 0;
	unsigned int from, to = top_entries(s, true, &from);

	set_aside_virtual(s, s->memory_map, s->memory_map_size);
	set_page_ids_aside(s);
	for (size_t i = 0; i < o->units; i++)
		set_aside_virtual(s, o->unit[i].start, o->unit[i].size);
	/*
	 * KFENCE knows all its objects: its metadata would keep every one of them from being
	 * lost.
	 */
	if (metadata)
		set_aside_virtual(s, metadata, n[N_KFENCE_METADATA_SIZE]);
	if (image->layout.tables)
		walk_tables(s, image->layout.tables, (unsigned int)image->layout.top_shift, from, to,
			    kernel_entry);
}

/* ---- tasks and modules ---------------------------------------------------------------- */

static uint32_t label_of(struct graph *g, const char *name)
{
	return (uint32_t)strmap_add(&g->labels, name, strlen(name)) + 1;
}

/* The saved stack pointer, or that of a processor; the whole stack if neither is plausible. */
static uint64_t stack_pointer(struct scan *s, uint64_t task, uint64_t stack)
{
	struct image *image = s->image;
	const uint64_t *n = image->n;
	const uint64_t (*registers)[DUMP_REGISTERS];
	size_t count = dump_registers(image->dump, &registers);
	uint64_t sp, saved;

	/* An int or a byte, 0 or 1 */
	if (n[N_TASK_ON_CPU] && image_u16(image, task + n[N_TASK_ON_CPU]) & 0xff) {
		for (size_t i = 0; i < count; i++) {
			sp = registers[i][dump_stack_pointer(image->dump)];
			if (sp - stack < n[N_STACK_SIZE] && sp % 8 == 0)
				return sp;
		}
		return stack;
	}
	saved = image->arm64 ? n[N_TASK_SP_ARM64] : n[N_TASK_SP];
	sp = saved ? image_u64(image, task + saved) : 0;
	return sp - stack < n[N_STACK_SIZE] && sp % 8 == 0 ? sp : stack;
}

static void add_task(struct scan *s, uint64_t task)
{
	struct image *image = s->image;
	const uint64_t *n = image->n;
	uint64_t stack = image_u64(image, task + n[N_TASK_STACK]);
	char comm[17], label[40];

	if (!stack)
		return;
	image_string(image, task + n[N_TASK_COMM], comm, 16);
	snprintf(label, sizeof(label), "stack of %s", comm[0] ? comm : "a task");
	GROW(s->task, s->tasks, s->task_room);
	s->task[s->tasks++] = (struct task){
		stack, stack_pointer(s, task, stack), label_of(s->graph, label),
	};
}

/*
 * The stacks of tasks, and stacks that wait for reuse, are quiet: their words are not read like
 * those of other memory.
 */
static void find_tasks(struct scan *s)
{
	struct kernel_objects *o = s->objects;
	uint64_t of_stacks = 0, pa;

	add_task(s, s->image->n[N_INIT_TASK]);
	for (size_t i = 0; i < o->extents; i++) {
		const struct extent *extent = &o->extent[i];

		if (!extent->cache || strcmp(extent->cache->name, "task_struct"))
			continue;
		for (uint32_t node = extent->first + 1; node < extent->first + extent->count; node++)
			if (o->id[node] && image_step(s->image))
				add_task(s, kobjects_address(o, node));
	}
	for (size_t i = 0; i < s->tasks; i++) {
		for (uint64_t at = 0; at < s->image->n[N_STACK_SIZE] && image_step(s->image);
		     at += s->image->page_size) {
			struct extent *extent = image_translate(s->image, s->task[i].stack + at, &pa) ?
						kobjects_extent(o, pa >> s->page_shift) : NULL;

			if (!extent || extent->cache)
				continue;
			extent->flags |= EXTENT_QUIET;
			of_stacks = image_tag_of(o->sites, o->id[extent->first]);
		}
	}
	for (size_t i = 0; i < o->extents && of_stacks; i++)
		if (!o->extent[i].cache &&
		    image_tag_of(o->sites, o->id[o->extent[i].first]) == of_stacks)
			o->extent[i].flags |= EXTENT_QUIET;
}

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
 * kvfree_rcu() writes addresses of what it will free into pages, and keeps a page for the next ones
 * when that is done. Such a page is on no list_head. Its first word leads to the next one, the others
 * are old. In a page on a list the addresses behind the last one are.
 */
static void find_kept_pages(struct scan *s)
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

static void find_modules(struct scan *s)
{
	struct image *image = s->image;
	const uint64_t *n = image->n;
	uint64_t head = n[N_MODULES], at = head ? image_u64(image, head) : 0, pa;

	for (size_t i = 0; at && at != head && i < MAX_MODULES && !image_exhausted(image); i++) {
		uint64_t module = at - n[N_MODULE_LIST];
		char name[64], label[80];
		uint32_t number;

		image_string(image, module + n[N_MODULE_NAME], name, sizeof(name));
		snprintf(label, sizeof(label), "module %s", name);
		number = label_of(s->graph, label);
		for (uint64_t part = 0; part < n[N_MODULE_PARTS]; part++) {
			uint64_t mem = module + n[N_MODULE_MEM] + part * n[N_MODULE_MEM_SIZE];
			uint64_t base = image_u64(image, mem + n[N_MODULE_BASE]);
			uint64_t size = base ? image_u32(image, mem + n[N_MODULE_LENGTH]) : 0;

			for (uint64_t page = 0; page < size && image_step(image); page += image->page_size) {
				struct extent *extent = image_translate(image, base + page, &pa) ?
							kobjects_extent(s->objects, pa >> s->page_shift) : NULL;

				if (extent)
					extent->label = number;
			}
		}
		at = image_u64(image, at);
	}
}

/* ---- edges ---------------------------------------------------------------------------- */

static void begin_node(struct scan *s, uint32_t node)
{
	s->from = node;
	s->graph->first[node] = s->graph->edges;
}

static void look_percpu(struct scan *s, uint32_t node)
{
	const struct percpu_object *object = &s->objects->percpu[node - 1];

	for (size_t cpu = 0; cpu < s->image->cpus && image_step(s->image); cpu++)
		look_virtual(s, object->address + s->image->unit_offset[cpu], object->size, 0);
}

/*
 * The freelist of a slab leads to an object of its own. It stays in the struct page when the slab is
 * freed, and leads to pages of others then. The two words before it link slabs, and stay, too.
 */
static void look_struct_page(struct scan *s, uint64_t va, uint32_t offset, bool slab)
{
	uint32_t freelist = (uint32_t)s->image->n[N_SLAB_COUNTERS] - 8, next = freelist + 8;

	look_virtual(s, va, slab && freelist >= 16 ? freelist - 16 : freelist, offset);
	if (image_u64(s->image, va + freelist) - s->direct_map >= s->max_pa)
		look_virtual(s, va + freelist, 8, offset + freelist);
	look_virtual(s, va + next, s->struct_page - next, offset + next);
}

/* The struct pages of a compound page after the fourth contain nothing. */
static void look_struct_pages(struct scan *s, const struct extent *extent)
{
	uint64_t pages = 1ULL << extent->order;

	if (extent->flags & EXTENT_COMPOUND && pages > 4)
		pages = 4;
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t va = s->memory_map + (extent->pfn + i) * s->struct_page;
		uint32_t offset = (uint32_t)(i * s->struct_page);

		/* The others of a compound page have other members. */
		if (i && extent->flags & EXTENT_COMPOUND)
			look_virtual(s, va, s->struct_page, offset);
		else
			look_struct_page(s, va, offset, !i && extent->flags & EXTENT_CONTAINER);
	}
}

/* All words of a vmap_area except those that lead to its parts */
static void look_area(struct scan *s, uint64_t pa, uint32_t size)
{
	const uint64_t *n = s->image->n;

	for (uint32_t at = 0; at < size; at += 8)
		if (at != n[N_AREA_START] && at != n[N_AREA_END] && at != n[N_AREA_VM])
			look_physical(s, pa + at, 8, at);
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
 * Call sites that write to this word themselves: what they link is no list of free objects, which
 * never leads to another slab.
 */
static void find_writers(struct scan *s)
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
		look_physical(s, pa, s->image->page_size, 0);
		return;
	}
	pa += (uint64_t)(node - extent->first - 1) * cache->size + cache->pad;
	if (stale_net(s->image, cache, s->direct_map + pa, &next_net)) {
		look_physical(s, pa + next_net, 8, next_net);
		return;
	}
	if (kobjects_bit(s->objects->is_area, node)) {
		look_area(s, pa, size);
	} else if (next_free(s, extent, node, &w) && is_next_free(s, extent, w) &&
		   !kobjects_bit(s->writes_next, image_site_id(s->objects->sites, s->objects->id[node]))) {
		look_physical(s, pa, next, 0);
		look_physical(s, pa + next + 8, size - next - 8, next + 8);
	} else {
		look_physical(s, pa, size, 0);
	}
}

static int by_area_node(const void *a, const void *b)
{
	const struct vmalloc_area *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

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
		add_edge(s, last, EDGE_MAPPED);
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
		look_physical(s, pa, 8, 0);
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

static void look_pages(struct scan *s, const struct extent *extent)
{
	const struct kernel_objects *o = s->objects;
	struct graph *g = s->graph;
	uint64_t pa = extent->pfn << s->page_shift, from = g->edges;

	if (extent->flags & EXTENT_KEPT)
		look_physical(s, pa, 8, 0);
	else if (extent->flags & EXTENT_RECORDS)
		look_physical(s, pa, records_size(s, pa), 0);
	else if (!(extent->flags & EXTENT_QUIET) && !kobjects_bit(o->is_ids, extent->first))
		look_physical(s, pa, s->image->page_size << extent->order, 0);
	else if (!extent->cache && o->id[extent->first])
		look_freed_stack(s, pa);
	if (g->edges > from)
		g->edges = from + stale_drop_requests(o, extent, g->edge + from, g->edges - from);
}

static void look_extent(struct scan *s, const struct extent *extent)
{
	struct kernel_objects *o = s->objects;

	begin_node(s, extent->first);
	if (o->id[extent->first] || extent->flags & EXTENT_USED) {
		look_struct_pages(s, extent);
		look_pages(s, extent);
	}
	for (uint32_t node = extent->first + 1; node < extent->first + extent->count; node++) {
		begin_node(s, node);
		if (!o->id[node] || kobjects_bit(o->is_ids, node))
			continue;
		look_object(s, extent, node);
		while (s->next_area < s->areas && s->area[s->next_area].node <= node)
			look_mapped(s, &s->area[s->next_area++]);
		if (s->image->n[N_MM_TABLES] && !strcmp(extent->cache->name, "mm_struct")) {
			uint64_t tables, pgd = image_u64(s->image, kobjects_address(o, node) +
							 s->image->n[N_MM_TABLES]);
			unsigned int from, to = top_entries(s, false, &from);

			if (image_translate(s->image, pgd, &tables))
				walk_tables(s, tables & ~7ULL, (unsigned int)s->image->layout.top_shift,
					    from, to, user_entry);
		}
	}
}

static void look_objects(struct scan *s)
{
	struct kernel_objects *o = s->objects;

	s->areas = o->areas;
	s->area = xcalloc(s->areas + 1, sizeof(*s->area));
	if (s->areas) {
		memcpy(s->area, o->area, s->areas * sizeof(*s->area));
		qsort(s->area, s->areas, sizeof(*s->area), by_area_node);
	}
	begin_node(s, 0);
	for (uint32_t node = 1; node <= o->percpus; node++) {
		begin_node(s, node);
		look_percpu(s, node);
	}
	for (size_t i = 0; i < o->extents; i++)
		look_extent(s, &o->extent[i]);
}

/* ---- roots ---------------------------------------------------------------------------- */

static void begin_root(struct scan *s, uint32_t label)
{
	struct graph *g = s->graph;

	GROW(g->root_label, g->roots, g->root_room);
	g->root_label[g->roots++] = label;
	g->first = xreallocarray(g->first, s->objects->nodes + g->roots + 1, sizeof(*g->first));
	begin_node(s, s->objects->nodes + (uint32_t)g->roots - 1);
}

/* No dump has the memory that is reserved for a crash kernel or for firmware. */
static void look_frames(struct scan *s, const struct frames_list *list)
{
	uint64_t missing = s->image->missing;

	for (size_t i = 0; i < list->count; i++)
		for (uint64_t pfn = list->at[i].first; pfn < list->at[i].end && image_step(s->image); pfn++)
			if (!in_frames(&s->skip, pfn) && !kobjects_extent(s->objects, pfn))
				look_physical(s, pfn << s->page_shift, s->image->page_size, 0);
	s->image->missing = missing;
}

/*
 * The parts of the kernel's image that the kernel still uses, without the stack of its first
 * task
 */
static void look_data(struct scan *s)
{
	const uint64_t *n = s->image->n;
	uint64_t stack = s->tasks ? s->task[0].stack : 0, pa;

	for (uint64_t va = n[N_TEXT] - image_in_page(s->image, n[N_TEXT]);
	     va < n[N_KERNEL_END] && image_step(s->image); va += s->image->page_size) {
		if (!image_translate(s->image, va, &pa) || in_frames(&s->skip, pa >> s->page_shift))
			continue;
		if (va >= n[N_TEXT_END] && va - stack >= n[N_STACK_SIZE] &&
		    in_frames(&s->objects->reserved, pa >> s->page_shift))
			look_physical(s, pa, s->image->page_size, (uint32_t)(va - n[N_TEXT]));
		if (in_frames(&s->objects->reserved, pa >> s->page_shift))
			frames_add(&s->skip, pa >> s->page_shift, (pa >> s->page_shift) + 1);
	}
	sort_frames(&s->skip);
}

/*
 * KFENCE's metadata is set aside, but it has heads of RCU. Objects that wait for
 * their free with RCU are in one list, so such a head can lead to objects of others.
 */
static void look_kfence(struct scan *s)
{
	const uint64_t *n = s->image->n;
	uint64_t at = n[N_KFENCE_METADATA] ? image_u64(s->image, n[N_KFENCE_METADATA]) : 0;
	uint64_t size = n[N_KFENCE_OBJECT_SIZE_OF], end = at + n[N_KFENCE_METADATA_SIZE];

	if (!at || !size || !n[N_KFENCE_OBJECT_RCU])
		return;
	for (; at + size <= end && image_step(s->image); at += size)
		look_virtual(s, at + n[N_KFENCE_OBJECT_RCU], 8, 0);
}

static void look_roots(struct scan *s)
{
	const uint64_t *n = s->image->n;
	const uint64_t (*registers)[DUMP_REGISTERS];
	size_t count = dump_registers(s->image->dump, &registers);

	begin_root(s, label_of(s->graph, "kernel data"));
	look_data(s);
	begin_root(s, label_of(s->graph, "percpu variables"));
	for (size_t cpu = 0; cpu < s->image->cpus && n[N_PERCPU_END] > n[N_PERCPU_START]; cpu++) {
		look_virtual(s, n[N_PERCPU_START] + s->image->cpu_offset[cpu],
			     n[N_PERCPU_END] - n[N_PERCPU_START], 0);
		set_aside_virtual(s, n[N_PERCPU_START] + s->image->cpu_offset[cpu],
				  n[N_PERCPU_END] - n[N_PERCPU_START]);
	}
	sort_frames(&s->skip);
	begin_root(s, label_of(s->graph, "memory of the boot"));
	look_frames(s, &s->objects->reserved);
	begin_root(s, label_of(s->graph, "frees that wait for RCU"));
	look_kfence(s);
	begin_root(s, label_of(s->graph, "memory without a call site"));
	look_frames(s, &s->objects->unknown);
	begin_root(s, label_of(s->graph, "registers"));
	s->in_page = 0;
	for (size_t i = 0; i < count; i++)
		look(s, (const uint8_t *)registers[i], sizeof(registers[i]), 0);
	for (size_t i = 0; i < s->tasks && !image_exhausted(s->image); i++) {
		begin_root(s, s->task[i].label);
		look_virtual(s, s->task[i].sp, s->task[i].stack + n[N_STACK_SIZE] - s->task[i].sp, 0);
	}
}

/* The first chunk is beside the percpu variables, so its pointers are small. */
static void find_small_percpu(struct scan *s)
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
	find_small_percpu(&s);
	g->objects = objects;
	g->first = xcalloc(objects->nodes + 1UL, sizeof(*g->first));
	set_bookkeeping_aside(&s);
	sort_frames(&s.skip);
	sort_frames(&objects->reserved);
	sort_frames(&objects->unknown);
	find_tasks(&s);
	find_kept_pages(&s);
	find_modules(&s);
	find_writers(&s);
	look_objects(&s);
	look_roots(&s);
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

/* ---- reaching ------------------------------------------------------------------------- */

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
	    !is_single(graph, first) || i + 1 >= MAX_FOLLOWERS)
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

/* ---- names ---------------------------------------------------------------------------- */

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
