/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Call sites that allocate what others then allocate from: slab pages and percpu
 * chunks. What is in them is charged to the call sites that hold it, too, so a sum
 * of all rows has that memory twice.
 */
#ifndef CODETAG_CONTAINER_H
#define CODETAG_CONTAINER_H

#include "model/group.h"
#include "read/allocinfo.h"

enum container { NO_CONTAINER, SLAB_PAGES, PERCPU_CHUNKS };

enum container site_contains(const struct site *site);

/*
 * Whether, of what @keep (NULL: everything) selects in @info, only such call sites
 * hold anything: then nothing is there twice.
 */
bool containers_only(const struct allocinfo *info,
		     bool (*keep)(void *context, const struct site *site), void *context);

/* Takes them out of @info; @out is what they hold together. */
void containers_take_out(struct allocinfo *info,
			 bool (*keep)(void *context, const struct site *site),
			 void *context, struct sum *out);

#endif
