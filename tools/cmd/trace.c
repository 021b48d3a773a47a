// SPDX-License-Identifier: GPL-2.0
/* codetag trace: the accounts of an ftrace log of the kmem events. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "output.h"
#include "trace_read.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#include "trace/kmem.h"
#include "trace/kmem_rank.h"
#include "trace/kmem_sites.h"
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
	const char *callers, *build, *branch;
	const char *save_db, *db_file;
	struct kmem kmem, groups;
	const struct kmem *ranked;	/* which of them is shown */
	struct kmem_filter filter;
	size_t selected;	/* callers that the filter leaves */
#ifdef HAVE_ELF
	struct symbols symbols;
#endif
	struct arena strings;	/* names of callers that were addresses */
	struct output output;
	struct kmem_order order;
	bool slab_account;
	struct grouping by;	/* BY_ROW: each caller apart */
	bool stack_given, page_size_given;
};

enum {
	KEY_MALLOC = 0x200, KEY_CACHE, KEY_CALLERS, KEY_SLAB, KEY_KERNEL, KEY_START,
	KEY_SAVE_DB, KEY_DB_FILE, KEY_RECORD, KEY_BUFFER, KEY_STACK, KEY_PAGES, KEY_PAGE_SIZE,
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
	  "alloc_count, free_count, waste or remote_freed (objects freed on another CPU)", 0 },
	{ "group", 'g', "BY", 0,
	  "Sum by caller (default), func, module, process (that allocated), or, with --kernel, "
	  "file, dir[:DEPTH] or subsystem", 0 },
	{ "stack", KEY_STACK, "N", OPTION_ARG_OPTIONAL,
	  "Callers are the N (default: 1) innermost functions of the stack behind an event in "
	  "the log, without those that allocate for others such as kstrdup", 0 },
	{ "pages", KEY_PAGES, NULL, 0,
	  "Count pages (mm_page_alloc, mm_page_free) and not slab objects, which are in pages", 0 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that the log is from (default: of this machine)", 0 },
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
	  "fragmentation, alloc_count, free_count, frees_called, remote_freed, "
	  "current_requested, caller, file", 9 },
	{ "callers", KEY_CALLERS, "FILE", 0, "Write all callers to FILE, one a line", 0 },
	{ 0 }
};

/* The usual ones are those of the tools that were before. */
#define MORE_COLUMNS \
	{ "frag", true, "fragmentation", false }, \
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

/* Groups are of callers in several files. */
static bool has_file(const struct trace *trace)
{
	return trace->build && trace->by.by == BY_ROW;
}

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
	case 'g':
		trace->kmem.by_task = !strcmp(arg, "process");
		trace->by.by = BY_ROW;
		if (!trace->kmem.by_task && strcmp(arg, "caller") &&
		    (!grouping_parse(&trace->by, arg) || trace->by.by == BY_SITE || trace->by.by == BY_PLACE ||
		     trace->by.by == BY_ROW))
			argp_error(state, "cannot group by '%s', but by caller, func, module, "
				   "process, file, dir, dir:DEPTH or subsystem", arg);
		return 0;
	case KEY_STACK:
		trace->source.frames = arg ? argument_number(arg, 1, 64, state) : 1;
		return 0;
	case KEY_PAGES:
		trace->kmem.pages = true;
		return 0;
	case KEY_PAGE_SIZE:
		trace->kmem.page_size = argument_size(arg, state);
		trace->page_size_given = true;
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
		trace->branch = arg;
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
		else if (trace->branch && !trace->build)
			argp_error(state, "--start-branch needs --kernel BUILD");
		else if ((trace->by.by == BY_FILE || trace->by.by == BY_DIR ||
			  trace->by.by == BY_SUBSYSTEM) && !trace->build)
			argp_error(state, "--group %s needs --kernel BUILD",
				   grouping_name(trace->by.by));
		else if (trace->build && trace->kmem.by_task)
			argp_error(state, "processes are in no file: --group process goes without "
				   "--kernel");
		else if ((trace->source.frames || trace->kmem.pages || trace->kmem.by_task) &&
			 (trace->db_file || trace->source.seconds > 0))
			argp_error(state, "stacks, pages and processes are read from a log as text");
		else if (trace->page_size_given && !trace->kmem.pages)
			argp_error(state, "--page-size goes with --pages");
		else if (trace->page_size_given && (trace->kmem.page_size < 1024 ||
			 trace->kmem.page_size & (trace->kmem.page_size - 1)))
			argp_error(state, "%" PRId64 " is not a page size", trace->kmem.page_size);
		else if (trace->kmem.pages && (trace->filter.malloc_only || trace->filter.cache_only))
			argp_error(state, "pages are in no cache");
		if (trace->source.seconds > 0)
			trace->source.path = "this machine";
		output_check_columns(&trace->output, account,
				     has_file(trace) ? COUNT : COUNT - 1, state);
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
	"interrupted), what 'trace-cmd report' or 'perf script' prints, or a trace.dat. Tells who allocated how much, "
	"holds how much now and wastes how much, and what looks wrong."
	"\vThe columns are: bytes ever allocated, of them wasted by rounding up, bytes "
	"that are alive, allocations / frees of them, the wasted per cent, caller.\n\n"
	"Examples:\n"
	"  codetag trace /sys/kernel/tracing/trace\n"
#ifdef HAVE_TRACECMD
	"  codetag trace --record 10 -n 20\n"
#endif
	"  trace-cmd report | codetag trace - --order-by waste -n 20\n"
	"  perf script | codetag trace - --stack=2 --order-by current_dynamic\n"
	"  codetag trace saved.trace --group process\n\n"
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
		{ "total bytes allocated", NULL, total->total_alloc, 0, true },
		{ "total bytes requested", NULL, total->total_req, 0, true },
		{ "total wasted bytes", NULL, kmem_waste(total), 0, true },
		{ "number of allocs", "number of allocs", total->allocs, total->allocs, false },
		{ "number of frees", "number of frees", total->frees, total->frees, false },
		{ "number of callers", "number of callers",
		  (int64_t)trace->selected, (int64_t)trace->selected, false },
	};
	bool human = output_human(&trace->output);
	char text[SIZE_TEXT];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!trace->slab_account || lines[i].slab_name)
			printf("%s: %s\n",
			       trace->slab_account ? lines[i].slab_name : lines[i].trace_name,
			       size_format(text, trace->slab_account ? lines[i].slab_value :
								       lines[i].value,
					   human && lines[i].is_size));
	printf("fragmentation: %s\n", percent_format(text, kmem_fragmentation(total)));
}

static void print_callers(struct trace *trace)
{
	struct table table = {
		.column = trace->slab_account ? slab_account : account,
		.columns = has_file(trace) ? COUNT : COUNT - 1,	/* the file is the last */
	};
	bool human = output_human(&trace->output);
	const struct kmem_caller **ranked;
	char text[2 * SIZE_TEXT];
	size_t count;

	ranked = kmem_rank(trace->ranked, &trace->order, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		table_cell(&table, size_format(text, c->total_alloc, human));
		table_cell(&table, size_format(text, kmem_waste(c), human));
		table_cell(&table, size_format(text, c->total_req, human));
		table_cell(&table, size_format(text, c->current_alloc, human));
		snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64, c->allocs,
			 trace->slab_account ? c->frees : c->freed);
		table_cell(&table, text);
		table_cell(&table, percent_format(text, kmem_fragmentation(c)));
		table_cell(&table, size_format(text, c->allocs, false));
		table_cell(&table, size_format(text, c->freed, false));
		table_cell(&table, size_format(text, c->frees, false));
		table_cell(&table, size_format(text, c->remote_freed, false));
		table_cell(&table, size_format(text, c->current_req, human));
		table_cell(&table, c->name);
		if (has_file(trace))
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
	json_real(&json, "fragmentation", kmem_fragmentation(total));
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
	ranked = kmem_rank(trace->ranked, &trace->order, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		json_object(&json, NULL);
		json_string(&json, "caller", c->name);
		if (has_file(trace) && c->path && *c->path)
			json_string(&json, "file", c->path);
		else if (has_file(trace))
			json_null(&json, "file");
		json_int(&json, "total_dynamic", c->total_alloc);
		json_int(&json, "total_requested", c->total_req);
		json_int(&json, "waste", kmem_waste(c));
		json_real(&json, "fragmentation", kmem_fragmentation(c));
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
	ranked = kmem_rank(trace->ranked, &trace->order, &count);
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

/* Groups are in no branch: only what is below it is in them. */
static void group_callers(struct trace *trace)
{
	trace->ranked = &trace->kmem;
	if (trace->by.by == BY_ROW) {
		trace->order.branch = trace->branch;
		return;
	}
	kmem_group(&trace->groups, &trace->kmem, trace->by, trace->branch);
	trace->ranked = &trace->groups;
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {
		.source.buffer = 64 << 20, .by.by = BY_ROW,
		.kmem.page_size = sysconf(_SC_PAGESIZE),
	};
	struct kmem_caller total;
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	if ((trace.db_file ? load_db(&trace) : trace_read(&trace.kmem, &trace.source)) && save_db(&trace) &&
	    resolve(&trace)) {
		status = STATUS_OK;
		trace.selected = kmem_sum(&trace.kmem, &trace.filter, &total);
		group_callers(&trace);
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
		if (trace.branch && !kmem_any_in_branch(&trace.kmem, trace.branch)) {
			warning("no caller is in a file below %s", trace.branch);
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
	kmem_free(&trace.groups);
	arena_free(&trace.strings);
#ifdef HAVE_ELF
	symbols_free(&trace.symbols);
#endif
	return status;
}
