// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts: a page that is split becomes several, each of which is freed by itself.
 *
 * A split is no allocation, and a tag counts each part as a free. So what an id holds is
 * its allocations, and the parts that were added here, without its frees. Splits are rare
 * and come from few sites: a small hash table has room for the ids of these. Contexts have
 * a count of their own on each CPU.
 */
#include <linux/atomic.h>
#include "parts.h"

struct codetag_parts codetag_parts_of[CODETAG_MAX_PARTS];

/* How often there was no room. */
atomic_long_t codetag_parts_nr_lost;

/* The entry of an id. NULL if it has none and @make is false, or the table has no room. */
static struct codetag_parts *parts_of(u16 id, bool make)
{
	size_t i, first = codetag_parts_first(id) - codetag_parts_of;
	struct codetag_parts *parts;
	u32 owner;

	for (i = 0; i < CODETAG_PARTS_STEPS; i++) {
		parts = &codetag_parts_of[(first + i) % CODETAG_MAX_PARTS];
		owner = READ_ONCE(parts->id);
		if (!owner && make)
			owner = cmpxchg(&parts->id, 0, id) ?: id;
		if (owner == id)
			return parts;
		if (!owner)
			return NULL;
	}
	return NULL;
}

/**
 * codetag_parts_add - add parts to the allocations of an id
 * @id:	the id, not that of a context
 * @nr:	how many
 *
 * Context: Any.
 * Return: false if the table has no room; that is counted.
 */
bool codetag_parts_add(u16 id, u32 nr)
{
	struct codetag_parts *parts = parts_of(id, true);

	if (!parts) {
		atomic_long_inc(&codetag_parts_nr_lost);
		return false;
	}
	atomic_add(nr, &parts->nr);
	return true;
}

/**
 * codetag_parts - how many parts splits have added to the allocations of an id
 * @id: the id
 *
 * Context: Any.
 * Return: The number, modulo 2^32.
 */
u32 codetag_parts(u16 id)
{
	struct codetag_parts *parts = parts_of(id, false);

	return parts ? atomic_read(&parts->nr) : 0;
}

/**
 * codetag_parts_forget - forget the parts of ids that are given back
 * @first:	the first id
 * @nr:		how many there are
 *
 * Context: Any; no memory is charged to the ids.
 */
void codetag_parts_forget(u16 first, unsigned int nr)
{
	struct codetag_parts *parts;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		parts = parts_of(first + i, false);
		if (parts)
			atomic_set(&parts->nr, 0);
	}
}
