/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits, the cost and the losses of the profiler of a kernel in an image. */
#ifndef CODETAG_IMAGE_STATS_H
#define CODETAG_IMAGE_STATS_H

#include "memory_image/recount.h"

/*
 * The text of the file stats, except for percpu_refs_failed. Returns false if the layout table
 * is from an older kernel and does not say where all of this is.
 */
bool image_stats(const struct image_sites *sites, struct recount *recount, struct text *text);

#endif
