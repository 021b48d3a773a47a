// SPDX-License-Identifier: GPL-2.0-only
#include "sites_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "base/text.h"
#include "model/group.h"
#include "write/table.h"

bool control_read(struct control *control, const struct debugfs_dir *dir)
{
	size_t len;
	char *text;

	if (!debugfs_read_sites(dir, &text, &len)) {
		debugfs_dir_complain(dir, "control", errno);
		return false;
	}
	control_parse(control, text, len);
	return true;
}

void sites_profiled(const struct control *control, const struct debugfs_dir *dir, struct profiled *profiled)
{
	bool enabled = true;

	debugfs_read_enabled(dir, &enabled);
	*profiled = (struct profiled){ .chosen = control->count, .all_off = !enabled };
	for (size_t i = 0; i < control->count; i++) {
		if (enabled && control->site[i].profiled)
			continue;
		if (!profiled->off++)
			profiled->first = &control->site[i].site;
	}
}

static const struct table_column columns[] = {
	{ "PROFILED", false, "profiled", false }, { "ID", true, "id", false },
	SITE_COLUMNS, { "KEYS", false, "keys", true },
	{ "FAULT", false, "fault", true }, { "GUARD", false, "guard", true },
	{ "TRACED", false, "traced", true },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

void sites_check_columns(const struct output *output, struct argp_state *state)
{
	output_check_columns(output, columns, COUNT, state);
}

void sites_cells(struct table *table, const struct site *site)
{
	struct text name = { 0 };
	char line[SIZE_TEXT];

	group_name(&name, (struct grouping){ BY_SITE, 0 }, site);
	table_cell(table, name.s);
	table_cell(table, site->file);
	table_cell(table, size_format(line, site->line, false));
	table_cell(table, site->module ? site->module : "");
	table_cell(table, site->func);
	text_free(&name);
}

void sites_table(const struct control *control, const struct output *output)
{
	struct table_column shown[COUNT];
	struct table table = { .column = shown, .columns = COUNT };
	struct control_counts counts = control_count(control);
	struct text guard = { 0 };
	char id[SIZE_TEXT];

	/* The columns keys, fault, guard and traced are usual only if they say something. */
	memcpy(shown, columns, sizeof(columns));
	shown[COUNT - 4].more = !counts.split;
	shown[COUNT - 3].more = !counts.faults;
	shown[COUNT - 2].more = !counts.guards;
	shown[COUNT - 1].more = !counts.traced;

	for (size_t i = 0; i < control->count; i++) {
		const struct control_site *site = &control->site[i];

		table_cell(&table, site->profiled ? "yes" : "no");
		table_cell(&table, site->id ? size_format(id, site->id, false) : "-");
		sites_cells(&table, &site->site);
		table_cell(&table, site->keys ? site->keys : "");
		table_cell(&table, site->fault ? site->fault : "");
		text_clear(&guard);
		if (site->guard)
			text_printf(&guard, "rate=%" PRId64, site->guard);
		table_cell(&table, guard.s);
		table_cell(&table, site->traced ? "yes" : "");
	}
	text_free(&guard);
	output_table(&table, output);
}

void site_json(const struct site *site, struct json *json)
{
	struct text name = { 0 };

	group_name(&name, (struct grouping){ BY_SITE, 0 }, site);
	json_string(json, "name", name.s);
	json_string(json, "file", site->file);
	json_int(json, "line", site->line);
	if (site->module)
		json_string(json, "module", site->module);
	else
		json_null(json, "module");
	json_string(json, "func", site->func);
	text_free(&name);
}

/* "probability=100 task-filter=0": numbers by the names of the kernel, with '_'. */
static void fault_json(const char *fault, struct json *json)
{
	struct text key = { 0 };

	while (*fault) {
		size_t len = strcspn(fault, " ");
		const char *equals = memchr(fault, '=', len);
		const char *number = equals ? equals + 1 : fault;
		int64_t value;

		text_clear(&key);
		if (equals)
			text_add(&key, fault, equals - fault);
		for (size_t i = 0; i < key.len; i++)
			if (key.s[i] == '-')
				key.s[i] = '_';
		if (equals && number_read(&number, &value))
			json_int(json, key.s, value);
		fault += len;
		fault += strspn(fault, " ");
	}
	text_free(&key);
}

void sites_counts_json(const struct control *control, struct json *json)
{
	struct control_counts counts = control_count(control);

	json_int(json, "sites", control->count);
	json_int(json, "profiled", counts.profiled);
	json_int(json, "split", counts.split);
	json_int(json, "faults", counts.faults);
	json_int(json, "guards", counts.guards);
	json_int(json, "traced", counts.traced);
}

void sites_json(const struct control *control, struct json *json,
		const struct output *output)
{
	json_rows(json, "rows", output->columns);
	for (size_t i = 0; i < control->count; i++) {
		const struct control_site *site = &control->site[i];

		json_object(json, NULL);
		site_json(&site->site, json);
		if (site->id)
			json_int(json, "id", site->id);
		else
			json_null(json, "id");
		json_bool(json, "profiled", site->profiled);
		if (site->keys)
			json_string(json, "keys", site->keys);
		else
			json_null(json, "keys");
		if (site->fault) {
			json_object(json, "fault");
			fault_json(site->fault, json);
			json_end_object(json);
		} else {
			json_null(json, "fault");
		}
		if (site->guard)
			json_int(json, "guard", site->guard);
		else
			json_null(json, "guard");
		json_bool(json, "traced", site->traced);
		json_end_object(json);
	}
	json_end_array(json);
}

void sites_summary(const struct control *control)
{
	struct control_counts counts = control_count(control);

	printf("%zu call site%s, %zu profiled", control->count,
	       control->count == 1 ? "" : "s", counts.profiled);
	if (counts.split)
		printf(", %zu split", counts.split);
	if (counts.faults)
		printf(", %zu with a fault", counts.faults);
	if (counts.guards)
		printf(", %zu with a guard", counts.guards);
	if (counts.traced)
		printf(", %zu traced", counts.traced);
	putchar('\n');
}

int sites_status(size_t chosen, size_t bad_lines)
{
	if (bad_lines)
		warning("%zu lines not understood", bad_lines);
	if (!chosen)
		warning("no call site is chosen");
	return bad_lines ? STATUS_TROUBLE : chosen ? STATUS_OK : STATUS_FOUND;
}
