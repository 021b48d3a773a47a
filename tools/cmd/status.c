// SPDX-License-Identifier: GPL-2.0-only
/* codetag status: which call sites are profiled, and what else is done to them. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "choice.h"
#include "command.h"
#include "sites_view.h"
#include "base/message.h"
#include "read/fields.h"

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
	"traced. Without QUERY it shows those that are not in their normal state."
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

static void print(struct control *control, const struct status *status)
{
	const struct output *output = &status->choice.output;
	bool usual = status->all || status->choice.words.len, known, enabled;
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
	if (output->json) {
		sites_json(control, &json, output);
		json_end_object(&json);
	} else if (control->count) {
		sites_table(control, output);
	}
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
