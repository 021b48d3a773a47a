/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the kernel in an image would say, as text. */
#ifndef CODETAG_IMAGE_REPORT_H
#define CODETAG_IMAGE_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "memory_image/image.h"
#include "memory_image/machine.h"

/* Whether @path is a file with a machine's memory. */
bool image_file(const char *path);

/*
 * Tells, after all was read, what the image did not have: then *@incomplete is set. False if
 * that makes the result worthless.
 */
bool image_complete(const struct image *image, const char *path, bool *incomplete);

/*
 * /proc/allocinfo, /proc/slabinfo, the result of an audit, and the files contexts and stats.
 * False after a message. Where parts of the image are missing there is a message, too, and
 * *@incomplete is set.
 */
bool image_report(const char *path, struct text *text, bool *incomplete);
bool image_slabs(const char *path, struct text *text, bool *incomplete);
bool image_audit(const char *path, struct text *text, bool *incomplete);
bool image_contexts_text(const char *path, struct text *text, bool *incomplete);
bool image_stats_text(const char *path, struct text *text, bool *incomplete);

/* All that the machine says, with its allocinfo; to be freed also if this is false. */
bool image_machine(const char *path, struct image_machine *machine, struct text *allocinfo,
		   struct text *stats, bool *incomplete);

#endif
