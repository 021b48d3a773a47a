/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts summed: by site, by any of their keys, by caller. */
#ifndef CODETAG_CONTEXT_GROUP_H
#define CODETAG_CONTEXT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "model/callers.h"

/* Words to sum by, besides the keys of contexts by their names. */
#define BY_CONTEXT_SITE "site"
#define BY_CONTEXT_CALLER "caller"	/* the module of the caller */
#define BY_CONTEXT_FUNCTION "function"	/* the caller itself */
#define BY_CONTEXT_STACK "stack"

struct context_sum {
	int64_t bytes, calls, allocs;
	int64_t requested;	/* bytes, of those contexts that know them … */
	size_t sized;		/* … and the number of these contexts */
	size_t counted;		/* contexts whose allocs are known */
	size_t contexts;
};

void context_sum_add(struct context_sum *sum, const struct context_sum *more);

/* The sums of one context. */
struct context_sum context_sum_of(const struct contexts *contexts,
				  const struct context *context);

struct context_group {
	const char *name;		/* identifies the group */
	const struct context *context;	/* one of them */
	struct context_sum sum;
};

struct context_groups {
	const char *const *by;	/* words; none: each context apart */
	size_t by_count;
	struct context_group *group;
	size_t count, room;
	struct context_sum sum;		/* of all */
	struct strmap names;
};

/* Whether all contexts of a group have the same @word. */
bool context_groups_by(const struct context_groups *groups, const char *word);

/*
 * Appends the value @word of a context. Returns false and appends nothing if the context has
 * none.
 */
bool context_word(struct text *text, const struct contexts *contexts,
		  const struct context *context, const char *word,
		  const struct helpers *helpers, struct callers *callers);

void context_groups_add(struct context_groups *groups, const struct contexts *contexts,
			const struct context *context, const struct helpers *helpers,
			struct callers *callers);

enum context_order { CONTEXTS_BY_SIZE, CONTEXTS_BY_CALLS, CONTEXTS_BY_ALLOCS, CONTEXTS_BY_NAME };

/* Largest first, names from A to Z; equal ones as they were read. */
void context_groups_sort(struct context_groups *groups, enum context_order order);
void context_groups_free(struct context_groups *groups);

/*
 * Keeps the sites that @query (may be NULL) selects and, of the contexts, those whose memory is
 * at least @min_age old. Returns the number of those that are not kept because they have no age.
 */
struct query;
size_t contexts_select(struct contexts *contexts, const struct query *query, int64_t min_age);

/* Keeps only the contexts of @site. */
void contexts_select_site(struct contexts *contexts, const struct site *site);

#endif
