// SPDX-License-Identifier: GPL-2.0
/* codetag leaks: which call sites grow steadily, and why that is suspicious. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "interval.h"
#include "leaks_stacks.h"
#include "selection.h"
#include "analysis/trend.h"
#include "base/message.h"
#include "base/number.h"
#include "model/series.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

struct leaks {
	struct selection selection;
	struct output output;
	bool live;
	double interval;
	int64_t count;
	bool paced;		/* one of the two was given */
	int64_t min_rate;	/* bytes a minute */
	bool stacks;
	struct leaks_stacks by_stack;
	bool by_stack_given;
};

enum { KEY_LIVE = 0x200, KEY_MIN_RATE, KEY_STACKS, KEY_FOR, KEY_SITES };

static const struct argp_option options[] = {
	{ "live", KEY_LIVE, NULL, 0, "Watch this machine instead of a recording", 0 },
	{ "interval", 'i', "SEC", 0, "Live: time between snapshots (default: 2)", 0 },
	{ "count", 'c', "COUNT", 0, "Live: snapshots, 6 to 128 (default: 15)", 0 },
	{ "min-rate", KEY_MIN_RATE, "SIZE", 0,
	  "Suspect only what grows by SIZE a minute or more", 0 },
	{ "stacks", KEY_STACKS, NULL, 0,
	  "Split the call sites of this machine that grow by stack and age for a while, and "
	  "say which callers hold memory that is old and grows", 0 },
	{ "for", KEY_FOR, "TIME", 0,
	  "Stacks: how long, such as 90 (seconds, the default), 5m or 2h", 0 },
	{ "sites", KEY_SITES, "N", 0,
	  "Stacks: split the N sites that grow most at most (default: 32)", 0 },
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

static void finish_stacks(const struct leaks *leaks, struct argp_state *state)
{
	const struct selection *selection = &leaks->selection;

	if (leaks->by_stack_given && !leaks->stacks)
		argp_error(state, "--for, --sites and --debugfs go with --stacks");
	if (!leaks->stacks)
		return;
	if (leaks->live || leaks->paced)
		argp_error(state, "--stacks has a time of its own: --for");
	if (selection->by_given || leaks->min_rate)
		argp_error(state, "--stacks tells callers apart: --group and --min-rate are for sites");
	if (of_recording(leaks)) {
		if (leaks->by_stack_given)
			argp_error(state, "--for, --sites and --debugfs are for this machine, not for a "
				   "recording");
		return;
	}
	/* A saved allocinfo does not go on; copies of all files are for tests. */
	if (selection->path_given && !leaks->by_stack.dir.given)
		argp_error(state, "--stacks is of this machine or of a recording, and '%s' is none",
			   selection->path);
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
		leaks->by_stack.sites = argument_number(arg, 1, 1000, state);
		leaks->by_stack_given = true;
		return 0;
	case KEY_DEBUGFS:
		leaks->by_stack.dir = (struct debugfs_dir){ arg, true };
		leaks->by_stack_given = true;
		return 0;
	case 'i':
		leaks->interval = argument_seconds(arg, state);
		leaks->paced = true;
		return 0;
	case 'c':
		leaks->count = argument_number(arg, TREND_MIN, TREND_MAX, state);
		leaks->paced = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&leaks->selection, arg))
			argp_error(state, "one recording at a time, '%s' is a second one", arg);
		return 0;
	case ARGP_KEY_END:
		selection_finish(&leaks->selection, state);
		finish_stacks(leaks, state);
		if (leaks->paced && !leaks->live)
			argp_error(state, "--interval and --count go with --live: all of a "
				   "recording is used");
#ifdef HAVE_SQLITE
		if (!leaks->live && !leaks->stacks && !leaks->selection.path_given)
			argp_error(state, "give a recording, --live or --stacks");
#else
		if (!leaks->live && !leaks->stacks)
			argp_error(state, "this build has only --live and --stacks");
#endif
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "FILE [QUERY…]\n--live [QUERY…]\n--stacks [FILE] [QUERY…]",
	"Ranks call sites, or groups of them, by steady growth and says in words why each "
	"is suspected. What grew once, stopped growing or is freed again from time to "
	"time is told apart; --all lists that, too, and what grew in some other way."
	"\vA suspect grows more steadily than chance makes it: in 99 of 100 recordings without "
	"a leak there is none, however many call sites wander. A short recording can show only "
	"what grows in nearly each step. The interval of the rate holds it with 95 %. What grew "
	"by less than 4K, or --min, is left out. At most 128 snapshots of a recording are used, "
	"evenly spread.\n\n"
	"With --stacks a sixth of the time shows which call sites grow (not needed if QUERY "
	"chooses few of them); these are split by stack and age, and in the end, also when "
	"it is interrupted, put back as they were. What is old is not freed soon: that of two "
	"of 15 intervals ago and before. The kernel needs CONFIG_CODETAG_CONTEXTS. Of a "
	"recording, --stacks takes the call sites that were split by stack and age meanwhile.\n\n"
	"Examples:\n"
	"  codetag leaks night.db\n"
	"  codetag leaks night.db --group subsystem --all\n"
	"  codetag leaks day.db --min-rate 100K || mail root\n"
	"  codetag leaks --live -i 5 -c 20 module ext4\n"
	"  codetag leaks --stacks --for 5m\n"
	"  codetag leaks --stacks night.db\n\n"
	"Exit status: 0 no suspect, 1 there are suspects, 2 trouble.",
	children, NULL, NULL
};

/* What all groups held, and when. */
struct watched {
	struct series series;
	double time[TREND_MAX];
	size_t count;		/* of moments */
};

static bool watch(struct watched *watched, const struct leaks *leaks)
{
	struct interval interval;

	watched->series.columns = leaks->count;
	interval_start(&interval, leaks->interval);
	do {
		struct allocinfo info;
		bool complete;

		if (!allocinfo_read(&info, leaks->selection.path))
			return false;
		watched->time[watched->count] = (double)wall_clock() / 1000;
		series_add(&watched->series, watched->count++, leaks->selection.by, &info,
			   leaks->selection.query);
		complete = allocinfo_complete(&info, leaks->selection.path);
		allocinfo_free(&info);
		if (!complete)
			return false;
	} while ((int64_t)watched->count < leaks->count && interval_wait(&interval));
	return true;
}

#ifdef HAVE_SQLITE
static bool is_wanted(void *query, const struct site *site)
{
	return query_match(query, site);
}

static bool load(struct watched *watched, const struct leaks *leaks)
{
	const struct recording_choice choice = {
		.keep = is_wanted, .context = leaks->selection.query,
		.by = leaks->selection.by,
	};
	struct recording *recording = open_recording(leaks->selection.path);
	size_t at[TREND_MAX], take;
	bool good;

	if (!recording)
		return false;
	take = recording_count(recording) < TREND_MAX ? recording_count(recording) : TREND_MAX;
	for (size_t k = 0; k < take; k++) {
		at[k] = recording_pick(recording, k, take);
		watched->time[k] = (double)recording_time(recording, at[k]) / 1000;
	}
	watched->series.columns = watched->count = take;
	good = load_series(recording, &watched->series, at, &choice);
	recording_close(recording);
	return good;
}
#else
static bool load(struct watched *watched, const struct leaks *leaks)
{
	(void)watched;
	(void)leaks;
	return false;
}
#endif

struct finding {
	const char *name;
	struct trend trend;
	double now, calls_growth;
};

static bool is_suspect(const struct finding *f)
{
	return f->trend.verdict == TREND_LEAK || f->trend.verdict == TREND_STARTED;
}

/* Leaks first, those that are certain to grow most at the top. */
static int compare(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->trend.verdict != y->trend.verdict)
		return x->trend.verdict < y->trend.verdict ? -1 : 1;
	if (is_suspect(x) && x->trend.drift.low != y->trend.drift.low)
		return x->trend.drift.low < y->trend.drift.low ? 1 : -1;
	if (x->trend.growth != y->trend.growth)
		return x->trend.growth < y->trend.growth ? 1 : -1;
	return strcmp(x->name, y->name);
}

static double risen(const double *value, size_t count)
{
	double sum = 0;

	for (size_t i = 1; i < count; i++)
		sum += fmax(value[i] - value[i - 1], 0);
	return sum;
}

static void bytes_of(const struct watched *watched, size_t group, double bytes[TREND_MAX])
{
	for (size_t c = 0; c < watched->count; c++)
		bytes[c] = (double)series_sums(&watched->series, group)[c].bytes;
}

struct findings {
	struct finding *finding;
	size_t count, suspects;
	size_t tested;		/* groups that rose enough to be looked at */
	size_t slow;		/* suspects but for --min-rate */
};

static void find(struct findings *found, const struct watched *watched,
		 const struct leaks *leaks)
{
	size_t groups = watched->series.names.count, last = watched->count - 1;
	double min = leaks->selection.has_min ? (double)leaks->selection.min : 4096;
	double bytes[TREND_MAX];

	*found = (struct findings){ .finding = xcalloc(groups, sizeof(*found->finding)) };
	for (size_t i = 0; i < groups; i++) {
		bytes_of(watched, i, bytes);
		found->tested += risen(bytes, watched->count) >= fmax(min, 1);
	}
	for (size_t i = 0; i < groups; i++) {
		struct finding *f = &found->finding[found->count];
		const struct sum *sum = series_sums(&watched->series, i);

		bytes_of(watched, i, bytes);
		if (risen(bytes, watched->count) < fmax(min, 1))
			continue;
		trend_find(&f->trend, watched->time, bytes, watched->count, found->tested);
		if (f->trend.verdict == TREND_NONE ||
		    (f->trend.verdict == TREND_UNSTEADY && f->trend.growth < min))
			continue;
		if (is_suspect(f) && llround(f->trend.drift.slope * 60) < leaks->min_rate) {
			found->slow++;
			continue;
		}
		if (!is_suspect(f) && leaks->selection.all)
			drift_find(&f->trend.drift, watched->time, bytes, watched->count);
		f->name = watched->series.names.entry[i].key;
		f->now = bytes[last];
		f->calls_growth = (double)sub64(sum[last].calls, sum[0].calls);
		found->suspects += is_suspect(f);
		found->count++;
	}
	qsort(found->finding, found->count, sizeof(*found->finding), compare);
}

static const char *size(char out[SIZE_TEXT], double value, bool human)
{
	return size_format(out, llround(value), human);
}

/* Why this one. */
static void print_reason(const struct finding *f, bool human)
{
	const struct trend *t = &f->trend;
	char a[SIZE_TEXT], b[SIZE_TEXT];

	switch (t->verdict) {
	case TREND_STARTED:
	case TREND_LEAK:
		if (t->verdict == TREND_STARTED)
			fputs("It did not in the first half of the time. Since then it", stdout);
		else
			fputs("It", stdout);
		printf(" grew in %zu of %zu steps", t->ups, t->steps);
		if (t->downs)
			printf(" and gave back %.0f %% of what it took.",
			       100 * t->fallen / t->risen);
		else
			fputs(" and never shrank.", stdout);
		if (f->calls_growth > 0)
			printf(" There are %.0f more allocations: new ones are made and not freed.\n",
			       f->calls_growth);
		else
			fputs(" There are not more allocations than before: they became larger.\n",
			      stdout);
		break;
	case TREND_SAWTOOTH:
		printf("It grew by %s in %zu steps and gave back %s in %zu: it is freed from time to time.\n",
		       size(a, t->risen, human), t->ups,
		       size(b, t->fallen, human), t->downs);
		break;
	case TREND_STEP:
		if (t->largest >= 0.8 * t->risen)
			printf("One step made %.0f %% of the growth: something was set up once.\n",
			       100 * t->largest / t->risen);
		else
			printf("Two steps made %.0f %% of the growth: something was set up twice.\n",
			       100 * (t->largest + t->second) / t->risen);
		break;
	case TREND_STOPPED:
		fputs("It grew at first and hardly does so since half of the time.\n", stdout);
		break;
	case TREND_UNSTEADY:
		printf("It grew by %s in %zu steps and gave back %s in %zu: not steadily, record for longer to know.\n",
		       size(a, t->risen, human), t->ups,
		       size(b, t->fallen, human), t->downs);
		break;
	case TREND_NONE:
		break;
	}
}

static void print_finding(size_t number, const struct finding *f, bool human)
{
	const struct trend *t = &f->trend;
	char rate[SIZE_TEXT], low[SIZE_TEXT], high[SIZE_TEXT];
	char growth[SIZE_TEXT], now[SIZE_TEXT];

	printf("%2zu. %s\n", number, f->name);
	printf("    %s: %s%s to %s", trend_word(t->verdict),
	       t->growth > 0 ? "+" : "", size(growth, t->growth, human),
	       size(now, f->now, human));
	if (is_suspect(f))
		printf(", %s per minute (95 %% sure: %s to %s)",
		       size(rate, t->drift.slope * 60, human), size(low, t->drift.low * 60, human),
		       size(high, t->drift.high * 60, human));
	fputs("\n    ", stdout);
	print_reason(f, human);
}

static void print_text(const struct leaks *leaks, const struct watched *watched,
		       const struct findings *found)
{
	size_t shown = leaks->selection.all ? found->count : found->suspects, by[TREND_NONE] = { 0 };
	double seconds = watched->time[watched->count - 1] - watched->time[0];

	if (leaks->selection.top && leaks->selection.top < shown)
		shown = leaks->selection.top;
	for (size_t i = 0; i < shown; i++)
		print_finding(i + 1, &found->finding[i], output_human(&leaks->output));
	for (size_t i = 0; i < found->count; i++)
		by[found->finding[i].trend.verdict]++;
	if (leaks->output.no_headings)
		return;
	printf("%ssuspects: %zu, in %zu snapshots over %.0f s; not suspected: %zu sawtooth, %zu grown once, %zu that stopped growing, %zu unsteady\n",
	       shown ? "\n" : "", found->suspects, watched->count, seconds,
	       by[TREND_SAWTOOTH], by[TREND_STEP], by[TREND_STOPPED], by[TREND_UNSTEADY]);
	if (leaks->min_rate)
		printf("grows as steadily, but by less than --min-rate: %zu\n", found->slow);
}

static void print_json(const struct leaks *leaks, const struct watched *watched,
		       const struct findings *found)
{
	size_t shown = leaks->selection.all ? found->count : found->suspects;
	struct json json = { .out = stdout };

	if (leaks->selection.top && leaks->selection.top < shown)
		shown = leaks->selection.top;
	json_object(&json, NULL);
	json_string(&json, "group", grouping_name(leaks->selection.by.by));
	json_int(&json, "snapshots", watched->count);
	json_real(&json, "seconds", watched->time[watched->count - 1] - watched->time[0]);
	json_int(&json, "tested", found->tested);
	json_int(&json, "suspects", found->suspects);
	json_int(&json, "slow", found->slow);
	json_array(&json, "rows");
	for (size_t i = 0; i < shown; i++) {
		const struct trend *t = &found->finding[i].trend;

		json_object(&json, NULL);
		json_string(&json, "name", found->finding[i].name);
		json_string(&json, "verdict", trend_word(t->verdict));
		json_int(&json, "size", (int64_t)found->finding[i].now);
		json_int(&json, "growth", (int64_t)t->growth);
		json_int(&json, "calls_growth", (int64_t)found->finding[i].calls_growth);
		json_real(&json, "rate", t->drift.slope);
		json_real(&json, "rate_low", t->drift.low);
		json_real(&json, "rate_high", t->drift.high);
		json_real(&json, "chance",
			  fmin(t->drift.chance * 2 * (double)found->tested, 1));
		json_int(&json, "risen", (int64_t)t->risen);
		json_int(&json, "fallen", (int64_t)t->fallen);
		json_int(&json, "steps", t->steps);
		json_int(&json, "steps_up", t->ups);
		json_int(&json, "steps_down", t->downs);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

int cmd_leaks(int argc, char **argv)
{
	struct leaks leaks = {
		.selection = SELECTION_INIT, .interval = 2, .count = 15,
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
	} else if (!(leaks.live ? watch(&watched, &leaks) : load(&watched, &leaks))) {
		/* said why */
	} else if (watched.count < TREND_MIN) {
		warning("%zu snapshots are too few to see a trend, it takes %d",
			watched.count, TREND_MIN);
	} else {
		struct findings found;

		find(&found, &watched, &leaks);
		if (leaks.output.json)
			print_json(&leaks, &watched, &found);
		else
			print_text(&leaks, &watched, &found);
		status = found.suspects ? STATUS_FOUND : STATUS_OK;
		free(found.finding);
	}
	series_free(&watched.series);
	selection_free(&leaks.selection);
	return status;
}
