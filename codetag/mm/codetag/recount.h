/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recounting ids: the sums, and the parts that need internals of the slab, percpu and
 * vmalloc allocators.
 */
#ifndef _MM_CODETAG_RECOUNT_H
#define _MM_CODETAG_RECOUNT_H

#include <linux/atomic.h>
#include <linux/sizes.h>
#include <linux/types.h>

struct kmem_cache;
struct obj_cgroup;
struct page;

/**
 * struct codetag_found - what was found of one id
 * @bytes:	size of all that holds it
 * @calls:	how many hold it
 */
struct codetag_found {
	atomic64_t bytes;
	atomic64_t calls;
};

/**
 * struct codetag_held - what something is charged with
 * @bytes:	size
 * @calls:	how many allocations that is
 */
struct codetag_held {
	u64 bytes;
	u64 calls;
};

/**
 * struct codetag_holding - something that holds an id
 * @page:	its first page, or that of the slab; NULL: percpu memory
 * @order:	order of the pages
 * @cache:	index of the cache of a slab object, -1: it is none
 * @id:		the id
 * @bytes:	size
 * @objcg:	what the slab says of the control group of an object, NULL: nothing. The slab
 *		may be gone, so this can be any word
 */
struct codetag_holding {
	struct page *page;
	unsigned int order;
	int cache;
	u16 id;
	size_t bytes;
	struct obj_cgroup *objcg;
};

/**
 * struct codetag_recount - what one CPU counts
 * @found:	what all CPUs have found, by id; NULL: nobody asks for ids
 * @caches:	what it has found, by cache; NULL: nobody asks for caches
 * @id:		the id that was found last, most often it is the next one, too
 * @bytes:	what is not in @found yet: of @id, or all
 * @calls:	the same
 * @pages:	pages that were looked at
 * @objects:	slab and percpu objects that hold an id
 * @visit:	gets each page and object instead of the sums; NULL: there is no visitor.
 *		With a visitor the machine may go on: memory that is freed during the walk
 *		is counted or not, and does no harm
 * @objcgs:	the visitor wants to know the control groups of objects
 */
struct codetag_recount {
	struct codetag_found *found;
	struct codetag_held *caches;
	u16 id;
	u64 bytes;
	u64 calls;
	unsigned long pages;
	unsigned long objects;
	void (*visit)(struct codetag_recount *rc, const struct codetag_holding *holding);
	bool objcgs;
};

/* Bytes of a percpu chunk in a slice: of allocations of 4 bytes these are 2,048. */
#define CODETAG_PERCPU_SLICE	SZ_8K

/**
 * struct codetag_percpu_pos - how far the percpu allocations have been told
 * @chunk:	number of the chunk, counted through all lists
 * @bit:	of its map, from which on they are not told yet
 */
struct codetag_percpu_pos {
	unsigned int chunk;
	int bit;
};

/**
 * codetag_recount_flush - add to @found what is not in it yet
 * @rc: the recount
 *
 * Context: Any, by the CPU that counts in @rc.
 */
static inline void codetag_recount_flush(struct codetag_recount *rc)
{
	atomic64_add(rc->bytes, &rc->found[rc->id].bytes);
	atomic64_add(rc->calls, &rc->found[rc->id].calls);
	rc->bytes = 0;
	rc->calls = 0;
}

/**
 * codetag_recount_add - count an id that the recount has found
 * @rc:		the recount
 * @id:		the id found
 * @bytes:	size of the memory that holds it
 *
 * Context: Any, by the CPU that counts in @rc.
 */
static inline void codetag_recount_add(struct codetag_recount *rc, u16 id, size_t bytes)
{
	if (rc->found && id != rc->id) {
		codetag_recount_flush(rc);
		rc->id = id;
	}
	rc->bytes += bytes;
	rc->calls++;
}

bool codetag_recount_prepare(void);
void codetag_recount_done(void);
size_t codetag_recount_nr_caches(void);
const char *codetag_recount_cache(size_t i);
void codetag_recount_slab(struct codetag_recount *rc, struct page *page);
bool codetag_recount_any(unsigned long pfn, unsigned long end);
void codetag_recount_pages(struct codetag_recount *rc, unsigned long pfn, unsigned long end);
void codetag_recount_percpu(struct codetag_recount *rc);
bool codetag_recount_percpu_live(struct codetag_recount *rc, struct codetag_percpu_pos *pos);

/* ../vmalloc.c */
#ifdef CONFIG_MMU
void codetag_recount_vmalloc(struct codetag_held *held);
#else
static inline void codetag_recount_vmalloc(struct codetag_held *held) {}
#endif

#endif /* _MM_CODETAG_RECOUNT_H */
