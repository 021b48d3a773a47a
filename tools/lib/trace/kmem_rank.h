/* SPDX-License-Identifier: GPL-2.0 */
/* The callers of a trace in an order, and what looks wrong in it. */
#ifndef CODETAG_KMEM_RANK_H
#define CODETAG_KMEM_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kmem.h"

enum kmem_key {
	TOTAL_DYNAMIC, CURRENT_DYNAMIC, ALLOC_COUNT, FREE_COUNT, WASTE, REMOTE_FREED, KMEM_KEYS
};

extern const char *const kmem_key_names[KMEM_KEYS];

struct kmem_order {
	enum kmem_key key;
	const char *branch;	/* only callers in files below it; NULL: all */
	bool frees_too;		/* those, too, that only free */
	size_t top;		/* 0: all */
};

/* After kmem_sum(). The caller frees the array. */
const struct kmem_caller **kmem_rank(const struct kmem *kmem,
				     const struct kmem_order *order, size_t *count);

/* The same in per cent of what was allocated. */
double kmem_fragmentation(const struct kmem_caller *caller);

/* What callers are ordered by. */
int64_t kmem_weight(const struct kmem_caller *caller, enum kmem_key key);

/* Whether @path (NULL: not known) is below @branch (NULL: all are). */
bool kmem_in_branch(const char *branch, const char *path);
bool kmem_any_in_branch(const struct kmem *kmem, const char *branch);

/* Bytes ever allocated that nobody asked for. */
int64_t kmem_waste(const struct kmem_caller *caller);

#define KMEM_FINDINGS 7

struct kmem_finding_text {
	const struct kmem_finding *finding;
	const char *key, *what;
};

/* All kinds, found or not; returns how many. */
size_t kmem_findings(const struct kmem *kmem,
		     struct kmem_finding_text out[KMEM_FINDINGS]);

#endif
