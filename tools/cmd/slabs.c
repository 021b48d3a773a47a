// SPDX-License-Identifier: GPL-2.0-only
/* codetag slabs: the caches of /proc/slabinfo. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "slabs_live.h"
#include "slabs_view.h"
#include "words.h"
#include "base/message.h"
#include "base/number.h"
#include "base/text.h"
#include "memory_image/report.h"
#include "read/alloc_traces.h"
#include "read/input.h"
#include "read/profiling.h"
#include "source/sections.h"
#include "source/source.h"
#include "trace/kmem.h"
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif

struct options {
	const char *path, *old;
	struct output output;
	struct slab_choice choice;
	bool given, live;
	double delay;		/* 0: not given */
	size_t top;
	size_t sites;		/* call sites below each cache, 0: none */
	const char *allocinfo, *trace_db, *alloc_traces;
	bool prometheus;
	bool has_limit;
	int64_t limit;		/* of growth */
	int64_t image_page_size;	/* 0: no image was read */
};

enum { KEY_PAGE_SIZE = 0x200, KEY_SITES, KEY_ALLOCINFO, KEY_TRACE_DB, KEY_LIVE, KEY_DIFF, KEY_CSV,
       KEY_PROMETHEUS, KEY_FAIL_OVER, KEY_ALLOC_TRACES, KEY_IMAGE };

static const struct argp_option options[] = {
	{ "slabinfo", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: /proc/slabinfo)", 1 },
	{ "image", KEY_IMAGE, "FILE", 0,
	  "Read FILE, an image of a machine's memory: a dump of kdump, makedumpfile or QEMU", 1 },
	{ "diff", KEY_DIFF, "OLD", 0,
	  "Changes since OLD, another such file or a recording; the sort keys are a, c, l, "
	  "n, o and v", 1 },
#ifdef HAVE_NCURSES
	{ "live", KEY_LIVE, NULL, 0,
	  "On the whole terminal, with the keys of slabtop; h is help", 1 },
	{ "delay", 'd', "SEC", 0, "For --live: time between refreshes (default: 3)", 1 },
#endif
	{ "sort", 's', "KEY", 0,
	  "As in slabtop: %s (default: c)", 2 },
	{ "top", 'n', "N", 0, "Only the first N", 2 },
	{ "all", 'a', NULL, 0, "Also caches without a slab, or that did not change", 2 },
	{ "columns", 'o', "LIST", 0,
	  "Columns: objects, active, use, object_size, slabs, objects_per_slab, size, "
	  "pages_per_slab, active_slabs, name; with --diff growth, size_before, size, "
	  "objects_growth, active_growth, slabs_growth, state, name", 9 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that FILE is from (default: that of an image, otherwise of this machine)", 2 },
	{ "sites", KEY_SITES, "N", OPTION_ARG_OPTIONAL,
	  "Below each cache the N (default: 3) call sites that hold most of it, as far as "
	  "that can be told: see below", 3 },
	{ "allocinfo", KEY_ALLOCINFO, "FILE", 0,
	  "Call sites by size, from FILE (default: " ALLOCINFO_PATH ")", 3 },
	{ "alloc-traces", KEY_ALLOC_TRACES, "DIR", 0,
	  "Call sites as a kernel has recorded them that was booted with slab_debug=U, from DIR, "
	  "/sys/kernel/debug/slab or a copy of it: CACHE/alloc_traces, or CACHE/alloc_calls", 3 },
#ifdef HAVE_SQLITE
	{ "trace-db", KEY_TRACE_DB, "FILE", 0,
	  "Callers from the trace that codetag trace --save-db has put into FILE", 3 },
#endif
	{ "csv", KEY_CSV, NULL, 0, "Write CSV", 10 },
	{ "prometheus", KEY_PROMETHEUS, NULL, 0,
	  "Write text for the node_exporter's textfile collector, of all caches", 10 },
	{ "fail-over", KEY_FAIL_OVER, "SIZE", 0,
	  "With --diff: exit with 1 if a cache that is shown grew by more than SIZE", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 's' ? words_help(text, WORDS(slab_keys, .meaning), ", ") : (char *)text;
}

static void check(const struct options *o, struct argp_state *state)
{
	const struct output *output = &o->output;
	const char letter[] = { '\'', o->choice.key, '\'', '\0' };
	bool from = o->allocinfo || o->trace_db || o->alloc_traces;
	bool saved = o->sites && o->given && !from;
	const struct conflict conflicts[] = {
		{ output->json + output->csv + o->prometheus > 1,
		  "choose one of --json, --csv and --prometheus", NULL },
		{ o->prometheus && (o->live || o->old || o->sites || from || output->columns ||
				    o->choice.pattern || o->top),
		  "--prometheus has all caches as they are: --live, --diff, --sites and its files, "
		  "--columns, --top and GLOB go without it", NULL },
		{ o->prometheus && output_styled(output),
		  "--prometheus is no table: --bytes, --human and --noheadings go without it", NULL },
		{ output->csv && (o->live || o->sites || from),
		  "--csv goes with neither --live nor --sites", NULL },
		{ o->has_limit && !o->old, "--fail-over goes with --diff", NULL },
		{ (o->live || o->old) && (o->sites || from),
		  "--sites goes with neither --live nor --diff", NULL },
		{ o->live && o->old, "either --live or --diff", NULL },
		{ o->live && (output->json || output->columns || output->no_headings || o->top),
		  "--live has a table of its own: --json, --columns, --noheadings and --top go "
		  "without it", NULL },
		{ o->delay > 0 && !o->live, "--delay goes with --live", NULL },
		{ o->old && !slab_key(o->choice.key)->of_changes,
		  " does not sort changes", letter },
		{ !!o->allocinfo + !!o->trace_db + !!o->alloc_traces > 1,
		  "choose one of --allocinfo, --alloc-traces and --trace-db", NULL },
		{ saved && image_file(o->path),
		  "an image knows the call sites itself: codetag census --image FILE --by cache,site", NULL },
		{ saved, "--sites of a saved slabinfo needs --allocinfo, --alloc-traces or "
		  "--trace-db of that machine", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_IMAGE:
		argument_image(arg, state);
		/* fallthrough */
	case 'f':
		if (o->given)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		o->path = arg;
		o->given = true;
		return 0;
	case 's':
		o->choice.key = *slab_keys[argument_word(arg, WORDS(slab_keys, .key), "sort key",
							 state)].key;
		return 0;
	case 'n':
		o->top = argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case 'a':
		o->choice.all = true;
		return 0;
	case 'o':
		o->output.columns = arg;
		return 0;
	case KEY_PAGE_SIZE:
		o->choice.page_size = argument_page_size(arg, state);
		return 0;
	case KEY_SITES:
		o->sites = arg ? argument_number("--sites", arg, 1, INT32_MAX, state) : 3;
		return 0;
	case KEY_ALLOCINFO:
		o->allocinfo = arg;
		return 0;
	case KEY_ALLOC_TRACES:
		o->alloc_traces = arg;
		return 0;
	case KEY_TRACE_DB:
		o->trace_db = arg;
		return 0;
	case KEY_LIVE:
		o->live = true;
		return 0;
	case KEY_DIFF:
		o->old = arg;
		return 0;
	case KEY_CSV:
		o->output.csv = true;
		return 0;
	case KEY_PROMETHEUS:
		o->prometheus = true;
		return 0;
	case KEY_FAIL_OVER:
		o->limit = argument_size(arg, state);
		o->has_limit = true;
		return 0;
	case 'd':
		o->delay = argument_seconds(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->choice.pattern)
			argp_error(state, "one pattern at a time, '%s' is a second one", arg);
		o->choice.pattern = arg;
		return 0;
	case ARGP_KEY_END:
		slabs_check_columns(&o->output, o->old, state);
		check(o, state);
		if (!o->sites && (o->allocinfo || o->trace_db || o->alloc_traces))
			o->sites = 3;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse,
#ifdef HAVE_NCURSES
	"[GLOB]\n--live [GLOB]\n--diff OLD [GLOB]",
#else
	"[GLOB]\n--diff OLD [GLOB]",
#endif
	"Shows the slab caches: how many objects and slabs each has and how well they are "
	"used. GLOB selects them by name."
	"\v/proc/slabinfo does not tell which call site an object in a cache is from. What "
	"--sites shows with a ~ is concluded from sizes: each allocation of the call site "
	"has the size of the cache's objects, and it holds no more of them than there are. "
	"A trace knows the cache of objects allocated while it ran, and a kernel with "
	"slab_debug=U knows all.\n\n"
	"Examples:\n"
	"  codetag slabs -n 20\n"
	"  codetag slabs -s u 'kmalloc-*'\n"
	"  codetag slabs --sites dentry\n"
	"  codetag slabs --diff /tmp/slabinfo-of-yesterday\n"
	"  codetag slabs --diff night.db@1 -f night.db -n 10\n"
	"  codetag slabs --diff yesterday --fail-over 64M || mail root\n"
	"  codetag slabs -f slabtop-of-the-bug-report.txt --csv\n\n"
	"FILE can also be an image of memory, the output of slabtop -o, or a kernel log with \"Unreclaimable slab "
	"info\".\n\n"
	"Exit status: 0 success, 1 no cache has such a name or one grew over the limit, 2 trouble, or "
	"--sites reads call sites that are not profiled.",
	children, help, NULL
};

/* Holds the strings of the holders' names. */
struct known {
	struct allocinfo info;
	struct kmem kmem;
};

static bool find_by_trace(struct slab_holders *holders, const struct slabinfo *slabs,
			  struct known *known, const char *path)
{
#ifdef HAVE_SQLITE
	char *why = kmem_load(&known->kmem, path);

	if (!why && (known->kmem.pages || known->kmem.by_task)) {
		warning("%s has %s, not the call sites of slab objects", path,
			known->kmem.pages ? "pages" : "tasks");
		hint("Save it without %s.", known->kmem.pages ? "--pages" : "--group process");
		return false;
	}
	if (!why) {
		const struct kmem *kmem = &known->kmem;

		slab_holders_by_trace(holders, slabs, kmem);
		if (!kmem->lost && !kmem->overwritten && !kmem->bad && !kmem->cut)
			return true;
		warning("%s: events are missing in this trace, so that what it says of call sites may be wrong",
			path);
		return false;
	}
	warning("cannot read %s: %s", path, why);
	hint("Such files are made by 'codetag trace --save-db'.");
	free(why);
#else
	(void)holders, (void)slabs, (void)known, (void)path;
#endif
	return false;
}

/* Reads the file of one cache; *@any is set if the cache has one. */
static bool find_recorded(struct slab_holders *holders, const struct slab_cache *cache,
			  const char *dir, bool *any)
{
	static const char *const names[] = { "alloc_traces", "alloc_calls" };
	struct alloc_traces traces;
	bool good = true, read = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !read; i++) {
		struct text path = { 0 };
		size_t len;
		char *text;

		text_printf(&path, "%s/%s/%s", dir, cache->name, names[i]);
		read = input_read_found(path.s, &text, &len);
		if (read) {
			alloc_traces_parse(&traces, text, len);
			slab_holders_by_traces(holders, cache, &traces);
			good = bad_lines_none(&traces.bad, path.s);
			alloc_traces_free(&traces);
		} else if (errno != ENOENT && errno != ENOTDIR) {
			input_complain(path.s, errno);
			good = false;
		}
		text_free(&path);
	}
	*any |= read;
	return good;
}

static bool find_all_recorded(struct slab_holders *holders, const struct slabinfo *slabs,
			      const char *dir)
{
	bool good = true, any = false;

	for (size_t i = 0; i < slabs->count; i++)
		good = find_recorded(holders, &slabs->cache[i], dir, &any) && good;
	if (good && !any) {
		warning("%s has no alloc_traces of any of these caches", dir);
		hint("A kernel has them that was booted with slab_debug=U.");
		good = false;
	}
	return good;
}

/* Reads all caches first: it has to know all that fit. */
static bool find_holders(struct slab_holders *holders, const struct slabinfo *slabs,
			 struct known *known, const struct options *o)
{
	const char *path = o->allocinfo ? o->allocinfo : ALLOCINFO_PATH;

	if (!o->sites)
		return true;
	if (o->alloc_traces)
		return find_all_recorded(holders, slabs, o->alloc_traces);
	if (o->trace_db)
		return find_by_trace(holders, slabs, known, o->trace_db);
	if (!allocinfo_read(&known->info, path))
		return false;
	profiling_mark(&known->info, path);
	slab_holders_by_size(holders, slabs, &known->info, o->choice.page_size);
	return allocinfo_complete(&known->info, path);
}

/* Of a recording. */
static void take_slabinfo(void *data, struct snapshot *snapshot)
{
	struct slabinfo *info = data;

	*info = snapshot->machine.slabinfo;
	snapshot->machine.slabinfo = (struct slabinfo){ 0 };
	snapshot_free(snapshot);
}

/* Returns false after a message. */
static bool read_slabs(struct slabinfo *info, const char *path, struct options *o, bool *incomplete)
{
	struct text text = { 0 };

	*info = (struct slabinfo){ 0 };
	if (image_file(path)) {
		if (image_slabs(path, &text, &o->image_page_size, incomplete)) {
			slabinfo_parse(info, text.s, text.len);
			return true;
		}
		text_free(&text);
		return false;
	}
	if (source_is_recording(path))
		return source_read(path, NULL, take_slabinfo, info);
	if (!sections_read(SLABINFO, path, &text.s, &text.len)) {
		if (o->given && path == o->path && errno == ENOENT)
			hint("Without --slabinfo, /proc/slabinfo is read.");
		return false;
	}
	slabinfo_parse(info, text.s, text.len);
	return true;
}

/* Called after the output, which then shows everything that could be read. */
static bool complete(const struct slabinfo *info, const char *path)
{
	if (info->lists > 1) {
		warning("%s has %zu lists of slab caches: this is the last one", input_name(path),
			info->lists);
		bad_lines_none(&info->bad, path);
		return false;
	}
	if (info->count)
		return bad_lines_none(&info->bad, path);
	if (source_is_recording(path))
		warning("%s: there is no slabinfo in this snapshot", path);
	else if (info->bad.count)
		warning("%s: not in the format of /proc/slabinfo, line %zu: %s",
			input_name(path), info->bad.first, info->bad.why);
	else
		warning("%s: not in the format of /proc/slabinfo", input_name(path));
	return false;
}

static bool over_limit(const struct options *o, const struct slab_changes *changes)
{
	size_t count = o->top && o->top < changes->count ? o->top : changes->count;

	for (size_t i = 0; i < count && o->has_limit; i++)
		if (sub64(slab_size(&changes->change[i].now, o->choice.page_size),
			  slab_size(&changes->change[i].before, o->choice.page_size)) > o->limit)
			return true;
	return false;
}

/* --page-size, or that of the image, or that of this machine */
static void settle_page_size(struct options *o, struct slabs_view *view)
{
	if (!o->choice.page_size)
		o->choice.page_size = o->image_page_size ? o->image_page_size : sysconf(_SC_PAGESIZE);
	view->page_size = o->choice.page_size;
}

static void warn_no_cache(const struct options *o)
{
	warning("no cache is called '%s'%s", o->choice.pattern,
		o->choice.all || o->old ? "" : ", or none that has a slab (--all)");
	if (strchr(o->choice.pattern, '/'))
		hint("A file is read with --slabinfo.");
}

static int show_diff(struct options *o, struct slabs_view *view)
{
	struct slabinfo old, now = { 0 };
	struct slab_changes changes = { 0 };
	int status = STATUS_TROUBLE;
	bool incomplete = false;

	if (read_slabs(&old, o->old, o, &incomplete) &&
	    read_slabs(&now, o->path, o, &incomplete)) {
		settle_page_size(o, view);
		slab_diff(&changes, &old, &now, &o->choice);
		if (old.count && now.count)
			slabs_show_changes(&changes, view);
		if (complete(&old, o->old))
			status = over_limit(o, &changes) ? STATUS_FOUND : STATUS_OK;
		if (!complete(&now, o->path) || incomplete)
			status = STATUS_TROUBLE;
		if (!slab_any_chosen(&old, &o->choice) && !slab_any_chosen(&now, &o->choice)) {
			warn_no_cache(o);
			status = status == STATUS_OK ? STATUS_FOUND : status;
		}
	}
	slab_changes_free(&changes);
	slabinfo_free(&old);
	slabinfo_free(&now);
	return status;
}

static int show(struct options *o, struct slabs_view *view)
{
	struct slab_holders holders = { 0 };
	struct known known = { 0 };
	struct slabinfo info;
	int status = STATUS_OK;
	bool incomplete = false;

	if (!read_slabs(&info, o->path, o, &incomplete))
		return STATUS_TROUBLE;
	if (!complete(&info, o->path) || incomplete)
		status = STATUS_TROUBLE;
	settle_page_size(o, view);
	if (!find_holders(&holders, &info, &known, o))
		status = STATUS_TROUBLE;
	slab_rank(&info, &o->choice);
	if (o->prometheus)
		slabs_prometheus(&info, o->choice.page_size);
	else
		slabs_show(&info, &holders, view);
	/* A site that is off may hold objects of any cache. */
	if (!profiling_complete(&known.info, NULL))
		status = STATUS_TROUBLE;
	if (!info.count && o->choice.pattern && !status) {
		warn_no_cache(o);
		status = STATUS_FOUND;
	}
	slab_holders_free(&holders);
	kmem_free(&known.kmem);
	allocinfo_free(&known.info);
	slabinfo_free(&info);
	return status;
}

int cmd_slabs(int argc, char **argv)
{
	struct options o = {
		.path = "/proc/slabinfo",
		.choice = { .key = 'c' },
	};
	struct slabs_view view = { .output = &o.output };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	view.top = o.top;
	view.sites = o.sites;
#ifdef HAVE_NCURSES
	if (o.live) {
		settle_page_size(&o, &view);
		return slabs_live(o.path, &o.choice, &o.output, o.delay > 0 ? o.delay : 3);
	}
#endif
	return o.old ? show_diff(&o, &view) : show(&o, &view);
}
