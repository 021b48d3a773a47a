/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All allocations of a kernel in an image, numbered. Each allocation of pages, each slab object
 * and each percpu allocation is a node, which can be found by an address in it.
 */
#ifndef CODETAG_IMAGE_KERNEL_OBJECTS_H
#define CODETAG_IMAGE_KERNEL_OBJECTS_H

#include "memory_image/recount.h"

enum extent_flags {
	EXTENT_SLAB = 1,	/* the nodes after the first are its objects */
	EXTENT_QUIET = 2,	/* nothing in these pages counts as a pointer */
	EXTENT_USED = 4,	/* an allocator or the processor uses it, so it is never lost */
	EXTENT_COMPOUND = 8,
	EXTENT_POINTED = 16,	/* a pointer to it exists, not only one to its struct page */
	EXTENT_KEPT = 32,	/* only its first word counts as a pointer */
	EXTENT_RECORDS = 64,	/* of kvfree_rcu(): only those that wait count as pointers */
	EXTENT_CONTAINER = 128,	/* a slab or a percpu chunk: its bytes are in others, too */
};

/* Pages that belong together: an allocation, together with its objects if it is a slab. */
struct extent {
	uint64_t pfn;
	const struct image_cache *cache;	/* of a slab */
	uint32_t first, count;	/* nodes: of the pages, then of each object */
	uint32_t label;		/* a label that names the pages better than their site; 0: none */
	uint16_t flags;
	uint8_t order;
	bool kfence;		/* a page of KFENCE's with one object */
};

struct percpu_object {
	uint64_t address;	/* in the first unit of its chunk */
	uint32_t size;
	uint16_t id;
};

/* The memory of a processor in a chunk, or the part of it that is not allocated */
struct percpu_unit {
	uint64_t start, size, base;
};

struct vmalloc_area {
	uint64_t start, end;
	uint32_t node;		/* address of the vm_struct */
};

/* Page frames [first, end) */
struct frames {
	uint64_t first, end;
};

struct frames_list {
	struct frames *at;
	size_t count, room;
};

struct kernel_objects {
	struct image *image;
	const struct image_sites *sites;
	struct recount *recount;

	/* Nodes 1 to percpus are those of percpu memory, the rest those of extents. */
	uint16_t *id;		/* id of each node, 0: it is free */
	uint32_t nodes;		/* one above the highest */
	uint32_t live;		/* nodes that are not free */

	struct extent *extent;
	size_t extents;
	uint32_t **extent_of;	/* index + 1, by page frame, in pieces */
	size_t pieces;

	struct percpu_object *percpu;
	uint32_t percpus;
	struct percpu_unit *unit;
	size_t units;
	uint64_t unit_low, unit_high;
	struct percpu_chunk *chunk;
	size_t chunks;

	struct vmalloc_area *area;
	size_t areas, areas_room;
	/*
	 * A bit of each node: a vmap_area, in use or free; a vm_struct; ids of codetag, which are
	 * no pointers
	 */
	uint8_t *is_area, *is_vm, *is_ids;
	uint64_t *ids;			/* addresses of the latter */
	size_t nr_ids, ids_room;

	/* Page frames without an id: the kernel's since boot, and others that are allocated */
	struct frames_list reserved, unknown;
	uint64_t kfence, kfence_size;
};

struct kernel_objects *kobjects_read(struct image *image, const struct image_sites *sites,
			     struct recount *recount);
void kobjects_free(struct kernel_objects *objects);

static inline bool kobjects_bit(const uint8_t *bits, uint32_t node)
{
	return bits[node / 8] >> node % 8 & 1;
}

static inline void kobjects_set_bit(uint8_t *bits, uint32_t node)
{
	bits[node / 8] |= (uint8_t)(1 << node % 8);
}

/* Adds page frames to a list. They may extend its last piece. */
void frames_add(struct frames_list *list, uint64_t first, uint64_t end);

/* The extent with a page frame; NULL: none. */
struct extent *kobjects_extent(const struct kernel_objects *objects, uint64_t pfn);

/* The extent of a node; NULL: it is percpu memory. */
struct extent *kobjects_extent_of(const struct kernel_objects *objects, uint32_t node);

/*
 * The node at a physical address, at an address of percpu memory, or at any address; 0: none.
 */
uint32_t kobjects_at_physical(const struct kernel_objects *objects, uint64_t pa);
uint32_t kobjects_at_percpu(const struct kernel_objects *objects, uint64_t va);
uint32_t kobjects_at(const struct kernel_objects *objects, uint64_t va);

/* The area of vmalloc space with an address; NULL: none. */
const struct vmalloc_area *kobjects_area(const struct kernel_objects *objects, uint64_t va);

/* The address of a node in the kernel, and its size. */
uint64_t kobjects_address(const struct kernel_objects *objects, uint32_t node);
uint64_t kobjects_bytes(const struct kernel_objects *objects, uint32_t node);

/* Whether a node is the pages of a slab or of a percpu chunk, whose objects are nodes, too. */
bool kobjects_is_container(const struct kernel_objects *objects, uint32_t node);

#endif
