/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recount of all references, for the audit: how what is found is added up,
 * and what of it takes the insides of the slab and the percpu allocator.
 */
#ifndef _MM_CODETAG_RECOUNT_H
#define _MM_CODETAG_RECOUNT_H

#include <linux/atomic.h>
#include <linux/types.h>

struct page;

/**
 * struct codetag_found - what was found of one id
 * @bytes:	size of all that holds it
 * @calls:	how many hold it
 */
struct codetag_found {
	atomic64_t bytes;
	atomic64_t calls;
};

/**
 * struct codetag_recount - what one CPU counts
 * @found:	what all CPUs have found, by id
 * @id:		the id that was found last, most often it is the next one, too
 * @bytes:	of @id, what is not in @found yet
 * @calls:	the same
 * @pages:	pages that were looked at
 * @objects:	slab and percpu objects that hold an id
 */
struct codetag_recount {
	struct codetag_found *found;
	u16 id;
	u64 bytes;
	u64 calls;
	unsigned long pages;
	unsigned long objects;
};

/**
 * codetag_recount_flush - add to @found what is not in it yet
 * @rc: the recount
 */
static inline void codetag_recount_flush(struct codetag_recount *rc)
{
	atomic64_add(rc->bytes, &rc->found[rc->id].bytes);
	atomic64_add(rc->calls, &rc->found[rc->id].calls);
	rc->bytes = 0;
	rc->calls = 0;
}

/**
 * codetag_recount_add - note a reference that the recount has come across
 * @rc:		the recount
 * @id:		the id found
 * @bytes:	size of the memory that holds it
 */
static inline void codetag_recount_add(struct codetag_recount *rc, u16 id, size_t bytes)
{
	if (id != rc->id) {
		codetag_recount_flush(rc);
		rc->id = id;
	}
	rc->bytes += bytes;
	rc->calls++;
}

bool codetag_recount_prepare(void);
void codetag_recount_done(void);
void codetag_recount_slab(struct codetag_recount *rc, struct page *page);
void codetag_recount_percpu(struct codetag_recount *rc);

#endif /* _MM_CODETAG_RECOUNT_H */
