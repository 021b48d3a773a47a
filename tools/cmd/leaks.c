// SPDX-License-Identifier: GPL-2.0-only
/* codetag leaks: which call sites grow steadily, and why that is suspicious. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "leaks_find.h"
#include "leaks_stacks.h"
#include "leaks_view.h"
#include "leaks_watch.h"
#include "selection.h"
#include "base/message.h"
#include "base/number.h"
#include "source/source.h"

struct leaks {
	struct selection selection;
	struct output output;
	bool live;
	struct leaks_pace pace;
	bool paced;		/* how often the option was given */
	int64_t min_rate;	/* bytes per minute */
	bool stacks;
	struct leaks_stacks by_stack;
	bool by_stack_given;
};

enum { KEY_LIVE = 0x200, KEY_MIN_RATE, KEY_STACKS, KEY_FOR, KEY_SITES, KEY_DROP };

static const struct argp_option options[] = {
	{ "live", KEY_LIVE, NULL, 0, "Watch this machine instead of a recording", 0 },
	{ "interval", 'i', "SEC", 0, "Live: time between snapshots (default: 2)", 0 },
	{ "count", 'c', "COUNT", 0, "Live: snapshots, 6 to 128 (default: 15)", 0 },
	{ "min-rate", KEY_MIN_RATE, "SIZE", 0,
	  "Suspect only growth by SIZE a minute or more", 0 },
	{ "stacks", KEY_STACKS, NULL, 0,
	  "Split the growing call sites of this machine by stack, age and task for a while. Then list "
	  "the callers that hold memory that is old and grows", 0 },
	{ "for", KEY_FOR, "TIME", 0,
	  "Stacks: how long, such as 90 (seconds, the default), 5m or 2h", 0 },
	{ "sites", KEY_SITES, "N", 0,
	  "Stacks: split at most the N sites that grow most (default: 32)", 0 },
	{ "drop", KEY_DROP, NULL, 0,
	  "Live, stacks: in the end let the kernel drop its caches, and test the rest", 0 },
	DEBUGFS_DIR_OPTION,
	{ 0 }
};

static const struct argp_child children[] = {
	{ &selection_trend_argp, 0, NULL, 1 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

/* "90", "90s", "5m", "2h" */
static int64_t argument_time(const char *arg, struct argp_state *state)
{
	static const struct {
		char unit;
		int seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
	char number[32];
	size_t len = strlen(arg);
	int factor = 1;
	double time = 0;

	for (size_t i = 0; i < 3 && len; i++) {
		if (arg[len - 1] == units[i].unit) {
			factor = units[i].seconds;
			len--;
			break;
		}
	}
	snprintf(number, sizeof(number), "%.*s", (int)len, arg);
	if (len >= sizeof(number) || !seconds_parse(number, &time))
		argp_error(state, "'%s' is not a time like 90, 5m or 2h", arg);
	time *= factor;
	if (time < STACKS_SECONDS_MIN)
		argp_error(state, "%s is too short to tell, it takes %d s", arg,
			   STACKS_SECONDS_MIN);
	return llround(fmin(time, 1e9));
}

static bool of_recording(const struct leaks *leaks)
{
	return leaks->selection.path_given && source_is_recording(leaks->selection.path);
}

static void check(const struct leaks *leaks, struct argp_state *state)
{
	const struct selection *selection = &leaks->selection;
	bool recording = of_recording(leaks), stacks = leaks->stacks;
	const struct conflict conflicts[] = {
		{ leaks->by_stack_given && !stacks,
		  "--for, --sites and --debugfs go with --stacks", NULL },
		{ stacks && (leaks->live || leaks->paced),
		  "--stacks has a time of its own: --for", NULL },
		{ stacks && (selection->by_given || leaks->min_rate),
		  "--stacks tells callers apart: --group and --min-rate are for sites", NULL },
		{ stacks && recording && leaks->by_stack_given,
		  "--for, --sites and --debugfs are for this machine, not for a recording", NULL },
		/* A saved allocinfo does not change. Tests give copies of all files. */
		{ stacks && !recording && selection->path_given && !leaks->by_stack.dir.given,
		  " is no recording: --stacks is of this machine or of a recording",
		  selection->path },
		{ leaks->pace.drop && !leaks->live && (!stacks || recording),
		  "--drop is for this machine: --live or --stacks", NULL },
		{ leaks->pace.drop && leaks->live && strcmp(selection->path, ALLOCINFO_PATH),
		  " is a file: --drop is for this machine", selection->path },
		{ leaks->paced && !leaks->live,
		  "--interval and --count go with --live: all of a recording is used", NULL },
#ifdef HAVE_SQLITE
		{ !leaks->live && !stacks && !selection->path_given,
		  "give a recording, --live or --stacks", NULL },
#else
		{ !leaks->live && !stacks, "this build has only --live and --stacks", NULL },
#endif
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct leaks *leaks = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &leaks->selection;
		state->child_inputs[1] = &leaks->output;
		return 0;
	case KEY_LIVE:
		leaks->live = true;
		return 0;
	case KEY_MIN_RATE:
		leaks->min_rate = argument_size(arg, state);
		return 0;
	case KEY_STACKS:
		leaks->stacks = true;
		return 0;
	case KEY_FOR:
		leaks->by_stack.seconds = argument_time(arg, state);
		leaks->by_stack_given = true;
		return 0;
	case KEY_SITES:
		leaks->by_stack.sites = argument_number("--sites", arg, 1, 1000, state);
		leaks->by_stack_given = true;
		return 0;
	case KEY_DROP:
		leaks->pace.drop = leaks->by_stack.drop = true;
		return 0;
	case KEY_DEBUGFS:
		leaks->by_stack.dir = (struct debugfs_dir){ arg, true };
		leaks->by_stack_given = true;
		return 0;
	case 'i':
		leaks->pace.interval = argument_seconds(arg, state);
		leaks->paced = true;
		return 0;
	case 'c':
		leaks->pace.count = argument_number("--count", arg, TREND_MIN, TREND_MAX, state);
		leaks->paced = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&leaks->selection, arg))
			argp_error(state, "one recording at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&leaks->selection, state);
		check(leaks, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "FILE [QUERY…]\n--live [QUERY…]\n--stacks [FILE] [QUERY…]",
	"Ranks call sites, or groups of them, by steady growth and says in words why each "
	"is suspected. Sites that grew once, stopped growing or free their memory from time to "
	"time are no suspects; --all lists these, too."
	"\vA suspect grows more steadily than random ups and downs, which alone make a suspect in "
	"1 of 100 recordings, however many call sites there are. A short recording shows only "
	"sites that grow in nearly each step. The interval of the rate holds it with 95 %. Sites "
	"that grew by less than 4K, or --min, are left out. At most 128 snapshots of a recording "
	"are used, evenly spread.\n\n"
	"Some memory grows and is no leak: caches that the kernel drops when memory is short, "
	"memory of processes and tmpfs, and memory that is freed after a time. It is listed "
	"separately, by kind, and changes no exit status, unless QUERY chooses nothing else. "
	"--drop tests it: a suspect that goes is no suspect any more, and a cache that stays "
	"becomes one. Slab pages and the profiler's own memory are left out.\n\n"
	"--stacks first looks for the call sites that grow, for a sixth of the time, unless QUERY "
	"chooses few of them. Then it splits them by stack, age and task. In the end, also when it is "
	"interrupted, it restores them. Memory is old if it was allocated two or more of 15 "
	"intervals ago. The kernel needs CONFIG_CODETAG_CONTEXTS. Of a recording, --stacks takes "
	"the call sites that were split by stack and age meanwhile.\n\n"
	"Examples:\n"
	"  codetag leaks night.db\n"
	"  codetag leaks night.db --group subsystem --all\n"
	"  codetag leaks day.db --min-rate 100K || mail root\n"
	"  codetag leaks --live -i 5 -c 20 module ext4\n"
	"  codetag leaks --stacks --for 5m\n"
	"  codetag leaks --stacks night.db\n\n"
	"Exit status: 0 no suspect, 1 there are suspects, 2 trouble, also when no suspect was found and "
	"call sites were not profiled.",
	children, NULL, NULL
};

int cmd_leaks(int argc, char **argv)
{
	struct leaks leaks = {
		.selection = SELECTION_INIT, .pace = { .interval = 2, .count = 15 },
		.by_stack = { .dir = DEBUGFS_DIR_INIT, .seconds = 90, .sites = 32 },
	};
	struct watched watched = { 0 };
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &leaks);
	if (leaks.stacks) {
		leaks.by_stack.selection = &leaks.selection;
		leaks.by_stack.output = &leaks.output;
		status = (of_recording(&leaks) ? leaks_stacks_recorded : leaks_stacks)
			(&leaks.by_stack);
	} else if (!(leaks.live ? leaks_watch(&watched, &leaks.selection, &leaks.pace) :
				  leaks_load(&watched, &leaks.selection))) {
		/* said why */
	} else if (watched.count < TREND_MIN) {
		warning("%zu snapshots are too few to see a trend, it takes %d",
			watched.count, TREND_MIN);
	} else {
		struct findings found;

		leaks_find(&found, &watched, &leaks.selection, leaks.min_rate);
		leaks_view(&found, &watched, &leaks.selection, &leaks.output);
		if (!watched.matched && !watched.named)
			selection_warn_none(&leaks.selection);
		status = found.suspects ? STATUS_FOUND :
			 watched.off ? STATUS_TROUBLE : STATUS_OK;
		findings_free(&found);
	}
	watched_free(&watched);
	selection_free(&leaks.selection);
	return status;
}
