// SPDX-License-Identifier: GPL-2.0-only
/* codetag diff: what grew and what shrank between two snapshots. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "interval.h"
#include "selection.h"
#include "show.h"
#include "base/message.h"
#include "base/number.h"
#include "model/match.h"
#include "read/activity.h"
#include "read/input.h"
#include "read/profiling.h"
#include "write/json.h"

struct diff {
	struct selection selection;
	struct output output;
	double seconds;	/* time between the snapshots, 0: not known */
	double live;	/* the --live that was asked for, 0: two files */
	bool has_limit;
	int64_t limit;	/* limit of growth, beyond which the exit status is 1 */
	struct text first, last;	/* the two snapshots of one recording */
	size_t moved;	/* call sites whose line has changed */
	bool parts;	/* one of the lists is not complete … */
	size_t unknown;	/* … so that the growth of these is unknown */
	int64_t rounding;	/* the growth can be wrong by so many bytes */
	struct sum left_before;	/* what is in no sum of the older snapshot */
};

enum { KEY_LIVE = 0x200, KEY_FAIL_OVER };

static const struct argp_option options[] = {
	{ "live", KEY_LIVE, "SEC", 0,
	  "Compare this machine now with itself SEC seconds later", 1 },
	{ "fail-over", KEY_FAIL_OVER, "SIZE", 0,
	  "Exit with 1 if anything that is shown grew by more than SIZE", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &hosts_argp, 0, NULL, 1 },
	{ &selection_raw_argp, 0, NULL, 2 },
	{ &columns_argp, 0, NULL, 9 },
	{ &rows_argp, 0, NULL, 9 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

/* Compares the first snapshot with the last. */
static void whole_recording(struct diff *diff)
{
	text_printf(&diff->first, "%s@1", diff->selection.path);
	text_printf(&diff->last, "%s@-1", diff->selection.path);
	diff->selection.path = diff->first.s;
	diff->selection.newer = diff->last.s;
}

static void check(const struct diff *diff, struct argp_state *state)
{
	const struct selection *selection = &diff->selection;
	const struct conflict conflicts[] = {
		{ columns_have(&selection->columns, COL_PEAK), PEAKS_OF_REPORT, NULL },
		{ diff->live != 0 && selection->newer, "--live takes no second file", NULL },
		{ diff->live == 0 && !selection->newer && !source_is_recording(selection->path),
		  "two files are needed, or --live SEC", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff *diff = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &diff->selection;
		state->child_inputs[1] = &diff->selection;
		state->child_inputs[2] = &diff->selection;
		state->child_inputs[3] = &diff->selection;
		state->child_inputs[4] = &diff->selection;
		state->child_inputs[5] = &diff->output;
		return 0;
	case KEY_LIVE:
		diff->live = argument_seconds(arg, state);
		return 0;
	case KEY_FAIL_OVER:
		diff->limit = argument_size(arg, state);
		diff->has_limit = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&diff->selection, arg))
			argp_error(state, diff->selection.allocinfo ?
				   "'%s' is one file too many: --allocinfo names the only one" :
				   "two files at most, '%s' is a third one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&diff->selection, state);
		selection_check_rows(&diff->selection, &diff->output, state);
		check(diff, state);
		if (diff->live == 0 && !diff->selection.newer)
			whole_recording(diff);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "OLD NEW [QUERY…]\nRECORDING [QUERY…]\n--live SEC [QUERY…]",
	"Compares two snapshots of /proc/allocinfo, matched by tag, not by row. If two kernels have "
	"different line numbers, a call site is matched by file, function and position among the "
	"call sites of that function."
	"\vLists the changes, the largest first; --min and --max are about the "
	"change. QUERY is like \"file fs/* module ext4\", see codetag(1).\n\n"
	"Examples:\n"
	"  codetag diff monday.txt friday.txt --group subsystem\n"
	"  codetag diff monday/ friday/ --min 100M\n"
	"  codetag diff night.db@1 night.db@60\n"
	"  codetag diff --live 10 -n 20 module ext4\n"
	"  codetag diff before.txt after.txt --fail-over 16M || mail root\n\n"
	"Exit status: 0 success, 1 growth over the limit, 2 trouble, or call sites that are shown are not "
	"profiled.",
	children, NULL, NULL
};

/* The modules with code in memory; those of "unloaded" rows are gone. */
static void collect_modules(struct strmap *modules, const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if (site->module && !(site->flags & SITE_UNLOADED))
			strmap_add(modules, site->module, strlen(site->module));
	}
}

struct modules {
	struct strmap old, new;
};

static bool lacks(const struct strmap *set, const char *name)
{
	return strmap_find(set, name, strlen(name)) == STRMAP_NONE;
}

static void print_modules(const struct strmap *have, const struct strmap *lack,
			  const char *label)
{
	bool any = false;

	for (size_t i = 0; i < have->count; i++) {
		if (!lacks(lack, have->entry[i].key))
			continue;
		printf("%s%s", any ? " " : label, have->entry[i].key);
		any = true;
	}
	if (any)
		putchar('\n');
}

static void json_modules(struct json *json, const char *key,
			 const struct strmap *have, const struct strmap *lack)
{
	json_array(json, key);
	for (size_t i = 0; i < have->count; i++)
		if (lacks(lack, have->entry[i].key))
			json_string(json, NULL, have->entry[i].key);
	json_end_array(json);
}

static void print_json(const struct diff *diff, const struct groups *groups,
		       size_t count, const struct modules *modules)
{
	const struct selection *selection = &diff->selection;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_string(&json, "old", selection->path);
	json_string(&json, "new", selection->newer ? selection->newer : selection->path);
	if (diff->live > 0 || groups->recent.known)
		json_real(&json, "seconds", diff->seconds);
	json_string(&json, "group", grouping_name(groups->by.by));
	json_object(&json, "total");
	json_int(&json, "size", groups->now.bytes);
	json_int(&json, "calls", groups->now.calls);
	json_int(&json, "before", groups->before.bytes);
	json_int(&json, "calls_before", groups->before.calls);
	if (diff->parts) {
		json_null(&json, "growth");
		json_null(&json, "calls_growth");
	} else {
		json_int(&json, "growth", sub64(groups->now.bytes, groups->before.bytes));
		json_int(&json, "calls_growth",
			 sub64(groups->now.calls, groups->before.calls));
	}
	json_end_object(&json);
	json_object(&json, "left_out");
	json_int(&json, "size", groups->left_out.bytes);
	json_int(&json, "calls", groups->left_out.calls);
	json_int(&json, "before", diff->left_before.bytes);
	json_int(&json, "calls_before", diff->left_before.calls);
	json_end_object(&json);
	json_bool(&json, "parts", diff->parts);
	json_int(&json, "not_known", diff->unknown);
	json_int(&json, "moved", diff->moved);
	json_modules(&json, "modules_came", &modules->new, &modules->old);
	json_modules(&json, "modules_went", &modules->old, &modules->new);
	json_int(&json, "groups", groups->count);
	columns_json(&selection->columns, groups, count, &json, "rows");
	json_end_object(&json);
}

static void print_table(const struct diff *diff, const struct groups *groups,
			size_t count, const struct modules *modules)
{
	static const struct columns usual = {
		{ COL_GROWTH, COL_CALLS_GROWTH, COL_BEFORE, COL_SIZE, COL_STATE,
		  COL_NAME }, 6
	};
	static const struct columns active = {
		{ COL_ALLOCS_RATE, COL_FREES_RATE, COL_ALLOCS_RECENT, COL_FREES_RECENT, COL_GROWTH,
		  COL_SIZE, COL_NAME }, 7
	};
	const struct columns *columns = diff->selection.columns.count ? &diff->selection.columns :
					order_is_activity(diff->selection.order) ? &active : &usual;
	bool human = output_human(&diff->output);
	int64_t growth = sub64(groups->now.bytes, groups->before.bytes);
	char before[SIZE_TEXT], now[SIZE_TEXT], change[SIZE_TEXT];

	if (count)
		columns_table(columns, groups, count, &diff->output);
	if (diff->output.no_headings)
		return;
	if (count)
		putchar('\n');
	if (diff->rounding)
		printf("sizes are rounded: the growth can be wrong by %s%s\n",
		       size_format(change, diff->rounding, human), human ? "" : " bytes");
	if (diff->parts) {
		fputs("A list is not complete: a call site that it lacks holds at most as much as its smallest one. ",
		      stdout);
		if (diff->unknown)
			printf("Not known: the growth of %zu call sites, and of the sum.\n", diff->unknown);
		else
			puts("Not known: the growth of the sum.");
		return;
	}
	printf("%s -> %s, %s%s in %+" PRId64 " allocations",
	       size_format(before, groups->before.bytes, human),
	       size_format(now, groups->now.bytes, human), growth > 0 ? "+" : "",
	       size_format(change, growth, human),
	       sub64(groups->now.calls, groups->before.calls));
	if (diff->live > 0 && diff->seconds > 0)
		printf(", %s per second",
		       size_format(change, (int64_t)((double)growth / diff->seconds),
				   human));
	if (!count)
		printf("; no change in any %s", grouping_name(groups->by.by));
	putchar('\n');
	if (diff->left_before.bytes || groups->left_out.bytes)
		printf("left out so that nothing counts twice: slab pages and percpu chunks, %s -> %s%s (--raw)\n",
		       size_format(before, diff->left_before.bytes, human),
		       size_format(now, groups->left_out.bytes, human), human ? "" : " bytes");
	show_activity_time(groups, &diff->selection);
	if (diff->moved)
		printf("rows whose call site has another line now: %zu\n", diff->moved);
	print_modules(&modules->new, &modules->old, "modules that came: ");
	print_modules(&modules->old, &modules->new, "modules that went: ");
}

static bool has_site(const struct strmap *sites, const struct site *site)
{
	struct text name = { 0 };
	bool has;

	group_name(&name, (struct grouping){ .by = BY_SITE }, site);
	has = strmap_find(sites, name.s, name.len) != STRMAP_NONE;
	text_free(&name);
	return has;
}

static void collect_sites(struct strmap *sites, const struct allocinfo *info)
{
	struct text name = { 0 };

	for (size_t i = 0; i < info->count; i++) {
		text_clear(&name);
		group_name(&name, (struct grouping){ .by = BY_SITE }, &info->site[i]);
		strmap_add(sites, name.s, name.len);
	}
	text_free(&name);
}

/*
 * A site of @whole that the list of largest sites @part lacks holds at most as much as the
 * smallest site in @part. Where that tells something, the site is added to @part with that
 * size; otherwise it is dropped from @whole.
 */
static void bound(struct diff *diff, struct allocinfo *part, struct allocinfo *whole)
{
	struct strmap sites = { 0 };
	size_t kept = 0;

	diff->parts |= part->part;
	if (!part->part)
		return;
	collect_sites(&sites, part);
	for (size_t i = 0; i < whole->count; i++) {
		struct site site = whole->site[i];
		bool known = (site.flags & SITE_BOUND) || has_site(&sites, &site);

		if (!known && (part->floor < 0 || site.bytes <= part->floor)) {
			diff->unknown++;
			continue;
		}
		whole->site[kept++] = site;
		if (known)
			continue;
		site.bytes = part->floor;
		site.flags |= SITE_BOUND;
		GROW(part->site, part->count, part->room);
		part->site[part->count++] = site;
	}
	whole->count = kept;
	strmap_free(&sites);
}

/* On a running kernel nearly all built-in call sites stay. */
#define FEW_SITES	100

/*
 * Whether @list is the begin or another piece of a list like @whole, although it has a header: its
 * built-in call sites are all in @whole, but most of those of @whole are not in it.
 */
static bool is_piece(const struct allocinfo *list, const struct allocinfo *whole)
{
	struct strmap sites = { 0 };
	size_t here = 0, there = 0;
	bool all = true;

	collect_sites(&sites, whole);
	for (size_t i = 0; i < whole->count; i++)
		there += !whole->site[i].module;
	for (size_t i = 0; i < list->count && all; i++) {
		if (list->site[i].module)
			continue;
		here++;
		all = has_site(&sites, &list->site[i]);
	}
	strmap_free(&sites);
	return all && here < there / 2 && there - here > FEW_SITES;
}

static void find_piece(struct allocinfo *list, const struct allocinfo *whole, const char *path)
{
	if (list->part || list->areas || whole->areas || !is_piece(list, whole))
		return;
	list->part = true;
	list->floor = -1;
	warning("%s lacks most of the call sites that are built in: it seems to be a piece of a list",
		input_name(path));
}

static bool over_limit(const struct diff *diff, const struct groups *groups, size_t count)
{
	for (size_t i = 0; i < count && diff->has_limit; i++)
		if (group_growth(&groups->group[i]) > diff->limit)
			return true;
	return false;
}

/*
 * Allocations and frees between the two. Returns false after a message if they were asked for
 * and are not known.
 */
static bool find_activity(struct diff *diff, struct snapshot *from, struct snapshot *to)
{
	const struct selection *selection = &diff->selection;
	const char *newer = selection->newer;

	if (newer)
		diff->seconds = (double)(to->time - from->time) / 1000;
	else if (selection->by.by != BY_HOST)
		activity_between(&to->info, &from->info, ACTIVITY_LIVE);
	if (!newer || selection->by.by == BY_HOST || source_since(selection->path, newer, &to->info) ||
	    !selection_wants_activity(selection))
		return true;
	warning("%s and %s are not two snapshots of one recording, the earlier one first: allocations and "
		"frees between them are not known", selection->path, newer);
	return false;
}

static void match_rows_of(const struct diff *diff, struct allocinfo *old, struct allocinfo *new)
{
	const struct selection *selection = &diff->selection;
	enum rows_from from = !selection->newer ? ROWS_LIVE :
			      source_same_recording(selection->path, selection->newer) ? ROWS_RECORDED : ROWS_FILES;
	size_t count = match_same_rows(old, new, from);

	if (count)
		warning("call sites whose rows cannot be told apart in the two snapshots, so that each is one row: %zu",
			count);
	if (count && from == ROWS_FILES)
		hint("Only the order of the kernel's list tells them apart. Compare whole copies of " ALLOCINFO_PATH ".");
}

/* Whether the call sites of @path are profiled; otherwise prints a message. */
static bool profiled(const struct selection *selection, const struct allocinfo *info, const char *path)
{
	if (selection_profiled(selection, info))
		return true;
	if (selection->newer)
		hint("These are call sites of %s.", input_name(path));
	return false;
}

/* Returns an exit status. */
static int compare(struct diff *diff, struct snapshot *from, struct snapshot *to)
{
	const struct selection *selection = &diff->selection;
	struct groups groups = { .by = selection->by, .seconds = diff->seconds };
	struct modules modules = { 0 };
	const char *newer = selection->newer ? selection->newer : selection->path;
	struct allocinfo *old = &from->info, *new = &to->info;
	bool complete, good = true;
	size_t count;
	int status;

	/* Hosts are summed from the sites that were selected. */
	if (selection->by.by == BY_HOST) {
		if (from->unmatched && to->unmatched)
			selection_warn_none(selection);
		diff->left_before = from->left_out;
		groups.left_out = to->left_out;
		groups_add_before(&groups, old, NULL);
		groups_add(&groups, new, NULL);
	} else {
		selection_warn_unmatched(selection, new, old);
		match_moved(old, new);
		for (size_t i = 0; i < old->count; i++)
			diff->moved += old->site[i].line_before &&
				       query_match(selection->query, &old->site[i]);
		selection_take_out_both(selection, old, &diff->left_before, new, &groups.left_out);
		find_piece(old, new, selection->path);
		find_piece(new, old, newer);
		bound(diff, old, new);
		bound(diff, new, old);
		diff->rounding = add64(old->rounding, new->rounding);
		if (selection->by.by == BY_ROW)
			match_rows_of(diff, old, new);
		groups_add_before(&groups, old, selection->query);
		groups_add(&groups, new, selection->query);
	}
	if (!diff->parts) {
		collect_modules(&modules.old, old);
		collect_modules(&modules.new, new);
	}
	count = selection_apply(selection, &groups);
	if (selection_wants_rows(selection))
		good = selection_rows(selection, &groups, count,
				      !diff->output.no_headings);
	else if (diff->output.json)
		print_json(diff, &groups, count, &modules);
	else
		print_table(diff, &groups, count, &modules);
	status = over_limit(diff, &groups, count) ? STATUS_FOUND : STATUS_OK;
	if (diff->has_limit && diff->unknown && status == STATUS_OK) {
		warning("the growth of %zu call sites is not known, so it may be over the limit", diff->unknown);
		good = false;
	}
	complete = snapshot_complete(from, selection->path);
	complete = snapshot_complete(to, newer) && complete;
	complete = profiled(selection, new, newer) && complete;
	if (selection->newer)
		complete = profiled(selection, old, selection->path) && complete;
	strmap_free(&modules.old);
	strmap_free(&modules.new);
	groups_free(&groups);
	return complete && good ? status : STATUS_TROUBLE;
}

int cmd_diff(int argc, char **argv)
{
	struct diff diff = { .selection = SELECTION_INIT };
	struct selection *selection = &diff.selection;
	struct interval interval;
	struct snapshot old, new;
	int status = STATUS_TROUBLE;
	bool good;

	selection->compare = true;
	selection->groups |= BIT_OF(BY_HOST);
	selection->order = ORDER_GROWTH;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &diff);
	selection->activity_too = diff.output.json || selection_wants_rows(selection);
	if (diff.live > 0)
		interval_start(&interval, diff.live);
	diff.seconds = steady_clock();
	if (selection_open(&old, selection, selection->path)) {
		good = diff.live <= 0 || interval_wait(&interval);
		/* From one reading to the next. A process that was stopped waits for longer. */
		diff.seconds = steady_clock() - diff.seconds;
		if (good && selection_open(&new, selection, selection->newer ? selection->newer :
							 selection->path)) {
			if (find_activity(&diff, &old, &new))
				status = compare(&diff, &old, &new);
			snapshot_free(&new);
		}
		snapshot_free(&old);
	}
	selection_free(selection);
	text_free(&diff.first);
	text_free(&diff.last);
	return status;
}
