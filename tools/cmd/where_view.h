/* SPDX-License-Identifier: GPL-2.0 */
/* The lines of codetag where, for a terminal of any width and for files. */
#ifndef CODETAG_WHERE_VIEW_H
#define CODETAG_WHERE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/explain.h"
#include "analysis/unusual.h"
#include "base/text.h"
#include "source/source.h"

struct where_view {
	const struct snapshot *host;
	const struct explanation *e;
	const struct explanation *before;	/* NULL: there is no growth to show */
	int64_t before_ms;			/* how long ago that was, 0: not known */
	const struct explanation *last;		/* the refresh before, NULL: none, or no room */
	int width;				/* of the terminal, 0: no limit */
	bool human;
};

/* Two lines about the machine as a whole, and what is used. */
void where_head(const struct where_view *view, struct text *lines);

/* The headings, and the row of a kind: no newline. */
void where_headings(const struct where_view *view, struct text *line);
void where_row(const struct where_view *view, enum memory_kind_id id, struct text *line);

/* The row of what was kept at boot, which is in no kind. */
void where_boot_row(const struct where_view *view, struct text *line);

/* The kinds that hold anything, the largest first; the rest comes last. Returns their number. */
size_t where_order(const struct explanation *e, enum memory_kind_id order[MEMORY_KINDS]);

/* Appends @text in lines of at most @width columns, broken at spaces; 0: one line. */
void where_wrap(struct text *lines, const char *text, int width);

/* Cuts @line to @width columns; '>' stands for what is cut. 0: no limit. */
void where_cut(struct text *line, int width);

#endif
