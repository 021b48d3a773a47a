// SPDX-License-Identifier: GPL-2.0-only
/* codetag status: which call sites are profiled, and what else is done to them. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "choice.h"
#include "command.h"
#include "sites_view.h"
#include "base/message.h"
#include "base/number.h"
#include "read/control.h"
#include "read/fields.h"
#include "write/json.h"
#include "write/table.h"

struct status {
	struct choice choice;
	bool all;
};

static const struct argp_option options[] = {
	{ "all", 'a', NULL, 0,
	  "Also call sites in their normal state: profiled, not split or traced, without a fault or "
	  "a guard", 1 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &choice_argp, 0, NULL, 8 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct status *status = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &status->choice;
		return 0;
	case 'a':
		status->all = true;
		return 0;
	case ARGP_KEY_END:
		sites_check_columns(&status->choice.output, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[QUERY…]",
	"Shows the call sites that QUERY chooses: whether their allocations are counted, their "
	"id, the keys that they are split by, their fault, their guard, and whether they are "
	"traced. Without QUERY it shows those that are not in their normal state, and the queries "
	"that were applied last."
	"\vExamples:\n"
	"  codetag status\n"
	"  codetag status module ext4\n"
	"  codetag status --json --all | jq '.rows[] | select(.profiled | not) | .name'\n\n"
	"Exit status: 0 success, 1 no call site is chosen, 2 trouble.",
	children, NULL, NULL
};

static void keep_unusual(struct control *control)
{
	size_t kept = 0;

	for (size_t i = 0; i < control->count; i++)
		if (!control->site[i].profiled || control->site[i].keys ||
		    control->site[i].fault || control->site[i].guard || control->site[i].traced)
			control->site[kept++] = control->site[i];
	control->count = kept;
}

static void applied_json(const struct applied *applied, struct json *json)
{
	json_array(json, "applied");
	for (size_t i = 0; i < applied->count; i++) {
		json_object(json, NULL);
		json_int(json, "seconds", applied->query[i].seconds);
		json_int(json, "pid", applied->query[i].pid);
		json_string(json, "task", applied->query[i].task);
		json_string(json, "query", applied->query[i].query);
		json_end_object(json);
	}
	json_end_array(json);
	json_int(json, "applied_forgotten", applied->forgotten);
}

static void applied_table(const struct applied *applied, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "SECONDS", true, NULL, false }, { "PID", true, NULL, false },
		{ "TASK", false, NULL, false }, { "QUERY", false, NULL, false },
	};
	struct table table = { .column = columns, .columns = 4 };
	char number[SIZE_TEXT];

	if (!applied->count)
		return;
	puts("\nQueries that were applied last, in seconds since boot:");
	if (applied->forgotten)
		printf("%" PRId64 " older ones are not listed.\n", applied->forgotten);
	for (size_t i = 0; i < applied->count; i++) {
		table_cell(&table, size_format(number, applied->query[i].seconds, false));
		table_cell(&table, size_format(number, applied->query[i].pid, false));
		table_cell(&table, applied->query[i].task);
		table_cell(&table, applied->query[i].query);
	}
	output_table(&table, output);
}

static void print(struct control *control, const struct status *status)
{
	const struct output *output = &status->choice.output;
	bool usual = status->all || status->choice.words.len, known, enabled;
	struct applied applied;
	struct json json = { .out = stdout };

	known = debugfs_read_enabled(&status->choice.dir, &enabled);
	if (output->json) {
		json_object(&json, NULL);
		if (known)
			json_bool(&json, "enabled", enabled);
		sites_counts_json(control, &json);
	} else if (!output->no_headings) {
		sites_summary(control);
		if (known && !enabled)
			puts("Profiling is off. Turn it on: sysctl -w vm.mem_profiling=1");
	}
	if (!usual)
		keep_unusual(control);
	if (output->json)
		sites_json(control, &json, output);
	else if (control->count)
		sites_table(control, output);
	if (!status->choice.words.len && debugfs_read_applied(&status->choice.dir, &applied)) {
		if (output->json)
			applied_json(&applied, &json);
		else if (!output->no_headings)
			applied_table(&applied, output);
		control->bad.count += applied.bad.count;
		applied_free(&applied);
	}
	if (output->json)
		json_end_object(&json);
}

int cmd_status(int argc, char **argv)
{
	struct status status = { .choice = CHOICE_INIT };
	struct control control;
	int result = STATUS_TROUBLE;
	size_t chosen;

	argp_parse(&argp, argc, argv, 0, NULL, &status);
	if (control_read(&control, &status.choice.dir)) {
		control_select(&control, status.choice.query);
		chosen = control.count;
		if (chosen)
			print(&control, &status);
		result = sites_status(chosen, control.bad.count);
		control_free(&control);
	}
	choice_free(&status.choice);
	return result;
}
