/* SPDX-License-Identifier: GPL-2.0-only */
/* The contexts of split call sites in an image, with their stacks. */
#ifndef CODETAG_IMAGE_CONTEXTS_H
#define CODETAG_IMAGE_CONTEXTS_H

#include "memory_image/functions.h"
#include "memory_image/sites.h"

/*
 * The text that the file contexts would have had. Control groups are numbers in it. Returns
 * false if the kernel has no contexts, or if the table of an older kernel does not say where
 * they are.
 */
bool image_contexts(const struct image_sites *sites, struct image_functions *functions,
		    struct text *text);

/*
 * Calls @each for each context of a call site that is split by age, with the smallest and the
 * largest age of its allocations in seconds: "3-17". Returns false as image_contexts() does.
 */
bool image_context_ages(const struct image_sites *sites,
			void (*each)(void *data, uint16_t id, const char *age), void *data);

/* Number of call sites that are split; 0 if that is not known. */
uint64_t image_sites_split(const struct image_sites *sites, uint64_t *all);

#endif
