/* SPDX-License-Identifier: GPL-2.0-only */
/* The table on the whole terminal that top and replay show. */
#ifndef CODETAG_LIVE_H
#define CODETAG_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "output.h"
#include "selection.h"
#include "base/text.h"
#include "read/allocinfo.h"

/* The source of the snapshots: this machine or a recording. */
struct snapshots {
	/*
	 * Reads the snapshot @step after the last one (before it, if negative), and its time in
	 * milliseconds since 1970. Returns false if there is none; *why is then a message, or
	 * NULL at the end of a recording.
	 */
	bool (*read)(struct snapshots *from, int step, struct allocinfo *info,
		     int64_t *time, const char **why);
	/*
	 * Switches whether @site is profiled; returns a message for the user. NULL: these
	 * snapshots are not of a running kernel.
	 */
	const char *(*toggle)(struct snapshots *from, const struct site *site);
	/*
	 * Adds lines about the contexts of @site, headings first. Returns NULL, or a message
	 * for the user if there are none. NULL: these snapshots have no contexts.
	 */
	const char *(*contexts)(struct snapshots *from, const struct site *site, bool human,
				struct text *lines);
	const char *title;
	bool recorded;	/* can step backwards */
};

/* Returns an exit status. @delay is in seconds. */
int live_run(struct snapshots *from, struct selection *selection,
	     const struct output *output, double delay);

#endif
