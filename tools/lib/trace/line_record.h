/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records the events codetag:alloc and codetag:free of traced call sites in an ftrace instance
 * of its own. They stay in the kernel's buffer until the end, and are read as text then.
 */
#ifndef CODETAG_LINE_RECORD_H
#define CODETAG_LINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kmem.h"

struct line_record;

/*
 * @bytes is the size of the buffer for all CPUs. On failure returns NULL and an errno, or
 * *@why.
 */
struct line_record *line_record_start(int64_t bytes, const char **why);

/* The caller in the accounts for the call site with this id */
typedef const char *line_name(void *context, unsigned int id);

/* Stops, and adds the recorded events to @kmem. Returns NULL, or an error message. */
const char *line_record_finish(struct line_record *record, struct kmem *kmem, line_name *name,
			       void *context);

/* Is a line of a trace an event of a traced call site? */
bool line_record_is_event(const char *line);

/* Adds what a line of the text says: an event, or a number of lost ones. */
void line_record_add(struct kmem *kmem, const char *line, line_name *name, void *context);

#endif
