/* SPDX-License-Identifier: GPL-2.0-only */
/* How contexts are printed as a table. */
#ifndef CODETAG_CONTEXTS_VIEW_H
#define CODETAG_CONTEXTS_VIEW_H

#include <argp.h>

#include "output.h"
#include "words.h"
#include "model/context_group.h"
#include "write/json.h"

#define CONTEXTS_BY_MAX 8

struct contexts_view {
	const char *by[CONTEXTS_BY_MAX];
	size_t by_count;
	enum context_order order;
	bool sorted;
	size_t top;		/* 0: all */
	bool all, stacks;
	struct output output;
};

/* The keys to sum by, and the names of the columns. */
struct words contexts_view_words(void);
struct words contexts_view_columns(void);

/* Ends the program if one of the columns does not exist. */
void contexts_view_check_columns(const struct contexts_view *view, struct argp_state *state);

/* Whether --group has @word. */
bool contexts_view_by(const struct contexts_view *view, const char *word);

void contexts_view(const struct contexts *contexts, const struct helpers *helpers,
		   const struct contexts_view *view);

/* "2 call sites are split: 12 contexts hold …" */
void contexts_summary(const struct contexts *contexts, const struct context_sum *sum,
		      const struct output *output);

/* The same as fields of the open object. */
void contexts_summary_json(const struct contexts *contexts, const struct context_sum *sum,
			   struct json *json);
void context_sum_json(const struct context_sum *sum, struct json *json);

#endif
