// SPDX-License-Identifier: GPL-2.0-only
#include "armed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "sites_view.h"
#include "base/message.h"
#include "base/number.h"
#include "read/control.h"
#include "write/json.h"

const struct argp_child armed_children[] = {
	{ &change_argp, 0, NULL, 3 },
	{ 0 }
};

/* Returns NULL if @key is no setting. */
static const struct argp_option *find_setting(const struct armed_kind *kind, int key)
{
	const struct argp_option *option = kind->options;

	if (key < ARMED_SETTING)
		return NULL;
	while (option->name && option->key != key)
		option++;
	return option->name ? option : NULL;
}

static void finish(struct armed *armed, struct argp_state *state)
{
	const struct change *change = &armed->change;
	const struct output *output = &change->choice.output;
	const struct conflict conflicts[] = {
		{ armed->off && armed->settings, "settings make no sense with --off", NULL },
		{ armed->list && armed->settings, "settings make no sense with --list", NULL },
		{ armed->off && armed->list, "either --off or --list", NULL },
		{ armed->list && (change->dry_run || change->every),
		  "--list changes nothing, and lists all without a query", NULL },
		{ armed->list && change->allocinfo,
		  "--allocinfo goes with --dry-run, and without --list", NULL },
		{ output->csv && !armed->list, "--csv goes with --list", NULL },
		{ output->csv && output->json, "choose --json or --csv, not both", NULL },
	};
	struct query_error error;

	if (armed->list)
		output_check_columns(output, armed->kind->columns, armed->kind->column_count, state);
	CHECK_CONFLICTS(conflicts, state);
	if (!control_action_check(armed->action.s, &error))
		argp_error(state, "'%s': %s", error.token, error.why);
	if (armed->off)
		text_puts(&armed->action, "=off");
}

static bool is_zero(const char *arg)
{
	char *end;

	return !strtoul(arg, &end, 0) && end > arg && !*end;
}

error_t armed_parse(int key, char *arg, struct argp_state *state)
{
	struct armed *armed = state->input;
	const struct argp_option *setting;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &armed->change;
		text_puts(&armed->action, armed->kind->action);
		return 0;
	case ARMED_OFF:
		armed->off = true;
		return 0;
	case ARMED_LIST:
		armed->list = armed->change.none = true;
		return 0;
	case ARMED_CSV:
		armed->change.choice.output.csv = true;
		return 0;
	case ARGP_KEY_END:
		finish(armed, state);
		return 0;
	}
	setting = find_setting(armed->kind, key);
	if (!setting)
		return ARGP_ERR_UNKNOWN;
	/*
	 * The kernel takes it, because control shows a spent fault like that. To count what passes,
	 * there is a probability of 0.
	 */
	if (!strcmp(setting->name, "times") && is_zero(arg))
		argp_error(state, "with --times 0 no allocation fails: use 1 or more, or -1 for ever");
	text_printf(&armed->action, " %s=%s", setting->name, arg);
	armed->settings = true;
	return 0;
}

static void print_json(const struct armed_kind *kind, const struct armed_sites *sites,
		       const struct output *output)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_rows(&json, "rows", output->columns);
	for (size_t i = 0; i < sites->count; i++) {
		const struct armed_site *site = &sites->site[i];

		json_object(&json, NULL);
		site_json(&site->site, &json);
		json_string(&json, "state", site->state);
		for (unsigned int n = 0; n < kind->numbers; n++)
			json_int(&json, kind->columns[n].name, site->number[n]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

/* @all are those of the machine. */
static void print_table(const struct armed_kind *kind, const struct armed_sites *sites, size_t all,
			const struct output *output)
{
	struct table table = { .column = kind->columns, .columns = kind->column_count };
	char text[SIZE_TEXT];

	for (size_t i = 0; i < sites->count; i++) {
		const struct armed_site *site = &sites->site[i];

		for (unsigned int n = 0; n < kind->numbers; n++)
			table_cell(&table, size_format(text, site->number[n], false));
		table_cell(&table, site->state);
		sites_cells(&table, &site->site);
	}
	if (sites->count || output->csv)
		output_table(&table, output);
	else if (!output->no_headings)
		printf("there are no %s%s\n", kind->file, all ? " at the chosen call sites" : "");
}

static void select_sites(struct armed_sites *sites, const struct query *query)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->count; i++)
		if (query_match(query, &sites->site[i].site))
			sites->site[kept++] = sites->site[i];
	sites->count = kept;
}

/* A name in the query may be misspelt. */
static int any_chosen(const struct choice *choice)
{
	struct control control;
	int status = STATUS_TROUBLE;

	if (control_read(&control, &choice->dir)) {
		control_select(&control, choice->query);
		status = sites_status(control.count, control.bad.count);
		control_free(&control);
	}
	return status;
}

static int list(const struct armed_kind *kind, const struct choice *choice)
{
	struct armed_sites sites;
	int status = STATUS_OK;
	size_t len, all;
	char *text;

	if (!debugfs_read(&choice->dir, kind->file, &text, &len))
		return STATUS_TROUBLE;
	armed_sites_parse(&sites, kind->numbers, text, len);
	all = sites.count;
	select_sites(&sites, choice->query);
	if (choice->output.json)
		print_json(kind, &sites, &choice->output);
	else
		print_table(kind, &sites, all, &choice->output);
	if (sites.bad.count) {
		warning("%zu lines not understood", sites.bad.count);
		status = STATUS_TROUBLE;
	} else if (!sites.count && choice->words.len) {
		status = any_chosen(choice);
	}
	armed_sites_free(&sites);
	return status;
}

int armed_run(const struct armed_kind *kind, const struct argp *argp, int argc, char **argv)
{
	struct armed armed = { .kind = kind, .change = CHANGE_INIT };
	int status;

	argp_parse(argp, argc, argv, 0, NULL, &armed);
	status = armed.list ? list(kind, &armed.change.choice) :
			      change_run(&armed.change, armed.action.s);
	text_free(&armed.action);
	change_free(&armed.change);
	return status;
}
