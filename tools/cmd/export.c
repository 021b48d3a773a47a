// SPDX-License-Identifier: GPL-2.0-only
/* codetag export: a snapshot in the formats of other tools. */
#include "write/export.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "contexts_read.h"
#include "selection.h"
#include "show.h"
#include "trace_sites.h"
#include "words.h"
#include "base/message.h"
#include "base/number.h"
#include "model/context_stacks.h"
#include "read/input.h"
#include "read/profiling.h"
#include "source/host.h"
#include "base/outfile.h"

static const struct format {
	const char *name;
	void (*write)(struct export *export, FILE *out);	/* NULL: JSON, SQLite */
	bool binary;
	bool weighs;	/* stacks are weighed by size or calls; the other formats have both */
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
	struct explanation memory;	/* only the memory of a whole machine, for Prometheus */
	bool has_memory;
};

enum { KEY_FORMAT = 0x200, KEY_ATTR, KEY_LABEL };

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "%s", 0 },
	{ "output", 'o', "FILE", 0,
	  "Write FILE, which appears complete or not at all (default: standard output)", 0 },
	{ "attr", KEY_ATTR, "ATTR", 0,
	  "Weigh stacks by %s. Only size and calls go without --trace (default: size; with "
	  "--trace current_dynamic)", 0 },
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

static const struct {
	const char *word;
	bool of_trace, calls;
	enum kmem_key key;
} attributes[] = {
	{ "total_dynamic", true, false, TOTAL_DYNAMIC },
	{ "current_dynamic", true, false, CURRENT_DYNAMIC },
	{ "waste", true, false, WASTE },
	{ "total_waste", true, false, TOTAL_WASTE },
	{ "calls", false, true, CURRENT_DYNAMIC },
	{ "size", false, false, CURRENT_DYNAMIC },
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == KEY_FORMAT ? words_help(text, WORDS(formats, .name), ", ") :
	       key == KEY_ATTR ? words_help(text, WORDS(attributes, .word), ", ") : (char *)text;
}

/* Checks "host=web1"; names that the series use themselves are taken. */
static void add_label(struct options *o, char *arg, struct argp_state *state)
{
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
	if (prometheus_has_label(arg))
		argp_error(state, "the series have a label %s of their own", arg);
	GROW(o->label, o->labels, o->labels_room);
	o->label[o->labels++] = (struct export_label){ arg, equals + 1 };
}

/*
 * With --group host, host=NAME names the host of a file; otherwise it is a label like any
 * other.
 */
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

/*
 * Data formats keep the numbers of the kernel; pictures, and programs that read series, add
 * them up.
 */
static bool sums(const struct format *format)
{
	return format->weighs || format->write == export_prometheus;
}

static void check(const struct options *o, struct argp_state *state)
{
	const struct selection *selection = &o->selection;
	const struct format *format = o->format;
	const char *name = format->name;
	bool prometheus = format->write == export_prometheus;
	bool contexts = o->contexts.used, trace = o->files.trace;
	enum group_by by = selection->by.by;
	const struct conflict conflicts[] = {
		{ selection_wants_growth(selection), GROWTH_OF_TWO, NULL },
		{ trace && selection->path_given, "a trace goes with no other file", NULL },
		{ o->of_trace && !trace, " is of a trace: see --trace", kmem_key_names[o->key] },
		{ is_database(format) && !o->output, "a database is written by --output FILE", NULL },
		{ format->binary && !o->output && isatty(STDOUT_FILENO),
		  " is not for terminals: give --output FILE", name },
		{ o->attr_given && !o->of_trace && !format->weighs,
		  " tells both size and calls: --attr is for folded, pprof and speedscope", name },
		{ selection->raw && (trace || contexts),
		  "--raw is about slab pages among call sites: it goes without --trace and --contexts", NULL },
		{ selection->raw && !sums(format),
		  "--raw is for formats that add up call sites: folded, pprof, speedscope and prometheus", NULL },
		{ selection->activity && (trace || format->weighs || format->write == export_csv),
		  "--activity is for call sites as prometheus, json or sqlite", NULL },
		{ selection->all && format->write == export_folded,
		  "folded has no stacks that hold nothing: --all needs another format", NULL },
		{ by == BY_HOST && trace, "a trace has no hosts: --group host goes without it", NULL },
		{ by == BY_HOST && format->weighs,
		  " shows stacks, and a host has none: --group host needs another format", name },
		{ contexts && !format->weighs,
		  " shows no stacks: --contexts needs another format", name },
		{ contexts && (trace || selection->path_given),
		  "--contexts goes with no other file: --contexts=FILE reads one", NULL },
		{ contexts && (selection->by_given || selection->raw || o->labels),
		  "--group, --raw and --label are for call sites, not for --contexts", NULL },
		{ o->labels && !prometheus,
		  "--label is for prometheus, or is host=NAME with --group host", NULL },
		{ by == BY_ROW && prometheus,
		  "prometheus takes no repeated rows: use --group place or site", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	size_t i;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CONTEXTS_CHILD] = &o->contexts;
		state->child_inputs[0] = &o->selection;
		state->child_inputs[1] = &o->selection;
		state->child_inputs[2] = &o->files;
		o->files.choice.contexts = &o->contexts;
		return 0;
	case KEY_FORMAT:
		o->format = &formats[argument_word(arg, WORDS(formats, .name), "format", state)];
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_ATTR:
		i = argument_word(arg, WORDS(attributes, .word), "attribute", state);
		o->attr_given = true;
		o->of_trace = attributes[i].of_trace;
		o->calls = attributes[i].calls;
		o->key = attributes[i].key;
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
		check(o, state);
		o->selection.raw = o->selection.raw || !sums(o->format);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "--format FORMAT [FILE…] [QUERY…]",
	"Writes a snapshot, or the sum of several files, in the format of another tool."
	"\vThe stack of a call site is its path and its function. Prometheus text "
	"has the 200 largest groups, or --top N, and the sum of the others. It sums by place "
	"unless --group says otherwise, because line numbers differ in the next kernel. With "
	"--contexts the stacks are those of the kernel.\n\n"
	"Examples:\n"
	"  codetag export --format folded | flamegraph.pl --countname bytes >memory.svg\n"
	"  codetag export --format pprof -o memory.pb.gz && pprof -top memory.pb.gz\n"
	"  codetag export --contexts --skip --format folded | flamegraph.pl >callers.svg\n"
	"  codetag export --trace saved.trace --attr waste --format folded >waste.folded\n"
	"  codetag export --format prometheus \\\n"
	"    -o /var/lib/prometheus/node-exporter/codetag.prom\n\n"
	PROFILING_STATUS,
	children, help, NULL
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
		.raw = o->selection.raw,
		.time_ns = mul64(snapshot->time, 1000000),
	};
	const struct columns all = { .count = 0 };
	struct outfile file;

	export.not_profiled = selection_unprofiled(&o->selection, &snapshot->info);
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
		warning("left out, because %s has no negative numbers: %zu",
			o->format->name, export.left_out);
	return true;
}

/* All memory of this machine, or of the machine of a snapshot. */
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
	bool complete = true;

	if (!o->files.trace) {
		if (!selection_snapshot(snapshot, &o->selection))
			return false;
		explain_memory(o, snapshot);
		selection_group(&o->selection, snapshot, groups);
		return true;
	}
	*snapshot = (struct snapshot){ 0 };
	if (!trace_sites(&snapshot->info, &o->files, o->key, false, &complete))
		return false;
	snapshot->incomplete = !complete;
	o->selection.path = o->files.trace;
	o->selection.path_given = true;
	selection_warn_unmatched(&o->selection, &snapshot->info, NULL);
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
	warn_limits(&snapshot.info, o->selection.path);
	if (write_file(o, &snapshot, &groups)) {
		bool by_host = o->selection.by.by == BY_HOST;
		/* The metrics have the number of sites that are not profiled. */
		bool profiled = (o->format->write == export_prometheus && !by_host) ||
				selection_profiled(&o->selection, &snapshot.info);

		if (snapshot_complete(&snapshot, o->selection.path) && profiled)
			status = STATUS_OK;
	}
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

	o.selection.many = true;
	o.selection.groups |= BIT_OF(BY_HOST);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
	if (!o.selection.top && o.format->write == export_prometheus)
		o.selection.top = 200;
	/* In the next kernel lines differ, so a series by line would end. */
	if (!o.selection.by_given && o.format->write == export_prometheus)
		o.selection.by.by = BY_PLACE;
	o.selection.activity_too = true;
	status = o.contexts.used ? export_contexts(&o) : export_sites(&o);
	contexts_choice_free(&o.contexts);
	free(o.label);
	selection_free(&o.selection);
	return status;
}
