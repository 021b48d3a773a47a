/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/slabinfo of a kernel in an image. */
#ifndef CODETAG_IMAGE_SLABS_H
#define CODETAG_IMAGE_SLABS_H

#include "base/text.h"
#include "memory_image/recount.h"

/*
 * Counts objects in use by their ids. The kernel counts all objects in the slabs that its
 * processors allocate from as used. Caches without slabs are left out.
 */
void image_slabinfo(struct recount *recount, struct text *text);

#endif
