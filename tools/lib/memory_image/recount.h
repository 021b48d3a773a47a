/* SPDX-License-Identifier: GPL-2.0 */
/* All that holds an id in an image: pages, slab objects, percpu allocations. */
#ifndef CODETAG_IMAGE_RECOUNT_H
#define CODETAG_IMAGE_RECOUNT_H

#include "memory_image/sites.h"

enum holding_kind { HOLDER_PAGES, HOLDER_OBJECT, HOLDER_PERCPU };

struct image_cache {
	uint64_t address;
	uint64_t flags;
	uint32_t size, object_size, pad;	/* pad: a red zone before each object */
	uint32_t free_pointer;			/* where a free object has that */
	bool vector;
	char name[64];
};

/* A slab, and where the ids of its objects are. */
struct image_slab {
	const struct image_cache *cache;
	uint64_t pfn, start;		/* of its first page */
	unsigned int order, objects;
	bool single, kfence;		/* its one id is in the page */
	uint64_t ids;			/* otherwise their address */
	unsigned int nr_ids, shift;
};

struct holding {
	enum holding_kind holder;
	uint16_t id;
	uint64_t bytes, address;	/* of the direct map, or of the chunk */
	uint64_t pfn, flags;		/* of the page; flags 0: percpu */
	unsigned int order;
	const struct image_cache *cache;
};

/* One page as it is */
struct image_page {
	uint64_t pfn, va;		/* of the struct page */
	uint64_t flags, head;		/* head: that of the first page, its own if it is one */
	uint64_t mapping;
	uint32_t type, references;
	bool is_head, is_tail, is_slab;
	unsigned int order;		/* of the compound page */
	uint16_t id;			/* of the allocation that begins here */
	uint16_t mark;			/* in its place, the second page has the id; 0: none */
};

/* A chunk of percpu memory: each CPU has as many bytes of it. */
struct percpu_chunk {
	uint64_t base, size;		/* of the first unit; of each */
	uint64_t begin, end;		/* what of it is not of the kernel's image */
	const uint64_t *ids;		/* where those of each of its pages are, or 0 */
};

struct recount {
	struct image *image;
	void (*visit)(void *data, const struct holding *holding);
	/* May be NULL: @nr pages that @page begins, before what they hold; a chunk. */
	void (*visit_page)(void *data, const struct image_page *page, uint64_t nr);
	void (*visit_chunk)(void *data, const struct percpu_chunk *chunk);
	void *data;
	uint64_t pages, objects;	/* found */
	uint64_t missing_pages;		/* of the struct pages that should be there */
	uint64_t missing_slabs;		/* slabs whose ids the dump does not have */
	struct recount_memory *memory;	/* reused: caches, far vectors, buffers */
};

void recount_init(struct recount *recount, struct image *image);
void recount_free(struct recount *recount);

/* Calls @visit for all there is; for all percpu allocations. */
void recount_all(struct recount *recount);
void recount_percpu(struct recount *recount);

/* Pages of one CPU that percpu memory has; pages with the struct pages of all memory. */
uint64_t recount_percpu_pages(struct recount *recount);
uint64_t image_memory_map_pages(struct recount *recount);

/* Where in percpu memory an address is; @size 0: in no allocation. False: it is none. */
struct percpu_place {
	unsigned int cpu;
	uint64_t offset, size;
	uint16_t id;
};

bool recount_find_percpu(struct recount *recount, uint64_t address, struct percpu_place *place);

/* Where page frames from @pfn on have slots and page_ext, whoever uses it, and the size of each; 0: nowhere. */
uint64_t image_page_slots(const struct recount *recount, uint64_t pfn, uint64_t *size);
uint64_t image_page_ext(struct recount *recount, uint64_t pfn, uint64_t *size);

/* The migratetype of the block that a page is in. */
unsigned int image_migratetype(struct recount *recount, uint64_t pfn);

/* Reads the struct page of a page. False if there is none. */
bool image_page_read(struct recount *recount, uint64_t pfn, struct image_page *page);

/* The slab that begins with @page; false if it is none that makes sense. */
bool image_slab_read(struct recount *recount, const struct image_page *page,
		     struct image_slab *slab);

/* The id of an object, and where it begins, behind its red zone. */
uint16_t image_object_id(struct recount *recount, const struct image_slab *slab, unsigned int i);
uint64_t image_object(const struct image_slab *slab, unsigned int i);

/* Order of the allocation that a page with an id begins. */
unsigned int image_page_order(struct recount *recount, const struct image_page *page);

#endif
