/* SPDX-License-Identifier: GPL-2.0 */
/* The table on the whole terminal that top and replay show. */
#ifndef CODETAG_LIVE_H
#define CODETAG_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"
#include "selection.h"
#include "base/text.h"
#include "read/allocinfo.h"

/* Where the snapshots come from: this machine or a recording. */
struct snapshots {
	/*
	 * Reads the snapshot @step after (before, if negative) the last one
	 * and its time in milliseconds since 1970. False if there is none;
	 * *why is then a text, or NULL at the end of a recording.
	 */
	bool (*read)(struct snapshots *from, int step, struct allocinfo *info,
		     int64_t *time, const char **why);
	/*
	 * Switches whether @site is profiled; returns what to tell the user.
	 * NULL: these snapshots are not of a kernel that is running.
	 */
	const char *(*toggle)(struct snapshots *from, const struct site *site);
	/*
	 * Adds lines about the contexts of @site, the first one of headings; returns what
	 * to tell the user instead, or NULL. NULL: there are no contexts with these snapshots.
	 */
	const char *(*contexts)(struct snapshots *from, const struct site *site, bool human,
				struct text *lines);
	const char *title;
	bool recorded;	/* steps backwards, too */
};

/* Returns an exit status. @delay is in seconds. */
int live_run(struct snapshots *from, struct selection *selection,
	     const struct output *output, double delay);

#endif
