/* SPDX-License-Identifier: GPL-2.0-only */
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
	const struct explanation *before;	/* NULL: no growth is shown */
	int64_t before_ms;			/* age of that snapshot, 0: not known */
	const struct explanation *last;		/* the refresh before; NULL: none, or no space */
	double seconds;				/* of the recent activity, 0: not known */
	const struct history *history;		/* NULL: rows that grew steadily get no mark */
	int width;				/* of the terminal, 0: no limit */
	size_t owners;				/* of a row, at most; 0: 1, or 3 with short names */
	bool human;
};

/* The width of a terminal on which two call sites fit into a row. */
#define WHERE_TWO_OWNERS 180

/* Two lines: the machine as a whole, and its used memory. */
void where_head(const struct where_view *view, struct text *lines);

/* The headings, and the row of a kind: no newline. */
void where_headings(const struct where_view *view, struct text *line);
void where_row(const struct where_view *view, enum memory_kind_id id, struct text *line);

/* The row of memory kept at boot, which belongs to no kind. */
void where_boot_row(const struct where_view *view, struct text *line);

/* The call site that allocates most often, a sentence in lines; none if that is not known. */
void where_busiest(const struct where_view *view, struct text *lines);

/* A number a second, as wide as 99 millions. */
#define RATE_TEXT 24
const char *where_rate(char out[RATE_TEXT], const struct activity *activity, int64_t count,
		       double seconds);

/* Says how many call sites lack their allocations and frees. */
void where_uncounted(const struct snapshot *host, struct text *lines);

/*
 * The kinds that hold memory, the largest first, the unaccounted rest last. Returns their
 * number.
 */
size_t where_order(const struct explanation *e, enum memory_kind_id order[MEMORY_KINDS]);

/* Appends @text in lines of at most @width columns, broken at spaces; 0: one line. */
void where_wrap(struct text *lines, const char *text, int width);

/* Cuts @line to @width columns and marks the cut with '>'. 0: no limit. */
void where_cut(struct text *line, int width);

#endif
