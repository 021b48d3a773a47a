/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a machine from other sources than call sites. */
#ifndef CODETAG_MACHINE_H
#define CODETAG_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/strmap.h"
#include "read/fields.h"
#include "read/slabinfo.h"

/* Bytes by name, for example of processes; the bytes of equal names are added up. */
struct holders {
	struct holder {
		const char *name;
		int64_t bytes;
		int64_t count;	/* number of entries with this name */
	} *holder;
	size_t count, room;
	struct strmap names;	/* the names of holder[0], holder[1] …, in this order */
};

enum profiling { PROFILING_UNKNOWN, PROFILING_NONE, PROFILING_OFF, PROFILING_ON };

struct machine {
	int64_t page_size;		/* 0: not known */
	struct fields meminfo, vmstat;
	struct fields stats;		/* of codetag itself */
	struct fields iomem;		/* "Kernel code" and the like, in bytes */
	struct slabinfo slabinfo;	/* empty: not known, like the others */
	struct zone_pages {
		int64_t free;		/* pages in the free lists of zones … */
		int64_t percpu;		/* … and of CPUs */
		int64_t present;	/* pages there are; 0: not known */
		int64_t managed;
		size_t copies;		/* number of copies in the text: this is the last */
		struct bad_lines bad;
	} pages;
	/* Pages charged to call sites, by kind, as the kernel has counted them. */
	struct charged {
		bool known;
		int64_t pages;		/* slab pages and percpu chunks included … */
		int64_t vmalloc;	/* … and vmalloc areas */
		int64_t slab, percpu;	/* objects in these */
	} charged;
	struct holders vmalloc;		/* areas with pages, by caller */
	struct holders boot;		/* kept at boot, by the line that took it */
	struct holders processes;	/* anonymous memory, by command */
	int64_t moved;			/* change of MemFree while all this was read; 0: not known */
	struct cgroup {
		char *name;
		int64_t bytes;		/* its whole charge */
		struct fields stat;	/* its memory.stat */
	} *cgroup;
	size_t cgroups, cgroups_room;
	enum profiling profiling;
};

/* Sums up the text of /proc/zoneinfo. */
void zoneinfo_parse(struct zone_pages *pages, char *text, size_t len);

/* Its values in a recording; and the reverse, as lines of "name: value". */
void zoneinfo_from_fields(struct zone_pages *pages, const struct fields *fields);

/* Parses the text of /sys/kernel/debug/codetag/charged. */
void charged_parse(struct charged *charged, char *text, size_t len);

#define BOOT_PATH "/sys/kernel/debug/codetag/boot"

/* Parses the text of the file boot; adds nothing if a line of it is not whole. */
void boot_parse(struct holders *boot, char *text, size_t len);

/* Parses the text of /proc/vmallocinfo. */
void vmallocinfo_parse(struct holders *areas, int64_t page_size, char *text, size_t len);

/* Sums up the text of /proc/iomem, which has zeros for users other than root. */
void iomem_parse(struct fields *iomem, char *text, size_t len);

/*
 * The page size of the machine. If it is not known: the power of two with which most counters in
 * pages come closest to the same counters in bytes.
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
