/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records the kmem events of this machine, in an ftrace instance of its own, so
 * that others who trace are not disturbed. They stay in the kernel's buffer until
 * the end: only then the events of all CPUs can be read in the order of time.
 */
#ifndef CODETAG_TRACE_RECORD_H
#define CODETAG_TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "trace/kmem.h"

struct trace_record;

/* @bytes of buffer for all CPUs. NULL and an errno, or *@why, on failure. */
struct trace_record *trace_record_start(int64_t bytes, const char **why);

/* Stops, and adds what was recorded to @kmem. NULL if all went well, else why not. */
const char *trace_record_finish(struct trace_record *record, struct kmem *kmem);

#endif
