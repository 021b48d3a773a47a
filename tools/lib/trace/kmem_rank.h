/* SPDX-License-Identifier: GPL-2.0-only */
/* The callers of a trace, sorted, and the findings of a trace. */
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

/* Whether it needs the requested sizes. */
bool kmem_key_of_waste(enum kmem_key key);

struct kmem_order {
	enum kmem_key key;
	bool frees_too;		/* also callers that only free */
	size_t top;		/* 0: all */
};

/* Called after kmem_sum(). The caller frees the array. */
const struct kmem_caller **kmem_rank(const struct kmem *kmem,
				     const struct kmem_order *order, size_t *count);

/*
 * Bytes beyond the requested ones: of the live objects, and of all that were ever allocated …
 */
int64_t kmem_waste(const struct kmem_caller *caller);
int64_t kmem_total_waste(const struct kmem_caller *caller);

/* … and these in per cent. */
double kmem_fragmentation(const struct kmem_caller *caller);

/* The sort keys of callers. */
int64_t kmem_weight(const struct kmem_caller *caller, enum kmem_key key);

/* Mean bytes of an allocation, as requested and as allocated. */
int64_t kmem_mean_requested(const struct kmem_caller *caller);
int64_t kmem_mean(const struct kmem_caller *caller);

bool kmem_any_in_branch(const struct kmem *kmem, const char *branch);

#define KMEM_FINDINGS 7

struct kmem_finding_text {
	const struct kmem_finding *finding;
	const char *key, *what;
};

/* All kinds of findings, found or not; returns their number. */
size_t kmem_findings(const struct kmem *kmem,
		     struct kmem_finding_text out[KMEM_FINDINGS]);

#endif
