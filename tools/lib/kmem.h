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

#include "kmem_event.h"
#include "strmap.h"

struct kmem_caller {
	const char *name;
	const char *path;	/* of its object file; NULL: not known, "": several */
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

#define KMEM_NOBODY UINT32_MAX

struct kmem {
	struct kmem_caller *caller;
	size_t callers, room;
	struct strmap names, caches;

	struct kmem_object *object;	/* a hash table of what is alive */
	size_t slots, objects, most_objects;

	bool malloc_only, cache_only;
	const char *cache;		/* NULL: all */

	int64_t events, bad, lost, overwritten;
	int64_t failed;			/* allocations that returned NULL */
	struct kmem_finding remote;	/* freed on another CPU */
	struct kmem_finding wrong_function;	/* kfree() for kmem_cache_alloc(), or the reverse */
	struct kmem_finding wrong_cache;
	struct kmem_finding unknown;	/* freed, but not seen to be allocated */
	struct kmem_finding reused;	/* allocated again without a free seen */
};

void kmem_add(struct kmem *kmem, const struct kmem_event *event);
void kmem_free(struct kmem *kmem);

/* The sums of all callers; the name is NULL. */
void kmem_total(const struct kmem *kmem, struct kmem_caller *total);

#endif
