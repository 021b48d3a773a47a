// SPDX-License-Identifier: GPL-2.0
/* codetag trace: the accounts of an ftrace log of the kmem events. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "output.h"
#include "trace_read.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "trace/kmem.h"
#include "trace/kmem_rank.h"
#include "write/json.h"
#include "write/outfile.h"
#include "write/table.h"
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif
#ifdef HAVE_ELF
#include "trace/kmem_resolve.h"
#endif

struct trace {
	struct trace_source source;
	bool buffer_given;
	const char *callers, *build;
	const char *save_db, *db_file;
	struct kmem kmem;
	struct kmem_filter filter;
	size_t selected;	/* callers that the filter leaves */
#ifdef HAVE_ELF
	struct symbols symbols;
#endif
	struct arena strings;	/* names of callers that were addresses */
	struct output output;
	struct kmem_order order;
	bool slab_account;
};

enum {
	KEY_MALLOC = 0x200, KEY_CACHE, KEY_CALLERS, KEY_SLAB, KEY_KERNEL, KEY_START,
	KEY_SAVE_DB, KEY_DB_FILE, KEY_RECORD, KEY_BUFFER,
};

static const struct argp_option options[] = {
#ifdef HAVE_TRACECMD
	{ "record", KEY_RECORD, "SEC", 0,
	  "Trace this machine for SEC seconds, or until interrupted, instead of reading "
	  "a log", -1 },
	{ "buffer", KEY_BUFFER, "SIZE", 0,
	  "For --record: memory for the events, of all CPUs together (default: 64M)", -1 },
#endif
	{ "order-by", 's', "KEY", 0,
	  "total_dynamic (bytes ever allocated, default), current_dynamic (bytes now), "
	  "alloc_count, free_count or waste", 0 },
	{ "top", 'n', "N", 0, "Only the first N callers", 0 },
	{ "malloc", KEY_MALLOC, NULL, 0, "Only kmalloc and its like", 0 },
	{ "cache", KEY_CACHE, "NAME", OPTION_ARG_OPTIONAL,
	  "Only kmem_cache_alloc, of the cache NAME as far as the log tells caches", 0 },
	{ "slab-account", KEY_SLAB, NULL, 0,
	  "Columns total slack req alloc/free: frees count where they are called, and "
	  "callers that only free are listed", 0 },
#ifdef HAVE_ELF
	{ "kernel", KEY_KERNEL, "BUILD", 0,
	  "Tell from the build tree of the kernel which file a caller is in, and names "
	  "for addresses", 0 },
	{ "start-branch", KEY_START, "DIR", 0,
	  "Only callers in files below DIR; needs --kernel", 0 },
#endif
#ifdef HAVE_SQLITE
	{ "save-db", KEY_SAVE_DB, "FILE", 0,
	  "Keep the accounts in FILE, to ask again with --db-file", 0 },
	{ "db-file", KEY_DB_FILE, "FILE", 0, "Read the accounts from FILE, no log", 0 },
#endif
	{ "columns", 'o', "LIST", 0,
	  "Columns: total_dynamic, waste, total_requested, current_dynamic, alloc/free, "
	  "alloc_count, free_count, frees_called, remote_freed, current_requested, caller, "
	  "file", 9 },
	{ "callers", KEY_CALLERS, "FILE", 0, "Write all callers to FILE, one a line", 0 },
	{ 0 }
};

/* The usual ones are those of the tools that were before. */
#define MORE_COLUMNS \
	{ "allocs", true, "alloc_count", true }, { "freed", true, "free_count", true }, \
	{ "frees called", true, "frees_called", true }, \
	{ "freed remotely", true, "remote_freed", true }, \
	{ "net req", true, "current_requested", true }

static const struct table_column account[] = {
	{ "total", true, "total_dynamic", false }, { "waste", true, "waste", false },
	{ "req", true, "total_requested", true }, { "net", true, "current_dynamic", false },
	{ "alloc/free", true, "alloc/free", false }, MORE_COLUMNS,
	{ "caller", false, "caller", false }, { "file", false, "file", false },
}, slab_account[] = {
	{ "total", true, "total_dynamic", false }, { "slack", true, "waste", false },
	{ "req", true, "total_requested", false }, { "net", true, "current_dynamic", true },
	{ "alloc/free", true, "alloc/free", false }, MORE_COLUMNS,
	{ "caller", false, "caller", false }, { "file", false, "file", false },
};

#define COUNT (sizeof(account) / sizeof(*account))

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace *trace = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &trace->output;
		return 0;
	case 's':
		trace->order.key = argument_word(arg, kmem_key_names, KMEM_KEYS, "sort key",
						 state);
		return 0;
	case 'n':
		trace->order.top = argument_number(arg, 1, INT32_MAX, state);
		return 0;
	case 'o':
		trace->output.columns = arg;
		return 0;
	case KEY_MALLOC:
		trace->filter.malloc_only = true;
		return 0;
	case KEY_CACHE:
		trace->filter.cache_only = true;
		trace->filter.cache = arg;
		return 0;
	case KEY_SLAB:
		trace->slab_account = trace->order.frees_too = true;
		return 0;
	case KEY_CALLERS:
		trace->callers = arg;
		return 0;
	case KEY_KERNEL:
		trace->build = arg;
		return 0;
	case KEY_START:
		trace->order.branch = arg;
		return 0;
	case KEY_SAVE_DB:
		trace->save_db = arg;
		return 0;
	case KEY_DB_FILE:
		trace->db_file = arg;
		return 0;
	case KEY_RECORD:
		trace->source.seconds = argument_seconds(arg, state);
		return 0;
	case KEY_BUFFER:
		trace->source.buffer = argument_size(arg, state);
		trace->buffer_given = true;
		return 0;
	case ARGP_KEY_ARG:
		if (trace->source.path)
			argp_error(state, "one log at a time, '%s' is a second one", arg);
		trace->source.path = arg;
		return 0;
	case ARGP_KEY_END:
		if (trace->db_file && (trace->source.path || trace->save_db))
			argp_error(state, "--db-file goes with no log and no --save-db");
		else if (trace->source.seconds > 0 && (trace->source.path || trace->db_file))
			argp_error(state, "--record reads no file");
		else if (!trace->source.path && !trace->db_file && trace->source.seconds <= 0)
			argp_error(state, "which log? '-' is standard input");
		else if (trace->buffer_given && trace->source.seconds <= 0)
			argp_error(state, "--buffer goes with --record");
		else if (trace->filter.malloc_only && trace->filter.cache_only)
			argp_error(state, "--malloc and --cache leave nothing");
		else if (trace->order.branch && !trace->build)
			argp_error(state, "--start-branch needs --kernel BUILD");
		if (trace->source.seconds > 0)
			trace->source.path = "this machine";
		output_check_columns(&trace->output, account,
				     trace->build ? COUNT : COUNT - 1, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse,
#ifdef HAVE_TRACECMD
	"LOG\n--record SEC",
#else
	"LOG",
#endif
	"Reads an ftrace log with the kmem events kmalloc, kfree, kmem_cache_alloc and "
	"kmem_cache_free, of any kernel that has them: the file trace, trace_pipe (until "
	"interrupted), what 'trace-cmd report' prints, or a trace.dat. Tells who allocated how much, "
	"holds how much now and wastes how much, and what looks wrong."
	"\vThe columns are: bytes ever allocated, of them wasted by rounding up, bytes "
	"that are alive, allocations / frees of them, caller.\n\n"
	"Examples:\n"
	"  codetag trace /sys/kernel/tracing/trace\n"
#ifdef HAVE_TRACECMD
	"  codetag trace --record 10 -n 20\n"
#endif
	"  trace-cmd report | codetag trace - --order-by waste -n 20\n\n"
	"Exit status: 0 success, 1 no allocation is known to be of the cache NAME or no "
	"caller is below DIR, 2 trouble.",
	children, NULL, NULL
};

#ifdef HAVE_SQLITE
static bool load_db(struct trace *trace)
{
	char *why = kmem_load(&trace->kmem, trace->db_file);

	if (why) {
		warning("cannot read %s: %s", trace->db_file, why);
		hint("Such files are made by 'codetag trace --save-db'.");
	}
	trace->source.path = trace->db_file;
	free(why);
	return !why;
}

static bool save_db(const struct trace *trace)
{
	char *why = trace->save_db ? kmem_save(&trace->kmem, trace->save_db) : NULL;

	if (why)
		warning("cannot write %s: %s", trace->save_db, why);
	free(why);
	return !why;
}
#else
static bool load_db(struct trace *trace)
{
	(void)trace;
	return false;
}

static bool save_db(const struct trace *trace)
{
	(void)trace;
	return true;
}
#endif

#ifdef HAVE_ELF
static bool resolve(struct trace *trace)
{
	size_t without;

	if (!trace->build)
		return true;
	if (!symbols_read(&trace->symbols, trace->build)) {
		warning("cannot read the kernel in %s: %s", trace->build,
			strerror(errno));
		hint("It has to be the directory that the kernel was built in (O=).");
		return false;
	}
	without = kmem_resolve(&trace->kmem, &trace->symbols, &trace->strings);
	if (trace->symbols.unreadable)
		warning("%s: %zu files are named .o and are no object files", trace->build,
			trace->symbols.unreadable);
	if (without)
		warning("%zu of %zu callers are in no file of %s, or in several",
			without, trace->kmem.callers, trace->build);
	return true;
}
#else
static bool resolve(struct trace *trace)
{
	(void)trace;
	return true;
}
#endif

static void print_totals(const struct trace *trace, const struct kmem_caller *total)
{
	const struct {
		const char *trace_name, *slab_name;
		int64_t value, slab_value;
		bool is_size;
	} lines[] = {
		{ "current bytes allocated", "total bytes allocated",
		  total->current_alloc, total->total_alloc, true },
		{ "current bytes requested", "total bytes requested",
		  total->current_req, total->total_req, true },
		{ "current wasted bytes", "slack bytes allocated",
		  sub64(total->current_alloc, total->current_req), kmem_waste(total), true },
		{ "number of allocs", "number of allocs", total->allocs, total->allocs, false },
		{ "number of frees", "number of frees", total->frees, total->frees, false },
		{ "number of callers", "number of callers",
		  (int64_t)trace->selected, (int64_t)trace->selected, false },
	};
	bool human = output_human(&trace->output);
	char text[SIZE_TEXT];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		printf("%s: %s\n",
		       trace->slab_account ? lines[i].slab_name : lines[i].trace_name,
		       size_format(text, trace->slab_account ? lines[i].slab_value :
							       lines[i].value,
				   human && lines[i].is_size));
}

static void print_callers(struct trace *trace)
{
	struct table table = {
		.column = trace->slab_account ? slab_account : account,
		.columns = trace->build ? COUNT : COUNT - 1,	/* the file is the last */
	};
	bool human = output_human(&trace->output);
	const struct kmem_caller **ranked;
	char text[2 * SIZE_TEXT];
	size_t count;

	ranked = kmem_rank(&trace->kmem, &trace->order, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		table_cell(&table, size_format(text, c->total_alloc, human));
		table_cell(&table, size_format(text, kmem_waste(c), human));
		table_cell(&table, size_format(text, c->total_req, human));
		table_cell(&table, size_format(text, c->current_alloc, human));
		snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64, c->allocs,
			 trace->slab_account ? c->frees : c->freed);
		table_cell(&table, text);
		table_cell(&table, size_format(text, c->allocs, false));
		table_cell(&table, size_format(text, c->freed, false));
		table_cell(&table, size_format(text, c->frees, false));
		table_cell(&table, size_format(text, c->remote_freed, false));
		table_cell(&table, size_format(text, c->current_req, human));
		table_cell(&table, c->name);
		if (trace->build)
			table_cell(&table, !c->path ? "?" : *c->path ? c->path :
							       "(several)");
	}
	output_table(&table, &trace->output);
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

static void print_json(struct trace *trace, const struct kmem_caller *total)
{
	const struct kmem *kmem = &trace->kmem;
	const struct kmem_caller **ranked;
	struct json json = { .out = stdout };
	struct kmem_finding_text all[KMEM_FINDINGS];
	size_t count = kmem_findings(kmem, all);

	json_object(&json, NULL);
	json_string(&json, "source", trace->source.path);
	json_int(&json, "events", kmem->events);
	json_int(&json, "not_understood", kmem->bad);
	json_int(&json, "lost", kmem->lost);
	json_int(&json, "overwritten", kmem->overwritten);
	json_int(&json, "failed", kmem->failed);
	json_bool(&json, "complete", !kmem->cut && !kmem->bad);
	json_int(&json, "most_objects", kmem->most_objects);
	json_object(&json, "total");
	json_int(&json, "total_dynamic", total->total_alloc);
	json_int(&json, "total_requested", total->total_req);
	json_int(&json, "current_dynamic", total->current_alloc);
	json_int(&json, "current_requested", total->current_req);
	json_int(&json, "alloc_count", total->allocs);
	json_int(&json, "free_count", total->frees);
	json_int(&json, "callers", trace->selected);
	json_end_object(&json);
	json_object(&json, "findings");
	for (size_t i = 0; i < count; i++) {
		const struct kmem_finding *f = all[i].finding;

		json_object(&json, all[i].key);
		json_int(&json, "count", f->count);
		if (f->count && f->allocator != KMEM_NOBODY)
			json_string(&json, "allocator", caller_name(kmem, f->allocator));
		if (f->count && f->freer != KMEM_NOBODY)
			json_string(&json, "freer", caller_name(kmem, f->freer));
		json_end_object(&json);
	}
	json_end_object(&json);
	json_rows(&json, "rows", trace->output.columns);
	ranked = kmem_rank(&trace->kmem, &trace->order, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		json_object(&json, NULL);
		json_string(&json, "caller", c->name);
		if (trace->build && c->path && *c->path)
			json_string(&json, "file", c->path);
		else if (trace->build)
			json_null(&json, "file");
		json_int(&json, "total_dynamic", c->total_alloc);
		json_int(&json, "total_requested", c->total_req);
		json_int(&json, "waste", kmem_waste(c));
		json_int(&json, "current_dynamic", c->current_alloc);
		json_int(&json, "current_requested", c->current_req);
		json_int(&json, "alloc_count", c->allocs);
		json_int(&json, "free_count", c->freed);
		json_int(&json, "frees_called", c->frees);
		json_int(&json, "remote_freed", c->remote_freed);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
	free(ranked);
}

static bool write_callers(struct trace *trace)
{
	struct outfile file;
	const struct kmem_caller **ranked;
	size_t count;

	if (!outfile_open(&file, trace->callers)) {
		warning("cannot create %s: %s", trace->callers, strerror(errno));
		return false;
	}
	ranked = kmem_rank(&trace->kmem, &trace->order, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(file.stream, "%s\n", ranked[i]->name);
	free(ranked);
	if (outfile_finish(&file))
		return true;
	warning("cannot write %s: %s", trace->callers, strerror(errno));
	return false;
}

/* Why --cache=NAME has left nothing. */
static void hint_cache(const struct trace *trace)
{
	warning("no allocation in %s is known to be of the cache '%s'",
		input_name(trace->source.path), trace->filter.cache);
	if (!trace->kmem.caches.count)
		hint("It tells no caches at all.");
	else
		hint("Linux 6.12 tells the cache only when an object is freed.");
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = { .source.buffer = 64 << 20 };
	struct kmem_caller total;
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	if ((trace.db_file ? load_db(&trace) : trace_read(&trace.kmem, &trace.source)) && save_db(&trace) &&
	    resolve(&trace)) {
		status = STATUS_OK;
		trace.selected = kmem_sum(&trace.kmem, &trace.filter, &total);
		if (trace.output.json) {
			print_json(&trace, &total);
		} else {
			if (!trace.output.no_headings) {
				print_totals(&trace, &total);
				putchar('\n');
			}
			print_callers(&trace);
			if (!trace.output.no_headings) {
				putchar('\n');
				print_findings(&trace.kmem);
			}
		}
		if (trace.filter.cache && !total.allocs) {
			hint_cache(&trace);
			status = STATUS_FOUND;
		}
		if (trace.order.branch && !kmem_any_in_branch(&trace.kmem, trace.order.branch)) {
			warning("no caller is in a file below %s", trace.order.branch);
			status = STATUS_FOUND;
		}
		if (trace.callers && !write_callers(&trace))
			status = STATUS_TROUBLE;
		if (trace.kmem.cut) {
			trace_say_cut(trace.source.path);
			status = STATUS_TROUBLE;
		}
		if (trace.kmem.bad) {
			warning("%s: %" PRId64 " kmem events not understood",
				input_name(trace.source.path), trace.kmem.bad);
			status = STATUS_TROUBLE;
		}
	}
	kmem_free(&trace.kmem);
	arena_free(&trace.strings);
#ifdef HAVE_ELF
	symbols_free(&trace.symbols);
#endif
	return status;
}
