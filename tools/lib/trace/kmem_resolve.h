/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the source files of the callers of a trace. */
#ifndef CODETAG_KMEM_RESOLVE_H
#define CODETAG_KMEM_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "trace/kmem.h"

struct kmem_resolved {
	size_t unreadable;	/* files called .o that are no objects */
	size_t without;		/* callers in no known file, or possibly in several */
};

/*
 * Sets the file of each caller, from the build tree @build, and the name of callers that are
 * addresses; @strings gets both. Returns false with errno if the tree cannot be read.
 */
bool kmem_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		  struct kmem_resolved *resolved);

#endif
