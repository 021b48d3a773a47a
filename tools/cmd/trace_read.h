/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a trace from where the user says, with messages and progress. */
#ifndef CODETAG_TRACE_READ_H
#define CODETAG_TRACE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/kmem.h"
#include "trace/kmem_resolve.h"

struct trace_source {
	const char *path;	/* a log, as text or as trace.dat */
	double seconds;		/* to trace this machine instead, 0: do not */
	int64_t buffer;		/* bytes for that */
	unsigned int frames;	/* of stacks that make a caller, 0: call sites are callers */
};

/* False after a message. */
bool trace_read(struct kmem *kmem, const struct trace_source *source);

/* What --save-db has kept; false after a message. */
bool trace_load(struct kmem *kmem, const char *path);

/* kmem_resolve(); false after a message. */
bool trace_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		   struct kmem_resolved *resolved);

/* Says that @build cannot be read, for errno; returns false. */
bool trace_no_kernel(const char *build);

void trace_say_cut(const char *path);

#endif
