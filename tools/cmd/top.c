// SPDX-License-Identifier: GPL-2.0
/* codetag top: the call sites that hold the most memory. */
#include <stdio.h>

#include "command.h"
#include "message.h"
#include "show.h"

struct top {
	struct selection selection;
	struct output output;
	bool once;
};

enum { KEY_ONCE = 0x200 };

static const struct argp_option options[] = {
	{ "once", KEY_ONCE, NULL, 0, "Print one table and end", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &columns_argp, 0, NULL, 9 },
	{ &output_argp, 0, NULL, 2 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->selection;
		state->child_inputs[1] = &top->selection;
		state->child_inputs[2] = &top->output;
		return 0;
	case KEY_ONCE:
		top->once = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&top->selection, arg))
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&top->selection, state);
		if (!top->once)
			argp_error(state, "only --once is built in");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "--once [FILE] [QUERY…]",
	"Shows the call sites that hold the most memory, the 20 largest by default."
	"\vQUERY is like \"file fs/* module ext4\", see codetag(1).\n\n"
	"Examples:\n"
	"  codetag top --once -n 15\n"
	"  codetag top --once -s calls file 'net/*'\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

static int once(const struct top *top)
{
	const struct selection *selection = &top->selection;
	struct allocinfo info;
	struct groups groups;
	bool complete;
	size_t count;

	if (!selection_read(selection, &info, &groups))
		return STATUS_TROUBLE;
	count = selection_apply(selection, &groups);
	if (top->output.json) {
		struct json json = { .out = stdout };

		show_json(&json, &groups, count, &info, selection);
		json_end_object(&json);
	} else {
		if (!top->output.no_headings)
			show_summary(&groups, &info, selection, &top->output);
		show_table(&groups, count, selection, &top->output);
	}
	complete = allocinfo_complete(&info, selection->path);
	groups_free(&groups);
	allocinfo_free(&info);
	return complete ? STATUS_OK : STATUS_TROUBLE;
}

int cmd_top(int argc, char **argv)
{
	struct top top = { .selection = SELECTION_INIT };
	int status;

	top.selection.top = 20;
	argp_parse(&argp, argc, argv, 0, NULL, &top);
	status = once(&top);
	selection_free(&top.selection);
	return status;
}
