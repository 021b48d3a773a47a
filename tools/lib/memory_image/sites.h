/* SPDX-License-Identifier: GPL-2.0-only */
/* The call sites and contexts of a kernel in an image, by id, and their counters. */
#ifndef CODETAG_IMAGE_SITES_H
#define CODETAG_IMAGE_SITES_H

#include "base/text.h"
#include "memory_image/image.h"

#define IMAGE_IDS 65536

/* Bytes and calls held. The allocations include the parts of pages that were split; modulo 2^32. */
struct image_counters {
	int64_t bytes, calls;
	uint32_t allocs, frees;
};

/* The tags of one module, with neighbouring ids, or without ids (@first is 0). */
struct image_range {
	uint64_t tags, block, counters;
	uint32_t nr;
	uint16_t first;
	bool unloaded;
	char module[64];
};

struct image_sites {
	struct image *image;
	uint32_t builtin, builtin_end;	/* number of tags, and one above their highest id */
	struct image_range *range;
	size_t ranges, room;
	uint32_t range_of[IMAGE_IDS];	/* index + 1 */
	struct image_counters counted[IMAGE_IDS];
	uint16_t site_of[IMAGE_IDS];	/* id of the site of a context, by the context's id */
};

struct image_sites *image_sites_read(struct image *image);
void image_sites_free(struct image_sites *sites);

/* Opens an image and reads its call sites. Returns NULL after a message. */
struct image_sites *image_sites_open(const char *path);
void image_sites_close(struct image_sites *sites);

/* The id itself, or that of its context's site */
uint16_t image_site_id(const struct image_sites *sites, uint16_t id);

/* The tag with an id, or of the context with that id; 0: none has it. */
uint64_t image_tag_of(const struct image_sites *sites, uint16_t id);

/* "file:line [module] func:name notes", as /proc/allocinfo has it; false if no tag has the id. */
bool image_site_text(const struct image_sites *sites, uint16_t id, struct text *text);

/* The text of /proc/allocinfo. */
void image_allocinfo(const struct image_sites *sites, struct text *text);

#endif
