/* SPDX-License-Identifier: GPL-2.0-only */
/* The contexts of one call site as lines of the table of top and replay. */
#ifndef CODETAG_LIVE_CONTEXTS_H
#define CODETAG_LIVE_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "read/allocinfo.h"

/*
 * Adds a line for each context of @site in @text, which it takes over, the largest first,
 * below one of headings. False if there are none.
 */
bool live_contexts(struct text *lines, char *text, size_t len, const struct site *site,
		   bool human);

#endif
