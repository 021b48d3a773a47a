// SPDX-License-Identifier: GPL-2.0
/* codetag export: a snapshot in the formats of other tools. */
#include "write/export.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "contexts_read.h"
#include "selection.h"
#include "show.h"
#include "trace_sites.h"
#include "base/message.h"
#include "base/number.h"
#include "model/context_stacks.h"
#include "read/input.h"
#include "source/host.h"
#include "base/outfile.h"

static const struct format {
	const char *name;
	void (*write)(struct export *export, FILE *out);	/* NULL: JSON, SQLite */
	bool binary;
	bool weighs;	/* by one of size and calls; the others tell both */
} formats[] = {
	{ "folded", export_folded, false, true },
	{ "pprof", export_pprof, true, true },
	{ "speedscope", export_speedscope, false, true },
	{ "prometheus", export_prometheus, false, false },
	{ "csv", export_csv, false, false },
	{ "json", NULL, false, false },
#ifdef HAVE_SQLITE
	{ "sqlite", NULL, true, false },
#endif
};

struct options {
	struct selection selection;
	const struct format *format;
	const char *output;
	bool calls, attr_given, of_trace;
	struct trace_files files;
	enum kmem_key key;	/* of a trace */
	struct contexts_choice contexts;
	struct export_label *label;
	size_t labels, labels_room;
	struct explanation memory;	/* of a whole machine, for Prometheus */
	bool has_memory;
};

enum { KEY_FORMAT = 0x200, KEY_ATTR, KEY_LABEL };

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "folded, pprof, speedscope, prometheus, csv, json"
#ifdef HAVE_SQLITE
	  ", sqlite"
#endif
	  , 0 },
	{ "output", 'o', "FILE", 0,
	  "Write FILE, which appears complete or not at all (default: standard output)", 0 },
	{ "attr", KEY_ATTR, "ATTR", 0,
	  "Weigh stacks by size or calls (default: size); of a trace by total_dynamic, "
	  "current_dynamic (default), waste (now), total_waste (ever) or calls", 0 },
	{ "label", KEY_LABEL, "NAME=VALUE", 0,
	  "Prometheus: a label for all series, such as host=web1; with --group host it is the "
	  "host of the next file", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &selection_raw_argp, 0, NULL, 2 },
	{ &trace_files_argp, 0, NULL, 3 },
	{ &contexts_instead_argp, 0, NULL, 4 },
	{ 0 }
};

#define CONTEXTS_CHILD (sizeof(children) / sizeof(*children) - 2)

static bool is_database(const struct format *format)
{
	return !format->write && format->binary;
}

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

/* "host=web1"; names that the series have themselves are taken. */
static void add_label(struct options *o, char *arg, struct argp_state *state)
{
	static const char *const taken[] = {
		"file", "line", "module", "func", "dir", "subsystem", "release",
	};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	char *equals = strchr(arg, '=');
	size_t len = equals ? (size_t)(equals - arg) : 0;

	if (!len || strspn(arg, letters) == 0 || !strncmp(arg, "__", 2) ||
	    strspn(arg, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") != len) {
		argp_error(state, "'%s' is not a label like host=web1", arg);
		return;
	}
	if (len == 4 && !strncmp(arg, "host", 4))
		selection_label(&o->selection, arg, state);
	*equals = '\0';
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(arg, taken[i]))
			argp_error(state, "the series have a label %s of their own", arg);
	GROW(o->label, o->labels, o->labels_room);
	o->label[o->labels++] = (struct export_label){ arg, equals + 1 };
}

/* By host, host=NAME is that of a file; else it is a label like any other. */
static void sort_labels(struct options *o, struct argp_state *state)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->labels; i++) {
		bool twice = false;

		if (o->selection.by.by == BY_HOST && !strcmp(o->label[i].name, "host"))
			continue;
		for (size_t k = 0; k < kept; k++)
			twice |= !strcmp(o->label[i].name, o->label[k].name);
		if (twice)
			argp_error(state, "the label %s is given twice", o->label[i].name);
		o->label[kept++] = o->label[i];
	}
	o->labels = kept;
	if (o->selection.by.by != BY_HOST)
		selection_forget_labels(&o->selection);
}

/* The stacks of contexts are what they are. */
static void check_contexts(const struct options *o, struct argp_state *state)
{
	if (!o->format->weighs)
		argp_error(state, "--contexts has stacks: for folded, pprof and speedscope");
	else if (o->files.trace || o->selection.path_given)
		argp_error(state, "--contexts goes with no other file: --contexts=FILE reads one");
	else if (o->selection.by_given || o->selection.raw || o->labels)
		argp_error(state, "--group, --raw and --label are for call sites, not for --contexts");
}

/* Data are as the kernel tells them; pictures, and who reads series, add them up. */
static bool sums(const struct format *format)
{
	return format->weighs || format->write == export_prometheus;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CONTEXTS_CHILD] = &o->contexts;
		state->child_inputs[0] = &o->selection;
		state->child_inputs[1] = &o->selection;
		state->child_inputs[2] = &o->files;
		o->files.choice.stacks = &o->contexts.used;
		return 0;
	case KEY_FORMAT:
		o->format = find_format(arg);
		if (!o->format)
			argp_error(state, "there is no format '%s'", arg);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_ATTR:
		o->calls = !strcmp(arg, "calls");
		o->attr_given = true;
		for (o->key = 0; o->key < KMEM_KEYS; o->key++)
			if (!strcmp(arg, kmem_key_names[o->key]))
				break;
		o->of_trace = o->key == TOTAL_DYNAMIC || o->key == CURRENT_DYNAMIC ||
			      o->key == WASTE || o->key == TOTAL_WASTE;
		if (!o->of_trace && !o->calls && strcmp(arg, "size"))
			argp_error(state, "'%s' is none of size, calls, total_dynamic, "
				   "current_dynamic, waste and total_waste", arg);
		if (!o->of_trace)
			o->key = CURRENT_DYNAMIC;
		return 0;
	case KEY_LABEL:
		add_label(o, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&o->selection, arg))
			argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		sort_labels(o, state);
		selection_finish(&o->selection, state);
		if (!o->format)
			argp_error(state, "--format is missing");
		else if (o->files.trace && o->selection.path_given)
			argp_error(state, "a trace goes with no other file");
		else if (o->of_trace && !o->files.trace)
			argp_error(state, "%s is of a trace: see --trace", kmem_key_names[o->key]);
		else if (is_database(o->format) && !o->output)
			argp_error(state, "a database is written by --output FILE");
		else if (o->format->binary && !o->output && isatty(STDOUT_FILENO))
			argp_error(state, "%s is not for terminals: give --output FILE",
				   o->format->name);
		else if (o->attr_given && !o->of_trace && !o->format->weighs)
			argp_error(state, "%s tells both size and calls: --attr is for folded, pprof and "
				   "speedscope", o->format->name);
		else if (o->selection.raw && (o->files.trace || o->contexts.used ||
					       !sums(o->format)))
			argp_error(state, "--raw is for what adds up call sites: folded, pprof, "
				   "speedscope and prometheus");
		else if (o->selection.by.by == BY_HOST && (o->files.trace || o->format->weighs))
			argp_error(state, "a host has no stack: --group host is for prometheus, csv "
				   "and json");
		else if (o->contexts.used)
			check_contexts(o, state);
		else if (o->labels && o->format->write != export_prometheus)
			argp_error(state, "--label is for prometheus, or is host=NAME with --group host");
		else if (o->selection.by.by == BY_ROW &&
			 o->format->write == export_prometheus)
			argp_error(state, "prometheus takes no repeated rows: use --group place or site");
		o->selection.raw = o->selection.raw || !sums(o->format);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "--format FORMAT [FILE…] [QUERY…]",
	"Writes a snapshot, or the sum of several files, in the format of another tool."
	"\vThe stack of a call site is its path and its function. Prometheus text "
	"has the 200 largest groups, or --top N, and the sum of the others; it sums by place "
	"unless --group says otherwise, since lines are others in the next kernel. With "
	"--contexts the stacks are those of the kernel.\n\n"
	"Examples:\n"
	"  codetag export --format folded | flamegraph.pl --countname bytes >memory.svg\n"
	"  codetag export --format pprof -o memory.pb.gz && pprof -top memory.pb.gz\n"
	"  codetag export --contexts --skip --format folded | flamegraph.pl >callers.svg\n"
	"  codetag export --trace saved.trace --attr waste --format folded >waste.folded\n"
	"  codetag export --format prometheus \\\n"
	"    -o /var/lib/prometheus/node-exporter/codetag.prom\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

static bool write_file(struct options *o, const struct snapshot *snapshot,
		       struct groups *groups)
{
	struct export export = {
		.groups = groups,
		.count = selection_apply(&o->selection, groups),
		.calls = o->calls,
		.kernel = snapshot->kernel,
		.label = o->label,
		.labels = o->labels,
		.memory = o->has_memory ? &o->memory : NULL,
		.time_ns = mul64(snapshot->time, 1000000),
	};
	const struct columns all = { .count = 0 };
	struct outfile file;

	if (is_database(o->format))
		return columns_database(&all, groups, export.count, o->output, false);
	if (!outfile_open(&file, o->output)) {
		warning("cannot create %s: %s", o->output, strerror(errno));
		return false;
	}
	if (o->format->write) {
		o->format->write(&export, file.stream);
	} else {
		struct json json = { .out = file.stream };

		show_json(&json, groups, export.count, &snapshot->info, &o->selection);
		json_end_object(&json);
	}
	if (!outfile_end(&file, o->output, true))
		return false;
	if (export.left_out)
		warning("left out, because %s cannot hold what is negative: %zu",
			o->format->name, export.left_out);
	return true;
}

/* All memory of this machine, or of the one that a snapshot is of. */
static void explain_memory(struct options *o, struct snapshot *snapshot)
{
	const struct host_options read = { .no_sites = true };
	struct snapshot host = { 0 };
	bool live = !o->selection.path_given;

	if (o->format->write != export_prometheus || o->selection.by.by == BY_HOST ||
	    o->selection.query_text.len)
		return;
	if (live)
		host_read_live(&host, &read);
	o->has_memory = explain(&o->memory, &snapshot->info,
				live ? &host.machine : &snapshot->machine);
	snapshot_free(&host);
}

static bool read_sites(struct options *o, struct snapshot *snapshot, struct groups *groups)
{
	if (!o->files.trace) {
		if (!selection_snapshot(snapshot, &o->selection))
			return false;
		explain_memory(o, snapshot);
		selection_group(&o->selection, snapshot, groups);
		return true;
	}
	*snapshot = (struct snapshot){ 0 };
	if (!trace_sites(&snapshot->info, &o->files, o->key, false))
		return false;
	o->selection.path = o->files.trace;
	o->selection.path_given = true;
	*groups = (struct groups){ .by = o->selection.by };
	groups_add(groups, &snapshot->info, o->selection.query);
	return true;
}

static int export_contexts(struct options *o)
{
	const struct snapshot snapshot = { 0 };
	struct context_stacks stacks;
	struct contexts contexts;
	int status = STATUS_TROUBLE;

	o->contexts.page_size = o->files.choice.page_size;
	if (!contexts_read_chosen(&contexts, &o->contexts, o->selection.query))
		return status;
	context_stacks_make(&stacks, &contexts, &o->contexts.helpers, !o->contexts.min_age);
	if (write_file(o, &snapshot, &stacks.groups) &&
	    contexts_complete(&contexts, contexts_name(&o->contexts)))
		status = STATUS_OK;
	context_stacks_free(&stacks);
	contexts_free(&contexts);
	return status;
}

static int export_sites(struct options *o)
{
	struct snapshot snapshot;
	struct groups groups;
	int status = STATUS_TROUBLE;

	if (!read_sites(o, &snapshot, &groups))
		return status;
	if (write_file(o, &snapshot, &groups) &&
	    snapshot_complete(&snapshot, o->selection.path))
		status = STATUS_OK;
	groups_free(&groups);
	snapshot_free(&snapshot);
	return status;
}

int cmd_export(int argc, char **argv)
{
	struct options o = {
		.selection = SELECTION_INIT, .key = CURRENT_DYNAMIC,
		.contexts = CONTEXTS_CHOICE_INIT,
	};
	int status;

	o.selection.many = o.selection.hosts = true;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	if (!o.selection.top && o.format->write == export_prometheus)
		o.selection.top = 200;
	/* Lines are others in the next kernel: they make no series that last. */
	if (!o.selection.by_given && o.format->write == export_prometheus)
		o.selection.by.by = BY_PLACE;
	status = o.contexts.used ? export_contexts(&o) : export_sites(&o);
	contexts_choice_free(&o.contexts);
	free(o.label);
	selection_free(&o.selection);
	return status;
}
