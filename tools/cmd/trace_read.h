/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading a trace from the source that the user chooses, with messages and progress. */
#ifndef CODETAG_TRACE_READ_H
#define CODETAG_TRACE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/kmem.h"
#include "trace/kmem_resolve.h"

struct trace_source {
	const char *path;	/* a log, as text or as trace.dat */
	double seconds;		/* trace this machine for so long instead; 0: read the log */
	int64_t buffer;		/* size of the buffer for that */
	unsigned int frames;	/* of a stack that make a caller; 0: call sites are callers */
};

/* Returns false after a message. */
bool trace_read(struct kmem *kmem, const struct trace_source *source);

/* Reads a file of --save-db, which must have what @waste needs if that is set; false after a message. */
bool trace_load(struct kmem *kmem, const char *path, bool waste);

/* Calls kmem_resolve(); false after a message. */
bool trace_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		   struct kmem_resolved *resolved);

/* Prints that @build cannot be read, because of errno; returns false. */
bool trace_no_kernel(const char *build);

void trace_say_cut(const char *path);

#endif
