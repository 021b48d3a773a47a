/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Are new allocations counted at all? A call site that is not profiled keeps the numbers of
 * before, and so do all of them when profiling as a whole is off. Such rows get the note
 * "disabled:yes", which recordings and copies keep.
 */
#ifndef CODETAG_PROFILING_H
#define CODETAG_PROFILING_H

#include "read/allocinfo.h"
#include "read/query.h"

/* How a command ends that says so. */
#define PROFILING_STATUS \
	"Exit status: 0 success, 2 trouble, or call sites that are shown are not profiled."

#define PROFILING_PATH "/proc/sys/vm/mem_profiling"

/*
 * Marks the rows of this machine, if @path is its allocinfo. Which single sites are off only
 * root can see; where it cannot be seen nothing is marked.
 */
void profiling_mark(struct allocinfo *info, const char *path);

/* The same, with what these two files say (each may be NULL). */
void profiling_mark_by(struct allocinfo *info, const char *sysctl, const char *const *sites);

/* Of what @query (may be NULL) chooses, how many sites there are and how many are not profiled. */
struct profiled {
	size_t chosen, off;
	const struct site *first;	/* that is off */
};

void profiling_count(struct profiled *profiling, const struct allocinfo *info,
		     const struct query *query);

/* Whether all are; tells the user if not. To be asked after the output. */
bool profiling_complete(const struct allocinfo *info, const struct query *query);

/* The message of that; @recorded: they were off in some snapshots of a recording. */
void profiling_complain(const struct profiled *profiling, bool recorded);

#endif
