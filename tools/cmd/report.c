// SPDX-License-Identifier: GPL-2.0
/* codetag report: one snapshot, filtered, grouped and sorted. */
#include <stdio.h>

#include "command.h"
#include "message.h"
#include "show.h"

struct report {
	struct selection selection;
	struct output output;
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &output_argp, 0, NULL, 2 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &report->selection;
		state->child_inputs[1] = &report->output;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&report->selection, arg))
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&report->selection, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	NULL, parse, "[FILE] [QUERY…]",
	"Reports which call sites hold how much memory."
	"\vQUERY is like \"file fs/* module ext4\", see codetag(1).\n\n"
	"Examples:\n"
	"  codetag report --group dir:2 --top 10\n"
	"  codetag report saved.txt file 'fs/*' module ext4\n"
	"  codetag report --json --min 1M | jq .rows[].name\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

int cmd_report(int argc, char **argv)
{
	struct report report = { .selection = SELECTION_INIT };
	const struct selection *selection = &report.selection;
	struct allocinfo info;
	struct groups groups;
	bool complete;
	size_t count;

	argp_parse(&argp, argc, argv, 0, NULL, &report);
	if (!selection_read(selection, &info, &groups)) {
		selection_free(&report.selection);
		return STATUS_TROUBLE;
	}
	count = selection_apply(selection, &groups);
	if (report.output.json) {
		struct json json = { .out = stdout };

		show_json(&json, &groups, count, &info, selection);
		json_end_object(&json);
	} else {
		show_table(&groups, count, selection, &report.output);
		if (!report.output.no_headings) {
			putchar('\n');
			show_summary(&groups, &info, selection, &report.output);
		}
	}
	complete = allocinfo_complete(&info, selection->path);
	groups_free(&groups);
	allocinfo_free(&info);
	selection_free(&report.selection);
	return complete ? STATUS_OK : STATUS_TROUBLE;
}
