// SPDX-License-Identifier: GPL-2.0
/* codetag trace: the accounts of an ftrace log of the kmem events. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "interval.h"
#include "read/input.h"
#include "trace/kmem.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif
#include "output.h"
#include "base/message.h"
#include "base/number.h"
#include "write/outfile.h"
#ifdef HAVE_ELF
#include "image/symbols.h"
#endif
#include "trace/trace_dat.h"
#include "write/table.h"
#ifdef HAVE_TRACECMD
#include "trace/trace_record.h"
#endif

enum key { TOTAL_DYNAMIC, CURRENT_DYNAMIC, ALLOC_COUNT, FREE_COUNT, WASTE, KEYS };

static const char *const key_names[KEYS] = {
	[TOTAL_DYNAMIC] = "total_dynamic",
	[CURRENT_DYNAMIC] = "current_dynamic",
	[ALLOC_COUNT] = "alloc_count",
	[FREE_COUNT] = "free_count",
	[WASTE] = "waste",
};

struct trace {
	const char *path, *callers;
	double record;		/* seconds, 0: read a log */
	int64_t buffer;
	const char *build, *start;
	const char *save_db, *db_file;
	struct kmem kmem;
	struct kmem_filter filter;
	size_t selected;	/* callers that the filter leaves */
#ifdef HAVE_ELF
	struct symbols symbols;
#endif
	struct arena strings;	/* names of callers that were addresses */
	struct output output;
	enum key key;
	bool slab_account;
	size_t top;
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
		trace->key = argument_word(arg, key_names, KEYS, "sort key", state);
		return 0;
	case 'n':
		trace->top = argument_number(arg, 1, INT32_MAX, state);
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
		trace->slab_account = true;
		return 0;
	case KEY_CALLERS:
		trace->callers = arg;
		return 0;
	case KEY_KERNEL:
		trace->build = arg;
		return 0;
	case KEY_START:
		trace->start = arg;
		return 0;
	case KEY_SAVE_DB:
		trace->save_db = arg;
		return 0;
	case KEY_DB_FILE:
		trace->db_file = arg;
		return 0;
	case KEY_RECORD:
		trace->record = argument_seconds(arg, state);
		return 0;
	case KEY_BUFFER:
		trace->buffer = argument_size(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (trace->path)
			argp_error(state, "one log at a time, '%s' is a second one", arg);
		trace->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (trace->db_file && (trace->path || trace->save_db))
			argp_error(state, "--db-file goes with no log and no --save-db");
		else if (trace->record > 0 && (trace->path || trace->db_file))
			argp_error(state, "--record reads no file");
		else if (!trace->path && !trace->db_file && trace->record <= 0)
			argp_error(state, "which log? '-' is standard input");
		else if (trace->buffer && trace->record <= 0)
			argp_error(state, "--buffer goes with --record");
		else if (trace->filter.malloc_only && trace->filter.cache_only)
			argp_error(state, "--malloc and --cache leave nothing");
		else if (trace->start && !trace->build)
			argp_error(state, "--start-branch needs --kernel BUILD");
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

/* On a terminal, twice a second at most. */
static void show_progress(const struct trace *trace, int64_t read, bool end)
{
	static struct timespec last;
	struct timespec now;
	char size[SIZE_TEXT];

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (end && last.tv_sec) {
		fputs("\r\033[K", stderr);
	} else if (!end && (now.tv_sec - last.tv_sec) * 1000000000 + now.tv_nsec -
		   last.tv_nsec > 500000000) {
		last = now;
		fprintf(stderr, "\r%s read, %" PRId64 " events, %zu objects alive\033[K",
			size_format(size, read, true), trace->kmem.events,
			trace->kmem.objects);
	}
}

static void read_lines(struct trace *trace, FILE *in)
{
	size_t room = 0, lines = 0;
	char *line = NULL;
	int64_t read = 0;
	ssize_t len;

	while (!interrupt_caught() && (len = getline(&line, &room, in)) > 0) {
		struct kmem_event event;

		read += len;
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		kmem_event_parse(&event, line);
		kmem_add(&trace->kmem, &event);
		if (!(++lines & 0xffff))
			show_progress(trace, read, false);
	}
	free(line);
}

/* What is read from a pipe is gone: look into ordinary files only. */
static bool is_binary(const char *path)
{
	char head[sizeof(TRACE_DAT_MAGIC) - 1];
	struct stat st;
	FILE *in = !stat(path, &st) && S_ISREG(st.st_mode) && st.st_size ?
		   fopen(path, "re") : NULL;
	bool same = in && fread(head, sizeof(head), 1, in) == 1 &&
		    !memcmp(head, TRACE_DAT_MAGIC, sizeof(head));

	if (in)
		fclose(in);
	return same;
}

#ifdef HAVE_TRACECMD
/* In a process of its own, because of what the library does to damaged files. */
static void decode(const char *path, int out)
{
	FILE *stream = fdopen(out, "w");
	int nothing = open("/dev/null", O_WRONLY);
	bool good;

	/* Whoever ends the command means this, too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(nothing, STDERR_FILENO);
	good = stream && trace_dat_read(path, kmem_event_print, stream) && !fclose(stream);
	_exit(good ? STATUS_OK : STATUS_TROUBLE);
}

static bool read_binary(struct trace *trace)
{
	int ends[2], status = 0;
	pid_t pid;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC) || (pid = fork()) < 0) {
		warning("cannot start to read %s: %s", trace->path, strerror(errno));
		return false;
	}
	if (!pid)
		decode(trace->path, ends[1]);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (in) {
		read_lines(trace, in);
		fclose(in);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	trace->kmem.cut = status != 0;
	return true;
}

static bool record(struct trace *trace)
{
	struct trace_record *record;
	struct interval interval;
	const char *why;

	record = trace_record_start(trace->buffer ? trace->buffer : 64 << 20, &why);
	if (!record) {
		int error = errno;

		warning("cannot trace: %s", why ? why : strerror(error));
		if (!why && (error == EACCES || error == EPERM))
			hint("Only root may.");
		return false;
	}
	interval_start(&interval, trace->record);
	interval_wait(&interval);
	why = trace_record_finish(record, &trace->kmem);
	trace->path = "this machine";
	if (why)
		warning("%s", why);
	else if (trace->kmem.overwritten)
		warning("the buffer was too small, the first %" PRId64 " events are missing: "
			"see --buffer", trace->kmem.overwritten);
	return !why;
}
#else
static bool read_binary(struct trace *trace)
{
	warning("this build cannot read %s", trace->path);
	hint("Try: trace-cmd report %s | codetag trace -", trace->path);
	return false;
}

static bool record(struct trace *trace)
{
	(void)trace;
	return false;
}
#endif

static bool read_text(struct trace *trace)
{
	bool is_stdin = !strcmp(trace->path, "-"), good;
	FILE *in = is_stdin ? stdin : fopen(trace->path, "re");
	struct stat st;

	if (!in) {
		int why = errno;

		input_complain(trace->path, why);
		if (why == ENOENT)
			hint("Of this machine the log is /sys/kernel/tracing/trace, where tracefs is "
			     "mounted.");
		return false;
	}
	/* trace_pipe has no end, and no size either. */
	if (!fstat(fileno(in), &st) && !(S_ISREG(st.st_mode) && st.st_size))
		interrupt_catch();
	read_lines(trace, in);
	good = !ferror(in) || interrupt_caught();
	if (interrupt_caught())
		warning("interrupted: this is what %s had until then", input_name(trace->path));
	else if (!good)
		input_complain(trace->path, errno);
	if (!is_stdin)
		fclose(in);
	return good;
}

static void say_cut(const struct trace *trace)
{
	warning("%s: not read to its end: it is damaged, or newer than this build",
		trace->path);
}

static bool read_log(struct trace *trace)
{
	bool good;

	if (trace->record > 0)
		good = record(trace);
	else if (is_binary(trace->path))
		good = read_binary(trace);
	else
		good = read_text(trace);
	show_progress(trace, 0, true);
	if (good && !trace->kmem.events && trace->kmem.cut) {
		say_cut(trace);
		good = false;
	} else if (good && !trace->kmem.events) {
		warning("there are no kmem events in %s", input_name(trace->path));
		hint("This switches them on: echo 1 > /sys/kernel/tracing/events/kmem/enable");
		good = false;
	}
	return good;
}

#ifdef HAVE_SQLITE
static bool load_db(struct trace *trace)
{
	char *why = kmem_load(&trace->kmem, trace->db_file);

	if (why) {
		warning("cannot read %s: %s", trace->db_file, why);
		hint("Such files are made by 'codetag trace --save-db'.");
	}
	trace->path = trace->db_file;
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
/* Gives callers their file, and those that are addresses their name. */
static bool resolve(struct trace *trace)
{
	struct text name = { 0 };
	size_t without = 0;

	if (!trace->build)
		return true;
	if (!symbols_read(&trace->symbols, trace->build)) {
		warning("cannot read the kernel in %s: %s", trace->build,
			strerror(errno));
		hint("It has to be the directory that the kernel was built in (O=).");
		return false;
	}
	for (size_t i = 0; i < trace->kmem.callers; i++) {
		struct kmem_caller *c = &trace->kmem.caller[i];

		/* The address tells more than the name, if there is one. */
		c->path = symbols_path(&trace->symbols, c->name);
		if (symbols_resolve(&trace->symbols, c->name, &name)) {
			c->name = arena_copy(&trace->strings, name.s, name.len);
			if (!c->path)
				c->path = symbols_path(&trace->symbols, c->name);
		}
		without += !c->path || !*c->path;
	}
	if (trace->symbols.unreadable)
		warning("%s: %zu files are named .o and are no object files", trace->build,
			trace->symbols.unreadable);
	if (without)
		warning("%zu of %zu callers are in no file of %s, or in several",
			without, trace->kmem.callers, trace->build);
	text_free(&name);
	return true;
}
#else
static bool resolve(struct trace *trace)
{
	(void)trace;
	return true;
}
#endif

/* Whether @path is below the branch that was asked for. */
static bool in_branch(const struct trace *trace, const char *path)
{
	size_t len;

	if (!trace->start)
		return true;
	len = strlen(trace->start);
	while (len && trace->start[len - 1] == '/')
		len--;
	return path && !strncmp(path, trace->start, len) &&
	       (!path[len] || path[len] == '/' || path[len] == '.');
}

static bool any_in_branch(const struct trace *trace)
{
	for (size_t i = 0; i < trace->kmem.callers; i++)
		if (in_branch(trace, trace->kmem.caller[i].path))
			return true;
	return false;
}

static int64_t waste_of(const struct kmem_caller *c)
{
	return sub64(c->total_alloc, c->total_req);
}

static int64_t weight(const struct kmem_caller *c, enum key key)
{
	switch (key) {
	case TOTAL_DYNAMIC:
		return c->total_alloc;
	case CURRENT_DYNAMIC:
		return c->current_alloc;
	case ALLOC_COUNT:
		return c->allocs;
	case FREE_COUNT:
		return c->freed;
	case WASTE:
		return waste_of(c);
	case KEYS:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *key)
{
	const struct kmem_caller *const *x = a, *const *y = b;
	int64_t wx = weight(*x, *(enum key *)key), wy = weight(*y, *(enum key *)key);

	if (wx != wy)
		return wx < wy ? 1 : -1;
	return strcmp((*x)->name, (*y)->name);
}

/* The callers in order; those that only free are left out of most tables. */
static const struct kmem_caller **rank(struct trace *trace, size_t *count)
{
	const struct kmem *kmem = &trace->kmem;
	const struct kmem_caller **ranked = xcalloc(kmem->callers, sizeof(*ranked));

	*count = 0;
	for (size_t i = 0; i < kmem->callers; i++)
		if ((kmem->caller[i].allocs || (trace->slab_account && kmem->caller[i].frees)) &&
		    in_branch(trace, kmem->caller[i].path))
			ranked[(*count)++] = &kmem->caller[i];
	qsort_r(ranked, *count, sizeof(*ranked), compare, &trace->key);
	if (trace->top && trace->top < *count)
		*count = trace->top;
	return ranked;
}

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
		  sub64(total->current_alloc, total->current_req), waste_of(total), true },
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

	ranked = rank(trace, &count);
	for (size_t i = 0; i < count; i++) {
		const struct kmem_caller *c = ranked[i];

		table_cell(&table, size_format(text, c->total_alloc, human));
		table_cell(&table, size_format(text, waste_of(c), human));
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

struct finding_text {
	const struct kmem_finding *finding;
	const char *key, *what;
};

static size_t list_findings(const struct kmem *kmem, struct finding_text out[5])
{
	const struct finding_text all[] = {
		{ &kmem->remote, "remote_frees", "freed on another CPU than allocated" },
		{ &kmem->wrong_function, "wrong_function",
		  "freed with the function of the other kind (kfree, kmem_cache_free)" },
		{ &kmem->wrong_cache, "wrong_cache", "freed into another cache" },
		{ &kmem->unknown, "unknown_frees",
		  "freed, but not seen to be allocated (before the log began?)" },
		{ &kmem->reused, "missed_frees",
		  "allocated again, but not seen to be freed (events missing)" },
	};

	memcpy(out, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

static const char *caller_name(const struct kmem *kmem, uint32_t i)
{
	return i == KMEM_NOBODY ? NULL : kmem->caller[i].name;
}

static void print_findings(const struct kmem *kmem)
{
	struct finding_text all[5];
	size_t count = list_findings(kmem, all);

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
	struct finding_text all[5];
	size_t count = list_findings(kmem, all);

	json_object(&json, NULL);
	json_string(&json, "source", trace->path);
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
	ranked = rank(trace, &count);
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
		json_int(&json, "waste", waste_of(c));
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
	ranked = rank(trace, &count);
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
		input_name(trace->path), trace->filter.cache);
	if (!trace->kmem.caches.count)
		hint("It tells no caches at all.");
	else
		hint("Linux 6.12 tells the cache only when an object is freed.");
}

int cmd_trace(int argc, char **argv)
{
	struct trace trace = { 0 };
	struct kmem_caller total;
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &trace);
	if ((trace.db_file ? load_db(&trace) : read_log(&trace)) && save_db(&trace) &&
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
		if (trace.start && !any_in_branch(&trace)) {
			warning("no caller is in a file below %s", trace.start);
			status = STATUS_FOUND;
		}
		if (trace.callers && !write_callers(&trace))
			status = STATUS_TROUBLE;
		if (trace.kmem.cut) {
			say_cut(&trace);
			status = STATUS_TROUBLE;
		}
		if (trace.kmem.bad) {
			warning("%s: %" PRId64 " kmem events not understood",
				input_name(trace.path), trace.kmem.bad);
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
