// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/explain.h"

#include <assert.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"
#include "model/container.h"

static const struct memory_kind kinds[] = {
	[MEMORY_PROCESSES] = {
		"processes", "process memory", "meminfo AnonPages, swap cache that is not mapped",
		.sum = { "AnonPages" },
		.cgroup = { "anon" },
	},
	[MEMORY_FILE_CACHE] = {
		"file_cache", "file cache", "meminfo Cached, Buffers, without Shmem",
		.sum = { "Cached", "Buffers", "-Shmem" },
		.drop = { "Active(file)", "Inactive(file)" },
		.cgroup = { "file" },
	},
	[MEMORY_SHMEM] = {
		"tmpfs", "tmpfs and shared memory", "meminfo Shmem", .sum = { "Shmem" },
		.cgroup = { "shmem" },
	},
	[MEMORY_SLAB_RECLAIMABLE] = {
		"slab_reclaimable", "slab, reclaimable", "meminfo SReclaimable",
		.sum = { "SReclaimable" }, .drop = { "SReclaimable" },
		.cgroup = { "slab_reclaimable" },
	},
	[MEMORY_SLAB] = {
		"slab", "slab, not reclaimable", "meminfo SUnreclaim: also of kmalloc() above two pages",
		.sum = { "SUnreclaim" }, .cgroup = { "slab_unreclaimable" }, .pinned = true,
	},
	[MEMORY_HUGETLB] = {
		"huge_pages", "huge page pool", "meminfo Hugetlb", .sum = { "Hugetlb" },
		.cgroup = { "hugetlb" },
	},
	[MEMORY_PAGE_TABLES] = {
		"page_tables", "page tables", "meminfo PageTables, SecPageTables",
		.sum = { "PageTables", "SecPageTables" },
		.cgroup = { "pagetables", "sec_pagetables" }, .pinned = true,
	},
	[MEMORY_STACKS] = {
		"kernel_stacks", "kernel stacks", "meminfo KernelStack",
		.sum = { "KernelStack" }, .cgroup = { "kernel_stack" }, .pinned = true,
	},
	[MEMORY_VMALLOC] = {
		"vmalloc", "vmalloc and modules", "meminfo VmallocUsed, without kernel stacks",
		.sum = { "VmallocUsed" }, .cgroup = { "vmalloc" }, .pinned = true,
	},
	[MEMORY_PERCPU] = {
		"percpu", "per-CPU memory", "call sites of mm/percpu; else meminfo Percpu",
		.sum = { "Percpu" }, .cgroup = { "percpu" }, .pinned = true,
	},
	[MEMORY_ZSMALLOC] = {
		"zram", "zram and zswap", "vmstat nr_zspages",
		.sum = { "vmstat.nr_zspages" }, .cgroup = { "zswap" },
	},
	[MEMORY_NETWORK] = {
		"network", "network buffers", "call sites of page pools and page fragments",
		.cgroup = { "sock" },
		.pinned = true,
	},
	[MEMORY_GPU] = {
		"graphics", "graphics memory", "meminfo GPUActive, GPUReclaim",
		.sum = { "GPUActive", "GPUReclaim" }, .drop = { "GPUReclaim" }, .pinned = true,
	},
	[MEMORY_RECLAIMABLE] = {
		"reclaimable", "other that can be dropped", "meminfo KReclaimable, without slabs",
		.sum = { "KReclaimable", "-SReclaimable" }, .drop = { "KReclaimable" },
	},
	[MEMORY_BALLOON] = {
		"balloon", "given to the host (balloon)", "meminfo Balloon",
		.sum = { "Balloon" },
	},
	[MEMORY_POISONED] = {
		"poisoned", "pages with hardware errors", "meminfo HardwareCorrupted",
		.sum = { "HardwareCorrupted" },
	},
	[MEMORY_PAGES] = {
		"pages", "driver and kernel pages", "pages charged to call sites, without all above",
		.pinned = true,
	},
	[MEMORY_UNACCOUNTED] = {
		"unaccounted", "unaccounted", "the rest", .pinned = true,
	},
};
static_assert(sizeof(kinds) / sizeof(*kinds) == MEMORY_KINDS, "each kind has its row");

const struct memory_kind *memory_kind(enum memory_kind_id id)
{
	return &kinds[id];
}

static const char *const boot_words[BOOT_PARTS] = {
	[BOOT_PAGES] = "struct page of all memory",
	[BOOT_KERNEL] = "kernel text and data",
	[BOOT_CRASH] = "reserved for a crash kernel",
	[BOOT_PERCPU] = "first chunk of per-CPU memory",
	[BOOT_PROFILER] = "page references of the profiler",
	[BOOT_HASH] = "hash tables",
	[BOOT_INITRD] = "initramfs",
	[BOOT_BOUNCE] = "bounce buffers of DMA (swiotlb)",
	[BOOT_TABLES] = "page tables of the kernel",
	[BOOT_FIRMWARE] = "firmware tables, first megabyte",
	[BOOT_RESERVED] = "reserved by the command line or device tree",
	[BOOT_REST] = "others",
};

const char *boot_part_words(enum boot_part part)
{
	return boot_words[part];
}

/*
 * The files and functions whose lines take memory at boot, and for what; the first match
 * counts.
 */
static const struct {
	const char *line;	/* a glob of the whole line */
	enum boot_part part;
} boot_rules[] = {
	{ "* hash:yes", BOOT_HASH },
	{ "codetag:* func:kernel_*", BOOT_KERNEL },
	{ "codetag:* func:not_mapped", BOOT_RESERVED },
	{ "mm/codetag/*", BOOT_PROFILER },
	{ "*func:pcpu_codetag_*", BOOT_PROFILER },
	{ "mm/percpu.c:*", BOOT_PERCPU },
	{ "*/setup_percpu.c:*", BOOT_PERCPU },
	{ "mm/sparse*.c:*", BOOT_PAGES },
	{ "mm/mm_init.c:* func:memmap_*", BOOT_PAGES },
	{ "mm/mm_init.c:* func:alloc_node_mem_map*", BOOT_PAGES },
	{ "*func:*vmemmap*", BOOT_PAGES },
	{ "kernel/dma/swiotlb.c:*", BOOT_BOUNCE },
	{ "*crash*", BOOT_CRASH },
	{ "*initrd*", BOOT_INITRD },
	{ "arch/arm64/mm/init.c:* func:arm64_memblock_init", BOOT_INITRD },
	{ "arch/*/mm/*func:*alloc*p*", BOOT_TABLES },
	{ "arch/*/mm/*func:*pgtable*", BOOT_TABLES },
	{ "arch/x86/mm/*func:spp_getpage", BOOT_TABLES },
	{ "arch/*/mm/*func:*page_table*", BOOT_TABLES },
	{ "drivers/acpi/*", BOOT_FIRMWARE },
	{ "drivers/firmware/*", BOOT_FIRMWARE },
	{ "arch/*/platform/efi/*", BOOT_FIRMWARE },
	{ "arch/x86/realmode/*", BOOT_FIRMWARE },
	{ "arch/x86/kernel/setup.c:*", BOOT_FIRMWARE },
	{ "arch/x86/kernel/e820.c:*", BOOT_FIRMWARE },
	{ "arch/x86/kernel/mpparse.c:*", BOOT_FIRMWARE },
	{ "arch/x86/kernel/ebda.c:*", BOOT_FIRMWARE },
	{ "drivers/of/of_reserved_mem.c:*", BOOT_RESERVED },
	{ "drivers/of/fdt.c:*", BOOT_FIRMWARE },
	{ "*func:setup_machine_fdt", BOOT_FIRMWARE },
	{ "mm/memblock.c:* func:reserve_mem", BOOT_RESERVED },
};

enum boot_part boot_part_of(const char *line)
{
	for (size_t i = 0; i < sizeof(boot_rules) / sizeof(*boot_rules); i++)
		if (glob_match(boot_rules[i].line, line))
			return boot_rules[i].part;
	return BOOT_REST;
}

/* Where call sites allocate pages of one kind; rules from 6.10 to 7.x. The first counts. */
static const struct {
	const char *file, *func;	/* globs, NULL: any */
	enum memory_kind_id kind;
} rules[] = {
	{ "mm/filemap.c", NULL, MEMORY_FILE_CACHE },
	{ "mm/readahead.c", NULL, MEMORY_FILE_CACHE },
	{ "mm/shmem.c", "shmem_alloc_folio", MEMORY_SHMEM },
	{ "mm/shmem.c", "shmem_alloc_and_add_folio", MEMORY_SHMEM },
	{ "mm/memory.c", "__p?d_alloc*", MEMORY_PAGE_TABLES },
	{ "mm/memory.c", "__pte_alloc*", MEMORY_PAGE_TABLES },
	{ "mm/memory.c", NULL, MEMORY_PROCESSES },
	{ "mm/huge_memory.c", NULL, MEMORY_PROCESSES },
	{ "mm/khugepaged.c", NULL, MEMORY_PROCESSES },
	{ "mm/mempolicy.c", NULL, MEMORY_PROCESSES },
	{ "mm/swap_state.c", NULL, MEMORY_PROCESSES },
	{ "mm/hugetlb*.c", NULL, MEMORY_HUGETLB },
	{ "arch/*/mm/pgtable.c", NULL, MEMORY_PAGE_TABLES },
	{ "include/asm-generic/pgalloc.h", NULL, MEMORY_PAGE_TABLES },
	{ "*arch/*/include/asm/pgalloc.h", NULL, MEMORY_PAGE_TABLES },
	{ "kernel/fork.c", "alloc_thread_stack_node", MEMORY_STACKS },
	{ "mm/execmem.c", NULL, MEMORY_VMALLOC },
	{ "mm/zsmalloc.c", "alloc_z*", MEMORY_ZSMALLOC },
	{ "net/core/page_pool.c", "__page_pool_alloc_page*", MEMORY_NETWORK },
	{ "net/core/sock.c", "skb_page_frag_refill", MEMORY_NETWORK },
	{ "mm/page_frag_cache.c", "__page_frag_cache_refill", MEMORY_NETWORK },
	{ "mm/page_alloc.c", "__page_frag_cache_refill", MEMORY_NETWORK },
	{ "drivers/gpu/drm/ttm/ttm_pool.c", NULL, MEMORY_GPU },
	{ "fs/dcache.c", "__d_alloc", MEMORY_SLAB_RECLAIMABLE },
	{ "fs/buffer.c", "alloc_buffer_head", MEMORY_SLAB_RECLAIMABLE },
	{ "lib/radix-tree.c", NULL, MEMORY_SLAB_RECLAIMABLE },
	{ "lib/xarray.c", NULL, MEMORY_SLAB_RECLAIMABLE },
	{ NULL, "*alloc_inode", MEMORY_SLAB_RECLAIMABLE },
};

static bool rule_for(const struct site *site, enum memory_kind_id *kind)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if ((!rules[i].file || glob_match(rules[i].file, site->file)) &&
		    (!rules[i].func || glob_match(rules[i].func, site->func))) {
			*kind = rules[i].kind;
			return true;
		}
	}
	return false;
}

/* Whether a cache has objects of @size, and at least as many. */
static bool fits_cache(const struct slabinfo *slabs, int64_t size, int64_t calls)
{
	for (size_t i = 0; i < slabs->count; i++)
		if (slabs->cache[i].object_size == size && slabs->cache[i].active >= calls)
			return true;
	return false;
}

static bool has_area(const struct holders *areas, const char *func)
{
	for (size_t i = 0; i < areas->count; i++)
		if (!strcmp(areas->holder[i].name, func))
			return true;
	return false;
}

enum memory_kind_id explain_site(const struct site *site, const struct machine *machine,
				 bool *ambiguous)
{
	int64_t page = machine_page_size(machine), average;
	enum memory_kind_id kind;

	if (ambiguous)
		*ambiguous = false;
	if (site_contains(site) != NO_CONTAINER)
		return MEMORY_CONTAINER;
	if (site_reserved(site))
		return MEMORY_PAGES;
	if (rule_for(site, &kind))
		return kind;
	average = site->calls > 0 ? site->bytes / site->calls : 0;
	if (site->bytes % page || average < page)
		return has_area(&machine->vmalloc, site->func) && average >= page / 2 ?
		       MEMORY_VMALLOC : MEMORY_SLAB;
	if (has_area(&machine->vmalloc, site->func))
		return MEMORY_VMALLOC;
	if (machine->slabinfo.count && !fits_cache(&machine->slabinfo, average, site->calls))
		return MEMORY_PAGES;
	if (ambiguous)
		*ambiguous = true;
	return machine->slabinfo.count && average <= 2 * page ? MEMORY_SLAB : MEMORY_PAGES;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t not_below_0(int64_t value)
{
	return value > 0 ? value : 0;
}

static int64_t sum_of(const char *const *term, const struct machine *machine, int64_t page)
{
	int64_t sum = 0, value;

	for (size_t i = 0; i < MEMORY_TERMS && term[i]; i++) {
		const char *name = term[i];
		bool minus = *name == '-';

		name += minus;
		if (!strncmp(name, "vmstat.", 7))
			value = mul64(fields_number(&machine->vmstat, name + 7), page);
		else
			value = fields_number(&machine->meminfo, name);
		sum = minus ? sub64(sum, value) : add64(sum, value);
	}
	return not_below_0(sum);
}

/* Memory that is known from the call sites of a kind alone. */
struct site_sums {
	int64_t all, slab_pages, percpu_pages, network, zsmalloc;
};

static struct site_sums sum_sites(const struct allocinfo *info)
{
	struct site_sums sums = { 0 };

	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];
		enum memory_kind_id kind;
		int64_t *sum = NULL;

		sums.all = add64(sums.all, site->bytes);
		switch (site_contains(site)) {
		case SLAB_PAGES:
			sum = &sums.slab_pages;
			break;
		case PERCPU_CHUNKS:
			sum = &sums.percpu_pages;
			break;
		case NO_CONTAINER:
			if (!rule_for(site, &kind))
				break;
			if (kind == MEMORY_NETWORK)
				sum = &sums.network;
			else if (kind == MEMORY_ZSMALLOC)
				sum = &sums.zsmalloc;
			break;
		}
		if (sum)
			*sum = add64(*sum, not_below_0(site->bytes));
	}
	return sums;
}

/* The parts add up to the memory that was kept, and to no more. */
static void fit_boot(struct explanation *e)
{
	int64_t *part = e->boot_part, left = e->boot;

	for (unsigned int i = 0; i < BOOT_REST; i++) {
		part[i] = least(not_below_0(part[i]), left);
		left -= part[i];
	}
	part[BOOT_REST] = left;
}

static void explain_boot(struct explanation *e, const struct machine *machine, int64_t page)
{
	const struct fields *iomem = &machine->iomem, *stats = &machine->stats;
	const struct holders *lines = &machine->boot;
	int64_t *part = e->boot_part;

	e->boot_lines = lines->count > 0;
	for (size_t i = 0; i < lines->count; i++) {
		enum boot_part of = boot_part_of(lines->holder[i].name);

		part[of] = add64(part[of], lines->holder[i].bytes);
	}
	if (e->boot_lines) {
		fit_boot(e);
		return;
	}
	part[BOOT_PAGES] = mul64(fields_number(&machine->vmstat, "nr_memmap_boot_pages"), page);
	for (size_t i = 0; i < iomem->count; i++) {
		if (!strncmp(iomem->field[i].name, "Kernel ", 7))
			part[BOOT_KERNEL] = add64(part[BOOT_KERNEL], iomem->field[i].number);
		else if (!strncmp(iomem->field[i].name, "Crash kernel", 12))
			part[BOOT_CRASH] = add64(part[BOOT_CRASH], iomem->field[i].number);
	}
	if (!e->at_most[MEMORY_PERCPU])
		part[BOOT_PERCPU] = not_below_0(sub64(fields_number(&machine->meminfo, "Percpu"),
						      e->kind[MEMORY_PERCPU]));
	part[BOOT_PROFILER] = fields_number(stats, "mem_page_refs");
	fit_boot(e);
}

bool explain_is_stack(const char *caller)
{
	static const char *const callers[] = {
		"kernel_clone", "copy_process", "dup_task_struct", "alloc_thread_stack_node*",
		"fork_idle", "kernel_thread", "user_mode_thread", "create_io_thread",
	};

	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		if (glob_match(callers[i], caller))
			return true;
	return false;
}

/*
 * If the kernel can have stacks in vmalloc areas it always does, and then both counters have
 * them. /proc/vmallocinfo knows whether it does.
 */
static void split_stacks(struct explanation *e, const struct machine *machine)
{
	int64_t stacks = e->kind[MEMORY_STACKS];
	bool areas = !machine->vmalloc.count;

	for (size_t i = 0; i < machine->vmalloc.count; i++)
		areas |= explain_is_stack(machine->vmalloc.holder[i].name);
	if (areas && e->kind[MEMORY_VMALLOC] >= stacks)
		e->kind[MEMORY_VMALLOC] -= stacks;
}

/* Pages in the swap cache that no process has mapped: on the LRU lists, in no other sum. */
static int64_t swap_cache(const struct machine *machine)
{
	static const char *const lru[MEMORY_TERMS] = { "Active", "Inactive", "Unevictable" };
	static const char *const others[MEMORY_TERMS] = { "AnonPages", "Cached", "Buffers" };

	return least(not_below_0(sub64(sum_of(lru, machine, 0), sum_of(others, machine, 0))),
		     fields_number(&machine->meminfo, "SwapCached"));
}

/*
 * The sum of the counters, which is at most the used memory. Counters that were read one after
 * the other may contain a page twice: it is subtracted from the largest.
 */
static int64_t fit(struct explanation *e)
{
	int64_t *kind = e->kind, sum, cut;

	for (;;) {
		unsigned int most = 0;

		sum = 0;
		for (unsigned int i = 0; i < MEMORY_PAGES; i++) {
			sum = add64(sum, kind[i]);
			if (kind[i] > kind[most])
				most = i;
		}
		if (sum <= e->used)
			return sum;
		cut = least(kind[most], sum - e->used);
		kind[most] -= cut;
		e->overlap = add64(e->overlap, cut);
	}
}

static void explain_kinds(struct explanation *e, const struct allocinfo *info,
			  const struct machine *machine, int64_t page)
{
	struct site_sums sites = sum_sites(info);
	int64_t sum, objects, rest, *kind = e->kind;

	for (unsigned int i = 0; i < MEMORY_PAGES; i++)
		kind[i] = sum_of(kinds[i].sum, machine, page);
	kind[MEMORY_PROCESSES] = add64(kind[MEMORY_PROCESSES], swap_cache(machine));
	split_stacks(e, machine);

	/* Percpu contains the first chunk, too, which was kept at boot. */
	e->sites = sites.all;
	e->has_sites = sites.all > 0;
	e->at_most[MEMORY_PERCPU] = !e->has_sites;
	if (e->has_sites)
		kind[MEMORY_PERCPU] = sites.percpu_pages;
	kind[MEMORY_NETWORK] = sites.network;
	if (!fields_find(&machine->vmstat, "nr_zspages"))
		kind[MEMORY_ZSMALLOC] = sites.zsmalloc;

	sum = fit(e);

	e->exact = e->has_sites && machine->charged.known;
	if (e->exact) {
		e->charged = machine->charged.pages;
	} else if (e->has_sites) {
		/* Free objects in the slabs of CPUs count as allocated there. */
		objects = machine->slabinfo.count ? slabinfo_object_bytes(&machine->slabinfo) :
						    sites.slab_pages;
		objects = add64(least(objects, sites.slab_pages),
				fields_number(&machine->meminfo, "Percpu"));
		e->charged = not_below_0(sub64(sites.all, objects));
	}
	rest = e->used - sum;
	kind[MEMORY_PAGES] = least(not_below_0(sub64(e->charged, sum)), rest);
	kind[MEMORY_UNACCOUNTED] = rest - kind[MEMORY_PAGES];
	e->at_most[MEMORY_UNACCOUNTED] = !e->exact;

	for (unsigned int i = 0; i < MEMORY_KINDS; i++)
		e->droppable[i] = least(sum_of(kinds[i].drop, machine, page), kind[i]);
}

bool explain(struct explanation *e, const struct allocinfo *info, const struct machine *machine)
{
	const struct fields *meminfo = &machine->meminfo;
	int64_t page = machine_page_size(machine), present, managed;

	*e = (struct explanation){ 0 };
	if (!fields_find(meminfo, "MemTotal") || !fields_find(meminfo, "MemFree"))
		return false;
	e->total = not_below_0(fields_number(meminfo, "MemTotal"));
	/*
	 * Pages move between the free lists of zones and CPUs all the time, so take both numbers
	 * from one file. Take the total from there, too: in some guests MemTotal and MemFree
	 * have memory that the host has taken. A container may have a meminfo of its own and
	 * the zoneinfo of the whole machine, which is of no use then.
	 */
	managed = mul64(not_below_0(machine->pages.managed), page);
	e->cpu_lists_known = machine->pages.free > 0 && managed <= add64(e->total, e->total / 16);
	if (e->cpu_lists_known && managed && managed < e->total) {
		e->in_no_zone = e->total - managed;
		e->total = managed;
	}
	e->free = e->cpu_lists_known ? mul64(machine->pages.free, page) :
				       fields_number(meminfo, "MemFree");
	e->free = least(not_below_0(e->free), e->total);
	e->cpu_lists = e->cpu_lists_known ? least(mul64(machine->pages.percpu, page),
						  e->total - e->free) : 0;
	e->used = e->total - e->free - e->cpu_lists;

	present = sub64(mul64(machine->pages.present, page), e->in_no_zone);
	e->installed_known = present >= e->total &&
			     (e->cpu_lists_known || !machine->pages.free);
	e->installed = e->installed_known ? present : e->total;
	e->boot = e->installed - e->total;

	explain_kinds(e, info, machine, page);
	explain_boot(e, machine, page);
	return true;
}

int64_t explain_droppable(const struct explanation *e)
{
	int64_t sum = 0;

	for (unsigned int i = 0; i < MEMORY_KINDS; i++)
		sum = add64(sum, e->droppable[i]);
	return sum;
}

int64_t explain_pinned(const struct explanation *e)
{
	int64_t sum = 0;

	for (unsigned int i = 0; i < MEMORY_KINDS; i++)
		if (kinds[i].pinned)
			sum = add64(sum, e->kind[i] - e->droppable[i]);
	return sum;
}
