// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/scan_roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory_image/scan_words.h"

#define MAX_MODULES 65536

/* ---- page frames ------------------------------------------------------------------ */

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

/* ---- memory that is not searched -------------------------------------------------- */

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

static void kernel_entry(struct scan *s, uint64_t pa, bool table)
{
	if (table)
		set_aside(s, pa);
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

void scan_set_aside(struct scan *s)
{
	struct kernel_objects *o = s->objects;
	struct image *image = s->image;
	const uint64_t *n = image->n;
	uint64_t metadata = n[N_KFENCE_METADATA] ? image_u64(image, n[N_KFENCE_METADATA]) : 0;

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
		scan_tables(s, image->layout.tables, true, kernel_entry);
	sort_frames(&s->skip);
	sort_frames(&o->reserved);
	sort_frames(&o->unknown);
}

/* ---- tasks and modules ------------------------------------------------------------ */

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
void scan_find_tasks(struct scan *s)
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

void scan_find_modules(struct scan *s)
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

/* ---- roots ------------------------------------------------------------------------ */

static void begin_root(struct scan *s, uint32_t label)
{
	struct graph *g = s->graph;

	GROW(g->root_label, g->roots, g->root_room);
	g->root_label[g->roots++] = label;
	g->first = xreallocarray(g->first, s->objects->nodes + g->roots + 1, sizeof(*g->first));
	scan_begin_node(s, s->objects->nodes + (uint32_t)g->roots - 1);
}

/* No dump has the memory that is reserved for a crash kernel or for firmware. */
static void look_frames(struct scan *s, const struct frames_list *list)
{
	uint64_t missing = s->image->missing;

	for (size_t i = 0; i < list->count; i++)
		for (uint64_t pfn = list->at[i].first; pfn < list->at[i].end && image_step(s->image); pfn++)
			if (!in_frames(&s->skip, pfn) && !kobjects_extent(s->objects, pfn))
				scan_physical(s, pfn << s->page_shift, s->image->page_size, 0);
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
	struct frames_list searched = { 0 };

	for (uint64_t va = n[N_TEXT] - image_in_page(s->image, n[N_TEXT]);
	     va < n[N_KERNEL_END] && image_step(s->image); va += s->image->page_size) {
		if (!image_translate(s->image, va, &pa) || in_frames(&s->skip, pa >> s->page_shift))
			continue;
		if (va >= n[N_TEXT_END] && va - stack >= n[N_STACK_SIZE] &&
		    in_frames(&s->objects->reserved, pa >> s->page_shift))
			scan_physical(s, pa, s->image->page_size, (uint32_t)(va - n[N_TEXT]));
		if (in_frames(&s->objects->reserved, pa >> s->page_shift))
			frames_add(&searched, pa >> s->page_shift, (pa >> s->page_shift) + 1);
	}
	for (size_t i = 0; i < searched.count; i++)
		frames_add(&s->skip, searched.at[i].first, searched.at[i].end);
	free(searched.at);
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
		scan_virtual(s, at + n[N_KFENCE_OBJECT_RCU], 8, 0);
}

void scan_roots(struct scan *s)
{
	const uint64_t *n = s->image->n;
	const uint64_t (*registers)[DUMP_REGISTERS];
	size_t count = dump_registers(s->image->dump, &registers);

	begin_root(s, label_of(s->graph, "kernel data"));
	look_data(s);
	begin_root(s, label_of(s->graph, "percpu variables"));
	for (size_t cpu = 0; cpu < s->image->cpus && n[N_PERCPU_END] > n[N_PERCPU_START]; cpu++) {
		scan_virtual(s, n[N_PERCPU_START] + s->image->cpu_offset[cpu],
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
	s->alone = true;
	begin_root(s, label_of(s->graph, "registers"));
	for (size_t i = 0; i < count; i++)
		scan_words(s, (const uint8_t *)registers[i], sizeof(registers[i]), 0, 0);
	for (size_t i = 0; i < s->tasks && !image_exhausted(s->image); i++) {
		begin_root(s, s->task[i].label);
		scan_virtual(s, s->task[i].sp, s->task[i].stack + n[N_STACK_SIZE] - s->task[i].sp, 0);
	}
}
