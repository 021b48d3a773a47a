/* SPDX-License-Identifier: GPL-2.0 */
/* What a machine says about its memory by other means than call sites. */
#ifndef CODETAG_MACHINE_H
#define CODETAG_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/strmap.h"
#include "read/fields.h"
#include "read/slabinfo.h"

/* Bytes by name, such as of processes; several of one name are summed. */
struct holders {
	struct holder {
		const char *name;
		int64_t bytes;
		int64_t count;	/* how many have this name */
	} *holder;
	size_t count, room;
	struct strmap names;	/* of holder[0], holder[1] … as they were added */
};

enum profiling { PROFILING_UNKNOWN, PROFILING_NONE, PROFILING_OFF, PROFILING_ON };

struct machine {
	struct fields meminfo, vmstat;
	struct fields stats;		/* of codetag itself */
	struct fields iomem;		/* "Kernel code" and the like, in bytes */
	struct slabinfo slabinfo;	/* empty: not known, as are the others */
	struct zone_pages {
		int64_t free;		/* pages in the free lists of zones … */
		int64_t percpu;		/* … and of CPUs */
		int64_t present;	/* pages there are; 0: not known */
		int64_t managed;
		size_t copies;		/* in the text: this is the last */
		struct bad_lines bad;
	} pages;
	/* Pages charged to call sites, by what they are: the kernel has counted. */
	struct charged {
		bool known;
		int64_t pages;		/* slab pages and percpu chunks are in it … */
		int64_t vmalloc;	/* … and vmalloc areas */
		int64_t slab, percpu;	/* objects inside of them */
	} charged;
	struct holders vmalloc;		/* areas with pages, by caller */
	struct holders boot;		/* kept at boot, by the line that took it */
	struct holders processes;	/* anonymous memory, by command */
	struct cgroup {
		char *name;
		int64_t bytes;		/* what it is charged for */
		struct fields stat;	/* its memory.stat */
	} *cgroup;
	size_t cgroups, cgroups_room;
	enum profiling profiling;
};

/* Sums up the text of /proc/zoneinfo. */
void zoneinfo_parse(struct zone_pages *pages, char *text, size_t len);

/* What it says in a recording; and the other way round, as lines of "name: value". */
void zoneinfo_from_fields(struct zone_pages *pages, const struct fields *fields);

/* The text of /sys/kernel/debug/codetag/charged. */
void charged_parse(struct charged *charged, char *text, size_t len);

#define BOOT_PATH "/sys/kernel/debug/codetag/boot"

/* The text of it; nothing if a line of it is not whole. */
void boot_parse(struct holders *boot, char *text, size_t len);

/* The text of /proc/vmallocinfo. */
void vmallocinfo_parse(struct holders *areas, int64_t page_size, char *text, size_t len);

/* Sums up the text of /proc/iomem, which tells nothing to those who are not root. */
void iomem_parse(struct fields *iomem, char *text, size_t len);

/*
 * The page size of the machine: the power of two that makes its free pages about as much
 * as its MemFree.
 */
int64_t machine_page_size(const struct machine *machine);

/* Not after holders_sort(). */
void holders_add(struct holders *holders, const char *name, size_t len, int64_t bytes,
		 int64_t count);

/* The largest first. */
void holders_sort(struct holders *holders);
int64_t holders_sum(const struct holders *holders);
void holders_free(struct holders *holders);

void machine_free(struct machine *machine);

#endif
