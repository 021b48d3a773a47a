// SPDX-License-Identifier: GPL-2.0
#include "kmem.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"

#define NO_CACHE UINT32_MAX

struct kmem_object {
	uint64_t ptr;		/* 0: a free slot */
	int64_t req, alloc;
	uint32_t caller, cache;
	int16_t cpu;
	bool is_malloc;
};

static size_t home(const struct kmem *kmem, uint64_t ptr)
{
	/* Pointers end in zeros and often share their head: mix. */
	return (size_t)(ptr * 0x9e3779b97f4a7c15 >> 20) & (kmem->slots - 1);
}

static struct kmem_object *find(const struct kmem *kmem, uint64_t ptr)
{
	size_t i = home(kmem, ptr);

	while (kmem->object[i].ptr && kmem->object[i].ptr != ptr)
		i = (i + 1) & (kmem->slots - 1);
	return &kmem->object[i];
}

static void resize(struct kmem *kmem, size_t slots)
{
	struct kmem_object *old = kmem->object;
	size_t count = kmem->slots;

	kmem->slots = slots;
	kmem->object = xcalloc(slots, sizeof(*kmem->object));
	for (size_t i = 0; i < count; i++)
		if (old[i].ptr)
			*find(kmem, old[i].ptr) = old[i];
	free(old);
}

/* Empties a slot and moves up those behind it that it kept from their place. */
static void remove_object(struct kmem *kmem, struct kmem_object *object)
{
	size_t mask = kmem->slots - 1, hole = object - kmem->object, i = hole;

	for (;;) {
		i = (i + 1) & mask;
		if (!kmem->object[i].ptr)
			break;
		if (((i - home(kmem, kmem->object[i].ptr)) & mask) <
		    ((i - hole) & mask))
			continue;
		kmem->object[hole] = kmem->object[i];
		hole = i;
	}
	kmem->object[hole].ptr = 0;
	kmem->objects--;
}

static uint32_t caller_number(struct kmem *kmem, const struct kmem_event *event)
{
	size_t i = strmap_add(&kmem->names, event->site, event->site_len);

	if (i == kmem->callers) {
		GROW(kmem->caller, kmem->callers, kmem->room);
		kmem->caller[kmem->callers++] = (struct kmem_caller){
			.name = kmem->names.entry[i].key
		};
	}
	return i;
}

static uint32_t cache_number(struct kmem *kmem, const struct kmem_event *event)
{
	return event->cache ? strmap_add(&kmem->caches, event->cache,
					 event->cache_len) : NO_CACHE;
}

static void found(struct kmem_finding *finding, uint32_t allocator, uint32_t freer)
{
	if (!finding->count++) {
		finding->allocator = allocator;
		finding->freer = freer;
	}
}

static void give_back(struct kmem *kmem, const struct kmem_object *object)
{
	struct kmem_caller *caller = &kmem->caller[object->caller];

	caller->current_req = sub64(caller->current_req, object->req);
	caller->current_alloc = sub64(caller->current_alloc, object->alloc);
	caller->freed++;
}

static bool is_selected(const struct kmem *kmem, const struct kmem_event *event)
{
	if (event->kind == KMEM_MALLOC)
		return !kmem->cache_only;
	if (kmem->malloc_only)
		return false;
	return !kmem->cache ||
	       (event->cache && strlen(kmem->cache) == event->cache_len &&
		!memcmp(kmem->cache, event->cache, event->cache_len));
}

static void add_alloc(struct kmem *kmem, const struct kmem_event *event)
{
	struct kmem_object *object;
	struct kmem_caller *caller;
	uint32_t number;

	if (!is_selected(kmem, event))
		return;
	if (!event->ptr) {
		kmem->failed++;
		return;
	}
	number = caller_number(kmem, event);
	caller = &kmem->caller[number];
	if ((kmem->objects + 1) * 2 > kmem->slots)
		resize(kmem, kmem->slots ? kmem->slots * 2 : 1024);
	object = find(kmem, event->ptr);
	if (object->ptr) {
		found(&kmem->reused, object->caller, KMEM_NOBODY);
		give_back(kmem, object);
	} else if (++kmem->objects > kmem->most_objects) {
		kmem->most_objects = kmem->objects;
	}
	*object = (struct kmem_object){
		.ptr = event->ptr,
		.req = event->requested,
		.alloc = event->allocated,
		.caller = number,
		.cache = cache_number(kmem, event),
		.cpu = (int16_t)event->cpu,
		.is_malloc = event->kind == KMEM_MALLOC,
	};
	caller->allocs++;
	caller->total_req = add64(caller->total_req, event->requested);
	caller->total_alloc = add64(caller->total_alloc, event->allocated);
	caller->current_req = add64(caller->current_req, event->requested);
	caller->current_alloc = add64(caller->current_alloc, event->allocated);
}

static void add_free(struct kmem *kmem, const struct kmem_event *event)
{
	bool filtered = kmem->malloc_only || kmem->cache_only || kmem->cache;
	struct kmem_object *object = NULL;
	uint32_t freer, cache;

	if (!event->ptr)
		return;		/* free(NULL) */
	if (kmem->slots)
		object = find(kmem, event->ptr);
	if (!object || !object->ptr) {
		/* With a filter it is most likely one that was left out. */
		if (filtered)
			return;
		freer = caller_number(kmem, event);
		kmem->caller[freer].frees++;
		found(&kmem->unknown, KMEM_NOBODY, freer);
		return;
	}
	freer = caller_number(kmem, event);
	kmem->caller[freer].frees++;
	if (event->cpu >= 0 && object->cpu >= 0 && event->cpu != object->cpu) {
		found(&kmem->remote, object->caller, freer);
		kmem->caller[object->caller].remote_freed++;
	}
	if (object->is_malloc != (event->kind == KMEM_FREE)) {
		found(&kmem->wrong_function, object->caller, freer);
	} else if (event->kind == KMEM_CACHE_FREE) {
		cache = cache_number(kmem, event);
		if (cache != NO_CACHE && object->cache != NO_CACHE &&
		    cache != object->cache)
			found(&kmem->wrong_cache, object->caller, freer);
	}
	give_back(kmem, object);
	remove_object(kmem, object);
}

void kmem_add(struct kmem *kmem, const struct kmem_event *event)
{
	switch (event->kind) {
	case KMEM_MALLOC:
	case KMEM_CACHE_ALLOC:
		kmem->events++;
		add_alloc(kmem, event);
		break;
	case KMEM_FREE:
	case KMEM_CACHE_FREE:
		kmem->events++;
		add_free(kmem, event);
		break;
	case KMEM_LOST:
		kmem->lost = add64(kmem->lost, (int64_t)event->lost);
		break;
	case KMEM_OVERWRITTEN:
		kmem->overwritten = add64(kmem->overwritten, (int64_t)event->lost);
		break;
	case KMEM_BAD:
		kmem->bad++;
		break;
	case KMEM_NONE:
		break;
	}
}

void kmem_total(const struct kmem *kmem, struct kmem_caller *total)
{
	*total = (struct kmem_caller){ 0 };
	for (size_t i = 0; i < kmem->callers; i++) {
		const struct kmem_caller *c = &kmem->caller[i];

		total->total_req = add64(total->total_req, c->total_req);
		total->total_alloc = add64(total->total_alloc, c->total_alloc);
		total->current_req = add64(total->current_req, c->current_req);
		total->current_alloc = add64(total->current_alloc, c->current_alloc);
		total->allocs += c->allocs;
		total->freed += c->freed;
		total->frees += c->frees;
		total->remote_freed += c->remote_freed;
	}
}

void kmem_free(struct kmem *kmem)
{
	free(kmem->caller);
	free(kmem->object);
	strmap_free(&kmem->names);
	strmap_free(&kmem->caches);
	*kmem = (struct kmem){ 0 };
}
