// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/machine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory_image/kernel_objects.h"
#include "memory_image/slabs.h"

#define MAX_TASKS 4194304
#define MAX_HUGE_STATES 16
#define MAX_RESOURCES 65536

/* ---- zones ------------------------------------------------------------------------------- */

/* Pages of all zones */
struct zones {
	uint64_t free, cpu_lists, present, managed;
};

static void add_zone(struct zones *sum, struct image *image, uint64_t zone)
{
	const uint64_t *n = image->n;
	uint64_t lists = image_u64(image, zone + n[N_ZONE_CPU_LISTS]);

	sum->free += image_u64(image, zone + n[N_ZONE_STAT] + 8 * n[N_STAT_FREE]);
	sum->present += image_u64(image, zone + n[N_ZONE_PRESENT]);
	sum->managed += image_u64(image, zone + n[N_ZONE_MANAGED]);
	for (size_t cpu = 0; cpu < image->cpus; cpu++)
		sum->cpu_lists += image_u32(image, lists + image->cpu_offset[cpu] +
					    n[N_CPU_LISTS_COUNT]);
}

static struct zones sum_zones(struct image *image)
{
	const uint64_t *n = image->n;
	struct zones sum = { 0 };

	for (uint64_t i = 0; i < (n[N_NODE_DATA] ? image->layout.nr_nodes : 1); i++) {
		uint64_t node = n[N_NODE_DATA] ? image_u64(image, n[N_NODE_DATA] + 8 * i) : n[N_ONE_NODE];

		for (uint64_t k = 0; node && k < n[N_NR_ZONES]; k++) {
			uint64_t zone = node + n[N_NODE_ZONES] + k * n[N_ZONE_SIZE];

			if (image_u64(image, zone + n[N_ZONE_PRESENT]))
				add_zone(&sum, image, zone);
		}
	}
	return sum;
}

/* ---- counters ------------------------------------------------------------------------------ */

/* Pages. A counter can be below 0 while other CPUs have not added their part. */
static uint64_t node_stat(struct image *image, enum number item)
{
	int64_t value = (int64_t)image_u64(image, image->n[N_NODE_STAT] + 8 * image->n[item]);

	return value > 0 ? (uint64_t)value : 0;
}

static void put(struct text *out, const struct image *image, const char *name, uint64_t pages)
{
	text_printf(out, "%s: %" PRIu64 " kB\n", name, pages << (image->page_shift - 10));
}

static uint64_t huge_pages(struct image *image)
{
	const uint64_t *n = image->n;
	uint64_t pages = 0;
	uint32_t nr = n[N_NR_HUGE_STATES] ? image_u32(image, n[N_NR_HUGE_STATES]) : 0;

	for (uint32_t i = 0; i < nr && i < MAX_HUGE_STATES; i++) {
		uint64_t state = n[N_HUGE_STATES] + i * n[N_HUGE_STATE_SIZE];
		uint32_t order = image_u32(image, state + n[N_HUGE_STATE_ORDER]);

		if (order < 40)
			pages += image_u64(image, state + n[N_HUGE_STATE_PAGES]) << order;
	}
	return pages;
}

/* As in /proc/meminfo, except that Cached includes Buffers. */
static void write_meminfo(struct text *out, struct image *image, uint64_t percpu, uint64_t vmalloc)
{
	const uint64_t *n = image->n;
	uint64_t swap_cache = n[N_STAT_SWAP_CACHE] ? node_stat(image, N_STAT_SWAP_CACHE) : 0;
	uint64_t file = node_stat(image, N_STAT_FILE), slabs = node_stat(image, N_STAT_SLAB_RECLAIMABLE);

	put(out, image, "MemTotal", image_u64(image, n[N_TOTAL_PAGES]));
	put(out, image, "MemFree", sum_zones(image).free);
	put(out, image, "Buffers", 0);
	put(out, image, "Cached", file > swap_cache ? file - swap_cache : 0);
	put(out, image, "SwapCached", swap_cache);
	put(out, image, "SwapTotal", n[N_TOTAL_SWAP] ? image_u64(image, n[N_TOTAL_SWAP]) : 0);
	put(out, image, "Active", node_stat(image, N_STAT_ACTIVE_ANON) + node_stat(image, N_STAT_ACTIVE_FILE));
	put(out, image, "Inactive", node_stat(image, N_STAT_INACTIVE_ANON) +
			     node_stat(image, N_STAT_INACTIVE_FILE));
	put(out, image, "Active(anon)", node_stat(image, N_STAT_ACTIVE_ANON));
	put(out, image, "Inactive(anon)", node_stat(image, N_STAT_INACTIVE_ANON));
	put(out, image, "Active(file)", node_stat(image, N_STAT_ACTIVE_FILE));
	put(out, image, "Inactive(file)", node_stat(image, N_STAT_INACTIVE_FILE));
	put(out, image, "Unevictable", node_stat(image, N_STAT_UNEVICTABLE));
	put(out, image, "AnonPages", node_stat(image, N_STAT_ANON));
	put(out, image, "Shmem", node_stat(image, N_STAT_SHMEM));
	put(out, image, "KReclaimable", slabs + node_stat(image, N_STAT_RECLAIMABLE));
	put(out, image, "Slab", slabs + node_stat(image, N_STAT_SLAB));
	put(out, image, "SReclaimable", slabs);
	put(out, image, "SUnreclaim", node_stat(image, N_STAT_SLAB));
	text_printf(out, "KernelStack: %" PRIu64 " kB\n", node_stat(image, N_STAT_STACKS));
	put(out, image, "PageTables", node_stat(image, N_STAT_PAGE_TABLES));
	put(out, image, "SecPageTables", node_stat(image, N_STAT_SECOND_TABLES));
	put(out, image, "VmallocUsed", vmalloc);
	put(out, image, "Percpu", percpu);
	if (n[N_POISONED])
		put(out, image, "HardwareCorrupted", image_u64(image, n[N_POISONED]));
	if (n[N_HUGE_STATES])
		put(out, image, "Hugetlb", huge_pages(image));
}

static void write_vmstat(struct text *out, struct recount *recount)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;

	text_printf(out, "nr_memmap_boot_pages %" PRIu64 "\n", image_memory_map_pages(recount));
	if (n[N_ZONES_STAT])
		text_printf(out, "nr_zspages %" PRIu64 "\n",
			    image_u64(image, n[N_ZONES_STAT] + 8 * n[N_STAT_ZSPAGES]));
}

static void write_zoneinfo(struct text *out, struct image *image)
{
	struct zones sum = sum_zones(image);

	text_printf(out, "Node 0, zone all\n  pages free %" PRIu64 "\n  present %" PRIu64 "\n"
		    "  managed %" PRIu64 "\n  count: %" PRIu64 "\n", sum.free, sum.present, sum.managed,
		    sum.cpu_lists);
}

static void write_resources(struct text *out, struct image *image, uint64_t at, unsigned int depth,
			    size_t *count)
{
	const uint64_t *n = image->n;

	for (; at && ++*count < MAX_RESOURCES && !image_exhausted(image);
	     at = image_u64(image, at + n[N_RESOURCE_SIBLING])) {
		char name[64];

		text_printf(out, "%*s%08" PRIx64 "-%08" PRIx64 " : %s\n", 2 * (int)depth, "",
			    image_u64(image, at + n[N_RESOURCE_START]),
			    image_u64(image, at + n[N_RESOURCE_END]),
			    image_string(image, image_u64(image, at + n[N_RESOURCE_NAME]), name,
					 sizeof(name)));
		if (depth < 4)
			write_resources(out, image, image_u64(image, at + n[N_RESOURCE_CHILD]),
					depth + 1, count);
	}
}

/* ---- charged memory ------------------------------------------------------------------------- */

struct charge {
	uint64_t bytes, calls;
};

struct charges {
	struct charge of[HOLDER_PERCPU + 1];
	uint64_t percpu_pages;		/* populated pages of one CPU */
};

static void add_holding(void *data, const struct holding *h)
{
	struct charges *charges = data;

	charges->of[h->holder].bytes += h->bytes;
	charges->of[h->holder].calls++;
}

static void write_charge(struct text *out, const struct charge *charge, const char *kind)
{
	text_printf(out, "%12" PRIu64 " %8" PRIu64 " %s\n", charge->bytes, charge->calls, kind);
}

static void write_charged(struct text *out, const struct charges *charges, const struct charge *vmalloc)
{
	text_puts(out, "# charged - version: 1.0\n#     <size>  <calls> <kind> <cache>\n");
	write_charge(out, &charges->of[HOLDER_PAGES], "pages");
	write_charge(out, vmalloc, "vmalloc");
	write_charge(out, &charges->of[HOLDER_PERCPU], "percpu");
	write_charge(out, &charges->of[HOLDER_OBJECT], "slab");
}

/* As in /proc/vmallocinfo, for areas that have pages of their own. */
static struct charge write_areas(struct text *out, const struct kernel_objects *objects,
				 struct image_functions *functions)
{
	struct image *image = objects->image;
	const uint64_t *n = image->n;
	struct charge sum = { 0 };

	for (size_t i = 0; i < objects->areas; i++) {
		const struct vmalloc_area *area = &objects->area[i];
		uint64_t vm = kobjects_address(objects, area->node), pages, caller;

		pages = n[N_VM_PAGES_SIZE] == 8 ? image_u64(image, vm + n[N_VM_PAGES]) :
						  image_u32(image, vm + n[N_VM_PAGES]);
		if (!(image_u64(image, vm + n[N_VM_FLAGS]) & n[N_VM_ALLOCATED]) || !pages ||
		    pages > (area->end - area->start) >> image->page_shift)
			continue;
		sum.bytes += pages << image->page_shift;
		sum.calls++;
		caller = image_u64(image, vm + n[N_VM_CALLER]);
		text_printf(out, "%#" PRIx64 "-%#" PRIx64 " %8" PRIu64 " ", area->start, area->end,
			    area->end - area->start);
		image_function_text(functions, caller, out);
		text_printf(out, " pages=%" PRIu64 " vmalloc\n", pages);
	}
	return sum;
}

/* ---- processes ------------------------------------------------------------------------------- */

static uint64_t anonymous_pages(struct image *image, uint64_t mm)
{
	const uint64_t *n = image->n;
	uint64_t at = mm + n[N_MM_RSS] + n[N_RSS_ANON] * n[N_COUNTER_SIZE_OF];
	int64_t sum = (int64_t)image_u64(image, at + n[N_COUNTER_COUNT]);
	uint64_t cpus = n[N_COUNTER_OF_CPUS] ? image_u64(image, at + n[N_COUNTER_OF_CPUS]) : 0;

	for (size_t cpu = 0; cpus && cpu < image->cpus; cpu++)
		sum += (int32_t)image_u32(image, cpus + image->cpu_offset[cpu]);
	return sum > 0 && (uint64_t)sum < image->max_pa >> image->page_shift ? (uint64_t)sum : 0;
}

/* Each process has one leader; all its threads have the same memory. */
static void add_processes(struct holders *processes, struct image *image)
{
	const uint64_t *n = image->n;
	uint64_t task = n[N_INIT_TASK], next;

	for (size_t i = 0; i < MAX_TASKS && !image_exhausted(image); i++) {
		uint64_t mm = image_u64(image, task + n[N_TASK_MM]);
		uint64_t pages = mm ? anonymous_pages(image, mm) : 0;
		char comm[17] = "";

		image_string(image, task + n[N_TASK_COMM], comm, 16);
		if (pages)
			holders_add(processes, comm, strlen(comm), (int64_t)(pages << image->page_shift), 1);
		next = image_u64(image, task + n[N_TASK_TASKS]);
		task = next - n[N_TASK_TASKS];
		if (!next || task == n[N_INIT_TASK])
			break;
	}
	holders_sort(processes);
}

/* ---- all ------------------------------------------------------------------------------------- */

bool image_machine_read(struct image_machine *machine, const struct image_sites *sites,
			struct recount *recount, struct image_functions *functions)
{
	struct image *image = sites->image;
	const uint64_t *n = image->n;
	struct charges charges = { 0 };
	struct kernel_objects *objects;
	struct charge vmalloc;
	size_t resources = 0;
	uint64_t percpu;

	*machine = (struct image_machine){ .page_size = (int64_t)image->page_size };
	if (!n[N_TOTAL_PAGES])
		return false;
	recount->visit = add_holding;
	recount->data = &charges;
	recount_all(recount);
	percpu = recount_percpu_pages(recount) * image->cpus;
	image_slabinfo(recount, &machine->slabinfo);
	objects = kobjects_read(image, sites, recount);
	vmalloc = write_areas(&machine->vmallocinfo, objects, functions);
	kobjects_free(objects);
	write_meminfo(&machine->meminfo, image, percpu, vmalloc.bytes >> image->page_shift);
	write_vmstat(&machine->vmstat, recount);
	write_zoneinfo(&machine->zoneinfo, image);
	write_charged(&machine->charged, &charges, &vmalloc);
	write_resources(&machine->iomem, image,
			image_u64(image, n[N_RESOURCES] + n[N_RESOURCE_CHILD]), 0, &resources);
	add_processes(&machine->processes, image);
	image_string(image, n[N_UTS] + n[N_UTS_HOST], machine->host, sizeof(machine->host));
	image_string(image, n[N_UTS] + n[N_UTS_RELEASE], machine->release, sizeof(machine->release));
	return true;
}

void image_machine_free(struct image_machine *machine)
{
	text_free(&machine->meminfo);
	text_free(&machine->vmstat);
	text_free(&machine->zoneinfo);
	text_free(&machine->iomem);
	text_free(&machine->vmallocinfo);
	text_free(&machine->charged);
	text_free(&machine->slabinfo);
	holders_free(&machine->processes);
}
