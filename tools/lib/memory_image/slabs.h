/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc/slabinfo of a kernel in an image would say. */
#ifndef CODETAG_IMAGE_SLABS_H
#define CODETAG_IMAGE_SLABS_H

#include "base/text.h"
#include "memory_image/recount.h"

/*
 * Counts objects in use by their ids, where the kernel takes all objects of the slabs that its
 * processors allocate from for used. Caches without slabs are not in it.
 */
void image_slabinfo(struct recount *recount, struct text *text);

#endif
