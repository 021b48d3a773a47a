/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws the table of live.h on the terminal. */
#ifndef CODETAG_LIVE_VIEW_H
#define CODETAG_LIVE_VIEW_H

#include "live.h"
#include "read/profiling.h"

/* Lines above the table: summary, change, message, headings. */
#define LIVE_HEAD 4

struct instant {
	struct allocinfo info;
	int64_t time;
	bool valid;
	bool first;	/* changes since the start count from here */
};

struct live {
	struct snapshots *from;
	struct selection *selection;
	bool human;
	double delay;
	bool frozen, help;
	bool tree;		/* the groups are directories and files, indented */
	struct profiled profiling;	/* sums of the shown groups */
	struct instant now, before;
	/* Only valid while it is neither @now nor @before. */
	struct instant start;
	struct site *shown_now, *shown_before;	/* to group; no memory is in there twice */
	bool since_start;	/* changes are shown since the start, not since the last refresh */
	struct groups groups;
	size_t joined;		/* call sites whose rows are one, see match_same_rows() */
	size_t first, cursor;	/* of the rows */
	int sideways;		/* of the names */
	size_t help_first;
	const char *prompt;	/* the text as typed; NULL: no question is open */
	bool asks;		/* the message is a question */
	char message[160];
	bool unread;		/* the message says why nothing could be read */
	struct site *site;	/* whose contexts are shown, with its own names; NULL: none */
	struct text contexts;	/* … as lines */
	size_t context_first;
};

/* What @live->now is compared with; not valid if there is only one snapshot. */
const struct instant *live_base(const struct live *live);

/* How many rows lack their allocations and frees, 0 if these are not shown. */
size_t live_missing(const struct live *live);

/* Scrolls so that the cursor is visible, and moves the cursor to an existing row. */
void live_draw(struct live *live);

#endif
