// SPDX-License-Identifier: GPL-2.0
/* codetag fault: make the allocations of chosen call sites fail. */
#include <argp.h>
#include <stdio.h>

#include "arguments.h"
#include "change.h"
#include "command.h"
#include "sites_view.h"
#include "base/message.h"
#include "base/number.h"
#include "model/group.h"
#include "read/control.h"
#include "write/json.h"
#include "write/table.h"

struct fault {
	struct change change;
	struct text action;	/* in the syntax of the kernel */
	bool settings;		/* any setting was given */
	bool off, list;
};

enum { KEY_OFF = 0x200, KEY_LIST, KEY_SETTING };

/* Keys from KEY_SETTING on are settings; their values are checked together with the query. */
static const struct argp_option options[] = {
	{ "off", KEY_OFF, NULL, 0, "Remove the faults of the chosen call sites", 1 },
	{ "list", KEY_LIST, NULL, 0,
	  "List the faults there are and were, and how often they struck", 1 },
	{ "probability", KEY_SETTING, "PERCENT", 0, "Of allocations that fail (default: 100)", 2 },
	{ "interval", KEY_SETTING + 1, "N", 0, "Only each Nth of those (default: 1)", 2 },
	{ "times", KEY_SETTING + 2, "N", 0,
	  "Fail so often at each call site, -1 is for ever (default: 1)", 2 },
	{ "space", KEY_SETTING + 3, "BYTES", 0,
	  "Let so many bytes be allocated first (default: 0)", 2 },
	{ "nth", KEY_SETTING + 4, "N", 0,
	  "Fail the Nth allocation from now on, once; goes with --verbose and "
	  "--task-filter only", 2 },
	{ "verbose", KEY_SETTING + 5, "LEVEL", 0,
	  "Messages of the kernel: 0 none, 1 a line, 2 the stack, too (default: 1)", 2 },
	{ "task-filter", KEY_SETTING + 6, "0|1", 0,
	  "Only in tasks with 1 in /proc/PID/make-it-fail (default: 0)", 2 },
	{ 0 }
};

#define SETTINGS 7

static const struct table_column columns[] = {
	{ "PASSED", true, "passed", false }, { "FAILED", true, "failed", false },
	{ "SKIPPED", true, "skipped", false }, { "STATE", false, "state", false },
	{ "NAME", false, "name", false }, { "FILE", false, "file", true },
	{ "LINE", true, "line", true }, { "MODULE", false, "module", true },
	{ "FUNC", false, "func", true },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

static const struct argp_child children[] = {
	{ &change_argp, 0, NULL, 3 },
	{ 0 }
};

static const struct argp_option *find_option(int key)
{
	const struct argp_option *option = options;

	while (option->key != key)
		option++;
	return option;
}

static void finish(struct fault *fault, struct argp_state *state)
{
	const struct change *change = &fault->change;
	const struct conflict conflicts[] = {
		{ fault->off && fault->settings, "settings make no sense with --off", NULL },
		{ fault->list && fault->settings, "settings make no sense with --list", NULL },
		{ fault->off && fault->list, "either --off or --list", NULL },
		{ fault->list && (change->dry_run || change->every),
		  "--list changes nothing, and lists all without a query", NULL },
	};
	struct query_error error;

	if (fault->list)
		output_check_columns(&change->choice.output, columns, COUNT, state);
	CHECK_CONFLICTS(conflicts, state);
	if (!control_action_check(fault->action.s, &error))
		argp_error(state, "'%s': %s", error.token, error.why);
	if (fault->off)
		text_puts(&fault->action, "=off");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fault *fault = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &fault->change;
		text_puts(&fault->action, "fault");
		return 0;
	case KEY_OFF:
		fault->off = true;
		return 0;
	case KEY_LIST:
		fault->list = fault->change.none = true;
		return 0;
	case ARGP_KEY_END:
		finish(fault, state);
		return 0;
	}
	if (key < KEY_SETTING || key >= KEY_SETTING + SETTINGS)
		return ARGP_ERR_UNKNOWN;
	text_printf(&fault->action, " %s=%s", find_option(key)->name, arg);
	fault->settings = true;
	return 0;
}

static const struct argp argp = {
	options, parse, "QUERY…\n--all\n--list [QUERY…]",
	"Makes allocations fail at the chosen call sites, to test the code that deals "
	"with it: without settings the next one at each of them. The kernel needs "
	"CONFIG_CODETAG_FAULT_INJECTION."
	"\vA query with a module is remembered for when it is loaded again, see codetag "
	"remembered. The kernel's log tells of each failure. The columns of --list are "
	"passed, failed, skipped, state, name, file, line, module and func.\n\n"
	"Examples:\n"
	"  codetag fault func ext4_alloc_inode\n"
	"  codetag fault --probability 10 --times -1 file 'fs/ext4/*'\n"
	"  codetag fault --nth 3 file fs/ext4/super.c line 1384\n"
	"  codetag fault --list\n"
	"  codetag fault --off --all\n\n"
	CHANGE_STATUS,
	children, NULL, NULL
};

static void print_json(const struct fault_states *states, const struct output *output)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_rows(&json, "rows", output->columns);
	for (size_t i = 0; i < states->count; i++) {
		const struct fault_state *f = &states->fault[i];

		json_object(&json, NULL);
		site_json(&f->site, &json);
		json_string(&json, "state", f->state);
		json_int(&json, "passed", f->passed);
		json_int(&json, "failed", f->failed);
		json_int(&json, "skipped", f->skipped);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct fault_states *states, const struct output *output)
{
	struct table table = { .column = columns, .columns = COUNT };
	char text[SIZE_TEXT];

	for (size_t i = 0; i < states->count; i++) {
		const struct fault_state *f = &states->fault[i];

		table_cell(&table, size_format(text, f->passed, false));
		table_cell(&table, size_format(text, f->failed, false));
		table_cell(&table, size_format(text, f->skipped, false));
		table_cell(&table, f->state);
		sites_cells(&table, &f->site);
	}
	if (states->count)
		output_table(&table, output);
	else if (!output->no_headings)
		puts("there are no faults");
}

static void select_faults(struct fault_states *states, const struct query *query)
{
	size_t kept = 0;

	for (size_t i = 0; i < states->count; i++)
		if (query_match(query, &states->fault[i].site))
			states->fault[kept++] = states->fault[i];
	states->count = kept;
}

static int list(const struct choice *choice)
{
	struct fault_states states;
	int status = STATUS_OK;
	size_t len;
	char *text;

	if (!debugfs_read(&choice->dir, "faults", &text, &len))
		return STATUS_TROUBLE;
	fault_states_parse(&states, text, len);
	select_faults(&states, choice->query);
	if (choice->output.json)
		print_json(&states, &choice->output);
	else
		print_table(&states, &choice->output);
	if (states.bad.count) {
		warning("%zu lines not understood", states.bad.count);
		status = STATUS_TROUBLE;
	}
	fault_states_free(&states);
	return status;
}

int cmd_fault(int argc, char **argv)
{
	struct fault fault = { .change = CHANGE_INIT };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &fault);
	status = fault.list ? list(&fault.change.choice) :
			      change_run(&fault.change, fault.action.s);
	text_free(&fault.action);
	change_free(&fault.change);
	return status;
}
