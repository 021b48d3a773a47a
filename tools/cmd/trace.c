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
#include "trace_view.h"
#include "base/message.h"
#include "read/input.h"
#include "trace/kmem_sites.h"
#include "base/outfile.h"
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif

struct trace {
	struct trace_source source;
	bool buffer_given;
	const char *callers, *build, *branch;
	const char *save_db, *db_file;
	struct kmem kmem, groups;
	struct kmem_filter filter;
	struct arena strings;	/* names and files of callers */
	struct output output;
	struct kmem_order order;
	struct trace_view view;
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
		trace->kmem.pages = 1;
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
		trace->view.slab_account = trace->order.frees_too = true;
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
		trace->save_db = argument_database(arg, state);
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
			argp_error(state, "stacks, pages and processes are read from a log");
		else if (trace->page_size_given && !trace->kmem.pages)
			argp_error(state, "--page-size goes with --pages");
		else if (trace->page_size_given && (trace->kmem.page_size < 1024 ||
			 trace->kmem.page_size & (trace->kmem.page_size - 1)))
			argp_error(state, "%" PRId64 " is not a page size", trace->kmem.page_size);
		else if (trace->kmem.pages && (trace->filter.malloc_only || trace->filter.cache_only))
			argp_error(state, "pages are in no cache");
		if (trace->source.seconds > 0)
			trace->source.path = "this machine";
		trace_check_columns(&trace->output, has_file(trace), state);
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
static bool save_db(const struct trace *trace)
{
	struct outfile file;
	char *why;

	if (!trace->save_db)
		return true;
	if (!outfile_create(&file, trace->save_db)) {
		warning("cannot create %s: %s", trace->save_db, strerror(errno));
		return false;
	}
	why = kmem_save(&trace->kmem, file.temporary);
	if (why)
		warning("cannot write %s: %s", trace->save_db, why);
	free(why);
	return outfile_end(&file, trace->save_db, !why);
}
#else
static bool save_db(const struct trace *trace)
{
	(void)trace;
	return true;
}
#endif

static bool read_accounts(struct trace *trace)
{
	if (!trace->db_file)
		return trace_read(&trace->kmem, &trace->source);
	trace->source.path = trace->db_file;
	return trace_load(&trace->kmem, trace->db_file);
}

static bool resolve(struct trace *trace)
{
	struct kmem_resolved resolved;

	if (!trace->build)
		return true;
	if (!trace_resolve(&trace->kmem, trace->build, &trace->strings, &resolved))
		return false;
	if (resolved.unreadable)
		warning("%s: %zu files are named .o and are no object files", trace->build,
			resolved.unreadable);
	if (resolved.without)
		warning("%zu of %zu callers are in no file of %s, or in several",
			resolved.without, trace->kmem.callers, trace->build);
	return true;
}

static bool write_callers(const struct trace *trace)
{
	struct outfile file;
	const struct kmem_caller **ranked;
	size_t count;

	if (!outfile_open(&file, trace->callers)) {
		warning("cannot create %s: %s", trace->callers, strerror(errno));
		return false;
	}
	ranked = kmem_rank(trace->view.ranked, &trace->order, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(file.stream, "%s\n", ranked[i]->name);
	free(ranked);
	return outfile_end(&file, trace->callers, true);
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

/* What is shown. Groups are in no branch: only what is below it is in them. */
static void make_view(struct trace *trace)
{
	struct trace_view *view = &trace->view;

	view->output = &trace->output;
	view->source = trace->source.path;
	view->kmem = view->ranked = &trace->kmem;
	view->order = &trace->order;
	view->files = has_file(trace);
	view->selected = kmem_sum(&trace->kmem, &trace->filter, &view->total);
	if (trace->by.by == BY_ROW) {
		trace->order.branch = trace->branch;
		return;
	}
	kmem_group(&trace->groups, &trace->kmem, trace->by, trace->branch);
	view->ranked = &trace->groups;
}

static void say_bad(const struct kmem *kmem, const char *source)
{
	if (kmem->bad_line && kmem->why_bad)
		warning("%s: %" PRId64 " kmem events not understood, the first is line %" PRId64
			": %s", input_name(source), kmem->bad, kmem->bad_line, kmem->why_bad);
	else
		warning("%s: %" PRId64 " kmem events not understood", input_name(source),
			kmem->bad);
}

/* What keeps the answer from being the whole one; returns an exit status. */
static int judge(const struct trace *trace)
{
	const char *source = trace->source.path;
	int status = STATUS_OK;

	if (trace->filter.cache && !trace->view.total.allocs) {
		hint_cache(trace);
		status = STATUS_FOUND;
	}
	if (trace->branch && !kmem_any_in_branch(&trace->kmem, trace->branch)) {
		warning("no caller is in a file below %s", trace->branch);
		status = STATUS_FOUND;
	}
	if (trace->callers && !write_callers(trace))
		status = STATUS_TROUBLE;
	if (trace->kmem.cut) {
		trace_say_cut(source);
		status = STATUS_TROUBLE;
	}
	if (trace->kmem.bad) {
		say_bad(&trace->kmem, source);
		status = STATUS_TROUBLE;
	}
	return status;
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {
		.source.buffer = 64 << 20, .by.by = BY_ROW,
		.kmem.page_size = sysconf(_SC_PAGESIZE),
	};
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	if (read_accounts(&trace) && save_db(&trace) && resolve(&trace)) {
		make_view(&trace);
		trace_view(&trace.view);
		status = judge(&trace);
	}
	kmem_free(&trace.kmem);
	kmem_free(&trace.groups);
	arena_free(&trace.strings);
	return status;
}
