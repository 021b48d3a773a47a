// SPDX-License-Identifier: GPL-2.0-only
/* codetag audit: let the kernel recount every page and object. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "debugfs.h"
#include "output.h"
#include "base/message.h"
#include "base/number.h"
#include "base/text.h"
#include "memory_image/report.h"
#include "read/audit.h"
#include "read/input.h"
#include "write/json.h"
#include "write/table.h"

static const struct argp_option options[] = {
	{ "audit", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: " DEBUGFS_DIR "/audit)", 1 },
	IMAGE_OPTION,
	DEBUGFS_DIR_OPTION,
	{ "columns", 'o', "LIST", 0,
	  "Columns: counted_size, counted_calls, found_size, found_calls, id, name", 9 },
	{ 0 }
};

static const struct table_column columns[] = {
	{ "COUNTED", true, "counted_size", false }, { "CALLS", true, "counted_calls", false },
	{ "FOUND", true, "found_size", false }, { "CALLS", true, "found_calls", false },
	{ "ID", true, "id", false }, { "NAME", false, "name", false },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct debugfs_options *o = state->input;

	switch (key) {
	case 'o':
		o->output.columns = arg;
		return 0;
	case ARGP_KEY_END:
		output_check_columns(&o->output, columns, COUNT, state);
		return 0;
	}
	return debugfs_parse(key, arg, state);
}

static const struct argp argp = {
	options, parse, "[FILE]",
	"Makes the kernel recount every page and every slab object and compare the "
	"result with its counters. This needs a kernel with codetag. The machine stands "
	"still meanwhile, and the result says for how long. With FILE no audit is started: "
	"the result in FILE is shown. If FILE is an image of a machine's memory, such as a "
	"dump of kdump, the memory in it is recounted."
	"\vExamples:\n"
	"  codetag audit && echo the counters are right\n"
	"  codetag audit --json saved-audit.txt\n"
	"  codetag audit --image /var/crash/dump\n\n"
	"Exit status: 0 no mismatch, 1 there are mismatches, 2 trouble.",
	debugfs_children, NULL, NULL
};

static void print_json(const struct audit *audit, bool incomplete, const struct output *output)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_int(&json, "tags", audit->tags);
	json_int(&json, "pages", audit->pages);
	json_int(&json, "objects", audit->objects);
	json_int(&json, "mismatches", audit->mismatches);
	if (audit->timed) {
		json_int(&json, "stopped_times", audit->passes);
		json_int(&json, "stopped_us", audit->longest_us);
		json_int(&json, "stopped_us_per_gib", audit->us_per_gib);
	}
	json_bool(&json, "complete", audit->finished && !audit->gave_up &&
		  !audit->bad.count && !incomplete);
	json_rows(&json, "rows", output->columns);
	for (size_t i = 0; i < audit->count; i++) {
		const struct mismatch *m = &audit->mismatch[i];

		json_object(&json, NULL);
		json_int(&json, "id", m->id);
		json_int(&json, "counted_size", m->counted_bytes);
		json_int(&json, "counted_calls", m->counted_calls);
		json_int(&json, "found_size", m->found_bytes);
		json_int(&json, "found_calls", m->found_calls);
		json_string(&json, "name", m->tag);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct audit *audit, const struct output *output)
{
	struct table table = { .column = columns, .columns = COUNT };
	bool human = output_human(output);
	char number[SIZE_TEXT];

	for (size_t i = 0; i < audit->count; i++) {
		const struct mismatch *m = &audit->mismatch[i];

		table_cell(&table, size_format(number, m->counted_bytes, human));
		table_cell(&table, size_format(number, m->counted_calls, false));
		table_cell(&table, size_format(number, m->found_bytes, human));
		table_cell(&table, size_format(number, m->found_calls, false));
		table_cell(&table, size_format(number, m->id, false));
		table_cell(&table, m->tag);
	}
	if (audit->count)
		output_table(&table, output);
	if (audit->timed && !output->no_headings)
		printf("stopped: %" PRId64 " times, %" PRId64 " us at most, %" PRId64
		       " us per GiB\n", audit->passes, audit->longest_us, audit->us_per_gib);
	if (audit->finished && !audit->gave_up && !output->no_headings)
		printf("audit: %" PRId64 " tags, %" PRId64 " pages, %" PRId64
		       " objects, %" PRId64 " mismatches\n", audit->tags,
		       audit->pages, audit->objects, audit->mismatches);
}

/*
 * A write starts an audit, and a read then shows its result. If the kernel's file is read-only,
 * a read starts the audit. A saved copy has a size; files in debugfs have none.
 */
static bool start(const struct debugfs_options *o)
{
	struct stat st;
	int error;

	if (debugfs_is_file(o) || stat(o->file.path, &st) || !(st.st_mode & 0222) || st.st_size)
		return true;
	error = debugfs_write_file(o->file.path, "1");
	if (error)
		debugfs_complain(&o->file, error);
	return !error;
}

static bool read_result(const struct debugfs_options *o, char **text, size_t *len,
			bool *incomplete)
{
	struct text result = { 0 };

	if (o->file.given && image_file(o->file.path)) {
		if (!image_audit(o->file.path, &result, incomplete)) {
			text_free(&result);
			return false;
		}
		*text = result.s;
		*len = result.len;
		return true;
	}
	if (!start(o))
		return false;
	if (input_read(o->file.path, text, len))
		return true;
	debugfs_complain(&o->file, errno);
	return false;
}

int cmd_audit(int argc, char **argv)
{
	struct debugfs_options o = { .file = DEBUGFS_FILE("audit") };
	struct audit audit;
	int status = STATUS_OK;
	bool incomplete = false;
	size_t len;
	char *text;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (!read_result(&o, &text, &len, &incomplete))
		return STATUS_TROUBLE;
	audit_parse(&audit, text, len);
	if (o.output.json)
		print_json(&audit, incomplete, &o.output);
	else
		print_table(&audit, &o.output);

	if (audit.mismatches || audit.count)
		status = STATUS_FOUND;
	if (incomplete)
		status = STATUS_TROUBLE;
	if (audit.bad.count) {
		warning("%s: %zu of its lines not understood",
			input_name(o.file.path), audit.bad.count);
		status = STATUS_TROUBLE;
	}
	if (audit.gave_up) {
		warning("the kernel gave up after %" PRId64 " pages: it may stop all CPUs for %"
			PRId64 " ms. Allow more in /sys/module/codetag/parameters/audit_max_ms",
			audit.pages, audit.max_ms);
		status = STATUS_TROUBLE;
	} else if (audit.none) {
		warning("%s: no audit has run since the kernel was booted",
			input_name(o.file.path));
		status = STATUS_TROUBLE;
	} else if (!audit.finished) {
		warning("%s ends without the line that sums it up",
			input_name(o.file.path));
		status = STATUS_TROUBLE;
	} else if ((size_t)audit.mismatches != audit.count) {
		warning("%s speaks of %" PRId64 " mismatches and lists %zu",
			input_name(o.file.path), audit.mismatches, audit.count);
	}
	audit_free(&audit);
	return status;
}
