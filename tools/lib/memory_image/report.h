/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of the kernel in an image, as texts. */
#ifndef CODETAG_IMAGE_REPORT_H
#define CODETAG_IMAGE_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "memory_image/image.h"
#include "memory_image/machine.h"

/* Whether @path is a file with the memory of a machine. */
bool image_file(const char *path);

/*
 * Called after everything was read: warns about missing parts of the image and sets
 * *@incomplete. Returns false if the result is worthless without them.
 */
bool image_complete(const struct image *image, const char *path, bool *incomplete);

/*
 * /proc/allocinfo, /proc/slabinfo, the result of an audit, and the files contexts and stats.
 * They return false after a message. If parts of the image are missing, they print a message,
 * too, and set *@incomplete.
 */
bool image_report(const char *path, struct text *text, bool *incomplete);
bool image_slabs(const char *path, struct text *text, int64_t *page_size, bool *incomplete);
bool image_audit(const char *path, struct text *text, bool *incomplete);
bool image_contexts_text(const char *path, struct text *text, bool *incomplete);
bool image_stats_text(const char *path, struct text *text, bool *incomplete);

/*
 * All that an image tells about the machine, with its allocinfo; to be freed even if this
 * returns false.
 */
bool image_machine(const char *path, struct image_machine *machine, struct text *allocinfo,
		   struct text *stats, bool *incomplete);

#endif
