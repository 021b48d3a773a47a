// SPDX-License-Identifier: GPL-2.0-only
/* codetag stats: the profiler's own state, limits and cost. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "debugfs.h"
#include "output.h"
#include "base/message.h"
#include "base/number.h"
#include "memory_image/report.h"
#include "read/fields.h"
#include "read/input.h"
#include "write/json.h"
#include "write/table.h"

static const struct argp_option options[] = {
	{ "stats", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: " DEBUGFS_DIR "/stats)", 1 },
	DEBUGFS_DIR_OPTION,
	IMAGE_OPTION,
	{ 0 }
};

static const struct argp argp = {
	options, debugfs_parse, "[FILE]",
	"Shows the state and the cost of the profiler: the page id store in use, "
	"ids used and free, memory by kind, everything it had to drop. If FILE is an image of a "
	"machine's memory, such as a dump of kdump, it shows those of the kernel in it."
	"\vExamples:\n"
	"  codetag stats\n"
	"  codetag stats --json | jq .store\n"
	"  codetag stats --image vmcore\n\n"
	"Exit status: 0 success, 2 trouble.",
	debugfs_children, NULL, NULL
};

static bool is_memory(const struct field *field)
{
	return field->is_number && !strncmp(field->name, "mem_", 4);
}

/* mem_slab_refs_inline is a part of mem_slab_refs. */
static bool is_part(const struct fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->count; i++) {
		const char *whole = fields->field[i].name;
		size_t len = strlen(whole);

		if (!strncmp(name, whole, len) && name[len] == '_')
			return true;
	}
	return false;
}

static int64_t total_memory(const struct fields *fields)
{
	int64_t total = 0;

	for (size_t i = 0; i < fields->count; i++)
		if (is_memory(&fields->field[i]) &&
		    !is_part(fields, fields->field[i].name))
			total = add64(total, fields->field[i].number);
	return total;
}

static void print_json(const struct fields *fields)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->field[i];

		if (field->is_number)
			json_int(&json, field->name, field->number);
		else
			json_string(&json, field->name, field->value);
	}
	json_end_object(&json);
}

static void print_table(const struct fields *fields, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "NAME", false, NULL, false }, { "VALUE", true, NULL, false },
	};
	struct table table = { .column = columns, .columns = 2 };
	bool human = output_human(output);
	char number[SIZE_TEXT];

	for (size_t i = 0; i < fields->count; i++) {
		const struct field *field = &fields->field[i];

		table_cell(&table, field->name);
		table_cell(&table, is_memory(field) && human ?
			   size_format(number, field->number, true) : field->value);
	}
	if (!output->no_headings && !fields_find(fields, "mem_total")) {
		table_cell(&table, "all mem_");
		table_cell(&table, size_format(number, total_memory(fields), human));
	}
	table_print(&table, stdout, false, false);
	table_free(&table);
}

/* False after a message. */
static bool read_stats(struct fields *fields, const struct debugfs_file *file, bool *incomplete)
{
	struct text text = { 0 };

	if (file->given && image_file(file->path)) {
		if (!image_stats_text(file->path, &text, incomplete)) {
			text_free(&text);
			return false;
		}
		*fields = (struct fields){ 0 };
		fields_parse(fields, text.s, text.len);
	} else if (!fields_read(fields, file->path)) {
		debugfs_complain(file, errno);
		return false;
	}
	return true;
}

int cmd_stats(int argc, char **argv)
{
	struct debugfs_options o = { .file = DEBUGFS_FILE("stats") };
	bool known, incomplete = false;
	struct fields fields;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (!read_stats(&fields, &o.file, &incomplete))
		return STATUS_TROUBLE;
	status = incomplete ? STATUS_TROUBLE : STATUS_OK;
	known = fields_find(&fields, "store");	/* all versions have it */
	if (known && o.output.json)
		print_json(&fields);
	else if (known)
		print_table(&fields, &o.output);
	if (fields.bad.count || fields.bad.cut || !known) {
		warning("%s: %s", input_name(o.file.path), !known ? "not in the format of codetag's stats" :
			fields.bad.count ? "some of its lines not understood" : "it is cut");
		status = STATUS_TROUBLE;
	}
	fields_free(&fields);
	return status;
}
