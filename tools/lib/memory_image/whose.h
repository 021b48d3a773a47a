/* SPDX-License-Identifier: GPL-2.0-only */
/* The object or page at an address of a kernel in an image, and its call site. */
#ifndef CODETAG_IMAGE_WHOSE_H
#define CODETAG_IMAGE_WHOSE_H

#include "memory_image/recount.h"

struct whose {
	struct text what;	/* "allocated object of kmalloc-64, 64 bytes" */
	uint64_t offset;	/* offset of the address in it */
	uint16_t id;		/* 0: it has no call site */
	bool nothing;		/* @offset has no meaning */
	const struct image_cache *cache;	/* the cache of the object, NULL: it is none */
};

/* Always finds a description; @whose then has to be freed. */
void whose_find(const struct image_sites *sites, struct recount *recount, uint64_t address,
		struct whose *whose);

/* The same for a page frame. */
void whose_find_pfn(const struct image_sites *sites, struct recount *recount, uint64_t pfn,
		    struct whose *whose);

#endif
