// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/slab_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "read/alloc_traces.h"
#include "trace/kmem.h"

static void add(struct slab_holders *holders, const struct slab_holder *holder)
{
	GROW(holders->holder, holders->count, holders->room);
	holders->holder[holders->count++] = *holder;
}

static int compare(const void *a, const void *b)
{
	const struct slab_holder *x = a, *y = b;

	if (x->cache != y->cache)
		return x->cache < y->cache ? -1 : 1;
	if (x->objects != y->objects)
		return x->objects < y->objects ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort(struct slab_holders *holders)
{
	if (holders->count)
		qsort(holders->holder, holders->count, sizeof(*holders->holder), compare);
}

/* Adds @holder to all caches that fit it. A holder that fits one cache only owns it. */
static void add_to_caches(struct slab_holders *holders, struct slab_holder holder,
			  const struct slabinfo *slabs, int64_t object_size,
			  bool (*fits)(const struct slab_cache *, const struct slab_holder *))
{
	size_t first = holders->count;

	for (size_t i = 0; i < slabs->count; i++) {
		const struct slab_cache *cache = &slabs->cache[i];

		if (cache->object_size != object_size || !fits(cache, &holder))
			continue;
		holder.cache = cache->name;
		add(holders, &holder);
	}
	for (size_t i = first; i < holders->count; i++)
		holders->holder[i].others = holders->count - first - 1;
}

/* A holder holds no more objects than there are. */
static bool has_room(const struct slab_cache *cache, const struct slab_holder *holder)
{
	return holder->objects <= cache->objects;
}

void slab_holders_by_size(struct slab_holders *holders, const struct slabinfo *slabs,
			  const struct allocinfo *info, int64_t page_size)
{
	*holders = (struct slab_holders){ 0 };
	groups_add(&holders->groups, info, NULL);
	for (size_t i = 0; i < holders->groups.count; i++) {
		const struct group *group = &holders->groups.group[i];
		int64_t bytes = group->now.bytes, calls = group->now.calls;
		const struct slab_holder holder = {
			.name = group->name,
			.objects = calls,
			.bytes = bytes,
			.pages = calls > 0 && bytes / calls % page_size == 0,
		};

		if (calls > 0 && bytes > 0 && bytes % calls == 0 &&
		    !site_reserved(group->site))
			add_to_caches(holders, holder, slabs, bytes / calls, has_room);
	}
	sort(holders);
}

static bool is_kmalloc(const struct slab_cache *cache, const struct slab_holder *holder)
{
	return strstr(cache->name, "kmalloc") && has_room(cache, holder);
}

static bool is_no_kmalloc(const struct slab_cache *cache, const struct slab_holder *holder)
{
	return !strstr(cache->name, "kmalloc") && has_room(cache, holder);
}

/*
 * kmalloc() has several caches of one size for different purposes; a log tells only the size.
 */
static void add_use(struct slab_holders *holders, const struct slabinfo *slabs,
		    const struct kmem *kmem, const struct kmem_use *use)
{
	const char *cache = kmem_use_cache(kmem, use);
	struct slab_holder holder = {
		.name = kmem->caller[use->caller].name,
		.objects = kmem_use_alive(use),
		.bytes = mul64(kmem_use_alive(use), use->size),
		.certain = true,
	};

	for (size_t i = 0; i < slabs->count && cache; i++) {
		if (strcmp(slabs->cache[i].name, cache))
			continue;
		holder.cache = slabs->cache[i].name;
		add(holders, &holder);
		return;
	}
	holder.certain = false;
	if (!cache)
		add_to_caches(holders, holder, slabs, use->size,
			      use->is_malloc ? is_kmalloc : is_no_kmalloc);
}

void slab_holders_by_trace(struct slab_holders *holders, const struct slabinfo *slabs,
			   const struct kmem *kmem)
{
	*holders = (struct slab_holders){ 0 };
	for (size_t i = 0; i < kmem->uses; i++)
		if (kmem_use_alive(&kmem->use[i]) > 0)
			add_use(holders, slabs, kmem, &kmem->use[i]);
	sort(holders);
}

/* One call site can have several lines, with different stacks. */
void slab_holders_by_traces(struct slab_holders *holders, const struct slab_cache *cache,
			    const struct alloc_traces *traces)
{
	size_t first = holders->count;

	for (size_t i = 0; i < traces->count; i++) {
		const struct alloc_trace *trace = &traces->trace[i];
		size_t k = first;

		while (k < holders->count && strcmp(holders->holder[k].name, trace->site))
			k++;
		if (k == holders->count) {
			const struct slab_holder holder = {
				.cache = cache->name, .certain = true,
				.name = arena_copy(&holders->strings, trace->site,
						   strlen(trace->site)),
			};

			add(holders, &holder);
		}
		holders->holder[k].objects = add64(holders->holder[k].objects, trace->objects);
		holders->holder[k].bytes = mul64(holders->holder[k].objects, cache->object_size);
	}
	sort(holders);
}

const struct slab_holder *slab_holders_find(const struct slab_holders *holders,
					    const struct slab_cache *cache, size_t *count)
{
	const struct slab_holder *first = NULL;

	*count = 0;
	for (size_t i = 0; i < holders->count; i++) {
		if (holders->holder[i].cache != cache->name)
			continue;
		first = first ? first : &holders->holder[i];
		++*count;
	}
	return first;
}

void slab_holders_free(struct slab_holders *holders)
{
	groups_free(&holders->groups);
	arena_free(&holders->strings);
	free(holders->holder);
	*holders = (struct slab_holders){ 0 };
}
