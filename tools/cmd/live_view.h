/* SPDX-License-Identifier: GPL-2.0 */
/* What live.h has on the terminal. */
#ifndef CODETAG_LIVE_VIEW_H
#define CODETAG_LIVE_VIEW_H

#include "live.h"
#include "read/profiling.h"

/* Lines above the table: summary, change, message, headings. */
#define LIVE_HEAD 4

struct instant {
	struct allocinfo info;
	struct site *shown;	/* what is grouped of it: nothing is in there twice */
	int64_t time;
	bool valid;
};

struct live {
	struct snapshots *from;
	struct selection *selection;
	bool human;
	double delay;
	bool frozen, help;
	bool tree;		/* the groups are directories and files, indented */
	struct profiled profiling;	/* of what is shown */
	struct instant now, before;
	struct groups groups;
	size_t first, cursor;	/* of the rows */
	size_t help_first;
	const char *prompt;	/* what has been typed so far; NULL: nothing is asked */
	bool asks;		/* the message is a question */
	char message[160];
	bool unread;		/* the message is why there was nothing to be read */
	struct site *site;	/* whose contexts are shown, with names of its own; NULL: none */
	struct text contexts;	/* … a line each */
	size_t context_first;
};

/* Moves what is shown to where the cursor is, and the cursor to a row there is. */
void live_draw(struct live *live);

#endif
