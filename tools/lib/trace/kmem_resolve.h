/* SPDX-License-Identifier: GPL-2.0 */
/* Which file of a kernel the callers of a trace are in. */
#ifndef CODETAG_KMEM_RESOLVE_H
#define CODETAG_KMEM_RESOLVE_H

#include <stddef.h>

#include "image/symbols.h"
#include "trace/kmem.h"

/*
 * Gives callers their file, and those that are addresses their name, which is put
 * into @strings. Returns how many are in no file, or in several.
 */
size_t kmem_resolve(struct kmem *kmem, struct symbols *symbols, struct arena *strings);

#endif
