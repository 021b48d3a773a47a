/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What slab_account, trace_analyze and kmemtrace told about a trace: who
 * allocated how much and still holds it, what was wasted, who frees what
 * another CPU allocated or with the wrong function. The memory it needs grows
 * with the objects that are alive, not with the length of the trace.
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

/* What is counted: objects of one caller, of one size, asked for with one size. */
struct kmem_use {
	uint32_t caller;
	uint32_t next;		/* of the same caller, KMEM_NOBODY: none */
	uint32_t cache;		/* KMEM_NO_CACHE: the log has not told */
	bool is_malloc;
	bool is_free;		/* calls to free; else allocations */
	bool told;		/* @cache is from allocations, else from frees, … */
	bool several;		/* … which were into others, too */
	int64_t size, asked;	/* of each object, and asked for; 0 if is_free */
	int64_t calls;
	int64_t requested, requested_now;	/* bytes, ever and of what is alive */
	int64_t freed;		/* of its objects, wherever */
	int64_t remote_freed;	/* on another CPU */
};

struct kmem_caller {
	const char *name;
	const char *path;	/* its file; NULL: not known, "": several */
	uint32_t first_use;
	/* sums of its uses: see kmem_sum() */
	int64_t total_req, total_alloc;		/* ever allocated */
	int64_t current_req, current_alloc;	/* now */
	int64_t allocs, freed;		/* its objects, wherever they were freed */
	int64_t frees;			/* calls here to free */
	int64_t remote_freed;		/* its objects freed on another CPU */
};

struct kmem_finding {
	int64_t count;
	uint32_t allocator, freer;	/* the first time: numbers of callers */
};

struct kmem {
	struct kmem_caller *caller;
	size_t callers, room;
	struct kmem_use *use;
	size_t uses, use_room;
	uint32_t *use_slot;		/* a hash table of them: index + 1, 0: free */
	size_t use_slots;
	struct strmap names, caches;

	struct kmem_object *object;	/* a hash table of what is alive */
	size_t slots, objects;
	uint64_t *large;		/* of each CPU: the pointer of its last event … */
	size_t cpus;			/* … if that was a large kmalloc, else 0 */
	int64_t most_objects;

	int64_t pages;		/* 1: count pages and no slab objects: those are in pages */
	int64_t by_task;	/* 1: callers are the tasks */
	int64_t page_size;
	int64_t other_events;	/* of the kind that is not counted */

	int64_t events, bad, lost, overwritten;
	int64_t bad_line;		/* the first one that was not understood … */
	const char *why_bad;		/* … and why; NULL: not known */
	int64_t failed;			/* allocations that returned NULL */
	int64_t cut;			/* 1: the log was not read to its end */
	struct kmem_finding remote;	/* freed on another CPU */
	struct kmem_finding wrong_function;	/* kfree() for kmem_cache_alloc(), or the reverse */
	struct kmem_finding wrong_cache;
	struct kmem_finding unknown;	/* freed, but not seen to be allocated */
	struct kmem_finding too_small;	/* got less than it asked for */
	struct kmem_finding reused;	/* allocated again without a free seen */
	struct kmem_finding in_parts;	/* frees of a part of the pages that were allocated */
	unsigned int most_order;	/* of pages that are alive */
};

struct kmem_filter {
	bool malloc_only, cache_only;
	const char *cache;		/* NULL: all */
	const char *branch;		/* only callers in files below it; NULL: all */
	const char *caller;		/* a glob of names of callers; NULL: all */
};

void kmem_add(struct kmem *kmem, const struct kmem_event *event);
void kmem_free(struct kmem *kmem);

/* The numbers of the caller and of the cache of that name. */
uint32_t kmem_caller_number(struct kmem *kmem, const char *name, size_t len);
uint32_t kmem_cache_number(struct kmem *kmem, const char *name, size_t len);

/* Adds a use to its caller. */
struct kmem_use *kmem_add_use(struct kmem *kmem, const struct kmem_use *use);

/* The name of its cache if that is certain, else NULL. */
const char *kmem_use_cache(const struct kmem *kmem, const struct kmem_use *use);

/* Objects of a use that are alive. */
int64_t kmem_use_alive(const struct kmem_use *use);

bool kmem_selects(const struct kmem *kmem, const struct kmem_use *use,
		  const struct kmem_filter *filter);

/* Adds what @use has to the sums of @caller. */
void kmem_caller_add(const struct kmem *kmem, struct kmem_caller *caller,
		     const struct kmem_use *use);

struct kmem_callers {
	size_t allocate, only_free;
};

/*
 * Fills the sums of all callers, of the uses that @filter lets through, and
 * *@total, whose name is NULL. Returns how many callers have any.
 */
struct kmem_callers kmem_sum(struct kmem *kmem, const struct kmem_filter *filter,
			     struct kmem_caller *total);

#endif
