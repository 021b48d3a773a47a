/* SPDX-License-Identifier: GPL-2.0-only */
/* Slab caches: choosing, sorting, adding up, and comparing with an earlier list. */
#ifndef CODETAG_SLAB_RANK_H
#define CODETAG_SLAB_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/slabinfo.h"

/* The sort keys of slabtop. */
struct slab_key {
	const char *key;	/* a letter */
	const char *meaning;	/* the letter, and the value that it sorts by */
	bool of_changes;	/* makes sense for changes, too */
};

#define SLAB_KEYS 10

extern const struct slab_key slab_keys[SLAB_KEYS];

/* NULL: there is no such key. */
const struct slab_key *slab_key(int letter);

struct slab_choice {
	char key;		/* the letter of the key to sort by */
	int64_t page_size;
	const char *pattern;	/* a glob, NULL: any name */
	bool all;		/* also those without a slab */
};

int64_t slab_size(const struct slab_cache *cache, int64_t page_size);

/* The share of objects in use, in per cent. */
double slab_use(const struct slab_cache *cache);

/* Drops caches that are not chosen, and sorts the others, the largest first. */
void slab_rank(struct slabinfo *info, const struct slab_choice *choice);

struct slab_totals {
	int64_t active, objects, active_slabs, slabs, size, used;
	int64_t active_caches, min, avg, max;	/* size of the objects */
};

void slab_add_up(struct slab_totals *totals, const struct slabinfo *info, int64_t page_size);

/* The growth of @cache, 0 if it was not there @before. */
int64_t slab_growth(const struct slab_cache *cache, const struct slabinfo *before,
		    int64_t page_size);

/* A cache before and now: one that does not exist has no slabs and no objects. */
struct slab_change {
	const char *name;	/* of the cache in @old or @new */
	struct slab_cache before, now;
	bool was, is;
};

struct slab_changes {
	struct slab_change *change;
	size_t count, room;
	size_t left_out;	/* only one list has it, and the other list is a part */
};

/* Whether the pattern of @choice, if it has one, is the name of a cache. */
bool slab_any_chosen(const struct slabinfo *info, const struct slab_choice *choice);

/*
 * Those of @choice, the largest change first. With choice->all also those that did
 * not change.
 */
void slab_diff(struct slab_changes *changes, const struct slabinfo *old,
	       const struct slabinfo *new, const struct slab_choice *choice);
bool slab_unchanged(const struct slab_change *change);
void slab_changes_free(struct slab_changes *changes);

#endif
