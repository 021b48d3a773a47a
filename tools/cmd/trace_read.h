/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a trace from where the user says, with messages and progress. */
#ifndef CODETAG_TRACE_READ_H
#define CODETAG_TRACE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/kmem.h"

struct trace_source {
	const char *path;	/* a log, as text or as trace.dat */
	double seconds;		/* to trace this machine instead, 0: do not */
	int64_t buffer;		/* bytes for that */
	unsigned int frames;	/* of stacks that make a caller, 0: call sites are callers */
};

/* False after a message. */
bool trace_read(struct kmem *kmem, const struct trace_source *source);

void trace_say_cut(const char *path);

#endif
