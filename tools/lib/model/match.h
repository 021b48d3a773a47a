/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers call sites so that one has the same number in snapshots of different kernels, where
 * its line has moved. A site is known by its file, module and function, and by its place among
 * the sites of that function. If a function has the same number of sites in two kernels, they
 * are matched in order. Otherwise sites that moved by the same number of lines belong together.
 * The sites between them are matched in order. A site without a match is a new one. All of this
 * needs all sites of the function. If a snapshot seems to lack the sites that hold nothing,
 * only the same line is the same site.
 */
#ifndef CODETAG_MATCH_H
#define CODETAG_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/strmap.h"
#include "read/allocinfo.h"

struct matched_site {
	const char *file, *module, *func;	/* module NULL: built in */
	uint32_t line;		/* line of its first occurrence */
	uint32_t namesake;	/* sites of the function that occurred there before */
	int64_t known;		/* the line as if it were in the first snapshot */
	uint32_t moved;		/* the line where it occurred last, if it differs; 0: it does not */
};

struct matcher {
	struct matched_site *site;
	size_t count, room;
	struct strmap functions;	/* "file\nmodule\nfunc" */
	struct match_function *function;
	size_t function_room;
	struct arena strings;
};

/* Sets @number[row] for each row of @info: rows of one place have the same number. */
void match_rows(struct matcher *matcher, const struct allocinfo *info, uint32_t *number);
void matcher_free(struct matcher *matcher);

enum rows_from {
	ROWS_LIVE,	/* both lists come from the kernel, or from one file */
	ROWS_FILES,	/* a file can have been sorted, or lack rows */
	ROWS_RECORDED,	/* of one recording, which has numbered them */
};

/*
 * Numbers the rows of each call site so that a number stands for the same row in both lists. Only
 * the order of the kernel's list tells them apart. Both lists must have the same call sites of the
 * kernel, or of the module, in the same order. No row may be of an unloaded module.
 * Otherwise all rows of a call site become number 1. Returns how many call sites that are.
 */
size_t match_same_rows(struct allocinfo *old, struct allocinfo *new, enum rows_from from);

/* Gives the rows of @old the lines that their sites have in @new; those that moved get line_before. */
void match_moved(struct allocinfo *old, const struct allocinfo *new);

#endif
