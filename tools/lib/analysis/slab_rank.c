// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/slab_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/number.h"
#include "base/strmap.h"

const struct slab_key slab_keys[SLAB_KEYS] = {
	{ "a", "a active objects", true },
	{ "b", "b objects per slab", false },
	{ "c", "c cache size", true },
	{ "l", "l slabs", true },
	{ "n", "n name", true },
	{ "o", "o objects", true },
	{ "p", "p pages per slab", false },
	{ "s", "s object size", false },
	{ "u", "u use", false },
	{ "v", "v active slabs", true },
};

const struct slab_key *slab_key(int letter)
{
	for (size_t i = 0; i < SLAB_KEYS; i++)
		if (*slab_keys[i].key == letter)
			return &slab_keys[i];
	return NULL;
}

int64_t slab_size(const struct slab_cache *cache, int64_t page_size)
{
	/* From the kernel's log, where sizes are rounded to KiB. */
	if (cache->kb)
		return mul64(cache->kb, 1024);
	return mul64(mul64(cache->slabs, cache->pages_per_slab), page_size);
}

double slab_use(const struct slab_cache *cache)
{
	return cache->kb_used ? percent(cache->kb_used, cache->kb) :
	       percent(cache->active, cache->objects);
}

/* The value that @key sorts by; 0 for the name. */
static double weight(const struct slab_cache *cache, char key, int64_t page_size)
{
	switch (key) {
	case 'a':
		return (double)cache->active;
	case 'b':
		return (double)cache->objects_per_slab;
	case 'c':
		return (double)slab_size(cache, page_size);
	case 'l':
		return (double)cache->slabs;
	case 'o':
		return (double)cache->objects;
	case 'p':
		return (double)cache->pages_per_slab;
	case 's':
		return (double)cache->object_size;
	case 'u':
		return slab_use(cache);
	case 'v':
		return (double)cache->active_slabs;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct slab_cache *x = a, *y = b;
	const struct slab_choice *choice = context;
	double wx = weight(x, choice->key, choice->page_size);
	double wy = weight(y, choice->key, choice->page_size);

	return wx != wy ? (wx < wy) - (wx > wy) : strcmp(x->name, y->name);
}

static bool is_chosen(const struct slab_choice *choice, const char *name)
{
	return !choice->pattern || glob_match(choice->pattern, name);
}

bool slab_any_chosen(const struct slabinfo *info, const struct slab_choice *choice)
{
	for (size_t i = 0; i < info->count; i++)
		if (is_chosen(choice, info->cache[i].name))
			return true;
	return !choice->pattern;
}

void slab_rank(struct slabinfo *info, const struct slab_choice *choice)
{
	size_t kept = 0;

	for (size_t i = 0; i < info->count; i++) {
		const struct slab_cache *c = &info->cache[i];

		if ((choice->all || c->slabs || c->kb) && is_chosen(choice, c->name))
			info->cache[kept++] = *c;
	}
	info->count = kept;
	if (kept)
		qsort_r(info->cache, kept, sizeof(*info->cache), compare, (void *)choice);
}

void slab_add_up(struct slab_totals *t, const struct slabinfo *info, int64_t page_size)
{
	*t = (struct slab_totals){ 0 };
	for (size_t i = 0; i < info->count; i++) {
		const struct slab_cache *c = &info->cache[i];

		t->active = add64(t->active, c->active);
		t->objects = add64(t->objects, c->objects);
		t->active_slabs = add64(t->active_slabs, c->active_slabs);
		t->slabs = add64(t->slabs, c->slabs);
		t->size = add64(t->size, slab_size(c, page_size));
		t->active_caches += c->active > 0 || c->kb_used;
		if (!i || c->object_size < t->min)
			t->min = c->object_size;
		if (c->object_size > t->max)
			t->max = c->object_size;
	}
	t->used = slabinfo_object_bytes(info);
	t->avg = t->active ? t->used / t->active : 0;
}

int64_t slab_growth(const struct slab_cache *cache, const struct slabinfo *before,
		    int64_t page_size)
{
	for (size_t i = 0; i < before->count; i++)
		if (!strcmp(before->cache[i].name, cache->name))
			return sub64(slab_size(cache, page_size),
				     slab_size(&before->cache[i], page_size));
	return 0;
}

/* The change of the cache called @name; rows of one name are one cache. */
static struct slab_change *change_of(struct slab_changes *changes, struct strmap *names,
				     const char *name)
{
	size_t i = strmap_add(names, name, strlen(name));

	if (i == changes->count) {
		GROW(changes->change, changes->count, changes->room);
		changes->change[changes->count++] = (struct slab_change){ .name = name };
	}
	return &changes->change[i];
}

static void add_cache(struct slab_cache *to, const struct slab_cache *cache)
{
	struct slab_cache sum = *cache;

	sum.active = add64(to->active, cache->active);
	sum.objects = add64(to->objects, cache->objects);
	sum.active_slabs = add64(to->active_slabs, cache->active_slabs);
	sum.slabs = add64(to->slabs, cache->slabs);
	*to = sum;
}

bool slab_unchanged(const struct slab_change *c)
{
	return c->before.active == c->now.active &&
	       c->before.objects == c->now.objects && c->before.slabs == c->now.slabs &&
	       c->before.active_slabs == c->now.active_slabs &&
	       c->before.kb == c->now.kb && c->before.kb_used == c->now.kb_used &&
	       (!c->now.slabs || (c->before.object_size == c->now.object_size &&
				  c->before.pages_per_slab == c->now.pages_per_slab));
}

static double change_weight(const struct slab_change *c, const struct slab_choice *choice)
{
	double change = weight(&c->now, choice->key, choice->page_size) -
			weight(&c->before, choice->key, choice->page_size);

	return change < 0 ? -change : change;
}

static int compare_changes(const void *a, const void *b, void *context)
{
	const struct slab_change *x = a, *y = b;
	double wx = change_weight(x, context), wy = change_weight(y, context);

	return wx != wy ? (wx < wy) - (wx > wy) : strcmp(x->name, y->name);
}

void slab_diff(struct slab_changes *changes, const struct slabinfo *old,
	       const struct slabinfo *new, const struct slab_choice *choice)
{
	bool old_part = slabinfo_part(old), new_part = slabinfo_part(new);
	struct strmap names = { 0 };
	size_t kept = 0;

	*changes = (struct slab_changes){ 0 };
	for (size_t i = 0; i < old->count; i++) {
		struct slab_change *c = change_of(changes, &names, old->cache[i].name);

		add_cache(&c->before, &old->cache[i]);
		c->was = true;
	}
	for (size_t i = 0; i < new->count; i++) {
		struct slab_change *c = change_of(changes, &names, new->cache[i].name);

		add_cache(&c->now, &new->cache[i]);
		c->is = true;
	}
	strmap_free(&names);
	for (size_t i = 0; i < changes->count; i++) {
		const struct slab_change *c = &changes->change[i];

		if (!is_chosen(choice, c->name))
			continue;
		/* The size before, or now, is not known. */
		if ((!c->was && old_part) || (!c->is && new_part))
			changes->left_out++;
		else if (choice->all || !slab_unchanged(c))
			changes->change[kept++] = *c;
	}
	changes->count = kept;
	if (kept)
		qsort_r(changes->change, kept, sizeof(*changes->change), compare_changes,
			(void *)choice);
}

void slab_changes_free(struct slab_changes *changes)
{
	free(changes->change);
	*changes = (struct slab_changes){ 0 };
}
