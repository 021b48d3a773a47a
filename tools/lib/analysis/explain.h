/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the memory of a machine is, each byte once:
 *
 *	installed = kept at boot + MemTotal
 *	MemTotal  = used + free + on the free lists of CPUs
 *	used      = the sum of all kinds, of which the last is what nobody accounts for
 *
 * Kinds are sums that the kernel keeps; one table in explain.c lists them. Two of them are
 * what is left over: pages that call sites hold and no counter of the kernel has, and what
 * neither has. For the first it takes the sum of all pages that are charged. The file
 * "charged" of codetag has it. Where that is missing, objects in slabs cannot be told from
 * pages exactly, and what nobody accounts for is an upper limit.
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
	MEMORY_CONTAINER = MEMORY_KINDS,	/* of a call site: what is in it is counted */
};

#define MEMORY_TERMS 4

struct memory_kind {
	const char *name;	/* for programs */
	const char *words;	/* for people */
	const char *source;	/* who knows it */
	/* Fields of meminfo to add; "-Shmem" is subtracted, "vmstat.nr_x" is in pages. */
	const char *sum[MEMORY_TERMS];
	const char *drop[MEMORY_TERMS];	/* what of it the kernel can drop, at most */
	const char *cgroup[2];	/* its fields in memory.stat, added up */
	bool pinned;		/* in no process, and nobody can have it back */
};

const struct memory_kind *memory_kind(enum memory_kind_id id);

enum boot_part {
	BOOT_PAGES, BOOT_KERNEL, BOOT_CRASH, BOOT_PERCPU, BOOT_PROFILER, BOOT_HASH, BOOT_INITRD,
	BOOT_BOUNCE, BOOT_TABLES, BOOT_FIRMWARE, BOOT_RESERVED, BOOT_REST, BOOT_PARTS
};

const char *boot_part_words(enum boot_part part);

/* What the line of that name, as the file "boot" has it, took its memory for. */
enum boot_part boot_part_of(const char *line);

struct explanation {
	bool installed_known;	/* else it is MemTotal, and nothing was kept at boot */
	int64_t installed, boot, total, used, free, cpu_lists;
	bool cpu_lists_known;	/* else they are in what is used */
	int64_t boot_part[BOOT_PARTS];	/* they add up to @boot */
	bool boot_lines;	/* … and are from the lines that the kernel lists */

	int64_t kind[MEMORY_KINDS];	/* they add up to @used, none is below 0 */
	int64_t droppable[MEMORY_KINDS];	/* of it */
	bool at_most[MEMORY_KINDS];	/* an upper limit */
	int64_t overlap;	/* counters that were read at different times had so much too much */

	bool has_sites;		/* a profiler counts */
	int64_t sites;		/* charged to all call sites: objects and what they are in */
	int64_t charged;	/* … to pages */
	bool exact;		/* … which the kernel has counted; else at least so much */
};

/* @info may be empty. False if there is no usable meminfo. */
bool explain(struct explanation *e, const struct allocinfo *info, const struct machine *machine);

/* Of what can be dropped, and of what is in no process and cannot be. */
int64_t explain_droppable(const struct explanation *e);
int64_t explain_pinned(const struct explanation *e);

/* Is a vmalloc area of this caller the stack of a task? */
bool explain_is_stack(const char *caller);

/*
 * The kind that the memory of @site is of, as far as its name and its sizes tell;
 * @ambiguous (may be NULL) if pages and objects of a cache look the same.
 */
enum memory_kind_id explain_site(const struct site *site, const struct machine *machine,
				 bool *ambiguous);

#endif
