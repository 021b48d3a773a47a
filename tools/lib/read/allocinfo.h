/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /proc/allocinfo, text of version 1.0 (Linux 6.10) to 2.x:
 *
 *	allocinfo - version: 2.0
 *	#     <size>  <calls> <tag info>
 *	       32768        8 fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode
 *
 * After the function any number of key:value notes may follow
 * (accurate:no, unloaded:yes, disabled:yes); notes that are not known here are kept.
 *
 * Also the text of /proc/vmallocinfo, whose callers then are the call sites, without lines.
 *
 * Also excerpts and changed copies: the last lines of a sort, sizes that numfmt has rounded, and
 * the list of the largest that the kernel prints when memory is short.
 */
#ifndef CODETAG_ALLOCINFO_H
#define CODETAG_ALLOCINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"
#include "base/memory.h"
#include "base/text.h"

enum site_flag {
	SITE_INACCURATE = 1 << 0,	/* some of its memory was not counted */
	SITE_UNLOADED = 1 << 1,		/* the module is gone, its memory lives */
	SITE_DISABLED = 1 << 2,		/* new allocations are not counted */
	SITE_BOUND = 1 << 3,		/* not in the list: the size is an upper bound, see part */
};

/* Allocations and frees, see read/activity.h. */
struct activity {
	int64_t allocs, frees;
	size_t restarts;	/* rows whose numbers began again from 0 meanwhile */
	bool known;		/* of any row of a sum … */
	bool partial;		/* … but not of all */
};

/* One row: a call site, or one copy of it if it is in an inlined function. */
struct site {
	const char *file;
	const char *module;	/* NULL: built in */
	const char *func;
	const char *notes;	/* "accurate:no …" as read, NULL: none */
	uint32_t line;
	unsigned int flags;
	int64_t bytes;
	int64_t calls;
	struct activity all;	/* since boot, modulo 2^32 */
	struct activity recent;	/* since an earlier reading */
	uint32_t row;		/* its number among the rows of its call site; 0: by its place in the list */
	/* Set by model/match.h: */
	uint32_t line_before;	/* line in an older kernel, 0: the same or not known */
	uint32_t namesake;	/* distinguishes sites that had this line in different kernels */
};

struct allocinfo {
	unsigned int major, minor;	/* 0.0: no header line */
	int64_t boot;		/* differs between boots of the machine; 0: not known */
	struct site *site;
	size_t count, room;

	struct bad_lines bad;
	size_t copies;		/* copies in the file, this is the last; 0: not counted */
	size_t uncounted;	/* rows that its activity lacks … */
	size_t uncounted_of;	/* … of this number */
	size_t repeated;	/* rows of a call site that is in an earlier row, too */

	bool areas;		/* it is a vmallocinfo … */
	size_t other_areas;	/* … with so many areas without pages of their own */

	bool from_log;		/* the kernel's list of the largest … */
	bool was_off;		/* … which said that profiling was off */
	bool all_off;		/* profiling as a whole was off when it was read */
	bool part;		/* maybe not all rows: it has no header */
	int64_t floor;		/* list of the largest: upper bound of sites it lacks, else -1 */
	size_t negative;	/* of a sum of hosts: rows that had a negative size */
	size_t rounded;		/* rows whose size was rounded … */
	int64_t rounding;	/* … by at most so many bytes in total */

	char *text;		/* the strings of the sites point into it … */
	struct arena strings;	/* … or into this */
};

#define ALLOCINFO_PATH "/proc/allocinfo"

/*
 * Takes over @text (@len bytes and a NUL), one copy, and fills @info, which afterwards has to
 * be freed in any case. Lines that make no sense are counted.
 */
void allocinfo_parse(struct allocinfo *info, char *text, size_t len);

/*
 * Reads and parses @path. Otherwise prints why not and returns false, with errno 0 if the file
 * could be read.
 */
bool allocinfo_read(struct allocinfo *info, const char *path);

/* Prints why it cannot be read, and leaves that in errno. */
void allocinfo_complain(const char *path, int error);

/*
 * allocinfo_read() with the content of @path, which it takes over. Of several copies it reads
 * the last one, and allocinfo_complete() says so.
 */
bool allocinfo_take(struct allocinfo *info, char *text, size_t len, const char *path);

/* The same for one copy of it, which begins after @lines lines. */
bool allocinfo_take_copy(struct allocinfo *info, const char *text, size_t len, size_t lines,
			 const char *path);

/*
 * Whether every line was understood; otherwise tells the user. Called after the output, which
 * shows everything that could be read.
 */
bool allocinfo_complete(const struct allocinfo *info, const char *path);

/* Whether the rows are sorted by size, as a list of the largest sites is. */
bool allocinfo_sorted(const struct allocinfo *info);

/* Sets part and floor, after the rows and the version. */
void allocinfo_find_part(struct allocinfo *info);

void allocinfo_free(struct allocinfo *info);

/*
 * Splits "file:line [module] func:name notes" of @len bytes in place; @site then points into
 * it. Returns the error in it, NULL if there is none.
 */
const char *site_parse(struct site *site, char *s, size_t len);

/* @file without the prefix that the compiler was given for headers. */
const char *site_path(const char *file);

/* The name of a module, NULL for built-in code, which is also called vmlinux. */
const char *site_module(const char *module);

/* The flags in @notes, and the notes for flags; NULL for none. */
unsigned int site_flags(const char *notes);
const char *site_notes(unsigned int flags);

/* Appends "fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode". */
void site_name(const struct site *site, struct text *text);

/* Whether they are one call site: same file, line, function and module. */
bool site_same(const struct site *a, const struct site *b);

/*
 * Whether it is a row of the profiler itself: memory that it cannot charge to a line of code.
 */
bool site_reserved(const struct site *site);

#endif
