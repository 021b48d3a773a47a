// SPDX-License-Identifier: GPL-2.0-only
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
#include "change.h"
#include "sites_view.h"
#include "trace_choice.h"
#include "trace_lines.h"
#include "trace_read.h"
#include "trace_view.h"
#include "words.h"
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
	struct debugfs_dir dir;
	struct text words;	/* the log, or a query */
	struct query *query;	/* NULL: none */
	bool on, off, every;
	bool shows;		/* an option of the accounts was given */
	const char *callers, *build, *branch;
	const char *save_db, *db_file;
	struct trace_choice choice;
	struct kmem kmem, groups;
	struct profiled profiled;	/* the chosen call sites */
	struct arena strings;	/* names and files of callers */
	struct output output;
	struct kmem_order order;
	struct trace_view view;
	struct grouping by;	/* BY_ROW: callers are not summed */
	bool by_task, by_size;	/* instead */
};

enum {
	KEY_CALLERS = 0x200, KEY_SLAB, KEY_KERNEL, KEY_START, KEY_SAVE_DB, KEY_DB_FILE, KEY_RECORD,
	KEY_BUFFER, KEY_ON, KEY_OFF,
};

static const struct argp_option options[] = {
	{ "record", KEY_RECORD, "SEC", 0,
	  "Trace this machine for SEC seconds, or until interrupted, instead of reading "
	  "a log. With QUERY only the chosen call sites are traced: objects, pages and percpu "
	  "memory", -1 },
	{ "buffer", KEY_BUFFER, "SIZE", 0,
	  "For --record: memory for the events, of all CPUs together (default: 64M)", -1 },
	{ "on", KEY_ON, NULL, 0,
	  "Let the kernel emit codetag:alloc and codetag:free for the chosen call sites, for perf, "
	  "trace-cmd or bpftrace", -1 },
	{ "off", KEY_OFF, NULL, 0, "Stop the events of the chosen call sites", -1 },
	{ "all", 'a', NULL, 0, "With --on and --off: all call sites, without a query", -1 },
	{ "order-by", 's', "KEY", 0,
	  "Sort by %s (default: total_dynamic). Current means now, total ever; waste is lost "
	  "by rounding up, remote_freed counts objects freed on another CPU", 0 },
	{ "group", 'g', "BY", 0,
	  "Sum by %s (default: caller; the process allocated, the size was asked for; file, dir "
	  "and subsystem need --kernel)", 0 },
	{ "top", 'n', "N", 0, "Only the first N callers", 0 },
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
	  "Columns: total_dynamic, waste, total_waste, total_requested, current_dynamic, "
	  "alloc/free, fragmentation, alloc_count, free_count, frees_called, remote_freed, "
	  "current_requested, mean_requested, mean, caller, file", 9 },
	{ "callers", KEY_CALLERS, "FILE", 0, "Write all callers to FILE, one a line", 0 },
	{ 0 }
};

enum { GROUP_CALLER, GROUP_PROCESS, GROUP_SIZE };

static const char *const own_groups[] = { "caller", "process", "size" };

static const struct group_words groups = {
	BIT_OF(BY_FUNC) | BIT_OF(BY_MODULE) | BIT_OF(BY_FILE) | BIT_OF(BY_DIR) |
	BIT_OF(BY_SUBSYSTEM), WORDS(own_groups, ),
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 's' ? words_help(text, WORDS(kmem_key_names, ), ", ") :
	       key == 'g' ? group_help(text, groups) : (char *)text;
}

/* With --columns the sort key need not be a column. Older tools have -o for the order. */
static void hint_order(const char *columns)
{
	for (size_t i = 0; columns && i < KMEM_KEYS; i++)
		if (!strcmp(columns, kmem_key_names[i]))
			hint("-o chooses columns. To sort: -s %s", columns);
}

static const struct argp_child children[] = {
	{ &trace_choice_argp, 0, NULL, 0 },
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

/* Groups are of callers in several files. */
static bool has_file(const struct trace *trace)
{
	return trace->build && trace->by.by == BY_ROW && !trace->by_size;
}

static bool of_waste(const struct trace *trace)
{
	return trace->view.slab_account || kmem_key_of_waste(trace->order.key);
}

static void check(const struct trace *trace, struct argp_state *state)
{
	const struct trace_source *source = &trace->source;
	enum group_by by = trace->by.by;
	bool records = source->seconds > 0, switches = trace->on || trace->off;
	bool of_lines = trace->query && !query_is_empty(trace->query);
	bool by_file = by == BY_FILE || by == BY_DIR || by == BY_SUBSYSTEM;
	const struct conflict conflicts[] = {
		{ trace->on && trace->off, "either --on or --off", NULL },
		{ switches && (records || trace->db_file || trace->shows || trace->choice.given ||
			       trace->choice.page_size || output_chosen(&trace->output)),
		  "--on and --off only switch events on and off", NULL },
		{ trace->every && !switches, "--all goes with --on and --off", NULL },
		{ trace->every && of_lines, "--all takes no query", NULL },
		{ switches && !trace->every && !of_lines,
		  "which call sites? --all is all of them", NULL },
		{ records && of_lines && (trace->build || trace->by.by != BY_ROW || trace->by_size ||
					  trace->choice.given),
		  "--record with a query tells call sites apart, and knows nothing of callers and "
		  "caches", NULL },
		{ records && of_lines && of_waste(trace),
		  "events of call sites do not tell how much was requested, so waste is not known", NULL },
		{ trace->db_file && (source->path || trace->save_db),
		  "--db-file goes with no log and no --save-db", NULL },
		{ records && trace->db_file, "--record reads no file", NULL },
		{ !source->path && !trace->db_file && !records && !switches,
		  "which log? '-' is standard input", NULL },
		{ trace->buffer_given && !records, "--buffer goes with --record", NULL },
		{ trace->dir.given && !switches && !(records && of_lines),
		  "--debugfs goes with --on, --off, and --record with a query", NULL },
		{ trace->branch && !trace->build, "--start-branch needs --kernel BUILD", NULL },
		{ by_file && !trace->build,
		  "--group file, dir and subsystem need --kernel BUILD", NULL },
		{ trace->build && trace->by_task,
		  "processes are in no file: --group process goes without --kernel", NULL },
		{ (trace->choice.frames || trace->choice.pages || trace->by_task) &&
		  (trace->db_file || records), "stacks, pages and processes are read from a log", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
#ifndef HAVE_TRACECMD
	if (records && !of_lines)
		argp_error(state, "this build can record only chosen call sites: give a QUERY");
#endif
}

/* The options decide what the arguments are: a log, or a query. */
static void take_words(struct trace *trace, struct argp_state *state)
{
	const char *words = trace->words.len ? trace->words.s : NULL;

	if (trace->on || trace->off || (trace->source.seconds > 0 && words))
		trace->query = argument_query(words ? words : "", state);
	else
		trace->source.path = words;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace *trace = state->input;
	int own;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &trace->choice;
		state->child_inputs[1] = &trace->dir;
		state->child_inputs[2] = &trace->output;
		return 0;
	case 'a':
		trace->every = true;
		return 0;
	case KEY_ON:
		trace->on = true;
		return 0;
	case KEY_OFF:
		trace->off = true;
		return 0;
	case 's':
		trace->shows = true;
		trace->order.key = argument_word(arg, WORDS(kmem_key_names, ), "sort key", state);
		return 0;
	case 'n':
		trace->shows = true;
		trace->order.top = argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case 'o':
		trace->output.columns = arg;
		return 0;
	case 'g':
		trace->shows = true;
		trace->by.by = BY_ROW;
		own = argument_group(&trace->by, arg, groups, state);
		trace->by_task = own == GROUP_PROCESS;
		trace->by_size = own == GROUP_SIZE;
		return 0;
	case KEY_SLAB:
		trace->shows = true;
		trace->view.slab_account = trace->order.frees_too = true;
		return 0;
	case KEY_CALLERS:
		trace->shows = true;
		trace->callers = arg;
		return 0;
	case KEY_KERNEL:
		trace->shows = true;
		trace->build = arg;
		return 0;
	case KEY_START:
		trace->shows = true;
		trace->branch = arg;
		return 0;
	case KEY_SAVE_DB:
		trace->shows = true;
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
		if (trace->words.len && !trace->source.seconds && !trace->on && !trace->off)
			argp_error(state, "one log at a time, '%s' is a second one", arg);
		if (trace->words.len)
			text_puts(&trace->words, " ");
		text_puts(&trace->words, arg);
		return 0;
	case ARGP_KEY_END:
		take_words(trace, state);
		trace_check_columns(&trace->output, has_file(trace), state);
		check(trace, state);
		if (trace->source.seconds > 0)
			trace->source.path = "this machine";
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse,
#ifdef HAVE_TRACECMD
	"LOG\n--record SEC [QUERY…]\n--on QUERY…|--all\n--off QUERY…|--all",
#else
	"LOG\n--record SEC QUERY…\n--on QUERY…|--all\n--off QUERY…|--all",
#endif
	"Reads an ftrace log with the kmem events kmalloc, kfree, kmem_cache_alloc and "
	"kmem_cache_free, of any kernel that has them: the file trace, trace_pipe (until "
	"interrupted), the output of 'trace-cmd report' or 'perf script', or a trace.dat. Shows for each "
	"caller how much it allocated, holds now and wastes, and lists suspicious events."
	"\vThe columns are: bytes ever allocated, bytes that rounding up wastes now, bytes "
	"alive, allocations / frees of these allocations, share of all bytes ever allocated that "
	"was wasted, caller. --slab-account has the bytes ever wasted instead.\n\n"
	"Examples:\n"
	"  codetag trace /sys/kernel/tracing/trace\n"
#ifdef HAVE_TRACECMD
	"  codetag trace --record 10 -n 20\n"
#endif
	"  codetag trace --record 10 file net/core/skbuff.c\n"
	"  codetag trace --on func ext4_alloc_inode && perf record -e 'codetag:*' -a sleep 10\n"
	"  trace-cmd report | codetag trace - --order-by waste -n 20\n"
	"  perf script | codetag trace - --stack=2 --order-by current_dynamic\n"
	"  codetag trace saved.trace --group process\n"
	"  codetag trace saved.trace --group size --from '*alloc_skb*'\n\n"
	"Exit status: 0 success, 1 nothing of the kind that was asked for: no allocation known to be of "
	"the cache NAME, no caller below DIR or none that matches GLOB. 2 trouble, or events are "
	"missing.",
	children, help, NULL
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

static int switch_lines(const struct trace *trace)
{
	const struct change change = {
		.choice = { .dir = trace->dir, .query = trace->query }, .every = trace->every,
	};

	int status = change_run(&change, trace->on ? "trace" : "trace=off");
	struct profiled profiled;
	struct control control;

	if (status != STATUS_OK || !trace->on || !control_read(&control, &trace->dir))
		return status;
	control_select(&control, trace->query);
	sites_profiled(&control, &trace->dir, &profiled);
	control_free(&control);
	if (!profiled.off)
		return status;
	trace_lines_off(&profiled);
	return STATUS_TROUBLE;
}

static int record_lines(struct trace *trace)
{
	const struct trace_lines lines = {
		.dir = trace->dir, .query = trace->query, .seconds = trace->source.seconds,
		.buffer = trace->source.buffer,
	};
	int status = trace_lines_record(&lines, &trace->kmem, &trace->profiled);

	if (status != STATUS_OK || trace->kmem.events)
		return status;
	warning("none of the chosen call sites allocated, or freed what it had allocated");
	if (!trace->profiled.off)
		return STATUS_FOUND;
	trace_lines_off(&trace->profiled);
	return STATUS_TROUBLE;
}

static int read_accounts(struct trace *trace)
{
	trace_choice_start(&trace->choice, &trace->kmem);
	trace->kmem.by_task = trace->by_task;
	trace->source.frames = trace->choice.frames;
	if (trace->query)
		return record_lines(trace);
	if (!trace->db_file)
		return trace_read(&trace->kmem, &trace->source) ? STATUS_OK : STATUS_TROUBLE;
	trace->source.path = trace->db_file;
	return trace_load(&trace->kmem, trace->db_file, of_waste(trace)) ? STATUS_OK : STATUS_TROUBLE;
}

static bool resolve(struct trace *trace)
{
	struct kmem_resolved resolved;

	if (!trace->build)
		return true;
	if (!trace_resolve(&trace->kmem, trace->build, &trace->strings, &resolved))
		return false;
	if (resolved.unreadable)
		warning("%s: %zu files are named .o but are not object files", trace->build,
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

/* Explains why --cache=NAME has left nothing. */
static void hint_cache(const struct trace *trace)
{
	warning("no allocation in %s is known to be of the cache '%s'",
		input_name(trace->source.path), trace->choice.filter.cache);
	if (!trace->kmem.caches.count)
		hint("The log names no caches at all.");
	else
		hint("Linux 6.12 tells the cache only when an object is freed.");
}

/* The rows to show: callers, or groups of them. */
static void make_view(struct trace *trace)
{
	struct trace_view *view = &trace->view;

	trace->choice.filter.branch = trace->branch;
	view->output = &trace->output;
	view->source = trace->source.path;
	view->kmem = view->ranked = &trace->kmem;
	view->order = &trace->order;
	view->files = has_file(trace);
	view->heading = trace->by_task ? "process" : NULL;
	view->callers = kmem_sum(&trace->kmem, &trace->choice.filter, &view->total);
	if (trace->by_size)
		kmem_group_sizes(&trace->groups, &trace->kmem, &trace->choice.filter);
	else if (trace->by.by != BY_ROW)
		kmem_group(&trace->groups, &trace->kmem, trace->by);
	else
		return;
	view->ranked = &trace->groups;
	view->heading = trace->by_size ? "size" : grouping_name(trace->by.by);
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

/* Warns about parts of the log that are missing; returns an exit status. */
static int judge(const struct trace *trace)
{
	const char *source = trace->source.path;
	int status = STATUS_OK;

	if (trace->choice.filter.cache && !trace->view.total.allocs) {
		hint_cache(trace);
		status = STATUS_FOUND;
	}
	if (trace->branch && !kmem_any_in_branch(&trace->kmem, trace->branch)) {
		warning("no caller is in a file below %s", trace->branch);
		status = STATUS_FOUND;
	}
	if (trace->choice.filter.caller && !trace->view.total.allocs) {
		warning("no caller that allocates matches '%s'", trace->choice.filter.caller);
		status = STATUS_FOUND;
	}
	if (trace->callers && !write_callers(trace))
		status = STATUS_TROUBLE;
	if (trace->profiled.off) {
		trace_lines_off(&trace->profiled);
		status = STATUS_TROUBLE;
	}
	if (trace->kmem.cut) {
		trace_say_cut(source);
		status = STATUS_TROUBLE;
	}
	if (trace->kmem.bad) {
		say_bad(&trace->kmem, source);
		status = STATUS_TROUBLE;
	}
	if (trace->kmem.lost || trace->kmem.overwritten) {
		warning("%s: events are missing: %" PRId64 " lost, %" PRId64 " overwritten",
			input_name(source), trace->kmem.lost, trace->kmem.overwritten);
		hint(trace->source.seconds > 0 ? "A larger buffer holds more: see --buffer." :
		     "A larger buffer holds more: buffer_size_kb of tracefs, trace_buf_size= at boot.");
		status = STATUS_TROUBLE;
	}
	return status;
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = {
		.source.buffer = 64 << 20, .by.by = BY_ROW, .dir = DEBUGFS_DIR_INIT,
	};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	hint_order(trace.output.columns);
	status = trace.on || trace.off ? switch_lines(&trace) : read_accounts(&trace);
	if (status == STATUS_OK && !trace.on && !trace.off) {
		status = STATUS_TROUBLE;
		if (save_db(&trace) && resolve(&trace)) {
			make_view(&trace);
			trace_view(&trace.view);
			status = judge(&trace);
		}
	}
	query_free(trace.query);
	text_free(&trace.words);
	kmem_free(&trace.kmem);
	kmem_free(&trace.groups);
	arena_free(&trace.strings);
	return status;
}
