/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call sites that allocate memory from which others allocate: slab pages and percpu chunks. The
 * memory in them is also charged to the call sites that hold it, so a sum of all rows counts it
 * twice.
 */
#ifndef CODETAG_CONTAINER_H
#define CODETAG_CONTAINER_H

#include "model/group.h"
#include "read/allocinfo.h"

enum container { NO_CONTAINER, SLAB_PAGES, PERCPU_CHUNKS };

enum container site_contains(const struct site *site);

/*
 * Whether, of the sites that @keep (NULL: all) selects in @info, only such call sites hold
 * memory: then nothing counts twice.
 */
bool containers_only(const struct allocinfo *info,
		     bool (*keep)(void *context, const struct site *site), void *context);

/* Takes them out of @info; *@out is the sum of their memory. */
void containers_take_out(struct allocinfo *info,
			 bool (*keep)(void *context, const struct site *site),
			 void *context, struct sum *out);

#endif
