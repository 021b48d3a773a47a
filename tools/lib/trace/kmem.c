// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/secret.h"
#include "base/text.h"

#define LARGE_KMALLOC 8192	/* in every configuration kmalloc() takes pages above it */
#define ZERO_SIZE 16	/* the pointer that kmalloc(0) returns, without an event */

struct kmem_object {
	uint64_t ptr;		/* 0: a free slot */
	int64_t req;
	uint32_t use;
	int16_t cpu;
};

static size_t home(const struct kmem *kmem, uint64_t ptr)
{
	return secret_slot(ptr * secrets()[0], kmem->slots);
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

/* Empties a slot and moves up the entries after it that collided with it. */
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

uint32_t kmem_caller_number(struct kmem *kmem, const char *name, size_t len)
{
	size_t i = strmap_add(&kmem->names, name, len);

	if (i == kmem->callers) {
		GROW(kmem->caller, kmem->callers, kmem->room);
		kmem->caller[kmem->callers++] = (struct kmem_caller){
			.name = kmem->names.entry[i].key,
			.first_use = KMEM_NOBODY,
		};
	}
	return i;
}

uint32_t kmem_cache_number(struct kmem *kmem, const char *name, size_t len)
{
	return name ? strmap_add(&kmem->caches, name, len) : KMEM_NO_CACHE;
}

/* An allocation stays in the same use, whatever cache its free names. */
static bool is_same_use(const struct kmem_use *a, const struct kmem_use *b)
{
	return a->caller == b->caller && a->size == b->size && a->asked == b->asked &&
	       a->is_malloc == b->is_malloc && a->is_free == b->is_free &&
	       a->told == b->told && (a->cache == b->cache || !(a->is_free || a->told));
}

/* The slot of the use, or the slot where it belongs. */
static uint32_t *use_slot(const struct kmem *kmem, const struct kmem_use *use)
{
	const uint64_t *factor = secrets();
	uint64_t flags = use->is_malloc << 2 | use->is_free << 1 | use->told;
	uint64_t cache = use->is_free || use->told ? use->cache : 0;
	size_t i = secret_slot(use->caller * factor[0] + (uint64_t)use->size * factor[1] +
			       (uint64_t)use->asked * factor[2] + (cache << 3 | flags) * factor[3],
			       kmem->use_slots);

	while (kmem->use_slot[i] && !is_same_use(&kmem->use[kmem->use_slot[i] - 1], use))
		i = (i + 1) & (kmem->use_slots - 1);
	return &kmem->use_slot[i];
}

static void resize_uses(struct kmem *kmem)
{
	kmem->use_slots = kmem->use_slots ? 2 * kmem->use_slots : 256;
	free(kmem->use_slot);
	kmem->use_slot = xcalloc(kmem->use_slots, sizeof(*kmem->use_slot));
	for (size_t i = 0; i < kmem->uses; i++)
		*use_slot(kmem, &kmem->use[i]) = i + 1;
}

struct kmem_use *kmem_add_use(struct kmem *kmem, const struct kmem_use *use)
{
	struct kmem_caller *caller = &kmem->caller[use->caller];
	struct kmem_use *added;

	if (2 * (kmem->uses + 1) > kmem->use_slots)
		resize_uses(kmem);
	*use_slot(kmem, use) = kmem->uses + 1;
	GROW(kmem->use, kmem->uses, kmem->use_room);
	added = &kmem->use[kmem->uses];
	*added = *use;
	added->next = caller->first_use;
	caller->first_use = kmem->uses++;
	return added;
}

/* "bash-811", also for perf's "bash   811". */
static uint32_t task_of(struct kmem *kmem, const struct kmem_event *event)
{
	const char *task = event->task ? event->task : "?";
	size_t len = event->task ? event->task_len : 1, pid = len;
	struct text name = { 0 };
	uint32_t number;

	while (pid && task[pid - 1] != ' ')
		pid--;
	if (!pid)
		return kmem_caller_number(kmem, task, len);
	for (len = pid; len && task[len - 1] == ' '; )
		len--;
	text_printf(&name, "%.*s-%.*s", (int)len, task,
		    (int)(event->task_len - pid), task + pid);
	number = kmem_caller_number(kmem, name.s, name.len);
	text_free(&name);
	return number;
}

/* Functions of several modules can have one name. */
static uint32_t caller_of(struct kmem *kmem, const struct kmem_event *event)
{
	struct text name = { 0 };
	uint32_t number;

	if (kmem->by_task)
		return task_of(kmem, event);
	if (!event->site)
		return kmem_caller_number(kmem, "?", 1);
	if (!event->module)
		return kmem_caller_number(kmem, event->site, event->site_len);
	text_add(&name, event->site, event->site_len);
	text_add(&name, " ", 1);
	text_add(&name, event->module, event->module_len);
	number = kmem_caller_number(kmem, name.s, name.len);
	text_free(&name);
	return number;
}

/*
 * The use for an event. Newer logs name the cache of an allocation; otherwise the first free of
 * an object tells it.
 */
static struct kmem_use *find_use(struct kmem *kmem, const struct kmem_event *event,
				 bool is_free)
{
	const struct kmem_use wanted = {
		.caller = caller_of(kmem, event),
		.cache = kmem_cache_number(kmem, event->cache, event->cache_len),
		.is_malloc = event->kind == KMEM_MALLOC || event->kind == KMEM_FREE,
		.is_free = is_free,
		.told = event->cache && !is_free,
		.size = event->allocated,
		.asked = is_free ? 0 : event->requested,
	};
	uint32_t i = kmem->use_slots ? *use_slot(kmem, &wanted) : 0;

	if (i)
		return &kmem->use[i - 1];
	return kmem_add_use(kmem, &wanted);
}

static void found(struct kmem_finding *finding, uint32_t allocator, uint32_t freer)
{
	if (!finding->count++) {
		finding->allocator = allocator;
		finding->freer = freer;
	}
}

int64_t kmem_use_alive(const struct kmem_use *use)
{
	return use->is_free ? 0 : sub64(use->calls, use->freed);
}

static void give_back(struct kmem *kmem, const struct kmem_object *object)
{
	struct kmem_use *use = &kmem->use[object->use];

	use->requested_now = sub64(use->requested_now, object->req);
	/* Pages can be freed in parts, too: requested_now is the part that is alive. */
	if (!kmem->pages)
		use->freed++;
	else
		while (kmem_use_alive(use) > 0 &&
		       sub64(mul64(use->size, kmem_use_alive(use)), use->requested_now) >= use->size)
			use->freed++;
}

/*
 * The place for the last large pointer of the CPU of @event; logs without CPUs have one place.
 */
static uint64_t *large_of(struct kmem *kmem, const struct kmem_event *event)
{
	size_t cpu = event->cpu > 0 ? (size_t)event->cpu : 0;

	if (cpu >= kmem->cpus) {
		kmem->large = xreallocarray(kmem->large, cpu + 1, sizeof(*kmem->large));
		memset(kmem->large + kmem->cpus, 0, (cpu + 1 - kmem->cpus) * sizeof(*kmem->large));
		kmem->cpus = cpu + 1;
	}
	return &kmem->large[cpu];
}

/*
 * Linux 6.12 and others have two events for one large kmalloc(). The first is for the function
 * that gets the pages, the second for its caller, which is the one that counts. Returns true if
 * @event is such a second one.
 */
static bool is_told_again(struct kmem *kmem, const struct kmem_event *event)
{
	struct kmem_object *object;
	struct kmem_use *use;

	if (event->kind != KMEM_MALLOC || !event->ptr || *large_of(kmem, event) != event->ptr)
		return false;
	object = find(kmem, event->ptr);
	if (!object->ptr)
		return false;
	use = &kmem->use[object->use];
	return use->is_malloc && use->size == event->allocated && use->asked == event->requested;
}

/* The event before @event was for the same allocation; this one has the caller. */
static void replace_alloc(struct kmem *kmem, const struct kmem_event *event)
{
	struct kmem_use *to = find_use(kmem, event, false);
	struct kmem_object *object = find(kmem, event->ptr);
	struct kmem_use *from = &kmem->use[object->use];

	from->calls--;
	from->requested = sub64(from->requested, object->req);
	from->requested_now = sub64(from->requested_now, object->req);
	to->calls++;
	to->requested = add64(to->requested, object->req);
	to->requested_now = add64(to->requested_now, object->req);
	object->use = to - kmem->use;
}

static void add_alloc(struct kmem *kmem, const struct kmem_event *told)
{
	struct kmem_event limited = *told, *event = &limited;
	struct kmem_object *object;
	struct kmem_use *use;

	if (!event->ptr) {
		kmem->failed++;
		return;
	}
	/* A negative waste does not reduce that of others. */
	if (event->requested > event->allocated)
		event->requested = event->allocated;
	if (is_told_again(kmem, event)) {
		replace_alloc(kmem, event);
		return;
	}
	use = find_use(kmem, event, false);
	if (told->requested > event->requested)
		found(&kmem->too_small, use->caller, KMEM_NOBODY);
	if ((kmem->objects + 1) * 2 > kmem->slots)
		resize(kmem, kmem->slots ? kmem->slots * 2 : 1024);
	object = find(kmem, event->ptr);
	if (object->ptr) {
		found(&kmem->reused, kmem->use[object->use].caller, KMEM_NOBODY);
		give_back(kmem, object);
	} else if ((int64_t)++kmem->objects > kmem->most_objects) {
		kmem->most_objects = (int64_t)kmem->objects;
	}
	*object = (struct kmem_object){
		.ptr = event->ptr,
		.req = event->requested,
		.use = use - kmem->use,
		.cpu = (int16_t)event->cpu,
	};
	use->calls++;
	use->requested = add64(use->requested, event->requested);
	use->requested_now = add64(use->requested_now, event->requested);
}

/* kmem_cache_free() names the cache; in some kernels no other event does. */
static void learn_cache(struct kmem *kmem, struct kmem_use *use,
			const struct kmem_use *freer)
{
	if (freer->cache == KMEM_NO_CACHE || freer->cache == use->cache)
		return;
	if (use->cache == KMEM_NO_CACHE)
		use->cache = freer->cache;
	else if (use->told)
		found(&kmem->wrong_cache, use->caller, freer->caller);
	else
		use->several = true;
}

/* Frees @object, at @freer. */
static void free_object(struct kmem *kmem, struct kmem_object *object,
			const struct kmem_event *event, const struct kmem_use *freer)
{
	struct kmem_use *use;

	use = &kmem->use[object->use];
	if (event->cpu >= 0 && object->cpu >= 0 && event->cpu != object->cpu) {
		found(&kmem->remote, use->caller, freer->caller);
		use->remote_freed++;
	}
	if (use->is_malloc != freer->is_malloc)
		found(&kmem->wrong_function, use->caller, freer->caller);
	else if (!use->is_malloc)
		learn_cache(kmem, use, freer);
	give_back(kmem, object);
	remove_object(kmem, object);
}

static void add_free(struct kmem *kmem, const struct kmem_event *event)
{
	struct kmem_object *object;
	struct kmem_use *freer;

	if (!event->ptr || event->ptr == ZERO_SIZE)
		return;		/* like free(NULL) */
	freer = find_use(kmem, event, true);
	freer->calls++;
	object = kmem->slots ? find(kmem, event->ptr) : NULL;
	if (!object || !object->ptr)
		found(&kmem->unknown, KMEM_NOBODY, freer->caller);
	else
		free_object(kmem, object, event, freer);
}

/* Page frames and pointers cannot collide, because no object has an odd address. */
static uint64_t page_key(uint64_t pfn)
{
	return pfn << 12 | 1;
}

static int64_t page_bytes(const struct kmem *kmem, unsigned int order)
{
	return mul64(kmem->page_size, (int64_t)1 << order);
}

/* The live pages that contain @pfn and begin at *@base; NULL: there are none. */
static struct kmem_object *find_pages(const struct kmem *kmem, uint64_t pfn, uint64_t *base)
{
	for (unsigned int order = 0; kmem->slots && order <= kmem->most_order; order++) {
		struct kmem_object *object;

		*base = pfn >> order << order;
		object = find(kmem, page_key(*base));
		if (object->ptr && object->req >= page_bytes(kmem, order))
			return object;
	}
	return NULL;
}

static void add_part(struct kmem *kmem, const struct kmem_object *of, uint64_t pfn,
		     unsigned int order)
{
	struct kmem_object *part;

	if ((kmem->objects + 1) * 2 > kmem->slots)
		resize(kmem, kmem->slots * 2);
	part = find(kmem, page_key(pfn));
	if (part->ptr)
		return;
	*part = *of;
	part->ptr = page_key(pfn);
	part->req = page_bytes(kmem, order);
	kmem->objects++;
}

/*
 * Code that splits pages can free them in parts. The rest goes on as the blocks that are left.
 */
static void free_part(struct kmem *kmem, struct kmem_object *object, uint64_t base,
		      const struct kmem_event *event, const struct kmem_use *freer)
{
	const struct kmem_object whole = *object;
	uint64_t pfn = event->ptr;

	found(&kmem->in_parts, kmem->use[whole.use].caller, freer->caller);
	remove_object(kmem, object);
	for (unsigned int order = (unsigned int)event->order;
	     order < kmem->most_order && page_bytes(kmem, order) < whole.req; order++)
		add_part(kmem, &whole, base + (((pfn - base) ^ ((uint64_t)1 << order)) >> order << order),
			 order);
	add_part(kmem, &whole, pfn, (unsigned int)event->order);
	object = find(kmem, page_key(pfn));
	free_object(kmem, object, event, freer);
}

/* @event has the page and its order. */
static void free_pages(struct kmem *kmem, const struct kmem_event *event)
{
	int64_t bytes = page_bytes(kmem, (unsigned int)event->order);
	struct kmem_event page = *event;
	struct kmem_object *object;
	struct kmem_use *freer;
	uint64_t pfn = event->ptr, end = pfn + ((uint64_t)1 << event->order), base;
	bool any = false;

	page.allocated = page.requested = 0;	/* as in other frees */
	freer = find_use(kmem, &page, true);
	freer->calls++;
	object = find_pages(kmem, pfn, &base);
	if (object && object->req > bytes) {
		free_part(kmem, object, base, event, freer);
		return;
	}
	/* Several allocations can be freed by one call. */
	while (pfn < end) {
		uint64_t step = 1;

		object = find_pages(kmem, pfn, &base);
		if (object && base == pfn) {
			step = kmem->page_size ? (uint64_t)(object->req / kmem->page_size) : 1;
			free_object(kmem, object, event, freer);
			any = true;
		} else if (event->order > 10) {
			break;
		}
		pfn += step ? step : 1;
	}
	if (!any)
		found(&kmem->unknown, KMEM_NOBODY, freer->caller);
}

static void add_page(struct kmem *kmem, const struct kmem_event *event)
{
	unsigned int order = (unsigned int)event->order;
	struct kmem_event page = *event;
	struct kmem_object *before;
	uint64_t base;

	if (event->kind == KMEM_PAGE_FREE) {
		free_pages(kmem, event);
		return;
	}
	/* The number of a page that does not exist is printed as 0, and raw as -1. */
	if (!event->ptr || event->ptr == UINT64_MAX) {
		kmem->failed++;
		return;
	}
	before = find_pages(kmem, event->ptr, &base);
	if (before && base != event->ptr) {
		found(&kmem->reused, kmem->use[before->use].caller, KMEM_NOBODY);
		give_back(kmem, before);
		remove_object(kmem, before);
	}
	if (order > kmem->most_order)
		kmem->most_order = order;
	page.ptr = page_key(event->ptr);
	page.allocated = page.requested = page_bytes(kmem, order);
	add_alloc(kmem, &page);
}

void kmem_add(struct kmem *kmem, const struct kmem_event *event)
{
	bool is_page = event->kind == KMEM_PAGE_ALLOC || event->kind == KMEM_PAGE_FREE;
	bool is_object = event->kind >= KMEM_MALLOC && event->kind <= KMEM_CACHE_FREE;

	if (kmem->pages ? is_object : is_page) {
		kmem->other_events++;
		return;
	}
	switch (event->kind) {
	case KMEM_PAGE_ALLOC:
	case KMEM_PAGE_FREE:
		kmem->events++;
		add_page(kmem, event);
		break;
	case KMEM_MALLOC:
	case KMEM_CACHE_ALLOC:
		kmem->events++;
		add_alloc(kmem, event);
		*large_of(kmem, event) = event->kind == KMEM_MALLOC &&
			event->allocated > LARGE_KMALLOC ? event->ptr : 0;
		break;
	case KMEM_FREE:
	case KMEM_CACHE_FREE:
		kmem->events++;
		add_free(kmem, event);
		*large_of(kmem, event) = 0;
		break;
	case KMEM_LOST:
		kmem->lost = add64(kmem->lost, (int64_t)event->lost);
		break;
	case KMEM_OVERWRITTEN:
		kmem->overwritten = add64(kmem->overwritten, (int64_t)event->lost);
		break;
	case KMEM_BAD:
		if (!kmem->bad++) {
			kmem->bad_line = event->line;
			kmem->why_bad = event->why;
		}
		break;
	case KMEM_STACK:
	case KMEM_FRAME:
	case KMEM_NONE:
		break;
	}
}

const char *kmem_use_cache(const struct kmem *kmem, const struct kmem_use *use)
{
	if (use->cache == KMEM_NO_CACHE || use->several)
		return NULL;
	return kmem->caches.entry[use->cache].key;
}

bool kmem_selects(const struct kmem *kmem, const struct kmem_use *use,
		  const struct kmem_filter *filter)
{
	const struct kmem_caller *caller = &kmem->caller[use->caller];
	const char *cache;

	if (!path_is_below(caller->path, filter->branch) ||
	    (filter->caller && !glob_match(filter->caller, caller->name)))
		return false;
	if (use->is_malloc ? filter->cache_only : filter->malloc_only)
		return false;
	if (!filter->cache)
		return true;
	cache = kmem_use_cache(kmem, use);
	return cache && !strcmp(cache, filter->cache);
}

void kmem_caller_add(const struct kmem *kmem, struct kmem_caller *caller,
		     const struct kmem_use *use)
{
	if (use->is_free) {
		caller->frees = add64(caller->frees, use->calls);
		return;
	}
	caller->allocs = add64(caller->allocs, use->calls);
	caller->freed = add64(caller->freed, use->freed);
	caller->remote_freed = add64(caller->remote_freed, use->remote_freed);
	caller->total_req = add64(caller->total_req, use->requested);
	caller->total_alloc = add64(caller->total_alloc, mul64(use->size, use->calls));
	caller->current_req = add64(caller->current_req, use->requested_now);
	caller->current_alloc = add64(caller->current_alloc, kmem->pages ? use->requested_now :
				      mul64(use->size, kmem_use_alive(use)));
}

struct kmem_callers kmem_sum(struct kmem *kmem, const struct kmem_filter *filter,
			     struct kmem_caller *total)
{
	struct kmem_callers callers = { 0 };

	*total = (struct kmem_caller){ 0 };
	for (size_t i = 0; i < kmem->callers; i++) {
		struct kmem_caller *caller = &kmem->caller[i];
		uint32_t u = caller->first_use;

		*caller = (struct kmem_caller){
			.name = caller->name, .path = caller->path, .first_use = u,
		};
		for (; u != KMEM_NOBODY; u = kmem->use[u].next) {
			if (!kmem_selects(kmem, &kmem->use[u], filter))
				continue;
			kmem_caller_add(kmem, caller, &kmem->use[u]);
			kmem_caller_add(kmem, total, &kmem->use[u]);
		}
		callers.allocate += caller->allocs != 0;
		callers.only_free += !caller->allocs && caller->frees;
	}
	return callers;
}

void kmem_free(struct kmem *kmem)
{
	free(kmem->caller);
	free(kmem->use);
	free(kmem->use_slot);
	free(kmem->object);
	free(kmem->large);
	strmap_free(&kmem->names);
	strmap_free(&kmem->caches);
	*kmem = (struct kmem){ 0 };
}
