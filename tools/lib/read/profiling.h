/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Are new allocations counted at all? A call site that is not profiled keeps its old numbers,
 * and so do all call sites while profiling as a whole is off. Such rows get the note
 * "disabled:yes", which recordings and copies keep.
 */
#ifndef CODETAG_PROFILING_H
#define CODETAG_PROFILING_H

#include "read/allocinfo.h"
#include "read/query.h"

/* The part of --help about the exit status of such commands. */
#define PROFILING_STATUS \
	"Exit status: 0 success, 2 trouble, or call sites that are shown are not profiled."

#define PROFILING_PATH "/proc/sys/vm/mem_profiling"

/*
 * Marks the rows of this machine, if @path is its allocinfo. Only root can read which single
 * sites are off; otherwise nothing is marked.
 */
void profiling_mark(struct allocinfo *info, const char *path);

/* The same with the content of these two files (each may be NULL). */
void profiling_mark_by(struct allocinfo *info, const char *sysctl, const char *const *sites);

/*
 * Counts the sites that @query (may be NULL) selects, and those of them that are not profiled.
 */
struct profiled {
	size_t chosen, off;
	bool all_off;			/* because profiling as a whole is off */
	const struct site *first;	/* that is off */
};

void profiling_count(struct profiled *profiling, const struct allocinfo *info,
		     const struct query *query);

/* Whether all of them are profiled; otherwise tells the user. Called after the output. */
bool profiling_complete(const struct allocinfo *info, const struct query *query);

/*
 * The same for many hosts: the call sites of @off of them are not all profiled, @first is the name
 * of one of these. Prints nothing if @off is 0.
 */
bool profiling_complete_hosts(size_t off, size_t hosts, const char *first);

/* Prints that message; @recorded: they were off in some snapshots of a recording. */
void profiling_complain(const struct profiled *profiling, bool recorded);

#endif
