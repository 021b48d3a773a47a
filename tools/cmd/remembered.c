// SPDX-License-Identifier: GPL-2.0-only
/* codetag remembered: the queries that wait for modules. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "debugfs.h"
#include "output.h"
#include "base/message.h"
#include "base/number.h"
#include "read/control.h"
#include "write/json.h"
#include "write/table.h"

struct options {
	struct debugfs_dir dir;
	struct output output;
	const char *forget;
};

enum { KEY_FORGET = 0x200 };

static const struct argp_option options[] = {
	{ "forget", KEY_FORGET, "N", 0,
	  "Forget query N, or all of them; their effect stays", 1 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ &output_sizeless_argp, 0, NULL, 9 },
	{ 0 }
};

static void check(const struct options *o, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ o->forget && output_chosen(&o->output),
		  "--forget lists nothing: --json and --noheadings go without it", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->dir;
		state->child_inputs[1] = &o->output;
		return 0;
	case KEY_FORGET:
		if (strcmp(arg, "all"))
			argument_number("--forget", arg, 0, UINT32_MAX, state);
		o->forget = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "",
	"Lists the queries that name a module. The kernel remembers them from enable, disable, "
	"split, fault, guard and trace --on, and applies them whenever such a module is loaded."
	"\vExamples:\n"
	"  codetag remembered\n"
	"  codetag remembered --forget 2\n"
	"  codetag remembered --forget all\n\n"
	"Exit status: 0 success, 1 there is no query N, 2 trouble.",
	children, NULL, NULL
};

static int forget(const struct options *o)
{
	struct text text = { 0 };
	bool opened;
	int error;

	text_printf(&text, "remove %s\n", o->forget);
	error = debugfs_write(&o->dir, "queries", text.s, &opened);
	text_free(&text);
	if (!error)
		return STATUS_OK;
	if (!opened) {
		debugfs_dir_complain(&o->dir, "queries", error);
	} else if (error == ENOENT) {
		warning("there is no query %s", o->forget);
		return STATUS_FOUND;
	} else {
		warning("cannot write to %s/queries: %s", o->dir.path, strerror(error));
	}
	return STATUS_TROUBLE;
}

static void print_json(const struct remembered *remembered)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_array(&json, "rows");
	for (size_t i = 0; i < remembered->count; i++) {
		json_object(&json, NULL);
		json_int(&json, "number", remembered->query[i].number);
		json_string(&json, "query", remembered->query[i].query);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct remembered *remembered, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "N", true, NULL, false }, { "QUERY", false, NULL, false },
	};
	struct table table = { .column = columns, .columns = 2 };
	char number[SIZE_TEXT];

	for (size_t i = 0; i < remembered->count; i++) {
		table_cell(&table, size_format(number, remembered->query[i].number, false));
		table_cell(&table, remembered->query[i].query);
	}
	if (remembered->count)
		output_table(&table, output);
	else if (!output->no_headings)
		puts("no query is remembered");
}

static int list(const struct options *o)
{
	struct remembered remembered;
	int status = STATUS_OK;
	size_t len;
	char *text;

	if (!debugfs_read(&o->dir, "queries", &text, &len))
		return STATUS_TROUBLE;
	remembered_parse(&remembered, text, len);
	if (o->output.json)
		print_json(&remembered);
	else
		print_table(&remembered, &o->output);
	if (remembered.bad.count) {
		warning("%zu lines not understood", remembered.bad.count);
		status = STATUS_TROUBLE;
	}
	remembered_free(&remembered);
	return status;
}

int cmd_remembered(int argc, char **argv)
{
	struct options o = { .dir = DEBUGFS_DIR_INIT };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return o.forget ? forget(&o) : list(&o);
}
