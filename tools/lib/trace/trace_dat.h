/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that trace-cmd record writes. */
#ifndef CODETAG_TRACE_DAT_H
#define CODETAG_TRACE_DAT_H

#include <stdbool.h>

#include "trace/kmem_event.h"

/* Such a file begins with this. */
#define TRACE_DAT_MAGIC "\027\010Dtracing"

/*
 * Reads its events in the order of time. Returns false if it cannot be read to the end. Has to
 * run in a process of its own: on a damaged file libtracecmd may crash or loop, which ends the
 * process with STATUS_TROUBLE after a while; and it prints to standard error.
 */
bool trace_dat_read(const char *path, kmem_sink *sink, void *context);

#endif
