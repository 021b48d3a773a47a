// SPDX-License-Identifier: GPL-2.0-only
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "debugfs.h"
#include "progress.h"
#include "base/message.h"
#include "base/number.h"
#include "model/container.h"
#include "read/activity.h"
#include "read/input.h"
#include "read/profiling.h"

enum {
	KEY_ALLOCINFO = 0x100, KEY_MIN, KEY_MAX, KEY_RAW, KEY_LABEL, KEY_CSV, KEY_SQLITE, KEY_IMAGE_FILE,
	KEY_ACTIVITY,
};

#define OPTION_ALLOCINFO \
	{ "allocinfo", KEY_ALLOCINFO, "FILE", 0, \
	  "Read FILE, '-' is standard input (default: " ALLOCINFO_PATH ")", 1 }
#define OPTION_TOP \
	{ "top", 'n', "N", 0, "Only the first N", 2 }
#define OPTION_GROUP(row) \
	{ "group", 'g', "BY", 0, \
	  "Sum by %s (default: site; " row "a place is a function of a file)", 2 }
#define ROW "row shows each row of the input apart, "

static const struct argp_option options[] = {
	OPTION_ALLOCINFO,
	{ "image", KEY_IMAGE_FILE, "FILE", 0,
	  "Read FILE, an image of a machine's memory: a dump of kdump, makedumpfile or QEMU", 1 },
	{ "sort", 's', "KEY", 0,
	  "Sort by %s (growth: only of two snapshots, and then the default; else size)", 2 },
	OPTION_TOP,
	OPTION_GROUP(ROW),
	{ "min", KEY_MIN, "SIZE", 0, "Only rows that hold at least SIZE (4k, 1.5M …)", 2 },
	{ "max", KEY_MAX, "SIZE", 0, "Only rows that hold at most SIZE", 2 },
	{ "all", 'a', NULL, 0, "Also rows that hold nothing", 2 },
	{ "nonzero", 'z', NULL, 0, "Only rows that hold something (default)", 2 },
	{ 0 }
}, trend_options[] = {
	OPTION_ALLOCINFO,
	OPTION_TOP,
	OPTION_GROUP(ROW),
	{ "min", KEY_MIN, "SIZE", 0, "Only rows that grew by at least SIZE (default: 4K)", 2 },
	{ "all", 'a', NULL, 0, "Also rows that are not suspected", 2 },
	{ 0 }
}, merge_options[] = {
	OPTION_TOP,
	OPTION_GROUP(""),
	{ "min", KEY_MIN, "SIZE", 0, "Only rows of which all hosts together hold at least SIZE", 2 },
	{ "all", 'a', NULL, 0, "Also rows that hold nothing", 2 },
	{ 0 }
}, chart_options[] = {
	OPTION_ALLOCINFO,
	OPTION_TOP,
	OPTION_GROUP(ROW),
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	const struct selection *selection = input;

	return key == 's' ? words_help(text, WORDS(order_names, ), ", ") :
	       key == 'g' ? group_help(text, (struct group_words){ .mask = selection->groups }) :
	       (char *)text;
}

static void take_label(struct selection *selection)
{
	GROW(selection->labels, selection->labels_count, selection->labels_room);
	selection->labels[selection->labels_count++] = selection->label;
	selection->label = NULL;
}

static bool take_file(struct selection *selection, const char *word)
{
	if (selection->allocinfo)
		return false;
	take_label(selection);
	if (selection->many) {
		GROW(selection->paths, selection->paths_count, selection->paths_room);
		selection->paths[selection->paths_count++] = word;
	}
	if (!selection->path_given) {
		selection->path = word;
		selection->path_given = true;
		return true;
	}
	if (selection->many)
		return true;
	if (!selection->compare || selection->newer)
		return false;
	selection->newer = word;
	return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct selection *selection = state->input;

	switch (key) {
	case KEY_ALLOCINFO:
		if (selection->path_given)
			argp_error(state, "'%s' is one file too many: a file was given before", arg);
		selection->path = arg;
		selection->allocinfo = true;
		selection->path_given = true;
		return 0;
	case KEY_IMAGE_FILE:
		argument_image(arg, state);
		if (!take_file(selection, arg))
			argp_error(state, "'%s' is one file too many", arg);
		return 0;
	case 's':
		selection->order = argument_word(arg, WORDS(order_names, ), "sort key", state);
		return 0;
	case 'n':
		selection->top = argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case 'g':
		selection->by_given = true;
		argument_group(&selection->by, arg, (struct group_words){ .mask = selection->groups }, state);
		return 0;
	case KEY_MIN:
	case KEY_MAX:
		*(key == KEY_MIN ? &selection->has_min : &selection->has_max) = true;
		*(key == KEY_MIN ? &selection->min : &selection->max) =
			argument_size(arg, state);
		return 0;
	case 'a':
		selection->all = true;
		return 0;
	case 'z':
		selection->all = false;
		return 0;
	case KEY_RAW:
		selection->raw = true;
		return 0;
	case KEY_ACTIVITY:
		selection->activity = arg;
		return 0;
	case KEY_CSV:
		selection->csv = true;
		return 0;
	case KEY_SQLITE:
		selection->sqlite = argument_database(arg, state);
		return 0;
	case KEY_LABEL:
		selection_label(selection, arg, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp selection_argp = { options, parse, NULL, NULL, NULL, help, NULL };
/* Without --allocinfo and --image */
const struct argp selection_recorded_argp = { options + 2, parse, NULL, NULL, NULL, help, NULL };
const struct argp selection_trend_argp = {
	trend_options, parse, NULL, NULL, NULL, help, NULL
};
const struct argp selection_merge_argp = {
	merge_options, parse, NULL, NULL, NULL, help, NULL
};
const struct argp selection_chart_argp = {
	chart_options, parse, NULL, NULL, NULL, help, NULL
};

#define OPTION_RAW \
	{ "raw", KEY_RAW, NULL, 0, \
	  "Count slab pages and percpu chunks, too: their content is then counted twice", 2 }

static const struct argp_option raw_options[] = {
	OPTION_RAW,
	{ "activity", KEY_ACTIVITY, "FILE", 0,
	  "Read allocations and frees from FILE instead of " ACTIVITY_PATH, 1 },
	{ 0 }
}, raw_only_options[] = {
	OPTION_RAW,
	{ 0 }
};

const struct argp selection_raw_argp = { raw_options, parse, NULL, NULL, NULL, NULL, NULL };
const struct argp selection_raw_only_argp = {
	raw_only_options, parse, NULL, NULL, NULL, NULL, NULL
};

static const struct argp_option hosts_options[] = {
	{ "label", KEY_LABEL, "host=NAME", 0,
	  "The host of the next file (default: the one in an archive, or the name of the "
	  "file or its directory)", 1 },
	{ 0 }
};

const struct argp hosts_argp = { hosts_options, parse, NULL, NULL, NULL, NULL, NULL };

static const struct argp_option rows_options[] = {
	{ "csv", KEY_CSV, NULL, 0, "Write CSV", 10 },
#ifdef HAVE_SQLITE
	{ "sqlite", KEY_SQLITE, "FILE", 0, "Write an SQLite database", 10 },
#endif
	{ 0 }
};

const struct argp rows_argp = { rows_options, parse, NULL, NULL, NULL, NULL, NULL };

static const struct argp_option columns_options[] = {
	{ "columns", 'o', "LIST", 0, "Columns: %s (those from allocs_recent to line_before: of two snapshots)", 9 },
	{ 0 }
};

static error_t parse_columns(int key, char *arg, struct argp_state *state)
{
	struct selection *selection = state->input;
	const char *bad;

	if (key != 'o')
		return ARGP_ERR_UNKNOWN;
	if (!columns_parse(&selection->columns, arg, &bad))
		words_refuse(columns_words(), bad, strcspn(bad, ","), "column or one too many", state);
	return 0;
}

static char *help_columns(int key, const char *text, void *input)
{
	(void)input;
	return key == 'o' ? words_help(text, columns_words(), ", ") : (char *)text;
}

const struct argp columns_argp = {
	columns_options, parse_columns, NULL, NULL, NULL, help_columns, NULL
};

static bool is_selected(void *query, const struct site *site)
{
	return query_match(query, site);
}

void selection_take_out(const struct selection *selection, struct allocinfo *info,
			struct sum *out)
{
	struct sum left_out = { 0 };

	if (!selection->raw && !containers_only(info, is_selected, selection->query))
		containers_take_out(info, is_selected, selection->query, &left_out);
	if (out)
		*out = left_out;
}

void selection_take_out_both(const struct selection *selection, struct allocinfo *old, struct sum *old_out,
			     struct allocinfo *new, struct sum *new_out)
{
	*old_out = *new_out = (struct sum){ 0 };
	if (selection->raw || (containers_only(old, is_selected, selection->query) &&
			       containers_only(new, is_selected, selection->query)))
		return;
	containers_take_out(old, is_selected, selection->query, old_out);
	containers_take_out(new, is_selected, selection->query, new_out);
}

struct host_sums {
	const struct selection *selection;
	bool matched;	/* the query selects something */
	struct sum left_out;
	size_t negative;
};

/* Takes sites that contain others out of one host after the other. */
static struct site sum_host(void *data, struct snapshot *snapshot)
{
	struct host_sums *sums = data;
	const struct selection *selection = sums->selection;
	struct allocinfo *info = &snapshot->info;
	struct profiled profiling;
	struct site sum = { 0 };
	struct sum left_out;

	selection_take_out(selection, info, &left_out);
	sum_add(&sums->left_out, &left_out);
	profiling_count(&profiling, info, selection->query);
	if (profiling.off)
		sum.flags = SITE_DISABLED;
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if (!query_match(selection->query, site))
			continue;
		sums->matched = true;
		sums->negative += site->bytes < 0;
		sum.bytes = add64(sum.bytes, site->bytes);
		sum.calls = add64(sum.calls, site->calls);
		sum.flags |= site->flags & SITE_INACCURATE;
	}
	return sum;
}

/* In a sum of hosts those that hold more hide them. */
static void count_negative(void *data, const struct allocinfo *info)
{
	struct host_sums *sums = data;
	const struct selection *selection = sums->selection;

	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		sums->negative += site->bytes < 0 && query_match(selection->query, site) &&
				  (selection->raw || !site_contains(site));
	}
}

static void show_step(size_t done, size_t all)
{
	static struct progress progress = { .what = "files" };

	progress.all = all;
	if (all < 2)
		return;
	if (done)
		progress_step(&progress);
	else
		progress_end(&progress);
}

/* @word is no file. */
static void hint_query(const char *word)
{
	if (strchr(word, '/'))
		hint("This word was taken for a file name. For a query put a key before it: file %s", word);
	else
		hint("This word was taken for a file name. For a query put a key before it: module %s, func %s "
		     "or file '*%s*'", word, word, word);
}

static bool load(struct snapshot *snapshot, const struct selection *selection,
		 const char *const *paths, const char *const *labels, size_t count)
{
	struct host_sums sums = { .selection = selection };
	const struct source_files files = { paths, labels, count, show_step, count_negative, &sums };
	bool good = selection->by.by == BY_HOST ?
		    source_hosts(snapshot, &files, sum_host, &sums) :
		    source_total(snapshot, &files);

	snapshot->unmatched = selection->by.by == BY_HOST && !sums.matched;
	snapshot->left_out = sums.left_out;
	if (snapshot->hosts > 1 || selection->by.by == BY_HOST)
		snapshot->info.negative = sums.negative;

	for (size_t i = 0; i < count; i++)
		/* FILE@N is a snapshot in FILE. */
		if (strcmp(paths[i], ALLOCINFO_PATH) && strcmp(paths[i], "-") && !strchr(paths[i], '@') &&
		    access(paths[i], F_OK)) {
			hint_query(paths[i]);
			break;
		}
	if (good)
		return true;
	snapshot_free(snapshot);
	return false;
}

bool selection_wants_activity(const struct selection *selection)
{
	return selection->activity || order_is_activity(selection->order) ||
	       columns_of_activity(&selection->columns);
}

bool selection_wants_rates(const struct selection *selection)
{
	return order_is_activity(selection->order) || columns_of_rates(&selection->columns);
}

bool selection_wants_growth(const struct selection *selection)
{
	return selection->order == ORDER_GROWTH || columns_of_growth(&selection->columns);
}

bool selection_rates_known(const struct selection *selection, const struct groups *groups)
{
	if (!columns_of_rates(&selection->columns) || groups->recent.known)
		return true;
	warning("%s is one snapshot: allocations and frees between two are not known",
		input_name(selection->path));
	hint("See 'codetag diff', and 'codetag top --once' for this machine.");
	return false;
}

void selection_complain_activity(const char *path)
{
	warning("%s: its allocations and frees are not known", path);
	hint("A running kernel with codetag counts them, and 'codetag record' keeps them.");
}

/* Adds what the kernel, or a file, says about the allocations and frees of @path. */
static bool add_activity(struct snapshot *snapshot, const struct selection *selection, const char *path)
{
	bool wanted = selection_wants_activity(selection);
	const struct debugfs_file file = {
		selection->activity ? selection->activity : ACTIVITY_PATH, selection->activity != NULL
	};
	const char *why;

	if (selection->by.by == BY_HOST)
		return true;
	if (selection->activity && snapshot->hosts > 1) {
		warning("--activity is of one machine, and the call sites are of %zu", snapshot->hosts);
		snapshot_free(snapshot);
		return false;
	}
	if (selection->activity || ((wanted || selection->activity_too) && !strcmp(path, ALLOCINFO_PATH))) {
		if (activity_read(&snapshot->info, file.path, &why) || !wanted)
			return true;
		if (why)
			warning("%s: %s", file.path, why);
		else
			debugfs_complain(&file, errno);
	} else if (!wanted) {
		return true;
	} else if (activity_known(&snapshot->info)) {
		activity_find_missing(&snapshot->info, true);
		return true;
	} else {
		selection_complain_activity(path);
	}
	snapshot_free(snapshot);
	return false;
}

static bool load_snapshot(struct snapshot *snapshot, const struct selection *selection)
{
	const char *func, *module;

	/* A query for a few of thousands of call sites need not read all of them. */
	if (!selection->paths_count && !strcmp(selection->path, ALLOCINFO_PATH) &&
	    selection->by.by != BY_HOST && query_names(selection->query, &func, &module) &&
	    source_running(snapshot, func, module))
		return true;
	if (selection->paths_count)
		return load(snapshot, selection, selection->paths, selection->labels,
			    selection->paths_count);
	return load(snapshot, selection, &selection->path, NULL, 1);
}

bool selection_snapshot(struct snapshot *snapshot, const struct selection *selection)
{
	return load_snapshot(snapshot, selection) && add_activity(snapshot, selection, selection->path);
}

bool selection_open(struct snapshot *snapshot, const struct selection *selection,
		    const char *path)
{
	/* With two files the second one; both moments of a recording are from its host. */
	size_t i = path == selection->newer && selection->labels_count > 1;

	return load(snapshot, selection, &path,
		    selection->labels_count ? &selection->labels[i] : NULL, 1) &&
	       add_activity(snapshot, selection, path);
}

bool selection_load(struct allocinfo *info, const char *path, bool *complete)
{
	const struct selection sites = { 0 };
	struct snapshot snapshot;

	if (!selection_open(&snapshot, &sites, path))
		return false;
	if (snapshot.incomplete)
		*complete = false;
	*info = snapshot.info;
	snapshot.info = (struct allocinfo){ 0 };
	snapshot_free(&snapshot);
	return true;
}

void selection_label(struct selection *selection, char *arg, struct argp_state *state)
{
	if (strncmp(arg, "host=", 5) || !arg[5])
		argp_error(state, "'%s' is not like host=NAME", arg);
	selection->label = arg + 5;
}

void selection_forget_labels(struct selection *selection)
{
	selection->label = NULL;
	for (size_t i = 0; i < selection->labels_count; i++)
		selection->labels[i] = NULL;
}

/* Labels tell hosts apart: in a sum of all hosts they have no effect. */
static void check_labels(const struct selection *selection, struct argp_state *state)
{
	bool labels = selection->label;

	for (size_t i = 0; i < selection->labels_count; i++)
		labels |= selection->labels[i] != NULL;
	if (selection->label)
		argp_error(state, "--label host=%s is followed by no file", selection->label);
	else if (labels && selection->groups & BIT_OF(BY_HOST) && selection->by.by != BY_HOST)
		argp_error(state, "--label tells hosts apart: it goes with --group host");
}

bool selection_argument(struct selection *selection, const char *word)
{
	struct text *text = &selection->query_text;

	if (text->len || query_keyword(word, strcspn(word, " \t;\n"))) {
		if (text->len)
			text_puts(text, " ");
		text_puts(text, word);
		return true;
	}
	return take_file(selection, word);
}

void selection_finish(struct selection *selection, struct argp_state *state)
{
	const char *text = selection->query_text.len ? selection->query_text.s : "";

	check_labels(selection, state);
	if (selection->by.by == BY_HOST && selection_wants_activity(selection))
		argp_error(state, "allocations and frees are of call sites, not of hosts: --group host "
			   "goes without them");
	if (*text && !strpbrk(text, " \t;\n") && !query_name_part(text) &&
	    query_keyword(text, strlen(text)))
		argp_error(state, "'%s' begins a query and lacks a value; the file of that name "
			   "is ./%s", text, text);
	selection->query = argument_query(text, state);
	if (query_has_id(selection->query))
		argp_error(state, "this data has no ids: select by file, func, module or line");
}

static bool matches_any(const struct query *query, const struct allocinfo *info)
{
	for (size_t i = 0; info && i < info->count; i++)
		if (query_match(query, &info->site[i]))
			return true;
	return false;
}

void selection_warn_unmatched(const struct selection *selection, const struct allocinfo *info,
			      const struct allocinfo *older)
{
	if (!matches_any(selection->query, info) && !matches_any(selection->query, older))
		selection_warn_none(selection);
}

void selection_warn_none(const struct selection *selection)
{
	if (!selection->query || query_is_empty(selection->query))
		return;
	warning("no call site matches '%s'", selection->query_text.s);
	hint("codetag report --all --group func lists the names; so do file, module and subsystem.");
}

size_t selection_unprofiled(const struct selection *selection, const struct allocinfo *info)
{
	struct profiled profiling;
	size_t off = 0;

	if (selection->by.by != BY_HOST) {
		profiling_count(&profiling, info, selection->query);
		return profiling.off;
	}
	for (size_t i = 0; i < info->count; i++)
		off += (info->site[i].flags & SITE_DISABLED) != 0;
	return off;
}

bool selection_profiled(const struct selection *selection, const struct allocinfo *info)
{
	size_t off, first = 0;

	if (selection->by.by != BY_HOST)
		return profiling_complete(info, selection->query);
	off = selection_unprofiled(selection, info);
	while (off && !(info->site[first].flags & SITE_DISABLED))
		first++;
	return !off || profiling_complete_hosts(off, info->count, info->site[first].file);
}

void selection_group(const struct selection *selection, struct snapshot *snapshot,
		     struct groups *groups)
{
	struct allocinfo *info = &snapshot->info;

	*groups = (struct groups){ .by = selection->by };
	/* Hosts are summed from the sites that were selected. */
	if (selection->by.by == BY_HOST) {
		if (snapshot->unmatched)
			selection_warn_none(selection);
		groups->left_out = snapshot->left_out;
		groups_add(groups, info, NULL);
		return;
	}
	selection_warn_unmatched(selection, info, NULL);
	selection_take_out(selection, info, &groups->left_out);
	groups_add(groups, info, selection->query);
}

bool selection_read(const struct selection *selection, struct snapshot *snapshot,
		    struct groups *groups)
{
	if (!selection_snapshot(snapshot, selection))
		return false;
	selection_group(selection, snapshot, groups);
	return true;
}

bool selection_wants_rows(const struct selection *selection)
{
	return selection->csv || selection->sqlite;
}

bool selection_rows(const struct selection *selection, const struct groups *groups,
		    size_t count, bool headings)
{
	if (selection->sqlite)
		return columns_database(&selection->columns, groups, count, selection->sqlite, true);
	columns_csv(&selection->columns, groups, count, headings, stdout);
	return true;
}

void selection_check_rows(const struct selection *selection, const struct output *output,
			  struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ selection->csv + output->json + (selection->sqlite != NULL) > 1,
		  "choose one of --csv, --json and --sqlite", NULL },
		{ output->human && selection_wants_rows(selection), OUTPUT_PLAIN, NULL },
		{ selection->sqlite && !access(selection->sqlite, F_OK),
		  " exists: take another name, or remove it first", selection->sqlite },
	};

	CHECK_CONFLICTS(conflicts, state);
	for (size_t c = 0; c < selection->columns.count && selection->sqlite; c++)
		for (size_t k = 0; k < c; k++)
			if (selection->columns.column[c] == selection->columns.column[k])
				argp_error(state, "a database has each column once");
}

static bool shown(const struct selection *selection, const struct group *group)
{
	int64_t bytes = group->now.bytes;
	int64_t calls = group->now.calls;

	if (selection->compare) {
		bytes = sub64(bytes, group->before.bytes);
		bytes = bytes < 0 ? sub64(0, bytes) : bytes;
		calls = sub64(calls, group->before.calls);
	}
	if (selection->has_min && bytes < selection->min)
		return false;
	if (selection->has_max && bytes > selection->max)
		return false;
	if (selection_wants_activity(selection)) {
		const struct activity *activity = group->recent.known ? &group->recent : &group->all;

		if (activity->allocs || activity->frees)
			return true;
	}
	return selection->all || bytes || calls;
}

size_t selection_apply(const struct selection *selection, struct groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++)
		if (shown(selection, &groups->group[i]))
			groups->group[kept++] = groups->group[i];
	groups->count = kept;
	groups_sort(groups, selection->order);
	return selection->top && selection->top < kept ? selection->top : kept;
}

void selection_free(struct selection *selection)
{
	query_free(selection->query);
	text_free(&selection->query_text);
	free(selection->paths);
	free(selection->labels);
}
