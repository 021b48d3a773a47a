/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The accounts of slab_account, trace_analyze and kmemtrace from a trace: the bytes that each
 * caller allocated, still holds, and wastes, and objects that were freed on another CPU or with
 * the wrong function. The memory that this needs grows with the live objects, not with the
 * length of the trace.
 */
#ifndef CODETAG_KMEM_H
#define CODETAG_KMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "trace/kmem_event.h"

#define KMEM_NOBODY UINT32_MAX
#define KMEM_NO_CACHE UINT32_MAX

/* The unit of counting: objects of one caller, of one size and one requested size. */
struct kmem_use {
	uint32_t caller;
	uint32_t next;		/* of the same caller, KMEM_NOBODY: none */
	uint32_t cache;		/* KMEM_NO_CACHE: the log does not name it */
	bool is_malloc;
	bool is_free;		/* calls to free; else allocations */
	bool told;		/* @cache is from allocations; else from frees, … */
	bool several;		/* … some of which named other caches */
	int64_t size, asked;	/* bytes of each object, and requested bytes; 0 if is_free */
	int64_t calls;
	int64_t requested, requested_now;	/* bytes, ever and of live objects */
	int64_t freed;		/* frees of its objects, at any caller */
	int64_t remote_freed;	/* frees on another CPU */
};

struct kmem_caller {
	const char *name;
	const char *path;	/* its file; NULL: not known, "": several */
	uint32_t first_use;
	/* sums of its uses: see kmem_sum() */
	int64_t total_req, total_alloc;		/* ever allocated */
	int64_t current_req, current_alloc;	/* now */
	int64_t allocs, freed;		/* frees of its objects, at any caller */
	int64_t frees;			/* frees that it called */
	int64_t remote_freed;		/* its objects freed on another CPU */
};

struct kmem_finding {
	int64_t count;
	uint32_t allocator, freer;	/* callers of the first occurrence, by number */
};

struct kmem {
	struct kmem_caller *caller;
	size_t callers, room;
	struct kmem_use *use;
	size_t uses, use_room;
	uint32_t *use_slot;		/* a hash table of them: index + 1, 0: free */
	size_t use_slots;
	struct strmap names, caches;

	struct kmem_object *object;	/* a hash table of the live objects */
	size_t slots, objects;
	uint64_t *large;		/* of each CPU: the pointer of its last event … */
	size_t cpus;			/* … if that was a large kmalloc, else 0 */
	int64_t most_objects;

	int64_t pages;		/* 1: count pages and not slab objects, which are in pages */
	int64_t by_task;	/* 1: the tasks are the callers */
	int64_t page_size;
	int64_t unasked;	/* 1: the events lack the requested sizes, so waste is not known */
	int64_t other_events;	/* events of the kind that is not counted */

	int64_t events, bad, lost, overwritten;
	int64_t bad_line;		/* number of the first event that was not understood … */
	const char *why_bad;		/* … and why; NULL: not known */
	int64_t failed;			/* allocations that failed */
	int64_t cut;			/* 1: the log was not read to its end */
	struct kmem_finding remote;	/* freed on another CPU */
	struct kmem_finding wrong_function;	/* kfree() for kmem_cache_alloc(), or the reverse */
	struct kmem_finding wrong_cache;
	struct kmem_finding unknown;	/* freed without an allocation in the log */
	struct kmem_finding too_small;	/* got less than it asked for */
	struct kmem_finding reused;	/* allocated again without a free in the log */
	struct kmem_finding in_parts;	/* frees of a part of an allocation of pages */
	unsigned int most_order;	/* live pages */
};

struct kmem_filter {
	bool malloc_only, cache_only;
	const char *cache;		/* NULL: all */
	const char *branch;		/* only callers in files below this directory; NULL: all */
	const char *caller;		/* a glob of names of callers; NULL: all */
};

void kmem_add(struct kmem *kmem, const struct kmem_event *event);
void kmem_free(struct kmem *kmem);

/* The numbers of the caller and of the cache with this name. */
uint32_t kmem_caller_number(struct kmem *kmem, const char *name, size_t len);
uint32_t kmem_cache_number(struct kmem *kmem, const char *name, size_t len);

/* Adds a use to its caller. */
struct kmem_use *kmem_add_use(struct kmem *kmem, const struct kmem_use *use);

/* The name of its cache, NULL unless it is certain. */
const char *kmem_use_cache(const struct kmem *kmem, const struct kmem_use *use);

/* The number of live objects of a use. */
int64_t kmem_use_alive(const struct kmem_use *use);

bool kmem_selects(const struct kmem *kmem, const struct kmem_use *use,
		  const struct kmem_filter *filter);

/* Adds the numbers of @use to the sums of @caller. */
void kmem_caller_add(const struct kmem *kmem, struct kmem_caller *caller,
		     const struct kmem_use *use);

struct kmem_callers {
	size_t allocate, only_free;
};

/*
 * Fills the sums of all callers, of the uses that @filter selects, and *@total, whose name is
 * NULL. Returns the number of callers with any use.
 */
struct kmem_callers kmem_sum(struct kmem *kmem, const struct kmem_filter *filter,
			     struct kmem_caller *total);

#endif
