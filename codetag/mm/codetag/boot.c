// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines that took memory before the page allocator had it.
 *
 * memblock tells each range that it reserves or frees, and codetag_boot_site tells which
 * line asked for it. When memblock gives the rest of the memory to the page allocator, this
 * file keeps the ranges that are in memory. Later frees go unnoticed here.
 */
#include <linux/bits.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/pfn.h>
#include <asm/sections.h>
#include "boot.h"
#include "internal.h"

/* Ranges of one line that are neighbours are one area: kernels have 30 to 200 of them. */
#define EARLY_AREAS	1024

static struct codetag_boot_area early_areas[EARLY_AREAS] __initdata;

/*
 * All areas until the page allocator takes over, then those that are in memory. Memory of areas
 * that found no room here is listed as without a line.
 */
static struct codetag_boot_areas boot_areas __refdata = {
	.area = early_areas,
	.max = EARLY_AREAS,
};

const struct codetag_boot_site *codetag_boot_site;

enum { KERNEL_TEXT, KERNEL_RODATA, KERNEL_DATA, KERNEL_BSS, KERNEL_OTHER, NOMAP, PARTS, NO_LINE };

/* Memory that no line of code has taken. */
static const struct codetag_boot_site reserved_sites[] = {
	[KERNEL_TEXT] = { "codetag", "kernel_text", KERNEL_TEXT },
	[KERNEL_RODATA] = { "codetag", "kernel_rodata", KERNEL_RODATA },
	[KERNEL_DATA] = { "codetag", "kernel_data", KERNEL_DATA },
	[KERNEL_BSS] = { "codetag", "kernel_bss", KERNEL_BSS },
	[KERNEL_OTHER] = { "codetag", "kernel_other", KERNEL_OTHER },
	[NOMAP] = { "codetag", "not_mapped", NOMAP },
	[NO_LINE] = { "codetag", "no_line", NO_LINE },
};

const struct codetag_boot_site codetag_boot_parts = { "codetag", "parts_of_pages", PARTS };

static void __init_memblock insert(struct codetag_boot_areas *areas, unsigned int i,
				   const struct codetag_boot_area *new)
{
	struct codetag_boot_area *at = areas->area + i;

	if (areas->nr == areas->max)
		return;
	memmove(at + 1, at, (areas->nr++ - i) * sizeof(*at));
	*at = *new;
}

static void __init_memblock remove(struct codetag_boot_areas *areas, unsigned int i)
{
	struct codetag_boot_area *at = areas->area + i;

	memmove(at, at + 1, (--areas->nr - i) * sizeof(*at));
}

/* Insert an area that overlaps none, before area @i; it grows a neighbour of its line. */
static void __init_memblock join(struct codetag_boot_areas *areas, unsigned int i,
				 const struct codetag_boot_area *new)
{
	struct codetag_boot_area *after = areas->area + i, *before = after - 1;
	bool joins_before = i && before->end == new->start && before->site == new->site;
	bool joins_after = i < areas->nr && after->start == new->end && after->site == new->site;

	if (joins_before && joins_after) {
		before->end = after->end;
		remove(areas, i);
	} else if (joins_before) {
		before->end = new->end;
	} else if (joins_after) {
		after->start = new->start;
	} else {
		insert(areas, i, new);
	}
}

/**
 * codetag_boot_take - a line takes memory
 * @areas:	the areas
 * @start:	address of the first byte
 * @end:	address of the byte after the last
 * @site:	the line
 *
 * Memory that has been taken before stays with the line that took it first.
 *
 * Not static for the tests.
 *
 * Context: Boot.
 */
void __init_memblock codetag_boot_take(struct codetag_boot_areas *areas, phys_addr_t start,
				       phys_addr_t end, const struct codetag_boot_site *site)
{
	while (start < end) {
		struct codetag_boot_area new = { start, end, site };
		unsigned int i = 0;

		while (i < areas->nr && areas->area[i].end <= start)
			i++;
		if (i < areas->nr && areas->area[i].start <= start) {
			start = areas->area[i].end;
			continue;
		}
		if (i < areas->nr)
			new.end = min(end, areas->area[i].start);
		join(areas, i, &new);
		start = new.end;
	}
}

/**
 * codetag_boot_give - memory is taken no more
 * @areas:	the areas
 * @start:	address of the first byte
 * @end:	address of the byte after the last
 *
 * Not static for the tests.
 *
 * Context: Boot.
 */
void __init_memblock codetag_boot_give(struct codetag_boot_areas *areas, phys_addr_t start,
				       phys_addr_t end)
{
	unsigned int i = 0;

	while (start < end && i < areas->nr && areas->area[i].start < end) {
		struct codetag_boot_area *area = &areas->area[i];
		struct codetag_boot_area rest = { end, area->end, area->site };

		if (area->end > start) {
			area->end = max(area->start, start);
			if (rest.start < rest.end)
				insert(areas, i + 1, &rest);
		}
		if (area->start == area->end)
			remove(areas, i);
		else
			i++;
	}
}

static phys_addr_t __init_memblock end_of(phys_addr_t base, phys_addr_t size)
{
	return base + min(size, PHYS_ADDR_MAX - base);
}

/**
 * codetag_boot_taken - memblock reserves memory
 * @base:	its address
 * @size:	its size
 *
 * Context: Boot; nothing happens when the page allocator is up.
 */
void __init_memblock codetag_boot_taken(phys_addr_t base, phys_addr_t size)
{
	if (boot_areas.max)
		codetag_boot_take(&boot_areas, base, end_of(base, size),
				  codetag_boot_site ?: &reserved_sites[NO_LINE]);
}

/**
 * codetag_boot_given - memblock frees memory
 * @base:	its address
 * @size:	its size
 *
 * Context: Boot; nothing happens when the page allocator is up.
 */
void __init_memblock codetag_boot_given(phys_addr_t base, phys_addr_t size)
{
	if (boot_areas.max)
		codetag_boot_give(&boot_areas, base, end_of(base, size));
}

/* The image of the kernel, by its parts instead of by the line that keeps it. */
static void __init take_kernel(void)
{
	const struct {
		const void *start, *end;
		unsigned int site;
	} part[] = {
		{ _stext, _etext, KERNEL_TEXT },
		{ __start_rodata, __end_rodata, KERNEL_RODATA },
		{ _sdata, _edata, KERNEL_DATA },
		{ __bss_start, __bss_stop, KERNEL_BSS },
		{ _text, _end, KERNEL_OTHER },
	};
	unsigned int i;

	codetag_boot_give(&boot_areas, __pa_symbol(_text), __pa_symbol(_end));
	for (i = 0; i < ARRAY_SIZE(part); i++)
		codetag_boot_take(&boot_areas, __pa_symbol(part[i].start),
				  __pa_symbol(part[i].end), &reserved_sites[part[i].site]);
}

/* Keep the parts of an area that are memory: other ranges are reserved, too. */
static void __init keep_present(struct codetag_boot_areas *kept, phys_addr_t start,
				phys_addr_t end, const struct codetag_boot_site *site)
{
	unsigned long first, last;
	int range;

	for_each_mem_pfn_range(range, MAX_NUMNODES, &first, &last, NULL)
		if (start < PFN_PHYS(last) && end > PFN_PHYS(first))
			codetag_boot_take(kept, max(start, PFN_PHYS(first)),
					  min(end, PFN_PHYS(last)), site);
}

/**
 * codetag_boot_keep - keep the list of areas, before the page allocator gets the other memory
 *
 * Context: Boot, the last thing that memblock does.
 */
void __init codetag_boot_keep(void)
{
	struct codetag_boot_areas kept = {};
	const struct codetag_boot_area *area;
	struct memblock_region *region;
	phys_addr_t start, end;
	u64 i;

	if (!mem_alloc_profiling_permanently_disabled()) {
		/* Each start and each end in the three lists can begin a piece. */
		kept.max = 2 * (boot_areas.nr + memblock.memory.cnt + memblock.reserved.cnt + 16);
		kept.area = memblock_alloc(kept.max * sizeof(*kept.area), SMP_CACHE_BYTES);
	}
	if (kept.area) {
		take_kernel();
		for (area = boot_areas.area; area < boot_areas.area + boot_areas.nr; area++)
			keep_present(&kept, area->start, area->end, area->site);
		/* Not into boot_areas, which can be full. */
		for_each_reserved_mem_range(i, &start, &end)
			keep_present(&kept, start, end, &reserved_sites[NO_LINE]);
		for_each_mem_region(region)
			if (memblock_is_nomap(region))
				keep_present(&kept, region->base, region->base + region->size,
					     &reserved_sites[NOMAP]);
	}
	boot_areas = (struct codetag_boot_areas){ .area = kept.area, .nr = kept.nr };
}

/**
 * codetag_boot_kept - the areas that are in memory
 *
 * Context: After boot.
 * Return: The areas, none if there was no memory for the list. Pages of them may have been freed.
 */
const struct codetag_boot_areas *codetag_boot_kept(void)
{
	return &boot_areas;
}
