// SPDX-License-Identifier: GPL-2.0-only
#include "trace_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "write/json.h"

/* The usual columns are those of trace_analyze. */
#define MORE_COLUMNS \
	{ "frag", true, "fragmentation", false }, \
	{ "allocs", true, "alloc_count", true }, { "freed", true, "free_count", true }, \
	{ "frees called", true, "frees_called", true }, \
	{ "freed remotely", true, "remote_freed", true }, \
	{ "net req", true, "current_requested", true }, \
	{ "mean req", true, "mean_requested", true }, { "mean", true, "mean", true }

static const struct table_column account[] = {
	{ "total", true, "total_dynamic", false }, { "waste", true, "waste", false },
	{ "ever wasted", true, "total_waste", true },
	{ "req", true, "total_requested", true }, { "net", true, "current_dynamic", false },
	{ "alloc/free", true, "alloc/free", false }, MORE_COLUMNS,
	{ "caller", false, "caller", false }, { "file", false, "file", false },
}, slab_account[] = {
	{ "total", true, "total_dynamic", false }, { "wasted now", true, "waste", true },
	{ "slack", true, "total_waste", false },
	{ "req", true, "total_requested", false }, { "net", true, "current_dynamic", true },
	{ "alloc/free", true, "alloc/free", false }, MORE_COLUMNS,
	{ "caller", false, "caller", false }, { "file", false, "file", false },
};

#define COUNT (sizeof(account) / sizeof(*account))

/* The file is the last column, the caller the one before it. */
#define CALLER (COUNT - 2)

static size_t columns_of(bool files)
{
	return files ? COUNT : COUNT - 1;
}

void trace_check_columns(const struct output *output, bool files, struct argp_state *state)
{
	output_check_columns(output, account, columns_of(files), state);
}

static void print_totals(const struct trace_view *view)
{
	int64_t callers = (int64_t)view->callers.allocate;
	const struct kmem_caller *total = &view->total;
	const struct {
		const char *trace_name, *slab_name;
		int64_t value, slab_value;
		bool is_size, of_asked;
	} lines[] = {
		{ "current bytes allocated", "total bytes allocated",
		  total->current_alloc, total->total_alloc, true, false },
		{ "current bytes requested", "total bytes requested",
		  total->current_req, total->total_req, true, true },
		{ "current wasted bytes", "slack bytes allocated",
		  kmem_waste(total), kmem_total_waste(total), true, true },
		{ "total bytes allocated", NULL, total->total_alloc, 0, true, false },
		{ "total bytes requested", NULL, total->total_req, 0, true, true },
		{ "total wasted bytes", NULL, kmem_total_waste(total), 0, true, true },
		{ "number of allocs", "number of allocs", total->allocs, total->allocs, false, false },
		{ "number of frees", "number of frees", total->frees, total->frees, false, false },
		{ "number of callers", "number of callers", callers,
		  callers + (int64_t)view->callers.only_free, false, false },
		{ "callers that only free", NULL, (int64_t)view->callers.only_free, 0, false, false },
	};
	bool human = output_human(view->output);
	char text[SIZE_TEXT];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if ((!view->slab_account || lines[i].slab_name) && !(lines[i].of_asked && view->kmem->unasked))
			printf("%s: %s\n",
			       view->slab_account ? lines[i].slab_name : lines[i].trace_name,
			       size_format(text, view->slab_account ? lines[i].slab_value :
								       lines[i].value,
					   human && lines[i].is_size));
	if (view->kmem->unasked)
		puts("the events of call sites do not tell how much was requested, so waste is not known");
	else
		printf("fragmentation: %s\n", percent_format(text, kmem_fragmentation(total)));
}

/* A size that needs the requested ones */
static void asked_cell(struct table *table, const struct trace_view *view, int64_t size)
{
	char text[SIZE_TEXT];

	table_cell(table, view->kmem->unasked ? "-" : size_format(text, size, output_human(view->output)));
}

static void print_callers(const struct trace_view *view)
{
	struct table_column columns[COUNT];
	struct table table = { .column = columns, .columns = columns_of(view->files) };
	bool human = output_human(view->output);
	const struct kmem_caller **ranked;
	char text[2 * SIZE_TEXT];
	size_t count;

	memcpy(columns, view->slab_account ? slab_account : account, sizeof(columns));
	if (view->heading)
		columns[CALLER].heading = view->heading;
	ranked = kmem_rank(view->ranked, view->order, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		table_cell(&table, size_format(text, c->total_alloc, human));
		asked_cell(&table, view, kmem_waste(c));
		asked_cell(&table, view, kmem_total_waste(c));
		asked_cell(&table, view, c->total_req);
		table_cell(&table, size_format(text, c->current_alloc, human));
		snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64, c->allocs,
			 view->slab_account ? c->frees : c->freed);
		table_cell(&table, text);
		table_cell(&table, view->kmem->unasked ? "-" : percent_format(text, kmem_fragmentation(c)));
		table_cell(&table, size_format(text, c->allocs, false));
		table_cell(&table, size_format(text, c->freed, false));
		table_cell(&table, size_format(text, c->frees, false));
		table_cell(&table, size_format(text, c->remote_freed, false));
		asked_cell(&table, view, c->current_req);
		asked_cell(&table, view, kmem_mean_requested(c));
		table_cell(&table, size_format(text, kmem_mean(c), human));
		table_cell(&table, c->name);
		if (view->files)
			table_cell(&table, !c->path ? "?" : *c->path ? c->path :
							       "(several)");
	}
	output_table(&table, view->output);
	free(ranked);
}

static const char *caller_name(const struct kmem *kmem, uint32_t i)
{
	return i == KMEM_NOBODY ? NULL : kmem->caller[i].name;
}

static void print_findings(const struct kmem *kmem)
{
	struct kmem_finding_text all[KMEM_FINDINGS];
	size_t count = kmem_findings(kmem, all);

	for (size_t i = 0; i < count; i++) {
		const struct kmem_finding *f = all[i].finding;

		if (!f->count)
			continue;
		printf("%s: %" PRId64, all[i].what, f->count);
		if (f->allocator != KMEM_NOBODY)
			printf("; the first was allocated by %s",
			       caller_name(kmem, f->allocator));
		if (f->freer != KMEM_NOBODY)
			printf("%s freed by %s", f->allocator != KMEM_NOBODY ?
			       " and" : "; the first was", caller_name(kmem, f->freer));
		putchar('\n');
	}
	if (kmem->failed)
		printf("failed allocations: %" PRId64 "\n", kmem->failed);
	if (kmem->lost)
		printf("events lost while the trace was read: %" PRId64 "\n", kmem->lost);
	if (kmem->overwritten)
		printf("events overwritten before the trace was read: %" PRId64 "\n",
		       kmem->overwritten);
}

/* … and that is null if these are not known */
static void asked_json(struct json *json, const struct kmem *kmem, const char *key, int64_t size)
{
	if (kmem->unasked)
		json_null(json, key);
	else
		json_int(json, key, size);
}

static void fragmentation_json(struct json *json, const struct kmem *kmem, const struct kmem_caller *c)
{
	if (kmem->unasked)
		json_null(json, "fragmentation");
	else
		json_real(json, "fragmentation", kmem_fragmentation(c));
}

static void total_json(const struct trace_view *view, struct json *json)
{
	const struct kmem_caller *total = &view->total;

	json_object(json, "total");
	json_int(json, "total_dynamic", total->total_alloc);
	asked_json(json, view->kmem, "total_requested", total->total_req);
	json_int(json, "current_dynamic", total->current_alloc);
	asked_json(json, view->kmem, "current_requested", total->current_req);
	json_int(json, "alloc_count", total->allocs);
	json_int(json, "free_count", total->frees);
	fragmentation_json(json, view->kmem, total);
	asked_json(json, view->kmem, "waste", kmem_waste(total));
	asked_json(json, view->kmem, "total_waste", kmem_total_waste(total));
	asked_json(json, view->kmem, "mean_requested", kmem_mean_requested(total));
	json_int(json, "mean", kmem_mean(total));
	json_int(json, "callers", view->callers.allocate);
	json_int(json, "callers_that_only_free", view->callers.only_free);
	json_end_object(json);
}

static void findings_json(const struct kmem *kmem, struct json *json)
{
	struct kmem_finding_text all[KMEM_FINDINGS];
	size_t count = kmem_findings(kmem, all);

	json_object(json, "findings");
	for (size_t i = 0; i < count; i++) {
		const struct kmem_finding *f = all[i].finding;

		json_object(json, all[i].key);
		json_int(json, "count", f->count);
		if (f->count && f->allocator != KMEM_NOBODY)
			json_string(json, "allocator", caller_name(kmem, f->allocator));
		if (f->count && f->freer != KMEM_NOBODY)
			json_string(json, "freer", caller_name(kmem, f->freer));
		json_end_object(json);
	}
	json_end_object(json);
}

static void caller_json(const struct kmem *kmem, const struct kmem_caller *c, bool files,
			struct json *json)
{
	json_object(json, NULL);
	json_string(json, "caller", c->name);
	if (files && c->path && *c->path)
		json_string(json, "file", c->path);
	else if (files)
		json_null(json, "file");
	json_int(json, "total_dynamic", c->total_alloc);
	asked_json(json, kmem, "total_requested", c->total_req);
	asked_json(json, kmem, "waste", kmem_waste(c));
	asked_json(json, kmem, "total_waste", kmem_total_waste(c));
	fragmentation_json(json, kmem, c);
	json_int(json, "current_dynamic", c->current_alloc);
	asked_json(json, kmem, "current_requested", c->current_req);
	asked_json(json, kmem, "mean_requested", kmem_mean_requested(c));
	json_int(json, "mean", kmem_mean(c));
	json_int(json, "alloc_count", c->allocs);
	json_int(json, "free_count", c->freed);
	json_int(json, "frees_called", c->frees);
	json_int(json, "remote_freed", c->remote_freed);
	json_end_object(json);
}

static void print_json(const struct trace_view *view)
{
	const struct kmem *kmem = view->kmem;
	const struct kmem_caller **ranked;
	struct json json = { .out = stdout };
	size_t count;

	json_object(&json, NULL);
	json_string(&json, "source", view->source);
	json_int(&json, "events", kmem->events);
	json_int(&json, "not_understood", kmem->bad);
	json_int(&json, "lost", kmem->lost);
	json_int(&json, "overwritten", kmem->overwritten);
	json_int(&json, "failed", kmem->failed);
	json_bool(&json, "complete", !kmem->cut && !kmem->bad && !kmem->lost &&
		  !kmem->overwritten);
	json_int(&json, "most_objects", kmem->most_objects);
	total_json(view, &json);
	findings_json(kmem, &json);
	json_rows(&json, "rows", view->output->columns);
	ranked = kmem_rank(view->ranked, view->order, &count);
	for (size_t i = 0; i < count; i++)
		caller_json(kmem, ranked[i], view->files, &json);
	json_end_array(&json);
	json_end_object(&json);
	free(ranked);
}

static void print_text(const struct trace_view *view)
{
	if (!view->output->no_headings) {
		print_totals(view);
		putchar('\n');
	}
	print_callers(view);
	if (!view->output->no_headings) {
		putchar('\n');
		print_findings(view->kmem);
	}
}

void trace_view(const struct trace_view *view)
{
	if (view->output->json)
		print_json(view);
	else
		print_text(view);
}
