// SPDX-License-Identifier: GPL-2.0-only
/* codetag chart: draws a snapshot or a recording. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arguments.h"
#include "chart_flame.h"
#include "command.h"
#include "selection.h"
#include "show.h"
#include "words.h"
#include "trace_sites.h"
#include "base/message.h"
#include "base/number.h"
#include "chart/chart.h"
#include "chart/material.h"
#include "chart/page_draw.h"
#include "chart/picture.h"
#include "model/match.h"
#include "read/input.h"
#include "read/profiling.h"
#include "source/saved_copies.h"
#include "base/outfile.h"

struct options {
	struct selection selection;
	const char *output, *title;
	struct trace_files files;
	enum chart_format format;
	bool page;	/* HTML instead of a picture */
	bool usual;	/* no --kind was given */
	struct chart_wish wish;
	double width, height;
	bool sized;	/* by the option */
	struct chart_flame flame;
};

enum { KEY_KIND = 0x200, KEY_ATTR, KEY_START, KEY_TITLE, KEY_SIZE, KEY_GAUGE, KEY_FLAME };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE, .svg, .png or .html: a page to explore, with search and zoom, of a "
	  "recording with a slider over time", 0 },
	{ "kind", KEY_KIND, "KIND", 0,
	  "%s (default: ring). Rings and treemaps are by directory, bars of the largest groups, "
	  "areas over the time of a recording. A page has flame, treemap and ring, and begins "
	  "with KIND (default: treemap, of a recording flame)", 0 },
	{ "flame", KEY_FLAME, "FILE", OPTION_ARG_OPTIONAL,
	  "A flame graph of the stacks of split call sites: see codetag contexts", 0 },
	{ "attr", KEY_ATTR, "ATTR", 0,
	  "%s. Growth is from OLD to NEW, or from the first snapshot to the last. The word static means "
	  "code and data of a build tree. The words after it are of a trace. Default: current, of a trace "
	  "static and current_dynamic together", 0 },
	{ "start-branch", KEY_START, "DIR", 0, "Only files below DIR", 0 },
#ifdef HAVE_SQLITE
	{ "gauge", KEY_GAUGE, "GLOB", 0,
	  "For areas: a line of each recorded value whose name matches, such as meminfo.Slab or "
	  "slabinfo.dentry/active; may be given several times", 0 },
#endif
	{ "title", KEY_TITLE, "TEXT", 0, "Instead of the usual title", 0 },
	{ "size", KEY_SIZE, "WxH", 0, "Default: 1200x900", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_chart_argp, 0, NULL, 1 },
	{ &selection_raw_only_argp, 0, NULL, 2 },
	{ &trace_files_argp, 0, NULL, 3 },
	{ &contexts_choice_argp, 0, NULL, 4 },
	{ 0 }
};

static bool parse_size(struct options *o, const char *arg)
{
	int64_t w, h;

	if (!number_read(&arg, &w) || *arg++ != 'x' || !number_read(&arg, &h) || *arg)
		return false;
	o->width = (double)w;
	o->height = (double)h;
	return w >= 400 && h >= 300 && w <= 20000 && h <= 20000;
}

static bool parse_format(struct options *o)
{
	const char *dot = strrchr(o->output, '.');

	if (!dot)
		return false;
	o->page = !strcmp(dot, ".html");
	if (o->page)
		return true;
	o->format = strcmp(dot, ".png") ? CHART_SVG : CHART_PNG;
	return o->format == CHART_PNG || !strcmp(dot, ".svg");
}

static const char *const kinds[] = { "ring", "treemap", "area", "bars", "flame" };

static const struct {
	const char *word;
	enum attribute attribute;
	enum kmem_key key;	/* OF_TRACE */
} attributes[] = {
	{ "current", CURRENT, 0 },
	{ "calls", CALLS, 0 },
	{ "growth", GROWTH, 0 },
	{ "static", STATIC, 0 },
	{ "total_dynamic", OF_TRACE, TOTAL_DYNAMIC },
	{ "current_dynamic", OF_TRACE, CURRENT_DYNAMIC },
	{ "waste", OF_TRACE, WASTE },
	{ "total_waste", OF_TRACE, TOTAL_WASTE },
	{ "remote_freed", OF_TRACE, REMOTE_FREED },
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == KEY_KIND ? words_help(text, WORDS(kinds, ), ", ") :
	       key == KEY_ATTR ? words_help(text, WORDS(attributes, .word), ", ") : (char *)text;
}

/* Object files have neither functions nor a history. */
static void finish_static(struct options *o, struct argp_state *state)
{
	struct grouping *by = &o->wish.by;
	const struct conflict conflicts[] = {
		{ !o->selection.path_given, "BUILD is missing", NULL },
		{ o->wish.kind == AREA, "a build tree has no history: ring, treemap or bars", NULL },
		{ o->selection.by_given && by->by != BY_FILE && by->by != BY_DIR &&
		  by->by != BY_SUBSYSTEM,
		  "a build tree is grouped by file, dir, dir:DEPTH or subsystem", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
	if (by->by == BY_SITE)
		by->by = BY_FILE;
}

static void finish_trace(struct options *o, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ !o->files.trace, "this attribute is of a trace: see --trace", NULL },
		{ o->selection.path_given, "a trace goes with no other file", NULL },
		{ o->wish.kind == AREA || o->wish.attribute == GROWTH,
		  "a trace has no history: ring, treemap or bars", NULL },
		{ o->wish.attribute == STATIC, "static goes with a build tree instead of a trace", NULL },
		{ o->wish.attribute == CURRENT && !o->files.build,
		  "--kernel BUILD is missing; or give --attr current_dynamic", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
	if (o->wish.attribute == CURRENT)
		o->wish.key = CURRENT_DYNAMIC;
	o->selection.path = o->files.trace;
}

static void finish_flame(const struct options *o, struct argp_state *state)
{
	const struct chart_wish *wish = &o->wish;
	bool flame = o->flame.contexts.used;
	const struct conflict conflicts[] = {
		{ !flame && o->flame.contexts.given,
		  "--min-age, --skip and --debugfs go with --flame", NULL },
		{ flame && (wish->kind != USUAL || wish->start || wish->gauges ||
			    o->selection.raw || o->files.trace || o->selection.by_given ||
			    o->selection.top),
		  "--flame has stacks: --kind, --start-branch, --group, --top, --raw, --gauge and "
		  "--trace are for call sites", NULL },
		{ flame && wish->attribute != CURRENT && wish->attribute != CALLS,
		  "--flame is of the attributes current and calls", NULL },
		{ flame && o->selection.path_given,
		  " is one argument too many: --flame=FILE", o->selection.path },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static void check_kind(const struct options *o, struct argp_state *state)
{
	enum chart_kind kind = o->wish.kind;
	enum attribute attribute = o->wish.attribute;
	const struct conflict conflicts[] = {
		{ o->page && (kind == AREA || kind == BARS), "a page has flame, treemap and ring", NULL },
		{ o->sized && o->page, "a page is as large as its window: --size is for .svg and .png", NULL },
		{ !o->page && kind == FLAME,
		  "call sites have flame graphs on pages (.html) only, and contexts with --flame", NULL },
		{ o->selection.newer && attribute != GROWTH, "two files are for --attr growth", NULL },
		{ kind == AREA && attribute == GROWTH, "areas show the growth anyway", NULL },
		{ (kind == RING || kind == TREEMAP || kind == FLAME) &&
		  (o->selection.by_given || o->selection.top),
		  "rings, treemaps and pages are by directory: --group and --top are for bars and "
		  "areas", NULL },
		{ o->wish.gauges && kind != AREA, "--gauge goes with --kind area", NULL },
		{ o->selection.raw && (o->files.trace || attribute == STATIC),
		  "--raw is for call sites", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

/* After selection_finish(). */
static void finish_wish(struct options *o)
{
	struct chart_wish *wish = &o->wish;

	wish->query = o->selection.query;
	wish->query_text = o->selection.query_text.len ? o->selection.query_text.s : "";
	wish->by = o->selection.by;
	wish->top = o->selection.top;
	wish->moments = o->page;
	wish->trace = o->files.trace;
	wish->pages = o->files.choice.pages;
	wish->objects = wish->attribute == OF_TRACE && wish->key == REMOTE_FREED;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	size_t i;
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->selection;
		state->child_inputs[1] = &o->selection;
		state->child_inputs[2] = &o->files;
		o->files.choice.contexts = &o->flame.contexts;
		state->child_inputs[3] = &o->flame.contexts;
		return 0;
	case 'o':
		o->output = arg;
		if (!parse_format(o))
			argp_error(state, "'%s' ends in none of .svg, .png and .html", arg);
		return 0;
	case KEY_KIND:
		o->wish.kind = RING + argument_word(arg, WORDS(kinds, ), "kind of chart", state);
		return 0;
	case KEY_ATTR:
		i = argument_word(arg, WORDS(attributes, .word), "attribute", state);
		o->wish.attribute = attributes[i].attribute;
		if (o->wish.attribute == OF_TRACE)
			o->wish.key = attributes[i].key;
		return 0;
	case KEY_FLAME:
		o->flame.contexts.used = true;
		o->flame.contexts.path = arg;
		return 0;
	case KEY_START:
		o->wish.start = arg;
		return 0;
	case KEY_GAUGE:
		GROW(o->wish.gauge, o->wish.gauges, o->wish.gauges_room);
		o->wish.gauge[o->wish.gauges++] = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case KEY_SIZE:
		o->sized = true;
		if (!parse_size(o, arg))
			argp_error(state, "'%s' is not a size from 400x300 to 20000x20000", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&o->selection, arg))
			argp_error(state, o->selection.allocinfo ?
				   "'%s' is one file too many: --allocinfo names the only one" :
				   "two files at most, '%s' is a third one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&o->selection, state);
		finish_wish(o);
		o->flame.contexts.page_size = o->files.choice.page_size;
		if (!o->output)
			argp_error(state, "--output FILE is missing");
		finish_flame(o, state);
		o->usual = o->wish.kind == USUAL;
		if (o->usual)
			o->wish.kind = o->page ? FLAME : RING;
		check_kind(o, state);
		o->wish.raw = o->selection.raw || o->files.trace || o->wish.attribute == STATIC;
		if (o->files.trace || o->wish.attribute == OF_TRACE)
			finish_trace(o, state);
		else if (o->wish.attribute == STATIC)
			finish_static(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "-o FILE.svg|FILE.png|FILE.html [FILE | OLD NEW] [QUERY…]",
	"Draws a snapshot, or a recording, as a chart."
	"\vExamples:\n"
	"  codetag chart -o memory.svg\n"
	"  codetag chart night.db --kind area --group subsystem -o night.png\n"
	"  codetag chart night.db -o night.html\n"
	"  codetag chart monday.txt friday.txt --attr growth --kind bars -o grown.svg\n"
	"  codetag chart saved.txt --start-branch drivers/net -o net.svg\n"
	"  codetag chart --trace saved.trace --attr waste --kernel ~/linux-build -o waste.svg\n"
	"  codetag chart --flame --skip --min-age 60 -o old.svg\n"
	"  codetag chart --flame --skip -o callers.html\n"
	"  codetag chart --attr static ~/linux-build --kind treemap -o static.png\n\n"
	PROFILING_STATUS,
	children, help, NULL
};

/* Whether @path is a whole recording. For source_is_recording(), FILE@N is one, too. */
static bool is_recording(const char *path)
{
	static const char magic[] = "SQLite format 3";

	return input_begins(path, magic, sizeof(magic));
}

/* Saved copies can show changes over time, too. */
static bool is_series(const struct options *o)
{
#ifdef HAVE_SQLITE
	return (o->wish.kind == AREA || (o->wish.attribute == GROWTH && !o->selection.newer)) &&
	       strcmp(o->selection.path, "-") && saved_copies_are(o->selection.path);
#else
	(void)o;
	return false;
#endif
}

static bool load_files(struct material *m, const struct options *o)
{
	const char *path[] = { o->selection.path, o->selection.newer };
	struct utsname kernel;
	struct stat st;

	/* The kernel of this machine is not that of a file from another machine. */
	if (!strcmp(path[0], ALLOCINFO_PATH) && !uname(&kernel))
		snprintf(m->kernel, sizeof(m->kernel), "%s", kernel.release);
	m->info = xcalloc(2, sizeof(*m->info));
	m->time = xcalloc(2, sizeof(*m->time));
	for (size_t i = 0; i < 2 && path[i]; i++) {
		if (!selection_load(&m->info[i], path[i], &m->complete))
			return false;
		m->count++;
		if (!allocinfo_complete(&m->info[i], path[i]))
			m->complete = false;
		warn_limits(&m->info[i], path[i]);
		if (strcmp(path[i], "-") && !stat(path[i], &st))
			m->time[i] = (double)st.st_mtime;
	}
	/* In another kernel the line of a site differs, which is no growth. */
	if (m->count == 2)
		match_moved(&m->info[0], &m->info[1]);
	return true;
}

/* Dynamic and static memory exist at the same time. */
static bool load_trace(struct material *m, const struct options *o)
{
	m->info = xcalloc(1, sizeof(*m->info));
	m->time = xcalloc(1, sizeof(*m->time));
	m->count = 1;
	return trace_sites(m->info, &o->files, o->wish.key, o->wish.attribute == CURRENT, &m->complete);
}

/* Prints why it cannot, and returns false. */
static bool load(struct material *m, struct options *o)
{
	bool recording;

	/* A snapshot has no stacks: a flame graph of it would be almost empty. */
	if (o->usual && o->page && (o->files.trace || !is_recording(o->selection.path)))
		o->wish.kind = TREEMAP;
	if (o->files.trace)
		return load_trace(m, o);
	if (o->wish.attribute == STATIC)
		return material_load_objects(m, o->selection.path);
	recording = is_recording(o->selection.path) || is_series(o);
	if (!recording && o->wish.kind == AREA) {
		if (source_is_recording(o->selection.path)) {
			warning("%s is one snapshot, and areas need all of a recording", o->selection.path);
			hint("Leave out the number.");
		} else if (strcmp(o->selection.path, "-") && access(o->selection.path, R_OK)) {
			input_complain(o->selection.path, errno);
		} else {
			warning("%s is not a recording, areas need one", o->selection.path);
			hint("Make one with 'codetag record'.");
		}
		return false;
	}
	if (!recording && o->wish.attribute == GROWTH && !o->selection.newer) {
		warning("growth needs two files or a recording");
		return false;
	}
	return recording ? material_load_recording(m, &o->wish, o->selection.path) :
			   load_files(m, o);
}

static int draw_flame(struct options *o)
{
	o->flame.title = o->title;
	o->flame.query = o->selection.query;
	o->flame.output = o->output;
	o->flame.page = o->page;
	o->flame.format = o->format;
	o->flame.calls = o->wish.attribute == CALLS;
	o->flame.width = o->width;
	o->flame.height = o->height;
	return chart_flame_contexts(&o->flame);
}

static bool draw(const struct options *o, const struct material *m)
{
	struct text subtitle = { 0 };
	struct chart chart = {
		.title = o->title ? o->title : material_title(&o->wish),
		.width = o->width,
		.height = o->height,
		.bytes = o->wish.attribute != CALLS && !o->wish.objects,
	};
	struct outfile file;
	bool good;

	material_describe(&subtitle, m, &o->wish);
	chart.subtitle = subtitle.s;
	good = outfile_open(&file, o->output);
	if (!good) {
		warning("cannot create %s: %s", o->output, strerror(errno));
	} else {
		good = o->page ? page_draw(&o->wish, m, &chart, file.stream) :
				 picture_draw(&o->wish, m, &chart, o->format, file.stream);
		good = outfile_end(&file, o->output, good);
	}
	text_free(&subtitle);
	return good;
}

/* Whether the call sites that are drawn are profiled. If all of a recording is, it said so. */
static bool profiled(const struct material *m, const struct chart_wish *wish)
{
	for (size_t i = 0; i < m->count && !m->moment && !wish->moments; i++)
		if (!profiling_complete(&m->info[i], wish->query))
			return false;
	return true;
}

int cmd_chart(int argc, char **argv)
{
	struct options o = {
		.selection = SELECTION_INIT, .width = 1200, .height = 900,
		.flame.contexts = CONTEXTS_CHOICE_INIT,
	};
	struct material m = { .complete = true };
	int status = STATUS_TROUBLE;

	o.selection.compare = true;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.flame.contexts.used) {
		status = draw_flame(&o);
	} else if (load(&m, &o) && material_narrow(&m, &o.wish)) {
		if (o.wish.kind == RING || o.wish.kind == TREEMAP)
			material_tree(&m, &o.wish);
		if (draw(&o, &m) && m.complete && profiled(&m, &o.wish))
			status = STATUS_OK;
	}
	material_free(&m);
	free(o.wish.gauge);
	contexts_choice_free(&o.flame.contexts);
	selection_free(&o.selection);
	return status;
}
