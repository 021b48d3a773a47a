/* SPDX-License-Identifier: GPL-2.0 */
/* The series that leaks judges: groups of call sites over time, each kind of memory apart. */
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
	bool drop;	/* have the kernel drop caches in the end, and look again */
};

struct watched {
	struct series series[KINDS];	/* none of KIND_ALLOCATOR */
	struct series dropped[KINDS];	/* one moment, after caches were dropped */
	bool drop;			/* … which they were */
	bool named;			/* QUERY chooses nothing of the kernel: all that it
					 * chooses is judged and in KIND_KERNEL */
	double time[TREND_MAX];
	size_t count;			/* of moments */
	size_t chosen, off;		/* call sites, and how many of them were not profiled */
};

/* Both return false after a message. @watched has to be freed in any case. */
bool leaks_watch(struct watched *watched, const struct selection *selection,
		 const struct leaks_pace *pace);
bool leaks_load(struct watched *watched, const struct selection *selection);
void watched_free(struct watched *watched);

#endif
