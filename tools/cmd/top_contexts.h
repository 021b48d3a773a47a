/* SPDX-License-Identifier: GPL-2.0 */
/* The contexts of one call site as lines of top. */
#ifndef CODETAG_TOP_CONTEXTS_H
#define CODETAG_TOP_CONTEXTS_H

#include "debugfs.h"
#include "base/text.h"
#include "read/allocinfo.h"

/*
 * Adds a line for each context of @site, the largest first, below one of headings. False,
 * and why not in @why, if it has none or they cannot be read.
 */
bool top_contexts(struct text *lines, const struct debugfs_dir *dir, const struct site *site,
		  bool human, char *why, size_t room);

#endif
