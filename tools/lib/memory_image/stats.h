/* SPDX-License-Identifier: GPL-2.0 */
/* What the profiler of a kernel in an image used, cost and lost. */
#ifndef CODETAG_IMAGE_STATS_H
#define CODETAG_IMAGE_STATS_H

#include "memory_image/recount.h"

/*
 * The text that the file stats had, but for percpu_refs_failed. False if the layout table is of
 * an older kernel and does not say where all that is.
 */
bool image_stats(const struct image_sites *sites, struct recount *recount, struct text *text);

#endif
