// SPDX-License-Identifier: GPL-2.0-only
/* codetag graph: how much memory of an image each object keeps alive, by dominators. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "nodes.h"
#include "base/message.h"
#include "base/number.h"
#include "base/outfile.h"
#include "chart/page_draw.h"
#include "chart/picture.h"
#include "memory_image/holders.h"
#include "memory_image/paths.h"
#include "write/export.h"
#include "write/json.h"

#define KEY_FOLDED 0x503

#define WIDTH 1200
#define HEIGHT 900

struct options {
	struct node_options nodes;
	const char *file;
	bool folded;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Draw a flame graph: FILE is .html, a page to explore, .svg or "
	  ".png", 2 },
	{ "folded", KEY_FOLDED, NULL, 0, "Write the paths as folded stacks, for flamegraph.pl", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &node_options_argp, 0, NULL, 0 },
	{ 0 }
};

static bool is_chart(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (!strcmp(dot, ".html") || !strcmp(dot, ".svg") || !strcmp(dot, ".png"));
}

static void check(const struct options *o, struct argp_state *state)
{
	const struct output *output = &o->nodes.output;
	const struct conflict conflicts[] = {
		{ output->csv + output->json + o->folded + (o->file != NULL) > 1,
		  "choose one of --json, --csv, --folded and --output", NULL },
		{ o->nodes.top && (o->folded || o->file),
		  "--top goes with neither --folded nor --output", NULL },
		{ output_styled(output) && (o->folded || o->file),
		  "--bytes, --human and --noheadings go with neither --folded nor --output", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->nodes;
		return 0;
	case 'o':
		if (!is_chart(arg))
			argp_error(state, "'%s' is neither .html nor .svg nor .png", arg);
		o->file = arg;
		return 0;
	case KEY_FOLDED:
		o->folded = true;
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[QUERY…|ADDRESS…]",
	"Tells what holds the memory in an image: how much would be free without the objects of "
	"each call site, module, stack and other root. That is the memory that no other pointers "
	"lead to. With QUERY, or the ADDRESS of an object (16 hexadecimal digits), it lists by call "
	"site what would be free without the chosen objects, all together. In a "
	"flame graph, each holder is above the memory that it holds. Slab pages and percpu chunks do "
	"not count: the objects in them do."
	"\vExamples:\n"
	"  codetag graph --image vmcore --top 20\n"
	"  codetag graph --image vmcore module nf_conntrack\n"
	"  codetag graph --image vmcore -o memory.html\n"
	"  codetag graph --image vmcore --folded | flamegraph.pl >memory.svg\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

/* ---- paths as stacks ------------------------------------------------------------------ */

struct drawing {
	struct groups groups;
	struct stack *stack;
	struct site *site;
	struct arena strings;
};

/* "func:line", or the label of a root */
static const char *frame(struct drawing *d, const struct graph *graph, uint32_t group)
{
	struct text name = { 0 };
	struct site site = { 0 };
	const char *kept;
	char *copy;

	graph_group_name(graph, group, &name);
	copy = xstrdup(name.s);
	if (!site_parse(&site, copy, strlen(copy))) {
		text_clear(&name);
		text_printf(&name, "%s:%u", site.func, site.line);
	}
	kept = arena_copy(&d->strings, name.s, name.len);
	free(copy);
	text_free(&name);
	return kept;
}

static void stack_of(struct drawing *d, const struct graph *graph, const struct paths *paths,
		     size_t path, struct stack *stack)
{
	size_t depth = 0;

	for (uint32_t i = paths->path[path].above; i; i = paths->path[i].above)
		depth++;
	stack->name = xcalloc(depth + 1, sizeof(*stack->name));
	stack->count = depth;
	for (uint32_t i = paths->path[path].above; i; i = paths->path[i].above)
		stack->name[--depth] = frame(d, graph, paths->path[i].group);
}

static void drawing_make(struct drawing *d, const struct graph *graph, const struct paths *paths)
{
	*d = (struct drawing){ .groups.by = { BY_SITE, 0 } };
	d->stack = xcalloc(paths->count, sizeof(*d->stack));
	d->site = xcalloc(paths->count, sizeof(*d->site));
	for (size_t i = 1; i < paths->count; i++) {
		const struct path *path = &paths->path[i];
		struct text name = { 0 };

		if (!path->bytes)
			continue;
		stack_of(d, graph, paths, i, &d->stack[i]);
		d->site[i].file = "";
		d->site[i].func = frame(d, graph, path->group);
		graph_group_name(graph, path->group, &name);
		GROW(d->groups.group, d->groups.count, d->groups.room);
		d->groups.group[d->groups.count++] = (struct group){
			.name = arena_copy(&d->strings, name.s, name.len),
			.site = &d->site[i], .stack = &d->stack[i],
			.now = { (int64_t)path->bytes, (int64_t)path->objects, 1 },
		};
		sum_add(&d->groups.now, &d->groups.group[d->groups.count - 1].now);
		text_free(&name);
	}
}

static void drawing_free(struct drawing *d, size_t paths)
{
	for (size_t i = 0; i < paths; i++)
		free(d->stack[i].name);
	free(d->stack);
	free(d->site);
	groups_free(&d->groups);
	arena_free(&d->strings);
}

static bool draw(const struct options *o, const struct drawing *d)
{
	struct chart chart = {
		.title = "Kernel memory by what holds it", .width = WIDTH, .height = HEIGHT,
		.bytes = true, .fit = true,
	};
	const char *dot = strrchr(o->file, '.');
	struct text subtitle = { 0 };
	char total[SIZE_TEXT];
	struct outfile file;
	bool good = outfile_open(&file, o->file);

	if (!good) {
		warning("cannot create %s: %s", o->file, strerror(errno));
		return false;
	}
	text_printf(&subtitle, "%s in %lld objects of %s",
		    size_format(total, d->groups.now.bytes, true),
		    (long long)d->groups.now.calls, o->nodes.input.path);
	chart.subtitle = subtitle.s;
	if (!strcmp(dot, ".html"))
		good = page_draw_stacks(&d->groups, &chart, file.stream);
	else
		good = picture_draw_stacks(&d->groups, &chart, strcmp(dot, ".png") ? CHART_SVG : CHART_PNG,
					   file.stream);
	good = outfile_end(&file, o->file, good);
	text_free(&subtitle);
	return good;
}

static bool write_paths(const struct options *o, const struct graph *graph, const uint8_t *chosen)
{
	struct dominators *dominators = dominators_find(graph);
	struct paths *paths = paths_find(graph, dominators, chosen);
	struct drawing d;
	bool good = true;

	drawing_make(&d, graph, paths);
	if (o->file) {
		good = draw(o, &d);
	} else {
		struct export export = { .groups = &d.groups, .count = d.groups.count };

		export_folded(&export, stdout);
	}
	drawing_free(&d, paths->count);
	paths_free(paths);
	dominators_free(dominators);
	return good;
}

/* ---- tables ----------------------------------------------------------------------------- */

struct row {
	uint32_t group;
	uint64_t retained, bytes, objects;
};

struct rows {
	struct row *row;
	size_t count, room;
	uint64_t dropped, freed;	/* chosen objects; bytes that would be free without them */
};

static int by_retained(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->retained != y->retained)
		return x->retained < y->retained ? 1 : -1;
	return (x->group > y->group) - (x->group < y->group);
}

/* A site is on each path once, so nothing counts twice. */
static void rows_of_paths(struct rows *rows, const struct graph *graph)
{
	struct dominators *dominators = dominators_find(graph);
	struct paths *paths = paths_find(graph, dominators, NULL);
	uint32_t *index = xcalloc(GRAPH_LABELS + graph->labels.count + 1, sizeof(*index));

	for (size_t i = 1; i < paths->count; i++) {
		const struct path *path = &paths->path[i];
		struct row *row;

		if (!index[path->group]) {
			GROW(rows->row, rows->count, rows->room);
			rows->row[rows->count++] = (struct row){ .group = path->group };
			index[path->group] = (uint32_t)rows->count;
		}
		row = &rows->row[index[path->group] - 1];
		row->retained += path->all_bytes;
		row->bytes += path->bytes;
		row->objects += path->objects;
	}
	free(index);
	paths_free(paths);
	dominators_free(dominators);
}

static void rows_of_chosen(struct rows *rows, const struct graph *graph, const uint8_t *chosen)
{
	struct retained *retained = retained_find(graph, chosen, false);

	for (size_t i = 0; i < retained->rows; i++) {
		const struct retained_row *row = &retained->row[i];

		GROW(rows->row, rows->count, rows->room);
		rows->row[rows->count++] = (struct row){
			row->group, row->bytes, row->bytes, row->objects,
		};
	}
	retained_free(retained);
}

static void print_json(const struct options *o, const struct graph *graph, const struct rows *rows,
		       const uint8_t *chosen)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_int(&json, "edges", (int64_t)graph->edges);
	if (chosen) {
		json_int(&json, "objects", (int64_t)rows->dropped);
		json_int(&json, "freed", (int64_t)rows->freed);
	}
	json_rows(&json, "rows", o->nodes.output.columns);
	for (size_t i = 0; i < rows_shown(rows->count, o->nodes.top); i++) {
		const struct row *row = &rows->row[i];
		struct text name = { 0 };

		graph_group_name(graph, row->group, &name);
		json_object(&json, NULL);
		json_int(&json, "retained", (int64_t)row->retained);
		json_int(&json, "size", (int64_t)row->bytes);
		json_int(&json, "calls", (int64_t)row->objects);
		json_string(&json, "name", name.s);
		json_end_object(&json);
		text_free(&name);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct options *o, const struct graph *graph, const struct rows *rows,
			const uint8_t *chosen)
{
	static const struct table_column columns[] = {
		{ "RETAINED", true, "retained", false }, { "SIZE", true, "size", false },
		{ "CALLS", true, "calls", false }, { "NAME", false, "name", false },
	};
	struct table table = {
		.column = columns + !!chosen,
		.columns = sizeof(columns) / sizeof(*columns) - !!chosen,
	};
	bool human = output_human(&o->nodes.output);
	char number[SIZE_TEXT];

	for (size_t i = 0; i < rows_shown(rows->count, o->nodes.top); i++) {
		const struct row *row = &rows->row[i];
		struct text name = { 0 };

		graph_group_name(graph, row->group, &name);
		if (!chosen)
			table_cell(&table, size_format(number, (int64_t)row->retained, human));
		table_cell(&table, size_format(number, (int64_t)row->bytes, human));
		table_cell(&table, size_format(number, (int64_t)row->objects, false));
		table_cell(&table, name.s);
		text_free(&name);
	}
	output_table(&table, &o->nodes.output);
	if (!chosen || o->nodes.output.no_headings || o->nodes.output.csv)
		return;
	if (rows->dropped == 1)
		printf("\nDropping this object");
	else
		printf("\nDropping these %" PRIu64 " objects", rows->dropped);
	printf(" would free %s of %zu call site%s.\n",
	       size_format(number, (int64_t)rows->freed, human), rows->count,
	       rows->count == 1 ? "" : "s");
}

static void write_rows(const struct options *o, const struct graph *graph, const uint8_t *chosen)
{
	struct rows rows = { 0 };

	if (chosen)
		rows_of_chosen(&rows, graph, chosen);
	else
		rows_of_paths(&rows, graph);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_retained);
	while (rows.count && !rows.row[rows.count - 1].retained)
		rows.count--;
	for (size_t i = 0; i < rows.count; i++)
		rows.freed += rows.row[i].bytes;
	for (uint32_t node = 1; chosen && node < graph->objects->nodes; node++)
		rows.dropped += chosen[node];
	if (o->nodes.output.json)
		print_json(o, graph, &rows, chosen);
	else
		print_table(o, graph, &rows, chosen);
	free(rows.row);
}

/* Slab pages and percpu chunks are not chosen: their content counts. False: nothing else is chosen. */
static bool leave_out_containers(const struct graph *graph, uint8_t *chosen)
{
	bool any = false;

	for (uint32_t node = 1; node < graph->objects->nodes; node++) {
		chosen[node] = chosen[node] && !kobjects_is_container(graph->objects, node);
		any |= chosen[node];
	}
	if (!any) {
		warning("only slab pages or percpu chunks are chosen, which are left out");
		hint("Choose the objects in them: by their call site, or by an address.");
	}
	return any;
}

int cmd_graph(int argc, char **argv)
{
	struct options o = { 0 };
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (image_input_open(&o.nodes.input)) {
		struct graph *graph = image_input_graph(&o.nodes.input);
		bool all = node_choice_empty(&o.nodes.choice), good = true;
		uint8_t *chosen = all ? NULL : node_choice_make(&o.nodes.choice, graph);

		if (all || (chosen && leave_out_containers(graph, chosen))) {
			if (o.file || o.folded)
				good = write_paths(&o, graph, chosen);
			else
				write_rows(&o, graph, chosen);
			status = image_input_status(&o.nodes.input);
			if (!good)
				status = STATUS_TROUBLE;
		}
		free(chosen);
		graph_free(graph);
	}
	image_input_close(&o.nodes.input);
	node_choice_free(&o.nodes.choice);
	return status;
}
