/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a machine by use, each byte once:
 *
 *	installed = kept at boot + total
 *	total     = used + free + on the free lists of CPUs
 *	used      = the sum of all kinds, of which the last is unaccounted
 *
 * The total is the sum of the managed pages of all zones, which nearly always is MemTotal. Memory
 * that a host has taken from the zones is not installed.
 *
 * Kinds are sums that the kernel keeps; one table in explain.c lists them. Two kinds are
 * remainders: pages that call sites hold and no counter of the kernel has, and pages in
 * neither. The first needs the sum of all charged pages, which codetag has in the file
 * "charged". Without that file, objects in slabs cannot be told from pages exactly, and the
 * unaccounted memory is an upper limit.
 */
#ifndef CODETAG_EXPLAIN_H
#define CODETAG_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "read/allocinfo.h"
#include "read/machine.h"

enum memory_kind_id {
	MEMORY_PROCESSES, MEMORY_FILE_CACHE, MEMORY_SHMEM, MEMORY_SLAB_RECLAIMABLE,
	MEMORY_SLAB, MEMORY_HUGETLB, MEMORY_PAGE_TABLES, MEMORY_STACKS, MEMORY_VMALLOC,
	MEMORY_PERCPU, MEMORY_ZSMALLOC, MEMORY_NETWORK, MEMORY_GPU, MEMORY_RECLAIMABLE,
	MEMORY_BALLOON, MEMORY_POISONED, MEMORY_PAGES, MEMORY_UNACCOUNTED, MEMORY_KINDS,
	MEMORY_CONTAINER = MEMORY_KINDS,	/* of a call site: its content is counted instead */
};

#define MEMORY_TERMS 4

struct memory_kind {
	const char *name;	/* for programs */
	const char *words;	/* for people */
	const char *source;	/* where the number comes from */
	/* Fields of meminfo to add; "-Shmem" is subtracted, "vmstat.nr_x" is in pages. */
	const char *sum[MEMORY_TERMS];
	const char *drop[MEMORY_TERMS];	/* the part that the kernel can drop, at most */
	const char *cgroup[2];	/* its fields in memory.stat, to be added up */
	bool pinned;		/* in no process, and cannot be freed */
};

const struct memory_kind *memory_kind(enum memory_kind_id id);

enum boot_part {
	BOOT_PAGES, BOOT_KERNEL, BOOT_CRASH, BOOT_PERCPU, BOOT_PROFILER, BOOT_HASH, BOOT_INITRD,
	BOOT_BOUNCE, BOOT_TABLES, BOOT_FIRMWARE, BOOT_RESERVED, BOOT_REST, BOOT_PARTS
};

const char *boot_part_words(enum boot_part part);

/* The use of the memory that the line of this name, as in the file "boot", has taken. */
enum boot_part boot_part_of(const char *line);

struct explanation {
	bool installed_known;	/* else it equals the total, and nothing was kept at boot */
	int64_t installed, boot, total, used, free, cpu_lists;
	bool cpu_lists_known;	/* else they are part of the used memory */
	int64_t in_no_zone;	/* MemTotal minus @total */
	int64_t boot_part[BOOT_PARTS];	/* they add up to @boot */
	bool boot_lines;	/* … and come from the kernel's list of lines */

	int64_t kind[MEMORY_KINDS];	/* they add up to @used, none is below 0 */
	int64_t droppable[MEMORY_KINDS];	/* of it */
	bool at_most[MEMORY_KINDS];	/* an upper limit */
	int64_t overlap;	/* bytes that counters of different times have twice */

	bool has_sites;		/* a profiler counts */
	int64_t sites;		/* charged to all sites: objects, and their pages */
	int64_t charged;	/* … to pages */
	bool exact;		/* … as the kernel has counted; else a lower limit */
};

/* @info may be empty. Returns false if there is no usable meminfo. */
bool explain(struct explanation *e, const struct allocinfo *info, const struct machine *machine);

/* The memory that can be dropped; the memory that is in no process and cannot be dropped. */
int64_t explain_droppable(const struct explanation *e);
int64_t explain_pinned(const struct explanation *e);

/* Is a vmalloc area of this caller the stack of a task? */
bool explain_is_stack(const char *caller);

/*
 * The kind of the memory of @site, as far as its name and sizes tell. @ambiguous (may be NULL)
 * is set if pages and objects of a cache look the same.
 */
enum memory_kind_id explain_site(const struct site *site, const struct machine *machine,
				 bool *ambiguous);

#endif
