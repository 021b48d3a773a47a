// SPDX-License-Identifier: GPL-2.0-only
#include "contexts_view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites_view.h"
#include "base/number.h"
#include "codetag/query.h"
#include "read/input.h"
#include "write/table.h"

#define KEY_ROW(id, word, name, number, meaning) \
	{ word, { CODETAG_KEY_##id == CODETAG_KEY_SIZE ? "ASKED" : #id, number, name, true } },

/* The columns: sums, and keys. The column "size" is the memory held, not the key. */
static const struct {
	const char *key;		/* NULL: a sum */
	struct table_column column;
} columns[] = {
	{ NULL, { "SIZE", true, "size", false } }, { NULL, { "CALLS", true, "calls", false } },
	{ NULL, { "ALLOCS", true, "allocs", false } }, { NULL, { "FREES", true, "frees", true } },
	{ NULL, { "REQUESTED", true, "requested", true } },
	{ NULL, { "WASTE", true, "waste", true } },
	{ NULL, { "CONTEXTS", true, "contexts", true } },
	CODETAG_VALUE_KEYS(KEY_ROW)
	{ BY_CONTEXT_CALLER, { "CALLER", false, "caller", true } },
	{ BY_CONTEXT_FUNCTION, { "FUNCTION", false, "function", true } },
	CODETAG_STACK_KEY(KEY_ROW)
	{ BY_CONTEXT_SITE, { "NAME", false, "name", true } },
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))
/* Keys with columns of their own; the keys after them are derived. */
#define RECORDED CODETAG_KEY_STACK
enum { ALLOCS = 2, SUMS = 7, KEYS = COLUMNS - SUMS };

static_assert(COLUMNS <= TABLE_COLUMNS, "all of them can be shown");

struct words contexts_view_words(void)
{
	return (struct words){ &columns[SUMS].key, sizeof(*columns), KEYS };
}

struct words contexts_view_columns(void)
{
	return WORDS(columns, .column.name);
}

/* The columns that exist, and those that are shown by default. */
static void columns_of(struct table_column column[COLUMNS], const bool usual[KEYS], bool allocs)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		column[i] = columns[i].column;
		if (i >= SUMS)
			column[i].more = !usual[i - SUMS];
	}
	column[ALLOCS].more = !allocs;
}

void contexts_view_check_columns(const struct contexts_view *view, struct argp_state *state)
{
	struct table_column column[COLUMNS];
	const bool usual[KEYS] = { false };

	columns_of(column, usual, true);
	output_check_columns(&view->output, column, COLUMNS, state);
}

bool contexts_view_by(const struct contexts_view *view, const char *word)
{
	for (size_t i = 0; i < view->by_count; i++)
		if (!strcmp(view->by[i], word))
			return true;
	return false;
}

static void plural(const char *what, int64_t count)
{
	printf("%lld %s%s", (long long)count, what, count == 1 ? "" : "s");
}

struct unsplit {
	int64_t bytes, calls, lost;
};

/* Memory of the sites that is in no context. */
static struct unsplit unsplit_of(const struct contexts *contexts)
{
	struct unsplit sum = { 0 };

	for (size_t i = 0; i < contexts->splits; i++) {
		sum.bytes = add64(sum.bytes, contexts->split[i].site.bytes);
		sum.calls = add64(sum.calls, contexts->split[i].site.calls);
		sum.lost = add64(sum.lost, contexts->split[i].lost);
	}
	return sum;
}

static bool is_traced(const struct split_site *split)
{
	const char *word = split->settings ? strstr(split->settings, "trace") : NULL;

	return word && (word == split->settings || word[-1] == ' ') && (!word[5] || word[5] == ' ');
}

void contexts_summary(const struct contexts *contexts, const struct context_sum *sum,
		      const struct output *output)
{
	struct unsplit rest = unsplit_of(contexts);
	bool human = output_human(output);
	char a[SIZE_TEXT], b[SIZE_TEXT];
	size_t split = 0, traced = 0, were;

	if (output->no_headings || !contexts->splits)
		return;
	for (size_t i = 0; i < contexts->splits; i++) {
		if (strcmp(contexts->split[i].keys, "none"))
			split++;
		else
			traced += is_traced(&contexts->split[i]);
	}
	were = contexts->splits - split - traced;
	plural("call site", split);
	fputs(split == 1 ? " is split" : " are split", stdout);
	if (traced)
		printf(", %zu %s traced", traced, traced == 1 ? "is" : "are");
	if (were)
		printf(", %zu %s split or traced", were, were == 1 ? "was" : "were");
	fputs(": ", stdout);
	plural("context", sum->contexts);
	printf(" %s %s%s in ", sum->contexts == 1 ? "holds" : "hold",
	       size_format(a, sum->bytes, human), human ? "" : " bytes");
	plural("allocation", sum->calls);
	printf("; of no context: %s%s in ", size_format(b, rest.bytes, human),
	       human ? "" : " bytes");
	plural("allocation", rest.calls);
	if (rest.lost) {
		fputs("; lost: ", stdout);
		plural("allocation", rest.lost);
	}
	putchar('\n');
}

void context_sum_json(const struct context_sum *sum, struct json *json)
{
	json_int(json, "size", sum->bytes);
	json_int(json, "calls", sum->calls);
	if (sum->counted == sum->contexts) {
		json_int(json, "allocs", sum->allocs);
		json_int(json, "frees", sub64(sum->allocs, sum->calls));
	} else {
		json_null(json, "allocs");
		json_null(json, "frees");
	}
	/* Has a value only if all contexts of the group know it. */
	if (sum->sized && sum->sized == sum->contexts) {
		json_int(json, "requested", sum->requested);
		json_int(json, "waste", sub64(sum->bytes, sum->requested));
	} else {
		json_null(json, "requested");
		json_null(json, "waste");
	}
	json_int(json, "contexts", sum->contexts);
}

void contexts_summary_json(const struct contexts *contexts, const struct context_sum *sum,
			   struct json *json)
{
	struct unsplit rest = unsplit_of(contexts);

	context_sum_json(sum, json);
	json_object(json, "no_context");
	json_int(json, "size", rest.bytes);
	json_int(json, "calls", rest.calls);
	json_int(json, "lost", rest.lost);
	json_end_object(json);
	json_array(json, "sites");
	for (size_t i = 0; i < contexts->splits; i++) {
		const struct split_site *split = &contexts->split[i];

		json_object(json, NULL);
		site_json(&split->site, json);
		json_string(json, "keys", split->keys);
		json_int(json, "size", split->site.bytes);
		json_int(json, "calls", split->site.calls);
		json_int(json, "lost", split->lost);
		json_int(json, "contexts", split->contexts);
		json_end_object(json);
	}
	json_end_array(json);
}

struct printer {
	const struct contexts *contexts;
	const struct helpers *helpers;
	const struct contexts_view *view;
	struct context_groups groups;
	size_t shown;
	struct callers callers;
	struct text text;
};

/* As text; "" if it is not known. */
static const char *word(struct printer *p, const struct context_group *group, const char *key)
{
	text_clear(&p->text);
	if (context_groups_by(&p->groups, key))
		context_word(&p->text, p->contexts, group->context, key, p->helpers,
			     &p->callers);
	return p->text.s;
}

#define STACK_SHOWN 3

/* The first functions of a stack; --stacks shows all of them. */
static const char *short_stack(struct printer *p, const struct context_group *group)
{
	char *at = (char *)word(p, group, BY_CONTEXT_STACK);

	for (int i = 0; i < STACK_SHOWN && at; i++) {
		at = strstr(at, " < ");
		at = at ? at + 3 : NULL;
	}
	if (at) {
		*at = '\0';
		p->text.len = at - p->text.s;
		text_puts(&p->text, "…");
	}
	return p->text.s;
}

static void size_cell(struct table *table, int64_t value, bool human)
{
	char text[SIZE_TEXT];

	table_cell(table, size_format(text, value, human));
}

/* The sum of contexts without such a key needs a name, too. */
static const char *key_cell(struct printer *p, const struct context_group *group, size_t k)
{
	const char *key = columns[SUMS + k].key, *value;

	if (!strcmp(key, BY_CONTEXT_STACK) && !p->view->output.columns)
		value = short_stack(p, group);
	else
		value = word(p, group, key);
	if (*value || !contexts_view_by(p->view, key))
		return value;
	return p->contexts->of_others && k < RECORDED ? "(not recorded)" : "(none)";
}

static void add_row(struct printer *p, struct table *table, const struct context_group *group)
{
	const struct context_sum *sum = &group->sum;
	bool human = output_human(&p->view->output);

	size_cell(table, sum->bytes, human);
	size_cell(table, sum->calls, false);
	if (sum->counted == sum->contexts) {
		size_cell(table, sum->allocs, false);
		size_cell(table, sub64(sum->allocs, sum->calls), false);
	} else {
		table_cell(table, "");
		table_cell(table, "");
	}
	if (sum->sized && sum->sized == sum->contexts) {
		size_cell(table, sum->requested, human);
		size_cell(table, sub64(sum->bytes, sum->requested), human);
	} else {
		table_cell(table, "");
		table_cell(table, "");
	}
	size_cell(table, sum->contexts, false);
	for (size_t i = 0; i < KEYS; i++)
		table_cell(table, key_cell(p, group, i));
}

/* The keys that were asked to sum by, or else those that any context has. */
static void find_usual(struct printer *p, bool usual[KEYS])
{
	for (size_t i = 0; i < KEYS; i++) {
		const char *key = columns[SUMS + i].key;
		bool derived = !strcmp(key, BY_CONTEXT_CALLER) ||
			       !strcmp(key, BY_CONTEXT_FUNCTION);

		usual[i] = contexts_view_by(p->view, key);
		for (size_t g = 0; g < p->shown && !usual[i] && !p->view->by_count && !derived; g++)
			usual[i] = *word(p, &p->groups.group[g], key);
		if (p->view->stacks && !strcmp(key, BY_CONTEXT_STACK))
			usual[i] = false;
	}
}

static void print_stack(struct printer *p, const struct context_group *group)
{
	callers_of(&p->callers, p->contexts, group->context, p->helpers);
	for (size_t i = 0; i < p->callers.count; i++) {
		text_clear(&p->text);
		frame_place(&p->text, p->callers.frame[i]);
		printf("    %s\n", p->text.s);
	}
}

/*
 * Separate tables for the rows would not be aligned: format one table and print it row by row.
 */
static void print_with_stacks(struct printer *p, struct table *table)
{
	char *text = NULL, *at, *line;
	size_t len = 0, line_len, row = 0;
	FILE *out = open_memstream(&text, &len);
	bool complete, headings = !p->view->output.no_headings;

	table_print(table, out, headings, false);
	table_free(table);
	fclose(out);
	at = text;
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		puts(line);
		if (headings)
			headings = false;
		else
			print_stack(p, &p->groups.group[row++]);
	}
	free(text);
}

static void print_table(struct printer *p)
{
	struct table_column column[COLUMNS];
	struct table table = { .column = column, .columns = COLUMNS };
	const char *bad;
	bool usual[KEYS];

	find_usual(p, usual);
	columns_of(column, usual, !p->contexts->of_others);
	contexts_summary(p->contexts, &p->groups.sum, &p->view->output);
	if (!p->shown)
		return;
	for (size_t i = 0; i < p->shown; i++)
		add_row(p, &table, &p->groups.group[i]);
	if (!p->view->stacks) {
		output_table(&table, &p->view->output);
		return;
	}
	if (p->view->output.columns)
		table_choose(&table, p->view->output.columns, &bad);
	print_with_stacks(p, &table);
}

static void word_json(struct printer *p, const struct context_group *group, const char *key,
		      struct json *json)
{
	if (!context_groups_by(&p->groups, key))
		return;
	if (*word(p, group, key))
		json_string(json, key, p->text.s);
	else
		json_null(json, key);
}

static void row_json(struct printer *p, const struct context_group *group, struct json *json)
{
	const struct context *context = group->context;

	json_object(json, NULL);
	if (context_groups_by(&p->groups, BY_CONTEXT_SITE))
		site_json(&context->site, json);
	context_sum_json(&group->sum, json);
	json_object(json, "values");
	for (size_t i = 0; i < context->values; i++) {
		const struct context_value *value = &p->contexts->value[context->value + i];

		if (context_groups_by(&p->groups, value->key))
			json_string(json, value->key, value->value);
	}
	json_end_object(json);
	word_json(p, group, BY_CONTEXT_CALLER, json);
	word_json(p, group, BY_CONTEXT_FUNCTION, json);
	if (context_groups_by(&p->groups, BY_CONTEXT_STACK)) {
		callers_of(&p->callers, p->contexts, context, p->helpers);
		json_array(json, "stack");
		for (size_t i = 0; i < p->callers.count; i++) {
			text_clear(&p->text);
			frame_place(&p->text, p->callers.frame[i]);
			json_string(json, NULL, p->text.s);
		}
		json_end_array(json);
	}
	json_end_object(json);
}

static void print_json(struct printer *p)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	contexts_summary_json(p->contexts, &p->groups.sum, &json);
	json_array(&json, "rows");
	for (size_t i = 0; i < p->shown; i++)
		row_json(p, &p->groups.group[i], &json);
	json_end_array(&json);
	json_end_object(&json);
}

/* Drops groups that hold nothing, and those beyond --top. */
static void choose_rows(struct printer *p)
{
	for (size_t i = 0; i < p->groups.count; i++) {
		const struct context_group *group = &p->groups.group[i];

		if ((p->view->all || group->sum.bytes || group->sum.calls) &&
		    (!p->view->top || p->shown < p->view->top))
			p->groups.group[p->shown++] = *group;
	}
}

void contexts_view(const struct contexts *contexts, const struct helpers *helpers,
		   const struct contexts_view *view)
{
	struct printer p = {
		.contexts = contexts, .helpers = helpers, .view = view,
		.groups = { .by = view->by, .by_count = view->by_count },
	};

	for (size_t i = 0; i < contexts->count; i++)
		context_groups_add(&p.groups, contexts, &contexts->context[i], helpers,
				   &p.callers);
	context_groups_sort(&p.groups, view->order);
	choose_rows(&p);
	if (view->output.json)
		print_json(&p);
	else
		print_table(&p);
	context_groups_free(&p.groups);
	callers_free(&p.callers);
	text_free(&p.text);
}
