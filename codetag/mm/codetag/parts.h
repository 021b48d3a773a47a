/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.c: the parts of pages that were split, of all ids but those of contexts.
 */
#ifndef _MM_CODETAG_PARTS_H
#define _MM_CODETAG_PARTS_H

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/types.h>

/* Ids that can have parts: few sites split pages. A search looks at this many entries. */
#define CODETAG_MAX_PARTS	512
#define CODETAG_PARTS_STEPS	16

/**
 * struct codetag_parts - the parts that splits have added to the allocations of an id
 * @id:	the id, 0: unused; set once, and the entry keeps it
 * @nr:	how many, modulo 2^32
 */
struct codetag_parts {
	u32 id;
	atomic_t nr;
};

extern struct codetag_parts codetag_parts_of[CODETAG_MAX_PARTS];

/* Where the search for the entry of an id begins. Nearly all ids have that entry. */
static inline struct codetag_parts *codetag_parts_first(u16 id)
{
	return &codetag_parts_of[hash_32(id, ilog2(CODETAG_MAX_PARTS))];
}

bool codetag_parts_add(u16 id, u32 nr);
u32 codetag_parts(u16 id);
void codetag_parts_forget(u16 first, unsigned int nr);

extern atomic_long_t codetag_parts_nr_lost;

#endif /* _MM_CODETAG_PARTS_H */
