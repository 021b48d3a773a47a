// SPDX-License-Identifier: GPL-2.0
/* codetag chart: draws a snapshot or a recording. */
#include "chart/chart.h"
#ifdef HAVE_D3
#include "chart/page.h"
#endif

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "base/message.h"
#include "base/number.h"
#include "read/input.h"
#ifdef HAVE_ELF
#include "image/objects.h"
#endif
#include "selection.h"
#include "model/container.h"
#include "model/match.h"
#include "model/series.h"
#include "trace_sites.h"
#include "write/outfile.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

enum kind { USUAL, RING, TREEMAP, AREA, BARS, FLAME };
enum attribute { CURRENT, CALLS, GROWTH, STATIC, OF_TRACE };

struct options {
	struct selection selection;
	const char *output, *title, *start;
	struct trace_files files;
	enum kmem_key key;	/* of a trace */
	enum chart_format format;
	bool page;	/* HTML instead of a format */
	enum kind kind;
	enum attribute attribute;
	double width, height;
};

enum { KEY_KIND = 0x200, KEY_ATTR, KEY_START, KEY_TITLE, KEY_SIZE };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write FILE, .svg, .png or .html: a page to explore, with search and zoom, of a "
	  "recording with a slider over time", 0 },
	{ "kind", KEY_KIND, "KIND", 0,
	  "ring (by directory), treemap, bars (the largest groups) or area (over time, "
	  "of a recording); default: ring. A page has flame, treemap and ring, and begins "
	  "with KIND (default: flame)", 0 },
	{ "attr", KEY_ATTR, "ATTR", 0,
	  "current (bytes), calls, growth (from OLD to NEW, or from the first snapshot to "
	  "the last), static (code and data of a build tree), or of a trace total_dynamic, "
	  "current_dynamic, waste or remote_freed; default: current, of a trace static and "
	  "current_dynamic together", 0 },
	{ "start-branch", KEY_START, "DIR", 0, "Only what is below DIR", 0 },
	{ "title", KEY_TITLE, "TEXT", 0, "Instead of the usual title", 0 },
	{ "size", KEY_SIZE, "WxH", 0, "Default: 1200x900", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_chart_argp, 0, NULL, 1 },
	{ &selection_raw_argp, 0, NULL, 2 },
	{ &trace_files_argp, 0, NULL, 3 },
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

/* Object files have neither functions nor a history. */
static void finish_static(struct options *o, struct argp_state *state)
{
	struct grouping *by = &o->selection.by;

	if (!o->selection.path_given)
		argp_error(state, "which build tree?");
	else if (o->kind == AREA)
		argp_error(state, "a build tree has no history: ring, treemap or bars");
	if (by->by == BY_SITE)
		by->by = BY_FILE;
	else if (by->by != BY_FILE && by->by != BY_DIR && by->by != BY_SUBSYSTEM)
		argp_error(state, "a build tree is grouped by file, dir, dir:DEPTH or subsystem");
}

static void finish_trace(struct options *o, struct argp_state *state)
{
	if (!o->files.trace)
		argp_error(state, "this attribute is of a trace: see --trace");
	else if (o->selection.path_given)
		argp_error(state, "a trace goes with no other file");
	else if (o->kind == AREA || o->attribute == GROWTH)
		argp_error(state, "a trace has no history: ring, treemap or bars");
	else if (o->attribute == STATIC)
		argp_error(state, "static goes with a build tree instead of a trace");
	else if (o->attribute == CURRENT && !o->files.build)
		argp_error(state, "current is static and dynamic: add --kernel BUILD, or try "
			   "--attr current_dynamic");
	if (o->attribute == CURRENT)
		o->key = CURRENT_DYNAMIC;
	o->selection.path = o->files.trace;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const kinds[] = { "ring", "treemap", "area", "bars", "flame" };
	static const char *const attributes[] = {
		"current", "calls", "growth", "static",
		"total_dynamic", "current_dynamic", "waste", "remote_freed",
	};
	static const enum kmem_key keys[] = {
		TOTAL_DYNAMIC, CURRENT_DYNAMIC, WASTE, REMOTE_FREED,
	};
	size_t i;
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->selection;
		state->child_inputs[1] = &o->selection;
		state->child_inputs[2] = &o->files;
		return 0;
	case 'o':
		o->output = arg;
		if (!parse_format(o))
			argp_error(state, "'%s' ends in none of .svg, .png and .html", arg);
		return 0;
	case KEY_KIND:
		o->kind = RING + argument_word(arg, kinds, 5, "kind of chart", state);
		return 0;
	case KEY_ATTR:
		i = argument_word(arg, attributes, 8, "attribute", state);
		o->attribute = i < OF_TRACE ? i : OF_TRACE;
		if (o->attribute == OF_TRACE)
			o->key = keys[i - OF_TRACE];
		return 0;
	case KEY_START:
		o->start = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case KEY_SIZE:
		if (!parse_size(o, arg))
			argp_error(state, "'%s' is not a size from 400x300 to 20000x20000", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&o->selection, arg))
			argp_error(state, "two files at most, '%s' is a third one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&o->selection, state);
		if (!o->output)
			argp_error(state, "--output FILE is missing");
		if (o->kind == USUAL)
			o->kind = o->page ? FLAME : RING;
		if (o->page && (o->kind == AREA || o->kind == BARS))
			argp_error(state, "a page has flame, treemap and ring");
		else if (!o->page && o->kind == FLAME)
			argp_error(state, "flame graphs are for pages (.html), or for 'codetag "
				   "export --format folded'");
		else if (o->selection.newer && o->attribute != GROWTH)
			argp_error(state, "two files are for --attr growth");
		else if (o->kind == AREA && o->attribute == GROWTH)
			argp_error(state, "areas show the growth anyway");
		else if ((o->kind == RING || o->kind == TREEMAP || o->kind == FLAME) &&
			 (o->selection.by.by != BY_SITE || o->selection.top))
			argp_error(state, "rings, treemaps and pages are by directory: --group and --top "
				   "are for bars and areas");
		if (o->selection.raw && (o->files.trace || o->attribute == STATIC))
			argp_error(state, "--raw is for call sites");
		o->selection.raw |= o->files.trace || o->attribute == STATIC;
		if (o->files.trace || o->attribute == OF_TRACE)
			finish_trace(o, state);
		else if (o->attribute == STATIC)
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
	"  codetag chart --attr static ~/linux-build --kind treemap -o static.png\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

/* What is drawn: the snapshots that matter, oldest first. */
struct material {
	struct allocinfo *info;
	double *time;	/* 0: not known */
	size_t count;
	struct tree tree;	/* for ring and treemap */
#ifdef HAVE_ELF
	struct objects objects;	/* static: the one snapshot is of them */
#endif
	struct series series;	/* for areas: the groups over time … */
	double *moment;		/* … at these times */
	size_t of;	/* the snapshots there are, if not all are drawn */
	struct sum left_out;	/* of the last snapshot, see model/container.h */
	char kernel[128];
	bool complete;
};

static void material_free(struct material *m)
{
	for (size_t i = 0; i < m->count; i++)
		allocinfo_free(&m->info[i]);
	free(m->info);
	free(m->time);
	free(m->moment);
	series_free(&m->series);
	tree_free(&m->tree);
#ifdef HAVE_ELF
	objects_free(&m->objects);
#endif
}

static bool is_recording(const char *path)
{
	static const char magic[] = "SQLite format 3";

	return input_begins(path, magic, sizeof(magic));
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

static bool is_wanted(void *context, const struct site *site)
{
	const struct options *o = context;
	size_t len = o->start ? strlen(o->start) : 0;

	while (len && o->start[len - 1] == '/')
		len--;
	return query_match(o->selection.query, site) &&
	       (!len || is_below(site->file, o->start, len));
}

#ifdef HAVE_SQLITE
static bool is_counted(void *context, const struct site *site)
{
	const struct options *o = context;

	return is_wanted(context, site) && (o->selection.raw || !site_contains(site));
}

/* All snapshots that an area shows in one pass over the recording. */
static bool load_area(struct material *m, struct options *o, struct recording *recording,
		      size_t want)
{
	const struct recording_choice choice = {
		.keep = is_counted, .context = o, .by = o->selection.by,
	};
	size_t *at = xcalloc(want, sizeof(*at));
	bool good;

	m->moment = xcalloc(want, sizeof(*m->moment));
	m->series.columns = want;
	for (size_t k = 0; k < want; k++) {
		at[k] = recording_pick(recording, k, want);
		m->moment[k] = (double)recording_time(recording, at[k]) / 1000;
	}
	good = load_series(recording, &m->series, at, &choice);
	free(at);
	return good;
}

static bool load_recording(struct material *m, struct options *o)
{
	struct recording *recording = open_recording(o->selection.path);
	size_t have, want, area;
	bool good = true;

	if (!recording)
		return false;
	have = recording_count(recording);
	want = o->kind == AREA || o->page ? have : o->attribute == GROWTH && have > 1 ? 2 : 1;
	if (want > 500) {
		want = 500;
		m->of = have;
	}
	snprintf(m->kernel, sizeof(m->kernel), "%s", recording_kernel(recording));
	area = o->kind == AREA ? want : 0;
	if (area)
		want = 1;	/* the last one, to describe it */
	m->info = xcalloc(want, sizeof(*m->info));
	m->time = xcalloc(want, sizeof(*m->time));
	for (size_t k = 0; k < want && good; k++) {
		size_t i = recording_pick(recording, k, want);

		good = load_recorded(recording, i, &m->info[k]);
		if (!good)
			break;
		m->time[k] = (double)recording_time(recording, i) / 1000;
		m->count++;
	}
	if (good && area) {
		o->selection.raw |= containers_only(&m->info[0], is_wanted, o);
		good = load_area(m, o, recording, area);
	}
	recording_close(recording);
	return good;
}
#else
static bool load_recording(struct material *m, struct options *o)
{
	(void)m;
	warning("%s is a recording, this build reads none", o->selection.path);
	return false;
}
#endif

static bool load_files(struct material *m, const struct options *o)
{
	const char *path[] = { o->selection.path, o->selection.newer };
	struct utsname kernel;
	struct stat st;

	/* A file of another machine does not tell its kernel. */
	if (!strcmp(path[0], ALLOCINFO_PATH) && !uname(&kernel))
		snprintf(m->kernel, sizeof(m->kernel), "%s", kernel.release);
	m->info = xcalloc(2, sizeof(*m->info));
	m->time = xcalloc(2, sizeof(*m->time));
	for (size_t i = 0; i < 2 && path[i]; i++) {
		if (!selection_load(&m->info[i], path[i]))
			return false;
		m->count++;
		if (!allocinfo_complete(&m->info[i], path[i]))
			m->complete = false;
		if (strcmp(path[i], "-") && !stat(path[i], &st))
			m->time[i] = (double)st.st_mtime;
	}
	/* In another kernel a site has another line: that is no growth. */
	if (m->count == 2)
		match_moved(&m->info[0], &m->info[1]);
	return true;
}

static bool counts_objects(const struct options *o)
{
	return o->attribute == OF_TRACE && o->key == REMOTE_FREED;
}

/* The value of a group by the attribute. */
static int64_t value_of(const struct options *o, const struct group *group)
{
	switch (o->attribute) {
	case CALLS:
		return group->now.calls;
	case GROWTH:
		return sub64(group->now.bytes, group->before.bytes);
	case CURRENT:
	case STATIC:
	case OF_TRACE:
		break;
	}
	return group->now.bytes;
}

static void group_all(const struct options *o, const struct material *m,
		      struct groups *groups, struct grouping by)
{
	*groups = (struct groups){ .by = by };
	if (o->attribute == GROWTH)
		groups_add_before(groups, &m->info[0], o->selection.query);
	groups_add(groups, &m->info[m->count - 1], o->selection.query);
}

/* The tree goes down to functions. What has shrunk has no place in it. */
static void build_tree(const struct options *o, struct material *m)
{
	struct groups groups;
	struct text path = { 0 };

	group_all(o, m, &groups, (struct grouping){ BY_SITE, 0 });
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = &groups.group[i];
		struct sum sum = { .bytes = value_of(o, group), .rows = 1 };

		if (sum.bytes <= 0)
			continue;
		text_clear(&path);
		text_puts(&path, group->site->file);
		if (o->attribute != STATIC)
			text_printf(&path, "/%s", group->site->func);
		if (group->site->line)
			text_printf(&path, ":%u", group->site->line);
		tree_add(&m->tree, path.s, &sum);
	}
	tree_sort(&m->tree, ORDER_SIZE);
	text_free(&path);
	groups_free(&groups);
}

#ifdef HAVE_ELF
/* Kbuild leaves the release in a file of the build tree. */
static void read_release(struct material *m, const char *dir)
{
	struct text path = { 0 };
	size_t len;
	char *text;

	text_printf(&path, "%s/include/config/kernel.release", dir);
	if (input_read(path.s, &text, &len)) {
		snprintf(m->kernel, sizeof(m->kernel), "%.*s",
			 (int)strcspn(text, "\n"), text);
		free(text);
	}
	text_free(&path);
}

/* Each object file is as a call site of its own. */
static bool load_static(struct material *m, const struct options *o)
{
	const char *dir = o->selection.path;
	struct objects *objects = &m->objects;
	struct allocinfo *info = xcalloc(1, sizeof(*info));

	m->info = info;
	m->time = xcalloc(1, sizeof(*m->time));
	m->count = 1;
	if (!objects_read(objects, dir)) {
		warning("cannot read %s: %s", dir, strerror(errno));
		hint("It has to be the directory that the kernel was built in (O=).");
		return false;
	}
	if (!objects->count) {
		warning("there are no object files in %s", dir);
		hint("It has to be the directory that the kernel was built in (O=).");
		return false;
	}
	for (size_t i = 0; i < objects->count; i++) {
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = (struct site){
			.file = objects->object[i].path, .func = "",
			.bytes = footprint_total(&objects->object[i].size),
		};
	}
	read_release(m, dir);
	return true;
}
#else
static bool load_static(struct material *m, const struct options *o)
{
	(void)m;
	warning("this build cannot read the objects in %s", o->selection.path);
	return false;
}
#endif

/* What contains other allocations is drawn only if that is all there is. */
static void take_out_containers(struct material *m, struct options *o)
{
	bool only = true;

	for (size_t k = 0; k < m->count; k++)
		only = only && containers_only(&m->info[k], is_wanted, o);
	for (size_t k = 0; k < m->count && !only; k++)
		containers_take_out(&m->info[k], is_wanted, o, &m->left_out);
}

/* Only what is below --start-branch. */
static bool keep_branch(struct material *m, struct options *o)
{
	size_t kept = 0;

	for (size_t k = 0; k < m->count; k++) {
		struct allocinfo *info = &m->info[k];
		size_t own = 0;

		for (size_t i = 0; i < info->count; i++)
			if (is_wanted(o, &info->site[i]))
				info->site[own++] = info->site[i];
		info->count = own;
		kept += own;
	}
	if (!kept)
		warning("nothing is below %s", o->start);
	return kept;
}

static bool nothing(void)
{
	warning("there is nothing to draw");
	return false;
}

static bool draw_tree(const struct options *o, const struct tree *tree,
		      const struct chart *chart, FILE *out)
{
	struct chart_tree drawing = { .chart = *chart, .tree = tree };

	drawing.start = tree_find(tree, o->start ? o->start : "");
	if (!drawing.start)
		return nothing();
	if (o->kind == RING)
		return chart_ring(&drawing, o->format, out);
	return chart_treemap(&drawing, o->format, out);
}

struct weighed {
	int64_t value;
	size_t i;
};

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static int compare(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	/* What has shrunk by much matters as much. */
	if (magnitude(x->value) != magnitude(y->value))
		return magnitude(x->value) < magnitude(y->value) ? 1 : -1;
	return x->i < y->i ? -1 : 1;
}

/* The groups by value; returns how many are to be drawn by name. */
static size_t rank(const struct options *o, const struct groups *groups,
		   struct weighed **ranked, size_t usual)
{
	size_t top = o->selection.top ? o->selection.top : usual, count = 0;

	*ranked = xcalloc(groups->count, sizeof(**ranked));
	for (size_t i = 0; i < groups->count; i++) {
		int64_t value = value_of(o, &groups->group[i]);

		if (value)
			(*ranked)[count++] = (struct weighed){ value, i };
	}
	qsort(*ranked, count, sizeof(**ranked), compare);
	return count < top ? count : top;
}

static bool draw_bars(const struct options *o, const struct material *m,
		      const struct chart *chart, FILE *out)
{
	struct weighed *ranked;
	struct groups groups;
	const char **name;
	double *value;
	bool good;
	size_t rows;

	group_all(o, m, &groups, o->selection.by);
	rows = rank(o, &groups, &ranked, 20);
	name = xcalloc(rows, sizeof(*name));
	value = xcalloc(rows, sizeof(*value));
	for (size_t r = 0; r < rows; r++) {
		name[r] = groups.group[ranked[r].i].name;
		value[r] = (double)ranked[r].value;
	}
	good = (rows || nothing()) &&
	       chart_bars(&(struct chart_series){ *chart, name, value, rows, 1, NULL },
			  o->format, out);
	free(name);
	free(value);
	free(ranked);
	groups_free(&groups);
	return good;
}

static double at_moment(const struct options *o, const struct material *m, size_t group,
			size_t column)
{
	const struct sum *sum = &series_sums(&m->series, group)[column];

	return (double)(o->attribute == CALLS ? sum->calls : sum->bytes);
}

static bool draw_area(const struct options *o, const struct material *m,
		      const struct chart *chart, FILE *out)
{
	size_t groups = m->series.names.count, columns = m->series.columns, rows;
	struct groups last = { .group = xcalloc(groups, sizeof(*last.group)), .count = groups };
	struct weighed *ranked;
	const char **name;
	double *value;
	bool good, rest = false;

	for (size_t i = 0; i < groups; i++)
		last.group[i].now = series_sums(&m->series, i)[columns - 1];
	rows = rank(o, &last, &ranked, 10);
	name = xcalloc(rows + 1, sizeof(*name));
	value = xcalloc((rows + 1) * columns, sizeof(*value));
	for (size_t r = 0; r < rows; r++)
		name[r] = m->series.names.entry[ranked[r].i].key;
	name[rows] = "all others";
	for (size_t c = 0; c < columns; c++) {
		double *others = &value[rows * columns + c];

		for (size_t i = 0; i < groups; i++)
			*others += at_moment(o, m, i, c);
		for (size_t r = 0; r < rows; r++) {
			value[r * columns + c] = at_moment(o, m, ranked[r].i, c);
			*others -= value[r * columns + c];
		}
		rest = rest || *others > 0;
	}
	good = (groups || nothing()) &&
	       chart_area(&(struct chart_series){ *chart, name, value, rows + rest,
						  columns, m->moment },
			  o->format, out);
	free(name);
	free(value);
	free(ranked);
	free(last.group);
	return good;
}

/* ", grown by 2.0M at 30 sites, shrunk by 1.0M at 12 (not drawn)" */
static void describe_growth(const struct options *o, const struct groups *groups,
			    struct text *text)
{
	int64_t grown = 0, shrunk = 0;
	size_t up = 0, down = 0;
	char size[SIZE_TEXT];

	for (size_t i = 0; i < groups->count; i++) {
		int64_t growth = sub64(groups->group[i].now.bytes,
				       groups->group[i].before.bytes);

		up += growth > 0;
		down += growth < 0;
		if (growth > 0)
			grown = add64(grown, growth);
		else
			shrunk = sub64(shrunk, growth);
	}
	text_printf(text, ", grown by %s at %zu sites", size_format(size, grown, true), up);
	if (down)
		text_printf(text, ", shrunk by %s at %zu%s",
			    size_format(size, shrunk, true), down,
			    o->kind == BARS ? "" : " (not drawn)");
}

/* "Linux 6.12.5 · 2026-03-01 12:00:00 · 123.4M in 4567 allocations" */
static void describe(const struct options *o, const struct material *m,
		     struct text *text)
{
	double when = m->count ? m->time[m->count - 1] : 0;
	struct groups groups;
	char total[SIZE_TEXT];

	text_clear(text);
	if (m->kernel[0])
		text_printf(text, "Linux %s \xc2\xb7 ", m->kernel);
	if (when > 0) {
		time_t seconds = (time_t)when;
		char date[32] = "";
		struct tm tm;

		if (localtime_r(&seconds, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
		text_printf(text, "%s \xc2\xb7 ", date);
	}
	group_all(o, m, &groups, (struct grouping){ BY_SITE, 0 });
	text_printf(text, "%s in ", size_format(total, groups.now.bytes, !counts_objects(o)));
	if (o->attribute == STATIC)
		text_printf(text, "%zu objects", groups.now.rows);
	else
		text_printf(text, "%" PRId64 " allocations", groups.now.calls);
	if (o->attribute == GROWTH)
		describe_growth(o, &groups, text);
	if (m->left_out.bytes)
		text_printf(text, " \xc2\xb7 %s of slab pages and percpu chunks not counted: "
			    "what is in them is", size_format(total, m->left_out.bytes, true));
	if (o->start)
		text_printf(text, " \xc2\xb7 %.80s", o->start);
	if (o->selection.query_text.len)
		text_printf(text, " \xc2\xb7 %.80s", o->selection.query_text.s);
	groups_free(&groups);
}

#ifdef HAVE_D3
static bool draw_page(const struct options *o, const struct material *m,
		      const struct chart *chart, FILE *out)
{
	static const char *const views[] = {
		[RING] = "ring", [TREEMAP] = "treemap", [FLAME] = "flame",
	};
	struct page page = {
		.title = chart->title,
		.subtitle = chart->subtitle,
		.what = o->attribute == STATIC ? "object files" :
			o->files.trace ? "callers" : "call sites",
		.view = views[o->kind],
		.shown = o->attribute == CALLS,
		.growth = o->attribute == GROWTH,
		.attribute = {
			{ "size", counts_objects(o) ? "objects" : "size", chart->bytes || o->attribute == CALLS },
			{ "calls", "allocations", false },
		},
		.attributes = o->attribute == STATIC ? 1 : 2,
	};
	bool good;

	for (size_t i = 0; i < m->count; i++) {
		page_time(&page, m->time[i]);
		page_add_sites(&page, &m->info[i], o->selection.query,
			       o->attribute == STATIC ? BY_FILE : BY_SITE);
	}
	if (m->of)
		text_printf(&page.notes, "%zu of %zu snapshots.\n", m->count, m->of);
	good = (page.sites || nothing()) && page_write(&page, out);
	page_free(&page);
	return good;
}
#else
static bool draw_page(const struct options *o, const struct material *m,
		      const struct chart *chart, FILE *out)
{
	(void)o, (void)m, (void)chart, (void)out;
	warning("this build cannot make pages, it was made without d3");
	hint("Try .svg or .png.");
	return false;
}
#endif

static bool draw(const struct options *o, const struct material *m)
{
	static const char *const titles[] = {
		[CURRENT] = "Kernel memory by call site",
		[CALLS] = "Kernel allocations by call site",
		[GROWTH] = "Growth of kernel memory by call site",
		[STATIC] = "Static size of the kernel by object file",
	}, *const trace_titles[] = {
		[TOTAL_DYNAMIC] = "Slab memory ever allocated, by caller",
		[CURRENT_DYNAMIC] = "Slab memory by caller",
		[WASTE] = "Slab memory wasted by rounding up, by caller",
		[REMOTE_FREED] = "Slab objects freed on another CPU, by caller",
	};
	struct text subtitle = { 0 };
	struct chart chart = {
		.title = o->title ? o->title : o->attribute == OF_TRACE ?
			 trace_titles[o->key] : o->files.trace ?
			 "Static and slab memory by caller" : titles[o->attribute],
		.width = o->width,
		.height = o->height,
		.bytes = o->attribute != CALLS && !counts_objects(o),
	};
	struct outfile file;
	bool good;

	describe(o, m, &subtitle);
	chart.subtitle = subtitle.s;
	good = outfile_open(&file, o->output);
	if (!good) {
		warning("cannot create %s: %s", o->output, strerror(errno));
	} else {
		if (o->page)
			good = draw_page(o, m, &chart, file.stream);
		else if (o->kind == AREA)
			good = draw_area(o, m, &chart, file.stream);
		else if (o->kind == BARS)
			good = draw_bars(o, m, &chart, file.stream);
		else
			good = draw_tree(o, &m->tree, &chart, file.stream);
		if (!good)
			outfile_abandon(&file);
		else if (!outfile_finish(&file)) {
			warning("cannot write %s: %s", o->output, strerror(errno));
			good = false;
		}
	}
	text_free(&subtitle);
	return good;
}

/* current_dynamic and static memory are there at the same time. */
static bool load_trace(struct material *m, const struct options *o)
{
	m->info = xcalloc(1, sizeof(*m->info));
	m->time = xcalloc(1, sizeof(*m->time));
	m->count = 1;
	return trace_sites(m->info, &o->files, o->key, o->attribute == CURRENT);
}

/* Says why it cannot, and returns false. */
static bool load(struct material *m, struct options *o)
{
	bool recording;

	if (o->files.trace)
		return load_trace(m, o);
	if (o->attribute == STATIC)
		return load_static(m, o);
	recording = is_recording(o->selection.path);
	if (!recording && o->kind == AREA) {
		warning("%s is not a recording, areas need one", o->selection.path);
		hint("Make one with 'codetag record'.");
		return false;
	}
	if (!recording && o->attribute == GROWTH && !o->selection.newer) {
		warning("growth needs two files or a recording");
		return false;
	}
	return recording ? load_recording(m, o) : load_files(m, o);
}

int cmd_chart(int argc, char **argv)
{
	struct options o = {
		.selection = SELECTION_INIT, .width = 1200, .height = 900,
	};
	struct material m = { .complete = true };
	int status = STATUS_TROUBLE;

	o.selection.compare = true;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (load(&m, &o) && (!o.start || keep_branch(&m, &o))) {
		if (!o.selection.raw)
			take_out_containers(&m, &o);
		if (o.kind == RING || o.kind == TREEMAP)
			build_tree(&o, &m);
		if (draw(&o, &m) && m.complete)
			status = STATUS_OK;
	}
	material_free(&m);
	selection_free(&o.selection);
	return status;
}
