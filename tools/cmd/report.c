// SPDX-License-Identifier: GPL-2.0-only
/* codetag report: one snapshot, filtered, grouped and sorted. */
#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "memory_view.h"
#include "show.h"
#include "tree_view.h"
#include "base/message.h"
#include "read/input.h"
#include "read/profiling.h"

struct report {
	struct selection selection;
	struct machine_files files;
	struct output output;
	bool tree;
	unsigned int depth;
};

enum { KEY_TREE = 0x200 };

static const struct argp_option options[] = {
	{ "tree", KEY_TREE, "DEPTH", OPTION_ARG_OPTIONAL,
	  "Directories and files with the totals of all below, DEPTH levels of them "
	  "(default: all); --top and --min then apply to each directory", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &hosts_argp, 0, NULL, 1 },
	{ &selection_raw_argp, 0, NULL, 2 },
	{ &columns_argp, 0, NULL, 9 },
	{ &rows_argp, 0, NULL, 9 },
	{ &machine_argp, 0, NULL, 3 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static void check(const struct report *report, struct argp_state *state)
{
	const struct selection *selection = &report->selection;
	const struct machine_files *files = &report->files;
	bool table = !report->output.json && !selection_wants_rows(selection);
	const struct conflict conflicts[] = {
		{ selection_wants_growth(selection), GROWTH_OF_TWO, NULL },
		{ columns_have(&selection->columns, COL_PEAK) && selection->by.by == BY_HOST,
		  "peaks are of groups of call sites: --group host goes without them", NULL },
		{ report->tree && order_is_activity(selection->order),
		  "a tree shows sizes and calls: it is not sorted by allocs or frees", NULL },
		{ report->tree && selection->activity,
		  "a tree shows sizes and calls: --activity goes without --tree", NULL },
		{ report->tree && selection->columns.count,
		  "a tree has columns of its own: --columns goes without --tree", NULL },
		{ report->tree && (selection->csv || selection->sqlite),
		  "a tree is no table: --csv and --sqlite go without --tree", NULL },
		{ report->tree && selection->by_given,
		  "a tree is by directory: --group goes without --tree", NULL },
		{ selection->by.by == BY_HOST && files->meminfo,
		  "the memory of one machine is compared: --meminfo goes without --group host",
		  NULL },
		{ (files->slabinfo || files->zoneinfo) && !files->meminfo &&
		  (selection->path_given || selection->query_text.len),
		  "--slabinfo and --zoneinfo need --meminfo", NULL },
		{ (files->meminfo || files->slabinfo || files->zoneinfo) &&
		  (selection_wants_rows(selection) || (table && report->output.no_headings)),
		  "--csv, --sqlite and --noheadings leave out the memory in use: --meminfo, --slabinfo "
		  "and --zoneinfo go without them", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &report->selection;
		state->child_inputs[1] = &report->selection;
		state->child_inputs[2] = &report->selection;
		state->child_inputs[3] = &report->selection;
		state->child_inputs[4] = &report->selection;
		state->child_inputs[5] = &report->files;
		state->child_inputs[6] = &report->output;
		return 0;
	case KEY_TREE:
		report->tree = true;
		if (arg)
			report->depth = argument_number("--tree", arg, 1, 99, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&report->selection, arg))
			argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&report->selection, state);
		selection_check_rows(&report->selection, &report->output, state);
		check(report, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[FILE…] [QUERY…]",
	"Reports which call sites hold how much memory. At its end the report of a "
	"whole machine explains all of its memory, as 'codetag where' does. Of "
	"several files, or a directory, the sum is reported."
	"\vQUERY is like \"file fs/* module ext4\", see codetag(1).\n\n"
	"Examples:\n"
	"  codetag report --group dir:2 --top 10\n"
	"  codetag report --tree=2 --min 1M\n"
	"  codetag report saved.txt file 'fs/*' module ext4\n"
	"  codetag report saved.txt --meminfo saved-meminfo.txt\n"
	"  codetag report fleet/ --group host --top 10 module nf_tables\n"
	"  codetag report -g host --label host=web1 a.gz --label host=web2 b.gz\n"
	"  codetag report --json --min 1M | jq .rows[].name\n\n"
	PROFILING_STATUS,
	children, NULL, NULL
};

struct data {
	struct snapshot snapshot;
	struct groups groups;
	struct tree tree;
	bool has_memory;
	struct explanation memory;
};

static bool print(const struct report *report, struct data *data)
{
	const struct selection *selection = &report->selection;
	const struct output *output = &report->output;
	size_t count = selection_apply(selection, &data->groups);

	if (selection_wants_rows(selection))
		return selection_rows(selection, &data->groups, count,
				      !output->no_headings);
	if (output->json) {
		struct json json = { .out = stdout };

		if (report->tree)
			count = 0;
		show_json(&json, &data->groups, count, &data->snapshot.info, selection);
		if (report->tree)
			tree_json(&data->tree, report->depth, selection, &json);
		if (data->has_memory)
			memory_json(&data->memory, &json);
		json_end_object(&json);
		return true;
	}
	if (report->tree)
		tree_view(&data->tree, report->depth, selection, output);
	else
		show_table(&data->groups, count, selection, output);
	if (output->no_headings)
		return true;
	putchar('\n');
	show_summary(&data->groups, &data->snapshot.info, selection, output);
	if (data->has_memory) {
		putchar('\n');
		memory_view(&data->memory, output);
	}
	return true;
}

/* Only a report of everything is worth comparing with the whole machine. */
static bool add_memory(const struct report *report, struct data *data)
{
	const struct selection *selection = &report->selection;
	bool live = !selection->path_given && !selection->query_text.len;
	struct machine machine;
	bool good, one;

	if (selection->by.by == BY_HOST)
		return true;
	good = machine_read(&machine, &report->files, live, &data->has_memory, &one);

	/* Uses the files that came with the snapshot, if no others were named. */
	if (good && !data->has_memory && !selection->query_text.len &&
	    data->snapshot.machine.meminfo.count) {
		machine_free(&machine);
		machine = data->snapshot.machine;
		data->snapshot.machine = (struct machine){ 0 };
		data->has_memory = true;
	}

	if (data->has_memory && data->snapshot.info.part) {
		warning("%s is a part of a list: it cannot be compared with the memory in use",
			input_name(selection->path));
		hint("All of " ALLOCINFO_PATH " has a header, and rows that hold nothing.");
		data->has_memory = good = false;
	}
	if (good && data->has_memory) {
		good = explain(&data->memory, &data->snapshot.info, &machine);
		data->has_memory = good;
		if (!good)
			warning("the meminfo has no MemTotal or no MemFree");
	}
	machine_free(&machine);
	return good && one;
}

int cmd_report(int argc, char **argv)
{
	struct report report = { .selection = SELECTION_INIT };
	const struct selection *selection = &report.selection;
	struct data data = { 0 };
	int status = STATUS_TROUBLE;

	report.selection.many = true;
	report.selection.groups |= BIT_OF(BY_HOST);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &report);
	report.selection.activity_too = report.output.json || selection_wants_rows(selection);
	if (selection_snapshot(&data.snapshot, selection)) {
		bool good = add_memory(&report, &data);

		selection_group(selection, &data.snapshot, &data.groups);
		if (columns_have(&selection->columns, COL_PEAK))
			good = source_peaks(selection->path, selection->query, &data.groups) && good;
		if (report.tree) {
			tree_add_sites(&data.tree, &data.snapshot.info, selection->query);
			tree_sort(&data.tree, selection->order);
		}
		good = print(&report, &data) && good;
		good = selection_rates_known(selection, &data.groups) && good;
		good = selection_profiled(selection, &data.snapshot.info) && good;
		if (snapshot_complete(&data.snapshot, selection->path) && good)
			status = STATUS_OK;
		tree_free(&data.tree);
		groups_free(&data.groups);
		snapshot_free(&data.snapshot);
	}
	selection_free(&report.selection);
	return status;
}
