// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/slabs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct cache_use {
	const struct image_cache *cache;
	uint64_t used, objects, slabs;
	unsigned int objects_per_slab, order;
};

struct counter {
	struct recount *recount;
	struct cache_use *use;
	size_t count, room;
	struct cache_use *last;		/* of the last slab; NULL: that does not count */
	uint64_t pfn;
};

static struct cache_use *use_of(struct counter *c, const struct image_cache *cache)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->use[i].cache == cache)
			return &c->use[i];
	GROW(c->use, c->count, c->room);
	c->use[c->count] = (struct cache_use){ .cache = cache };
	return &c->use[c->count++];
}

static void add_page(void *data, const struct image_page *page, uint64_t nr)
{
	struct counter *c = data;
	struct image_slab slab;

	(void)nr;
	c->last = NULL;
	c->pfn = page->pfn;
	/* KFENCE's objects are in no slab of their cache. */
	if (!page->is_slab || !image_slab_read(c->recount, page, &slab) || slab.kfence)
		return;
	c->last = use_of(c, slab.cache);
	c->last->slabs++;
	c->last->objects += slab.objects;
	if (slab.objects > c->last->objects_per_slab) {
		c->last->objects_per_slab = slab.objects;
		c->last->order = slab.order;
	}
}

static void add_object(void *data, const struct holding *h)
{
	struct counter *c = data;

	if (h->holder == HOLDER_OBJECT && c->last && h->pfn == c->pfn)
		c->last->used++;
}

static int by_name(const void *a, const void *b)
{
	const struct cache_use *x = a, *y = b;
	int order = strcmp(x->cache->name, y->cache->name);

	return order ? order : (x->cache->address > y->cache->address) - (x->cache->address < y->cache->address);
}

void image_slabinfo(struct recount *recount, struct text *text)
{
	struct counter c = { .recount = recount };

	recount->visit = add_object;
	recount->visit_page = add_page;
	recount->data = &c;
	recount_all(recount);
	recount->visit_page = NULL;
	if (c.count)
		qsort(c.use, c.count, sizeof(*c.use), by_name);
	text_puts(text, "slabinfo - version: 2.1\n"
		  "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>"
		  " : tunables <limit> <batchcount> <sharedfactor>"
		  " : slabdata <active_slabs> <num_slabs> <sharedavail>\n");
	for (size_t i = 0; i < c.count; i++) {
		const struct cache_use *use = &c.use[i];
		char name[sizeof(use->cache->name)];

		strcpy(name, use->cache->name[0] ? use->cache->name : "?");
		for (char *s = name; *s; s++)
			if (*s == ' ')
				*s = '_';
		text_printf(text, "%-17s %6" PRIu64 " %6" PRIu64 " %6u %4u %4u : tunables 0 0 0"
			    " : slabdata %" PRIu64 " %" PRIu64 " 0\n", name, use->used, use->objects,
			    use->cache->size, use->objects_per_slab, 1U << use->order, use->slabs,
			    use->slabs);
	}
	free(c.use);
}
