/* SPDX-License-Identifier: GPL-2.0 */
/* How contexts are printed as a table. */
#ifndef CODETAG_CONTEXTS_VIEW_H
#define CODETAG_CONTEXTS_VIEW_H

#include <argp.h>

#include "output.h"
#include "model/context_group.h"
#include "write/json.h"

#define CONTEXTS_BY_MAX 8

#define CONTEXT_COLUMN_NAMES \
	"size, calls, allocs, frees, requested, waste, contexts, node, cpu, accounted, gfp, " \
	"asked, age, cgroup, task, caller, function, stack, name"

struct contexts_view {
	const char *by[CONTEXTS_BY_MAX];
	size_t by_count;
	enum context_order order;
	bool sorted;
	size_t top;		/* 0: all */
	bool all, stacks;
	struct output output;
};

/* End the program if @word is nothing to sum by, or a column is none. */
void contexts_view_check_word(const char *word, struct argp_state *state);
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
