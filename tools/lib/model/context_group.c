// SPDX-License-Identifier: GPL-2.0-only
#include "model/context_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/group.h"
#include "read/query.h"

void context_sum_add(struct context_sum *sum, const struct context_sum *more)
{
	sum->bytes = add64(sum->bytes, more->bytes);
	sum->calls = add64(sum->calls, more->calls);
	sum->allocs = add64(sum->allocs, more->allocs);
	sum->requested = add64(sum->requested, more->requested);
	sum->sized += more->sized;
	sum->counted += more->counted;
	sum->contexts += more->contexts;
}

struct context_sum context_sum_of(const struct contexts *contexts,
				  const struct context *context)
{
	const char *size = context_value(contexts, context, "size");
	struct context_sum sum = {
		.bytes = context->site.bytes,
		.calls = context->site.calls,
		.allocs = context->allocs,
		.counted = !contexts->of_others,
		.contexts = 1,
	};
	int64_t each;

	if (size && number_read(&size, &each) && !*size) {
		sum.requested = mul64(each, sum.calls);
		sum.sized = 1;
	}
	return sum;
}

bool context_groups_by(const struct context_groups *groups, const char *word)
{
	for (size_t i = 0; i < groups->by_count; i++)
		if (!strcmp(groups->by[i], word))
			return true;
	return !groups->by_count;
}

static void site_word(struct text *text, const struct site *site)
{
	struct text name = { 0 };

	group_name(&name, (struct grouping){ BY_SITE, 0 }, site);
	text_add(text, name.s, name.len);
	text_free(&name);
}

static bool stack_word(struct text *text, const struct callers *callers)
{
	for (size_t i = 0; i < callers->count; i++) {
		if (i)
			text_puts(text, " < ");
		frame_name(text, callers->frame[i]);
	}
	return callers->count;
}

bool context_word(struct text *text, const struct contexts *contexts,
		  const struct context *context, const char *word,
		  const struct helpers *helpers, struct callers *callers)
{
	const char *value;

	if (!strcmp(word, BY_CONTEXT_SITE)) {
		site_word(text, &context->site);
		return true;
	}
	value = context_value(contexts, context, word);
	if (value) {
		text_puts(text, value);
		return true;
	}
	callers_of(callers, contexts, context, helpers);
	if (!strcmp(word, BY_CONTEXT_STACK))
		return stack_word(text, callers);
	if (!strcmp(word, BY_CONTEXT_FUNCTION) && callers->function) {
		frame_name(text, callers->function);
		return true;
	}
	if (!strcmp(word, BY_CONTEXT_CALLER) && callers->module) {
		text_puts(text, callers->module);
		return true;
	}
	return false;
}

/* Site, values and stack identify a context. */
static void whole_name(struct text *name, const struct contexts *contexts,
		       const struct context *context, const struct helpers *helpers,
		       struct callers *callers)
{
	site_word(name, &context->site);
	for (size_t i = 0; i < context->values; i++) {
		const struct context_value *value = &contexts->value[context->value + i];

		text_printf(name, "\n%s=%s", value->key, value->value);
	}
	text_puts(name, "\n");
	callers_of(callers, contexts, context, helpers);
	stack_word(name, callers);
}

void context_groups_add(struct context_groups *groups, const struct contexts *contexts,
			const struct context *context, const struct helpers *helpers,
			struct callers *callers)
{
	struct context_sum sum = context_sum_of(contexts, context);
	struct text name = { 0 };
	size_t i;

	for (i = 0; i < groups->by_count; i++) {
		text_puts(&name, "\n");
		context_word(&name, contexts, context, groups->by[i], helpers, callers);
	}
	if (!groups->by_count)
		whole_name(&name, contexts, context, helpers, callers);
	i = strmap_add(&groups->names, name.s, name.len);
	if (i == groups->count) {
		GROW(groups->group, groups->count, groups->room);
		groups->group[groups->count++] = (struct context_group){
			.name = groups->names.entry[i].key, .context = context,
		};
	}
	context_sum_add(&groups->group[i].sum, &sum);
	context_sum_add(&groups->sum, &sum);
	text_free(&name);
}

struct order_of {
	const struct context_groups *groups;
	enum context_order order;
};

static int64_t weight(const struct context_sum *sum, enum context_order order)
{
	switch (order) {
	case CONTEXTS_BY_CALLS:
		return sum->calls;
	case CONTEXTS_BY_ALLOCS:
		return sum->allocs;
	case CONTEXTS_BY_NAME:
		return 0;
	default:
		return sum->bytes;
	}
}

static int compare(const void *a, const void *b, void *context)
{
	const struct order_of *by = context;
	const size_t *x = a, *y = b;
	int64_t wx = weight(&by->groups->group[*x].sum, by->order);
	int64_t wy = weight(&by->groups->group[*y].sum, by->order);
	int names = by->order == CONTEXTS_BY_NAME ?
		    strcmp(by->groups->group[*x].name, by->groups->group[*y].name) : 0;

	if (wx != wy)
		return wx < wy ? 1 : -1;
	return names ? names : (*x > *y) - (*x < *y);
}

void context_groups_sort(struct context_groups *groups, enum context_order order)
{
	struct order_of by = { groups, order };
	struct context_group *sorted = xcalloc(groups->count, sizeof(*sorted));
	size_t *index = xcalloc(groups->count, sizeof(*index));

	for (size_t i = 0; i < groups->count; i++)
		index[i] = i;
	qsort_r(index, groups->count, sizeof(*index), compare, &by);
	for (size_t i = 0; i < groups->count; i++)
		sorted[i] = groups->group[index[i]];
	free(index);
	free(groups->group);
	groups->group = sorted;
	groups->room = groups->count;
}

void context_groups_free(struct context_groups *groups)
{
	free(groups->group);
	strmap_free(&groups->names);
	groups->group = NULL;
	groups->count = groups->room = 0;
	groups->sum = (struct context_sum){ 0 };
}

size_t contexts_select(struct contexts *contexts, const struct query *query, int64_t min_age)
{
	size_t kept = 0, ageless = 0;
	int64_t from, to;

	for (size_t i = 0; i < contexts->splits; i++)
		if (query_match(query, &contexts->split[i].site))
			contexts->split[kept++] = contexts->split[i];
	contexts->splits = kept;
	kept = 0;
	for (size_t i = 0; i < contexts->count; i++) {
		const struct context *context = &contexts->context[i];

		if (!query_match(query, &context->site))
			continue;
		if (min_age && !context_age(contexts, context, &from, &to))
			ageless++;
		else if (!min_age || from >= min_age)
			contexts->context[kept++] = *context;
	}
	contexts->count = kept;
	return ageless;
}

void contexts_select_site(struct contexts *contexts, const struct site *site)
{
	size_t kept = 0;

	for (size_t i = 0; i < contexts->count; i++)
		if (site_same(&contexts->context[i].site, site))
			contexts->context[kept++] = contexts->context[i];
	contexts->count = kept;
}
