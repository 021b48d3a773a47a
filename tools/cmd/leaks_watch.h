/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series that leaks judges: groups of call sites over time, one set for each kind of
 * memory.
 */
#ifndef CODETAG_LEAKS_WATCH_H
#define CODETAG_LEAKS_WATCH_H

#include "selection.h"
#include "analysis/trend.h"
#include "model/kind.h"
#include "model/series.h"
#include "read/profiling.h"

/* How to watch this machine. */
struct leaks_pace {
	double interval;
	int64_t count;
	bool drop;	/* drop the kernel's caches at the end, and measure again */
};

struct watched {
	struct series series[KINDS];	/* one set for each kind; none of KIND_ALLOCATOR */
	struct series dropped[KINDS];	/* one column: after caches were dropped */
	bool drop;			/* … if they were */
	bool named;			/* QUERY chooses no memory of the kernel itself:
					 * all that it chooses is judged, as KIND_KERNEL */
	double time[TREND_MAX];
	size_t count;			/* of moments */
	bool matched;			/* the query selects something */
	size_t chosen, off;		/* call sites, and how many of them were not profiled */
};

/* Both return false after a message. @watched has to be freed in any case. */
bool leaks_watch(struct watched *watched, const struct selection *selection,
		 const struct leaks_pace *pace);
bool leaks_load(struct watched *watched, const struct selection *selection);
void watched_free(struct watched *watched);

#endif
