/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records the kmem events of this machine in an ftrace instance of its own, so that others can
 * trace at the same time. The events stay in the kernel's buffer until the end: only then can
 * those of all CPUs be read in the order of time.
 */
#ifndef CODETAG_TRACE_RECORD_H
#define CODETAG_TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "trace/kmem.h"

struct trace_record;

/*
 * @bytes is the size of the buffer for all CPUs. On failure returns NULL and an errno, or
 * *@why.
 */
struct trace_record *trace_record_start(int64_t bytes, const char **why);

/* Stops, and adds the recorded events to @kmem. Returns NULL, or an error message. */
const char *trace_record_finish(struct trace_record *record, struct kmem *kmem);

#endif
