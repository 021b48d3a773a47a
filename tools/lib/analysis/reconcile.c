// SPDX-License-Identifier: GPL-2.0
#include "analysis/reconcile.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "model/container.h"

enum kind_of {
	SLABS, CHUNKS, PAGE_CACHE, USER, STACKS, RESERVED, OTHER, KINDS
};
static_assert(KINDS == RECONCILE_KINDS, "each kind has its place");

static const char *const kind_names[KINDS] = {
	[SLABS] = "slab pages",
	[CHUNKS] = "percpu chunks",
	[PAGE_CACHE] = "page cache and tmpfs",
	[USER] = "user memory and page tables",
	[STACKS] = "kernel stacks",
	[RESERVED] = "not tied to a line (codetag:…)",
	[OTHER] = "other pages",
};

/* Where the pages of the other kinds are taken; rules from 6.10 to 7.x. */
static const struct {
	const char *file, *func;	/* NULL: any */
	enum kind_of kind;
} rules[] = {
	{ "mm/filemap.c", NULL, PAGE_CACHE },
	{ "mm/readahead.c", NULL, PAGE_CACHE },
	{ "mm/shmem.c", NULL, PAGE_CACHE },
	{ "fs/buffer.c", NULL, PAGE_CACHE },
	{ "mm/memory.c", NULL, USER },
	{ "mm/huge_memory.c", NULL, USER },
	{ "mm/khugepaged.c", NULL, USER },
	{ "mm/mempolicy.c", NULL, USER },
	{ "arch/x86/mm/pgtable.c", NULL, USER },
	{ "include/asm-generic/pgalloc.h", NULL, USER },
	{ "kernel/fork.c", "alloc_thread_stack_node", STACKS },
};

static enum kind_of kind_of(const struct site *site)
{
	if (site_reserved(site))
		return RESERVED;
	switch (site_contains(site)) {
	case SLAB_PAGES:
		return SLABS;
	case PERCPU_CHUNKS:
		return CHUNKS;
	case NO_CONTAINER:
		break;
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!strcmp(rules[i].file, site->file) &&
		    (!rules[i].func || !strcmp(rules[i].func, site->func)))
			return rules[i].kind;
	return OTHER;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * The page size of the machine that was recorded: the power of two that makes
 * its free pages about as much as its MemFree.
 */
static int64_t page_size(const struct zone_pages *pages, int64_t mem_free)
{
	int64_t size = 4096;

	while (size < 65536 && pages->free &&
	       mem_free / pages->free > size + size / 2)
		size *= 2;
	return size;
}

bool reconcile(struct reconciliation *r, const struct allocinfo *info,
	       const struct machine *machine)
{
	const struct fields *meminfo = &machine->meminfo;
	int64_t sum[KINDS] = { 0 }, free;

	*r = (struct reconciliation){ 0 };
	if (!fields_find(meminfo, "MemTotal") || !fields_find(meminfo, "MemFree"))
		return false;
	r->total = fields_number(meminfo, "MemTotal");
	free = fields_number(meminfo, "MemFree");
	/*
	 * MemFree leaves out the pages on the free lists of CPUs, which can be
	 * a good part of what seems to be in use on a small machine. The two
	 * move between each other all the time, so take both from one file.
	 */
	r->percpu_known = machine->pages.free > 0;
	if (r->percpu_known)
		free = mul64(add64(machine->pages.free, machine->pages.percpu),
			     page_size(&machine->pages, free));
	r->used = sub64(r->total, free);

	for (size_t i = 0; i < info->count; i++) {
		int64_t *kind = &sum[kind_of(&info->site[i])];

		*kind = add64(*kind, info->site[i].bytes);
		r->sites = add64(r->sites, info->site[i].bytes);
	}

	/* Objects cannot take more than the pages that they are in. */
	r->slab_objects_known = machine->slabinfo.count > 0;
	r->slab_objects = sum[SLABS];
	if (r->slab_objects_known)
		r->slab_objects = least(r->slab_objects,
					slabinfo_object_bytes(&machine->slabinfo));
	r->percpu_objects = least(fields_number(meminfo, "Percpu"),
				  sum[CHUNKS]);
	sum[OTHER] = sub64(sub64(sum[OTHER], r->slab_objects), r->percpu_objects);
	r->attributed = sub64(sub64(r->sites, r->slab_objects), r->percpu_objects);
	r->unattributed = sub64(r->used, r->attributed);

	for (unsigned int i = 0; i < KINDS; i++)
		if (sum[i])
			r->kind[r->kinds++] = (struct kind){ kind_names[i], sum[i] };
	return true;
}
