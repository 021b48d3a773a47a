/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced call sites: switched on and off, or recorded for a time. */
#ifndef CODETAG_TRACE_LINES_H
#define CODETAG_TRACE_LINES_H

#include "debugfs.h"
#include "read/profiling.h"
#include "read/query.h"
#include "trace/kmem.h"

struct trace_lines {
	struct debugfs_dir dir;
	const struct query *query;	/* the call sites */
	double seconds;
	int64_t buffer;
};

/*
 * Records the events of the call sites for a time. Those that were not traced before are not
 * afterwards. Returns an exit status; if that is STATUS_OK, the accounts are in @kmem, and
 * @profiled tells of how many.
 */
int trace_lines_record(const struct trace_lines *lines, struct kmem *kmem, struct profiled *profiled);

/* Says that call sites are not profiled, so that the kernel does not trace them. */
void trace_lines_off(const struct profiled *profiled);

#endif
