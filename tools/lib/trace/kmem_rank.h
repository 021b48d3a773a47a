/* SPDX-License-Identifier: GPL-2.0 */
/* The callers of a trace in an order, and what looks wrong in it. */
#ifndef CODETAG_KMEM_RANK_H
#define CODETAG_KMEM_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kmem.h"

enum kmem_key {
	TOTAL_DYNAMIC, CURRENT_DYNAMIC, ALLOC_COUNT, FREE_COUNT, WASTE, TOTAL_WASTE, REMOTE_FREED,
	KMEM_KEYS
};

extern const char *const kmem_key_names[KMEM_KEYS];

struct kmem_order {
	enum kmem_key key;
	bool frees_too;		/* those, too, that only free */
	size_t top;		/* 0: all */
};

/* After kmem_sum(). The caller frees the array. */
const struct kmem_caller **kmem_rank(const struct kmem *kmem,
				     const struct kmem_order *order, size_t *count);

/* Bytes that nobody asked for: of what is alive, and of all that was ever allocated … */
int64_t kmem_waste(const struct kmem_caller *caller);
int64_t kmem_total_waste(const struct kmem_caller *caller);

/* … and the latter in per cent. */
double kmem_fragmentation(const struct kmem_caller *caller);

/* What callers are ordered by. */
int64_t kmem_weight(const struct kmem_caller *caller, enum kmem_key key);

/* Bytes of an allocation, as asked for and as given, on average. */
int64_t kmem_mean_requested(const struct kmem_caller *caller);
int64_t kmem_mean(const struct kmem_caller *caller);

bool kmem_any_in_branch(const struct kmem *kmem, const char *branch);

#define KMEM_FINDINGS 7

struct kmem_finding_text {
	const struct kmem_finding *finding;
	const char *key, *what;
};

/* All kinds, found or not; returns how many. */
size_t kmem_findings(const struct kmem *kmem,
		     struct kmem_finding_text out[KMEM_FINDINGS]);

#endif
