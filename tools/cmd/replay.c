// SPDX-License-Identifier: GPL-2.0-only
/* codetag replay: a recording in the table of top, or one of its snapshots. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "live.h"
#include "live_contexts.h"
#include "source/open_recording.h"
#include "selection.h"
#include "base/message.h"
#include "base/number.h"
#include "model/container.h"
#include "write/json.h"
#include "write/table.h"

/* As many as fit beside the other columns of a table. */
#define MAX_GAUGES 12

struct replay {
	struct selection selection;
	struct output output;
	bool list;
	bool all_gauges;
	const char *gauge[MAX_GAUGES];	/* globs */
	size_t gauges;
	int64_t text, contexts;	/* the snapshot to print, 0: none */
	double delay;
};

enum { KEY_LIST = 0x200, KEY_TEXT, KEY_CONTEXTS, KEY_GAUGE, KEY_GAUGES };

static const struct argp_option options[] = {
	{ "list", KEY_LIST, NULL, 0, "List the snapshots", 0 },
	{ "text", KEY_TEXT, "N", 0,
	  "Print snapshot N (-1 is the last) in the format of " ALLOCINFO_PATH, 0 },
	{ "contexts", KEY_CONTEXTS, "N", 0,
	  "Likewise the contexts of call sites that were split, in the format of the kernel", 0 },
	{ "gauge", KEY_GAUGE, "GLOB", 0,
	  "List other recorded values beside it: meminfo.Slab, 'slabinfo.dentry/*' …", 0 },
	{ "gauges", KEY_GAUGES, NULL, 0,
	  "List all other recorded values, each with its first and its last value", 0 },
	{ "columns", 'o', "LIST", 0,
	  "Columns of --list: number, time, size, calls, rows", 9 },
#ifdef HAVE_NCURSES
	{ "delay", 'd', "SEC", 0, "Show the next snapshot every SEC seconds (default: 1)", 0 },
#endif
	{ 0 }
};

static const struct table_column columns[] = {
	{ "SNAPSHOT", true, "number", false }, { "TIME", false, "time", false },
	{ "SIZE", true, "size", false }, { "CALLS", true, "calls", false },
	{ "ROWS", true, "rows", false },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

static const struct argp_child children[] = {
	{ &selection_recorded_argp, 0, NULL, 1 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static bool is_for_table(const struct selection *selection)
{
	return selection->top || selection->has_min || selection->has_max ||
	       selection->all || selection->order || selection->by_given;
}

/* One thing is printed, or the table is shown; each has no use for what is for the others. */
static void check(const struct replay *replay, struct argp_state *state)
{
	int prints = replay->list + replay->all_gauges + !!replay->text + !!replay->contexts;
	bool copies = replay->text || replay->contexts;
	const struct conflict conflicts[] = {
		{ !replay->selection.path_given, "which recording?", NULL },
		{ prints > 1, "choose one of --list, --gauges, --text and --contexts", NULL },
		{ replay->gauges && !replay->list, "--gauge goes with --list", NULL },
		{ (replay->output.columns || replay->output.json) && !replay->list,
		  "--columns and --json go with --list", NULL },
		{ replay->output.no_headings && !replay->list && !replay->all_gauges,
		  "--noheadings goes with --list and --gauges", NULL },
		{ copies && output_styled(&replay->output),
		  "--text and --contexts print the numbers of the kernel: --bytes and --human go without "
		  "them", NULL },
		{ prints && replay->delay > 0, "--delay is for the table: it goes without --list, --gauges, --text and --contexts", NULL },
		{ prints && is_for_table(&replay->selection),
		  "--list and its like print whole snapshots: --sort, --top, --group, --min, --max and "
		  "--all are for the table", NULL },
		{ (replay->contexts || replay->all_gauges) && replay->selection.query_text.len,
		  "a query chooses call sites; of their contexts: codetag contexts FILE@N QUERY", NULL },
#ifndef HAVE_NCURSES
		{ !prints, "this build has no table: --list, --gauges, --text or --contexts", NULL },
#endif
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay *replay = state->input;
	const char *end = arg;
	int64_t *number;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &replay->selection;
		state->child_inputs[1] = &replay->output;
		return 0;
	case KEY_LIST:
		replay->list = true;
		return 0;
	case KEY_TEXT:
	case KEY_CONTEXTS:
		number = key == KEY_TEXT ? &replay->text : &replay->contexts;
		if (!number_read(&end, number) || *end || !*number)
			argp_error(state, "'%s' is not the number of a snapshot", arg);
		return 0;
	case KEY_GAUGE:
		if (replay->gauges == MAX_GAUGES)
			argp_error(state, "--gauge can be given %d times", MAX_GAUGES);
		replay->gauge[replay->gauges++] = arg;
		return 0;
	case KEY_GAUGES:
		replay->all_gauges = true;
		return 0;
	case 'o':
		replay->output.columns = arg;
		return 0;
	case 'd':
		replay->delay = argument_seconds(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&replay->selection, arg))
			argp_error(state, "one recording at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&replay->selection, state);
		output_check_columns(&replay->output, columns, COUNT, state);
		check(replay, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "FILE [QUERY…]",
	"Plays a recording in the table of top; the space bar freezes it, the left and "
	"right keys step through it."
	"\vExamples:\n"
	"  codetag replay night.db module ext4\n"
	"  codetag replay night.db --list\n"
	"  codetag replay night.db --list --gauge meminfo.MemFree 'file fs/*'\n"
	"  codetag replay night.db --text -1 | codetag report - --tree\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

/* Prints the requested part; false after a message. */
static bool load_gauges(struct recording *recording, const struct replay *replay,
			struct gauges *gauges)
{
	for (size_t i = 0; i < replay->gauges; i++) {
		size_t before = gauges->count;

		if (!recording_load_gauges(recording, replay->gauge[i], gauges)) {
			warning("%s: %s", replay->selection.path, recording_error(recording));
			return false;
		}
		if (gauges->count == before) {
			warning("nothing like '%s' was recorded", replay->gauge[i]);
			hint("All recorded values: codetag replay %s --gauges", replay->selection.path);
			return false;
		}
	}
	if (gauges->count > MAX_GAUGES) {
		warning("%zu gauges are like that, %d fit into a list", gauges->count, MAX_GAUGES);
		return false;
	}
	return true;
}

static void gauge_columns(struct table_column *column, const struct gauges *gauges,
			  struct text *list)
{
	for (size_t i = 0; i < gauges->count; i++) {
		column[i] = (struct table_column){
			gauges->gauge[i].name, true, gauges->gauge[i].name, false
		};
		if (list->len)
			text_printf(list, ",%s", gauges->gauge[i].name);
	}
}

static void gauge_cells(struct table *table, const struct gauges *gauges, size_t snapshot,
			bool human)
{
	char text[SIZE_TEXT];

	for (size_t i = 0; i < gauges->count; i++) {
		const struct gauge *gauge = &gauges->gauge[i];
		/* Only meminfo has bytes. */
		bool bytes = human && !strncmp(gauge->name, "meminfo.", 8);

		table_cell(table, snapshot < gauge->first ? "-" :
			   size_format(text, gauge->value[snapshot], bytes));
	}
}

static void gauge_json(struct json *json, const struct gauges *gauges, size_t snapshot)
{
	if (!gauges->count)
		return;
	json_object(json, "gauges");
	for (size_t i = 0; i < gauges->count; i++) {
		const struct gauge *gauge = &gauges->gauge[i];

		if (snapshot < gauge->first)
			json_null(json, gauge->name);
		else
			json_int(json, gauge->name, gauge->value[snapshot]);
	}
	json_end_object(json);
}

/* Lists all gauges with their first and last values. */
static bool print_gauges(struct recording *recording, const struct replay *replay)
{
	static const struct table_column heads[] = {
		{ "GAUGE", false, NULL, false }, { "FIRST", true, NULL, false },
		{ "LAST", true, NULL, false },
	};
	struct table table = { .column = heads, .columns = 3 };
	size_t last = recording_count(recording) - 1;
	struct gauges gauges = { 0 };

	if (!recording_load_gauges(recording, "*", &gauges)) {
		warning("%s: %s", replay->selection.path, recording_error(recording));
		gauges_free(&gauges);
		return false;
	}
	for (size_t i = 0; i < gauges.count; i++) {
		const struct gauge *gauge = &gauges.gauge[i];
		const struct gauges one = { .gauge = &gauges.gauge[i], .count = 1 };

		table_cell(&table, gauge->name);
		gauge_cells(&table, &one, gauge->first < last ? gauge->first : last,
			    output_human(&replay->output));
		gauge_cells(&table, &one, last, output_human(&replay->output));
	}
	output_table(&table, &replay->output);
	gauges_free(&gauges);
	return true;
}

/* The sums of the chosen sites, and of those whose content has rows of its own */
struct sums {
	const struct query *query;
	struct series others, containers;
};

static bool is_wanted(void *sums, const struct site *site)
{
	return query_match(((struct sums *)sums)->query, site);
}

static struct series *series_of(void *data, const struct site *site)
{
	struct sums *sums = data;

	return site_contains(site) ? &sums->containers : &sums->others;
}

/* Without the latter, unless nothing else holds memory: as reports have it. */
static struct sum sum_at(const struct sums *sums, size_t i)
{
	struct sum sum = sums->others.names.count ? sums->others.sum[i] : (struct sum){ 0 };

	if (!sum.bytes && !sum.calls && sums->containers.names.count)
		sum_add(&sum, &sums->containers.sum[i]);
	return sum;
}

static void snapshot_json(struct json *json, const struct recording *recording, size_t i,
			  const struct sum *sum, const struct gauges *gauges)
{
	json_object(json, NULL);
	json_int(json, "number", i + 1);
	json_real(json, "time", (double)recording_time(recording, i) / 1000);
	json_int(json, "size", sum->bytes);
	json_int(json, "calls", sum->calls);
	json_int(json, "rows", sum->rows);
	gauge_json(json, gauges, i);
	json_end_object(json);
}

static void snapshot_cells(struct table *table, const struct recording *recording, size_t i,
			   const struct sum *sum, const struct gauges *gauges, bool human)
{
	char text[SIZE_TEXT], when[TIME_TEXT];

	table_cell(table, size_format(text, i + 1, false));
	table_cell(table, time_format(when, recording_time(recording, i)));
	table_cell(table, size_format(text, sum->bytes, human));
	table_cell(table, size_format(text, sum->calls, false));
	table_cell(table, size_format(text, sum->rows, false));
	gauge_cells(table, gauges, i, human);
}

static bool print_list(struct recording *recording, const struct replay *replay)
{
	struct table_column all[COUNT + MAX_GAUGES];
	struct table table = { .column = all };
	struct output output = replay->output;
	struct gauges gauges = { 0 };
	struct text list = { 0 };
	struct json json = { .out = stdout };
	size_t count = recording_count(recording), *at = xcalloc(count, sizeof(*at));
	struct sums sums = {
		.query = replay->selection.query, .others.columns = count, .containers.columns = count,
	};
	const struct recording_choice choice = {
		.keep = is_wanted, .context = &sums, .into = series_of, .together = true,
	};
	bool human = output_human(&replay->output), good;

	for (size_t i = 0; i < count; i++)
		at[i] = i;
	good = load_gauges(recording, replay, &gauges) &&
	       load_series(recording, &sums.others, at, &choice);
	free(at);
	if (!good) {
		gauges_free(&gauges);
		series_free(&sums.others);
		series_free(&sums.containers);
		return false;
	}
	if (output.columns)
		text_puts(&list, output.columns);
	memcpy(all, columns, sizeof(columns));
	gauge_columns(all + COUNT, &gauges, &list);
	table.columns = COUNT + gauges.count;
	if (list.len && output.json)
		text_puts(&list, ",gauges");
	output.columns = list.len ? list.s : NULL;
	if (replay->output.json) {
		json_object(&json, NULL);
		json_string(&json, "kernel", recording_kernel(recording));
		json_rows(&json, "snapshots", output.columns);
	}
	for (size_t i = 0; i < count; i++) {
		struct sum sum = sum_at(&sums, i);

		if (replay->output.json)
			snapshot_json(&json, recording, i, &sum, &gauges);
		else
			snapshot_cells(&table, recording, i, &sum, &gauges, human);
	}
	if (replay->output.json) {
		json_end_array(&json);
		json_end_object(&json);
	} else {
		output_table(&table, &output);
	}
	if (!sums.others.names.count && !sums.containers.names.count)
		selection_warn_none(&replay->selection);
	gauges_free(&gauges);
	series_free(&sums.others);
	series_free(&sums.containers);
	text_free(&list);
	return true;
}

static bool print_contexts(const char *path, int64_t number)
{
	struct text at = { 0 };
	size_t len;
	char *text;
	bool good;

	text_printf(&at, "%s@%" PRId64, path, number);
	good = source_contexts(at.s, &text, &len);
	if (good) {
		fwrite(text, 1, len, stdout);
		free(text);
	}
	text_free(&at);
	return good;
}

static bool print_text(struct recording *recording, int64_t number,
		       const struct query *query)
{
	int64_t count = recording_count(recording);
	int64_t i = number > 0 ? number - 1 : count + number;
	struct allocinfo info;
	struct text name = { 0 };

	if (i < 0 || i >= count) {
		warning("there is no snapshot %" PRId64 ": they are numbered from 1 to %" PRId64
			", or from -1 backwards", number, count);
		return false;
	}
	if (!load_recorded(recording, i, &info))
		return false;
	printf("allocinfo - version: %u.%u\n#     <size>  <calls> <tag info>\n",
	       info.major, info.minor);
	for (size_t r = 0; r < info.count; r++) {
		const struct site *site = &info.site[r];

		if (!query_match(query, site))
			continue;
		text_clear(&name);
		site_name(site, &name);
		printf("%12" PRId64 " %8" PRId64 " %s %s%s\n", site->bytes, site->calls, name.s,
		       site->notes ? site->notes : "", site->notes ? " " : "");
	}
	text_free(&name);
	allocinfo_free(&info);
	return true;
}

#ifdef HAVE_NCURSES
struct tape {
	struct snapshots snapshots;
	struct recording *recording;
	size_t at;
};

static bool read_tape(struct snapshots *from, int step, struct allocinfo *info,
		      int64_t *time, const char **why)
{
	struct tape *tape = (struct tape *)from;

	*why = NULL;
	if ((step < 0 && !tape->at) ||
	    (step > 0 && tape->at + 1 >= recording_count(tape->recording)))
		return false;
	tape->at += step;
	*time = recording_time(tape->recording, tape->at);
	*why = recording_load(tape->recording, tape->at, info) ?
	       NULL : recording_error(tape->recording);
	return !*why;
}

static const char *tape_contexts(struct snapshots *from, const struct site *site, bool human,
				 struct text *lines)
{
	struct tape *tape = (struct tape *)from;
	struct text text = { 0 };

	if (recording_load_contexts(tape->recording, tape->at, &text) && text.len)
		return live_contexts(lines, text.s, text.len, site, human) ? NULL :
		       "it was not split in this snapshot";
	text_free(&text);
	return recording_error(tape->recording) ? recording_error(tape->recording) :
	       "there are no contexts in this snapshot: no call site was split";
}

static bool play(struct recording *recording, struct replay *replay)
{
	struct tape tape = {
		.snapshots = {
			.read = read_tape,
			.contexts = tape_contexts,
			.title = "codetag replay",
			.recorded = true,
		},
		.recording = recording,
	};

	return live_run(&tape.snapshots, &replay->selection, &replay->output,
			replay->delay > 0 ? replay->delay : 1) == STATUS_OK;
}
#else
static bool play(struct recording *recording, struct replay *replay)
{
	return print_list(recording, replay);
}
#endif

int cmd_replay(int argc, char **argv)
{
	struct replay replay = { .selection = SELECTION_INIT };
	struct recording *recording;
	bool good = false;

	argp_parse(&argp, argc, argv, 0, NULL, &replay);
	recording = open_recording(replay.selection.path);
	if (recording) {
		if (replay.list)
			good = print_list(recording, &replay);
		else if (replay.all_gauges)
			good = print_gauges(recording, &replay);
		else if (replay.contexts)
			good = print_contexts(replay.selection.path, replay.contexts);
		else if (replay.text)
			good = print_text(recording, replay.text, replay.selection.query);
		else
			good = play(recording, &replay);
		recording_close(recording);
	}
	selection_free(&replay.selection);
	return good ? STATUS_OK : STATUS_TROUBLE;
}
