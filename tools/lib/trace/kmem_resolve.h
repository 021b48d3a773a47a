/* SPDX-License-Identifier: GPL-2.0 */
/* Which file of a kernel the callers of a trace are in. */
#ifndef CODETAG_KMEM_RESOLVE_H
#define CODETAG_KMEM_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "trace/kmem.h"

struct kmem_resolved {
	size_t unreadable;	/* files called .o that are no objects */
	size_t without;		/* callers that are in no file, or in several */
};

/*
 * Gives callers their file, as the build tree @build tells, and those that are addresses
 * their name; both are put into @strings. False with errno if it cannot be read.
 */
bool kmem_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		  struct kmem_resolved *resolved);

#endif
