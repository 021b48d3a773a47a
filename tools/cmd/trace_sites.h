/* SPDX-License-Identifier: GPL-2.0-only */
/* The callers of a trace in place of call sites, for charts and exports. */
#ifndef CODETAG_TRACE_SITES_H
#define CODETAG_TRACE_SITES_H

#include <argp.h>
#include <stdbool.h>

#include "trace_choice.h"
#include "read/allocinfo.h"
#include "trace/kmem_rank.h"

struct trace_files {
	const char *trace;	/* a log, a trace.dat or what trace --save-db wrote */
	const char *build;	/* the build tree of its kernel, NULL: not known */
	struct trace_choice choice;
};

/* An argp child: its input is a struct trace_files. */
extern const struct argp trace_files_argp;

/*
 * Fills @info with the value @key of each caller; @with_static adds the static size of each
 * file of the kernel. Returns false after a message. *@complete becomes false, after a message,
 * too, if events are missing or not understood.
 */
bool trace_sites(struct allocinfo *info, const struct trace_files *files,
		 enum kmem_key key, bool with_static, bool *complete);

#endif
