/* SPDX-License-Identifier: GPL-2.0-only */
/* All memory with an id in an image: pages, slab objects, percpu allocations. */
#ifndef CODETAG_IMAGE_RECOUNT_H
#define CODETAG_IMAGE_RECOUNT_H

#include "memory_image/sites.h"

enum holding_kind { HOLDER_PAGES, HOLDER_OBJECT, HOLDER_PERCPU };

struct image_cache {
	uint64_t address;
	uint64_t flags;
	uint32_t size, object_size, pad;	/* pad: size of the red zone before each object */
	uint32_t free_pointer;			/* offset of the free pointer in a free object */
	bool vector;
	char name[64];
};

/* A slab, and where the ids of its objects are. */
struct image_slab {
	const struct image_cache *cache;
	uint64_t pfn, start;		/* of its first page; of KFENCE's object */
	unsigned int order, objects;
	bool single, kfence;		/* its only id is in the page */
	uint64_t ids;			/* otherwise the address of the ids */
	unsigned int nr_ids, shift;
};

struct holding {
	enum holding_kind holder;
	uint16_t id;
	uint64_t bytes, address;	/* address in the direct map, or in the chunk */
	uint64_t pfn, flags;		/* flags of the page; 0: percpu */
	unsigned int order;
	const struct image_cache *cache;
	uint64_t group;			/* pointer that leads to the control group, 0: none */
};

/* A struct page */
struct image_page {
	uint64_t pfn, va;		/* of the struct page */
	uint64_t flags, head;		/* head: address of the first page, maybe its own */
	uint64_t mapping;
	uint32_t type, references;
	bool is_head, is_tail, is_slab;
	unsigned int order;		/* order of the compound page */
	uint16_t id;			/* id of the allocation that begins here */
	uint16_t mark;			/* in its place, if the second page has the id; 0: none */
};

/* A chunk of percpu memory: each CPU has the same number of bytes of it. */
struct percpu_chunk {
	uint64_t base, size;		/* of the first unit; of each */
	uint64_t begin, end;		/* the part of it outside the kernel's image */
	const uint64_t *ids;		/* address of the ids of each of its pages, or 0 */
};

struct recount {
	struct image *image;
	void (*visit)(void *data, const struct holding *holding);
	/*
	 * May be NULL. Called for @nr pages from @page on, before their objects; called for
	 * each chunk.
	 */
	void (*visit_page)(void *data, const struct image_page *page, uint64_t nr);
	void (*visit_chunk)(void *data, const struct percpu_chunk *chunk);
	void *data;
	bool groups;			/* whether control groups are wanted */
	uint64_t pages, objects;	/* found */
	struct recount_memory *memory;	/* kept between pages: slab caches, far vectors, buffers */
};

void recount_init(struct recount *recount, struct image *image);
void recount_free(struct recount *recount);

/* Calls @visit for all memory with an id; for all percpu allocations. */
void recount_all(struct recount *recount);
void recount_percpu(struct recount *recount);

/*
 * The populated percpu pages of one CPU; the pages that hold the struct pages of all memory since
 * boot.
 */
uint64_t recount_percpu_pages(struct recount *recount);
uint64_t image_memory_map_pages(struct recount *recount);

/*
 * Finds the percpu allocation with an address; @size is 0 if it is in none. Returns false if it
 * is no percpu address.
 */
struct percpu_place {
	unsigned int cpu;
	uint64_t offset, size;
	uint16_t id;
};

bool recount_find_percpu(struct recount *recount, uint64_t address, struct percpu_place *place);

/*
 * The addresses of the slots and of the page_ext of page frames from @pfn on, used for ids or
 * not, and the size of each; 0: there are none.
 */
uint64_t image_page_slots(const struct recount *recount, uint64_t pfn, uint64_t *size);
uint64_t image_page_ext(struct recount *recount, uint64_t pfn, uint64_t *size);

/* The migratetype of the block that a page is in. */
unsigned int image_migratetype(struct recount *recount, uint64_t pfn);

/* Reads the struct page of a page. Returns false if there is none. */
bool image_page_read(struct recount *recount, uint64_t pfn, struct image_page *page);

/* Reads the slab that begins with @page; false if that is no valid slab. */
bool image_slab_read(struct recount *recount, const struct image_page *page,
		     struct image_slab *slab);

/* The id of an object, and the address behind its red zone. */
uint16_t image_object_id(struct recount *recount, const struct image_slab *slab, unsigned int i);
uint64_t image_object(const struct image_slab *slab, unsigned int i);
/* The object in a page of KFENCE's pool, both as addresses of the direct map */
uint64_t image_kfence_object(struct image *image, uint64_t page);

/* The order of the allocation that begins with a page that has an id. */
unsigned int image_page_order(struct recount *recount, const struct image_page *page);

#endif
