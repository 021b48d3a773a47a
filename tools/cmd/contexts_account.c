// SPDX-License-Identifier: GPL-2.0-only
#include "contexts_account.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interval.h"
#include "base/message.h"
#include "base/number.h"
#include "write/table.h"

/*
 * The sums of the contexts that know how much was asked for; rates are per second between two
 * readings.
 */
struct reading {
	struct contexts contexts;
	struct context_groups groups;
	size_t without;		/* contexts that do not know it */
	double time;
};

/* Without a stack only the site is known. */
static const char *const by[] = { BY_CONTEXT_SITE, BY_CONTEXT_FUNCTION };

static bool take_reading(struct reading *reading, const struct contexts_account *account,
			 struct callers *callers)
{
	const struct helpers *helpers = &account->choice->helpers;

	*reading = (struct reading){ .groups = { .by = by, .by_count = 2 } };
	if (!contexts_read_chosen(&reading->contexts, account->choice, account->query))
		return false;
	reading->time = (double)wall_clock() / 1000;
	for (size_t i = 0; i < reading->contexts.count; i++) {
		const struct context *context = &reading->contexts.context[i];

		if (context_value(&reading->contexts, context, "size"))
			context_groups_add(&reading->groups, &reading->contexts, context,
					   helpers, callers);
		else
			reading->without++;
	}
	return true;
}

static void free_reading(struct reading *reading)
{
	context_groups_free(&reading->groups);
	contexts_free(&reading->contexts);
}

static struct context_sum sum_before(const struct reading *before, const char *name)
{
	size_t i = strmap_find(&before->groups.names, name, strlen(name));

	return i == STRMAP_NONE ? (struct context_sum){ 0 } : before->groups.group[i].sum;
}

struct row {
	struct context_sum sum;
	double allocs, frees;	/* a second */
	const char *caller;
};

/* A context that is freed between two readings takes its counts along. That is no rate. */
static double rate(int64_t now, int64_t before, double seconds)
{
	return now > before && seconds > 0 ? (double)sub64(now, before) / seconds : 0;
}

static void find_row(struct row *row, const struct context_group *group,
		     const struct reading *before, double seconds)
{
	struct context_sum old = sum_before(before, group->name);

	row->sum = group->sum;
	row->allocs = rate(row->sum.allocs, old.allocs, seconds);
	row->frees = rate(sub64(row->sum.allocs, row->sum.calls), sub64(old.allocs, old.calls),
			  seconds);
}

static void add_row(struct table *table, const struct row *row, bool human)
{
	const struct context_sum *sum = &row->sum;
	int64_t slack = sub64(sum->bytes, sum->requested);
	char text[64];

	table_cell(table, size_format(text, sum->bytes, human));
	table_cell(table, size_format(text, slack, human));
	table_cell(table, size_format(text, sum->requested, human));
	snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64, sum->allocs,
		 sub64(sum->allocs, sum->calls));
	table_cell(table, text);
	table_cell(table, percent_format(text, percent(slack, sum->bytes)));
	snprintf(text, sizeof(text), "%.1f/%.1f", row->allocs, row->frees);
	table_cell(table, text);
	table_cell(table, row->caller);
}

static void row_json(struct json *json, const struct row *row, bool rates)
{
	json_object(json, NULL);
	json_string(json, "name", row->caller);
	context_sum_json(&row->sum, json);
	if (rates) {
		json_real(json, "alloc_rate", row->allocs);
		json_real(json, "free_rate", row->frees);
	}
	json_end_object(json);
}

/* "mm/util.c:64 func:kstrdup < caller [module]" */
static void name_row(struct text *text, struct reading *now, const struct context *context,
		     const struct helpers *helpers, struct callers *callers)
{
	size_t site;

	text_clear(text);
	context_word(text, &now->contexts, context, BY_CONTEXT_SITE, helpers, callers);
	text_puts(text, " < ");
	site = text->len;
	context_word(text, &now->contexts, context, BY_CONTEXT_FUNCTION, helpers, callers);
	if (text->len > site)
		return;
	text->len -= 3;
	text->s[text->len] = '\0';
}

static void print(struct reading *now, const struct reading *before,
		  const struct contexts_account *account, struct callers *callers)
{
	static const struct table_column columns[] = {
		{ "total", true, NULL, false }, { "slack", true, NULL, false },
		{ "req", true, NULL, false }, { "alloc/free", true, NULL, false },
		{ "frag", true, NULL, false }, { "alloc/free /s", true, "rate", false },
		{ "caller", false, NULL, false },
	};
	static const size_t without_rates[] = { 0, 1, 2, 3, 4, 6 };
	const struct contexts_view *view = account->view;
	struct table table = { .column = columns, .columns = 7 };
	struct json json = { .out = stdout };
	struct text name = { 0 };
	size_t shown = 0;

	if (!account->delay) {
		memcpy(table.show, without_rates, sizeof(without_rates));
		table.shown = 6;
	}
	if (view->output.json) {
		json_object(&json, NULL);
		contexts_summary_json(&now->contexts, &now->groups.sum, &json);
		json_array(&json, "rows");
	}
	for (size_t i = 0; i < now->groups.count; i++) {
		const struct context_group *group = &now->groups.group[i];
		struct row row;

		find_row(&row, group, before, now->time - before->time);
		if ((!view->all && !row.sum.bytes && !row.sum.calls) ||
		    (view->top && shown == view->top))
			continue;
		shown++;
		name_row(&name, now, group->context, &account->choice->helpers, callers);
		row.caller = name.s;
		if (view->output.json)
			row_json(&json, &row, account->delay > 0);
		else
			add_row(&table, &row, output_human(&view->output));
	}
	if (view->output.json) {
		json_end_array(&json);
		json_end_object(&json);
	} else {
		contexts_summary(&now->contexts, &now->groups.sum, &view->output);
		if (shown)
			table_print(&table, stdout, !view->output.no_headings, output_colour());
	}
	table_free(&table);
	text_free(&name);
}

int contexts_account(const struct contexts_account *account)
{
	struct reading before = { 0 }, now = { 0 };
	struct callers callers = { 0 };
	struct interval interval;
	int status = STATUS_TROUBLE;
	bool good = true;

	if (account->delay) {
		interval_start(&interval, account->delay);
		good = take_reading(&before, account, &callers) && interval_wait(&interval);
	}
	if (good && take_reading(&now, account, &callers)) {
		context_groups_sort(&now.groups, account->view->order);
		print(&now, &before, account, &callers);
		if (contexts_complete(&now.contexts, contexts_name(account->choice)))
			status = now.groups.count ? STATUS_OK : STATUS_FOUND;
		if (status == STATUS_FOUND) {
			warning("no call site is split by size, or none that is chosen");
			hint("To split one: codetag split QUERY size stack");
		} else if (now.without) {
			warning("not split by size, and left out: %zu contexts", now.without);
		}
	}
	free_reading(&before);
	free_reading(&now);
	callers_free(&callers);
	return status;
}
