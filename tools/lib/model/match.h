/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers call sites so that one has the same number in snapshots of different
 * kernels, where its line has moved: a site is known by its file, module and
 * function, and by its place among the sites of that function.
 *
 * If two kernels have as many sites in a function, they are taken in order. Else
 * those that moved by the same number of lines belong together, and what is
 * between them is taken in order; what is left over is a site of its own. All of
 * this needs to know all sites of the function: where a snapshot seems to lack
 * those that hold nothing, only the same line is the same site.
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
	uint32_t line;		/* where it was seen first */
	uint32_t namesake;	/* so many others of the function were seen first there */
	int64_t known;		/* the line as if it were in the first snapshot */
	uint32_t moved;		/* another line, where it was seen last; 0: none */
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

/*
 * Gives the rows of @old the lines that their sites have in @new, and returns how
 * many moved.
 */
size_t match_moved(struct allocinfo *old, const struct allocinfo *new);

#endif
