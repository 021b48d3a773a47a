// SPDX-License-Identifier: GPL-2.0-only
/* codetag top: the call sites that hold the most memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "debugfs.h"
#include "interval.h"
#include "live.h"
#include "live_contexts.h"
#include "show.h"
#include "base/message.h"
#include "read/activity.h"
#include "read/control.h"
#include "read/input.h"
#include "read/profiling.h"

struct top {
	struct selection selection;
	struct output output;
	struct debugfs_dir dir;
	bool once;
	double delay;
};

enum { KEY_ONCE = 0x200 };

static const struct argp_option options[] = {
	{ "once", KEY_ONCE, NULL, 0, "Print one table and end", 0 },
	{ "delay", 'd', "SEC", 0, "Refresh every SEC seconds (default: 2); with --once the time over which "
	  "allocations and frees per second are counted (default: 1)", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_argp, 0, NULL, 1 },
	{ &selection_raw_argp, 0, NULL, 2 },
	{ &columns_argp, 0, NULL, 9 },
	{ &output_argp, 0, NULL, 2 },
#ifdef HAVE_NCURSES
	{ &debugfs_dir_argp, 0, NULL, 2 },
#endif
	{ 0 }
};

static bool waits_for_rates(const struct selection *selection)
{
	/* A file that was given does not change, unless there is one with activity. */
	return selection_wants_rates(selection) && (!selection->path_given || selection->activity);
}

static void check(const struct top *top, struct argp_state *state)
{
	const struct output *output = &top->output;
	const struct conflict conflicts[] = {
#ifndef HAVE_NCURSES
		{ !top->once, "this build has only --once", NULL },
#endif
		{ top->once && top->delay > 0 && !waits_for_rates(&top->selection),
		  "--once does not refresh: leave out --delay", NULL },
		{ top->once && selection_wants_growth(&top->selection), GROWTH_OF_TWO, NULL },
		{ columns_have(&top->selection.columns, COL_PEAK), PEAKS_OF_REPORT, NULL },
		{ top->once && top->dir.given,
		  "--debugfs is for the keys of the table: it goes without --once", NULL },
		{ !top->once && (output->json || output->no_headings || top->selection.columns.count),
		  "--json, --columns and --noheadings go with --once", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->selection;
		state->child_inputs[1] = &top->selection;
		state->child_inputs[2] = &top->selection;
		state->child_inputs[3] = &top->output;
#ifdef HAVE_NCURSES
		state->child_inputs[4] = &top->dir;
#endif
		return 0;
	case KEY_ONCE:
		top->once = true;
		return 0;
	case 'd':
		top->delay = argument_seconds(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&top->selection, arg))
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&top->selection, state);
		check(top, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[FILE] [QUERY…]\n--once [FILE] [QUERY…]",
	"Shows the call sites that hold the most memory: on a terminal as a table "
	"that is refreshed (h is help), with --once the 20 largest are printed. Sorted by "
	"allocs or frees, it shows allocations and frees per second."
	"\vQUERY is like \"file fs/* module ext4\", see codetag(1).\n\n"
	"Examples:\n"
	"  codetag top --once -n 15\n"
	"  codetag top --once -s calls file 'net/*'\n"
	"  codetag top -d 0.5 -s growth module ext4\n"
	"  codetag top --once -s allocs -d 10\n\n"
	PROFILING_STATUS,
	children, NULL, NULL
};

/* Rates need two readings. */
static bool read_once(const struct top *top, struct snapshot *before, struct snapshot *snapshot,
		      struct groups *groups)
{
	const struct selection *selection = &top->selection;
	struct interval interval;
	double seconds = 0;
	bool good;

	if (waits_for_rates(selection)) {
		double start;

		interval_start(&interval, top->delay > 0 ? top->delay : 1);
		start = steady_clock();
		if (!selection_snapshot(before, selection))
			return false;
		if (!interval_wait(&interval)) {
			snapshot_free(before);
			return false;
		}
		seconds = steady_clock() - start;
	}
	good = selection_snapshot(snapshot, selection);
	if (good) {
		activity_between(&snapshot->info, &before->info, ACTIVITY_LIVE);
		selection_group(selection, snapshot, groups);
		groups->seconds = seconds;
	} else {
		snapshot_free(before);
	}
	return good;
}

static int once(const struct top *top)
{
	const struct selection *selection = &top->selection;
	struct snapshot before = { 0 }, snapshot;
	struct groups groups;
	bool complete;
	size_t count;

	if (!read_once(top, &before, &snapshot, &groups))
		return STATUS_TROUBLE;
	count = selection_apply(selection, &groups);
	if (top->output.json) {
		struct json json = { .out = stdout };

		show_json(&json, &groups, count, &snapshot.info, selection);
		json_end_object(&json);
	} else {
		if (!top->output.no_headings)
			show_summary(&groups, &snapshot.info, selection, &top->output);
		show_table(&groups, count, selection, &top->output);
	}
	complete = profiling_complete(&snapshot.info, selection->query);
	complete = snapshot_complete(&snapshot, selection->path) && snapshot_complete(&before, selection->path) &&
		   complete;
	complete = selection_rates_known(selection, &groups) && complete;
	groups_free(&groups);
	snapshot_free(&before);
	snapshot_free(&snapshot);
	return complete ? STATUS_OK : STATUS_TROUBLE;
}

#ifdef HAVE_NCURSES
struct machine_now {
	struct snapshots snapshots;
	const char *path;
	const struct debugfs_dir *dir;
	const char *activity;	/* the file; NULL: there is none */
	const struct selection *selection;
	char why[160];
};

/* Allocations and frees, if the kernel counts them. */
static bool read_activity(struct machine_now *now, struct allocinfo *info)
{
	const char *why;

	if ((now->activity && activity_read(info, now->activity, &why)) ||
	    !selection_wants_activity(now->selection))
		return true;
	if (now->activity)
		snprintf(now->why, sizeof(now->why), "cannot read %s: %s", now->activity,
			 why ? why : strerror(errno));
	else
		snprintf(now->why, sizeof(now->why), "%s: its allocations and frees are not known", now->path);
	return false;
}

static bool read_now(struct snapshots *from, int step, struct allocinfo *info,
		     int64_t *time_ms, const char **why)
{
	struct machine_now *now = (struct machine_now *)from;
	size_t len;
	char *text;

	(void)step;
	*time_ms = wall_clock();
	*why = now->why;
	if (!input_read(now->path, &text, &len)) {
		snprintf(now->why, sizeof(now->why), "cannot read %s: %s",
			 now->path, strerror(errno));
		return false;
	}
	allocinfo_parse(info, text, len);
	profiling_mark(info, now->path);
	if (!info->count)
		snprintf(now->why, sizeof(now->why), "%s is not in the format of "
			 ALLOCINFO_PATH, now->path);
	else if (read_activity(now, info))
		return true;
	allocinfo_free(info);
	return false;
}

static bool read_control(struct machine_now *now, struct control *control)
{
	char *text;
	size_t len;
	bool good = debugfs_read_sites(now->dir, &text, &len);

	if (good)
		control_parse(control, text, len);
	else if (errno == EACCES || errno == EPERM)
		snprintf(now->why, sizeof(now->why), "only root may switch call sites");
	else
		snprintf(now->why, sizeof(now->why), "this kernel cannot switch call sites "
			 "(%s/control: %s)", now->dir->path, strerror(errno));
	return good;
}

static const char *toggle(struct snapshots *from, const struct site *site)
{
	struct machine_now *now = (struct machine_now *)from;
	struct text text = { 0 };
	struct control control;
	bool profiled, opened;
	int error;

	if (!read_control(now, &control))
		return now->why;
	control_select_site(&control, site);
	profiled = control_count(&control).profiled;
	if (!control.count || !control_by_id(&control, profiled ? "-p" : "+p", &text)) {
		snprintf(now->why, sizeof(now->why), "%s:%u cannot be switched here: %s",
			 site->file, site->line, control.count ?
			 "it has no id of its own" : "the kernel has no such call site now");
	} else {
		error = debugfs_write(now->dir, "control", text.s, &opened);
		snprintf(now->why, sizeof(now->why), "%s:%u %s: %s%s", site->file,
			 site->line, site->func, error ? "cannot be switched, " :
			 profiled ? "no longer profiled" : "profiled from now on",
			 error ? strerror(error) : "");
	}
	text_free(&text);
	control_free(&control);
	return now->why;
}

static const char *contexts(struct snapshots *from, const struct site *site, bool human,
			    struct text *lines)
{
	struct machine_now *now = (struct machine_now *)from;
	char *path = debugfs_path(now->dir, "contexts"), *text;
	bool any = false;
	size_t len;

	if (!input_read(path, &text, &len)) {
		snprintf(now->why, sizeof(now->why), "there are no contexts: %s: %s", path,
			 strerror(errno));
	} else {
		any = live_contexts(lines, text, len, site, human);
		snprintf(now->why, sizeof(now->why), "it is not split: codetag split func %s stack",
			 site->func);
	}
	free(path);
	return any ? NULL : now->why;
}

static int live(struct top *top)
{
	struct machine_now now = {
		.snapshots = { .read = read_now, .title = "codetag top" },
		.path = top->selection.path,
		.dir = &top->dir,
		.activity = top->selection.activity,
		.selection = &top->selection,
	};
	char *activity = debugfs_path(&top->dir, "activity");
	int status;

	/* A file that was given need not be of this kernel. */
	if (!top->selection.path_given || top->dir.given) {
		now.snapshots.toggle = toggle;
		now.snapshots.contexts = contexts;
		if (!now.activity)
			now.activity = activity;
	}

	status = live_run(&now.snapshots, &top->selection, &top->output,
			  top->delay > 0 ? top->delay : 2);
	free(activity);
	return status;
}
#else
static int live(struct top *top)
{
	return once(top);
}
#endif

int cmd_top(int argc, char **argv)
{
	struct top top = {
		.selection = SELECTION_INIT, .dir = DEBUGFS_DIR_INIT,
	};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &top);
	if (top.once && !top.selection.top)
		top.selection.top = 20;
	top.selection.activity_too = top.output.json;
	status = top.once ? once(&top) : live(&top);
	selection_free(&top.selection);
	return status;
}
