// SPDX-License-Identifier: GPL-2.0
#include "leaks_stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contexts_read.h"
#include "interval.h"
#include "sites_view.h"
#include "splitting.h"
#include "analysis/stack_watch.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "model/series.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

/* Readings of allocinfo to see which sites grow. */
#define FIND_READINGS 7

static void say(const char *what, double seconds)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s for %.0f s", what, seconds);
}

static void say_no_more(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* ---- which sites ---------------------------------------------------------------- */

/* What slabs and the profiler take is taken by whoever comes first: their objects tell more. */
static bool can_tell(const struct control_site *site)
{
	return site->id && site->profiled && strcmp(site->site.func, "alloc_slab_page") &&
	       strncmp(site->site.file, "mm/codetag/", strlen("mm/codetag/"));
}

struct growth {
	size_t group;
	double bytes;
};

static int compare(const void *a, const void *b)
{
	const struct growth *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static double mean_of(const struct sum *sum, size_t count)
{
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += (double)sum[i].bytes / (double)count;
	return mean;
}

/* Groups that hold more than before, those that grew most first. */
static size_t growing(const struct series *series, struct growth *growth)
{
	size_t count = 0, third = series->columns / 3;

	for (size_t i = 0; i < series->names.count; i++) {
		const struct sum *sum = series_sums(series, i);
		double more = mean_of(sum + series->columns - third, third) -
			      mean_of(sum, third);

		if (more > 0)
			growth[count++] = (struct growth){ i, more };
	}
	qsort(growth, count, sizeof(*growth), compare);
	return count;
}

static bool watch_sites(struct series *series, const struct leaks_stacks *how, double seconds)
{
	const struct selection *selection = how->selection;
	struct interval interval;

	series->columns = FIND_READINGS;
	interval_start(&interval, seconds / (FIND_READINGS - 1));
	for (size_t i = 0; i < FIND_READINGS; i++) {
		struct allocinfo info;

		say("watching which call sites grow,", seconds * (double)(FIND_READINGS - 1 - i) /
							(FIND_READINGS - 1));
		if (i && !interval_wait(&interval))
			return false;
		if (!allocinfo_read(&info, selection->path))
			return false;
		series_add(series, i, (struct grouping){ BY_SITE, 0 }, &info, selection->query);
		allocinfo_free(&info);
	}
	return true;
}

/* Keeps those that grow most. */
static void keep_growing(struct control *control, const struct series *series, size_t most)
{
	struct growth *growth = xcalloc(series->names.count, sizeof(*growth));
	bool *wanted = xcalloc(series->names.count, sizeof(*wanted));
	size_t count = growing(series, growth), kept = 0, taken = 0;
	struct text name = { 0 };

	for (size_t g = 0; g < count && taken < most; g++) {
		const char *key = series->names.entry[growth[g].group].key;

		for (size_t i = 0; i < control->count && !wanted[growth[g].group]; i++) {
			group_name(&name, (struct grouping){ BY_SITE, 0 }, &control->site[i].site);
			wanted[growth[g].group] = !strcmp(name.s, key);
		}
		taken += wanted[growth[g].group];
	}
	for (size_t i = 0; i < control->count; i++) {
		size_t group;

		group_name(&name, (struct grouping){ BY_SITE, 0 }, &control->site[i].site);
		group = strmap_find(&series->names, name.s, name.len);
		if (group != STRMAP_NONE && wanted[group])
			control->site[kept++] = control->site[i];
	}
	control->count = kept;
	text_free(&name);
	free(growth);
	free(wanted);
}

/* The sites to be split; false after a message, or when it was interrupted. */
static bool choose_sites(struct control *control, const struct leaks_stacks *how, double seconds)
{
	struct series series = { 0 };
	size_t kept = 0;
	bool good = true;

	if (!control_read(control, &how->dir))
		return false;
	for (size_t i = 0; i < control->count; i++)
		if (can_tell(&control->site[i]) &&
		    query_match_id(how->selection->query, &control->site[i].site,
				   control->site[i].id))
			control->site[kept++] = control->site[i];
	control->count = kept;
	if (!kept)
		warning("no call site is chosen that could be split");
	if (kept > how->sites) {
		good = watch_sites(&series, how, seconds);
		if (good)
			keep_growing(control, &series, how->sites);
		series_free(&series);
	}
	if (good && kept)
		return true;
	control_free(control);
	return false;
}

/* ---- what their callers hold ------------------------------------------------------ */

struct watched {
	struct stack_watch watch;
	struct contexts last;
	int64_t lost;		/* allocations without a context */
	double seconds;
};

static int64_t lost_of(const struct contexts *contexts)
{
	int64_t lost = 0;

	for (size_t i = 0; i < contexts->splits; i++)
		lost = add64(lost, contexts->split[i].lost);
	return lost;
}

/* Until the time is over, or somebody interrupts it; false after a message. */
static bool watch_stacks(struct watched *watched, const struct leaks_stacks *how,
			 double step, double seconds)
{
	const struct contexts_choice choice = { .dir = how->dir };
	double start = (double)wall_clock() / 1000;
	struct interval interval;
	int64_t lost = -1;

	interval_start(&interval, step);
	do {
		struct contexts contexts;

		watched->seconds = (double)wall_clock() / 1000 - start;
		say("watching what callers hold,", fmax(seconds - watched->seconds, 0));
		if (!contexts_read(&contexts, &choice))
			return false;
		contexts_free(&watched->last);
		watched->last = contexts;
		if (!contexts_complete(&contexts, contexts_name(&choice)))
			return false;
		if (lost < 0)
			lost = lost_of(&contexts);
		watched->lost = lost_of(&contexts) - lost;
		/* Before that nothing can be old. */
		if (watched->seconds >= (double)watched->watch.old + step)
			stack_watch_add(&watched->watch, watched->seconds, &contexts);
	} while (watched->seconds + step / 2 < seconds && watched->watch.count < TREND_MAX &&
		 interval_wait(&interval));
	return true;
}

/* ---- the report --------------------------------------------------------------------- */

struct report {
	const struct leaks_stacks *how;
	const struct watched *watched;
	const struct stack_findings *found;
	size_t sites, shown;
	bool human;
	struct helpers helpers;
	struct callers callers;
	struct text text;
};

static const char *size(char out[SIZE_TEXT], double bytes, bool human)
{
	return size_format(out, llround(bytes), human);
}

/* The caller as a name; the function of the site where there is none. */
static const char *caller_name(struct report *r, const struct stack_finding *f)
{
	callers_of(&r->callers, &r->watched->last, f->context, &r->helpers);
	text_clear(&r->text);
	if (r->callers.function)
		frame_name(&r->text, r->callers.function);
	else
		text_puts(&r->text, f->context->site.func);
	return r->text.s;
}

static void print_stack(struct report *r, const struct stack_finding *f)
{
	text_clear(&r->text);
	group_name(&r->text, (struct grouping){ BY_SITE, 0 }, &f->context->site);
	printf("    It allocates at %s:\n", r->text.s);
	for (size_t i = 0; i < f->context->frames; i++) {
		text_clear(&r->text);
		frame_place(&r->text, &r->watched->last.frame[f->context->frame + i]);
		printf("        %s\n", r->text.s);
	}
}

/* Old intervals that there were, at most as many as there could be. */
static size_t intervals_of(const struct report *r, const struct stack_finding *f)
{
	double all = (r->watched->seconds - (double)r->watched->watch.old) /
		     (double)(f->length > 0 ? f->length : 1);

	return fmax(all, (double)f->intervals);
}

static void print_chance(double chance)
{
	if (chance < 1e-6)
		fputs("less than one in a million", stdout);
	else if (chance < 0.01)
		printf("1 in %.0f", 1 / chance);
	else
		printf("%.0f %%", 100 * chance);
}

static double chance_of(const struct report *r, const struct stack_finding *f)
{
	return fmin(f->trend.drift.chance * 2 * (double)r->found->tested, 1);
}

static void print_growth(struct report *r, const struct stack_finding *f)
{
	const struct trend *t = &f->trend;
	char rate[SIZE_TEXT], low[SIZE_TEXT], high[SIZE_TEXT];

	printf("    What is old grew in %zu of %zu steps", t->ups, t->steps);
	if (t->downs)
		printf(" and gave back %.0f %% of that", 100 * t->fallen / t->risen);
	else
		fputs(" and never shrank", stdout);
	if (f->certainty != STACK_LEAKS) {
		puts(f->certainty == STACK_UNSURE ?
		     ", which can be chance: watch for longer (--for) to be sure." :
		     ", not steadily.");
		return;
	}
	printf(", by %s per minute (95 %% sure: %s to %s).\n", size(rate, t->drift.slope * 60, r->human),
	       size(low, fmax(t->drift.low, 0) * 60, r->human),
	       size(high, t->drift.high * 60, r->human));
	fputs("    The chance that any of what was watched does so without a leak: ", stdout);
	print_chance(chance_of(r, f));
	puts(".");
}

static void print_finding(struct report *r, size_t number)
{
	static const char *const words[] = { "leaks", "may leak", "grew" };
	const struct stack_finding *f = &r->found->finding[number];
	char all[SIZE_TEXT], old[SIZE_TEXT];

	printf("%2zu. %s %s\n", number + 1, caller_name(r, f),
	       words[f->certainty]);
	print_stack(r, f);
	printf("    It holds %s in %" PRId64 " allocations, of which %s in %" PRId64
	       " are more than %" PRId64 " s old.\n",
	       size(all, (double)f->all.bytes, r->human), f->all.calls,
	       size(old, (double)f->old.bytes, r->human), f->old.calls, r->watched->watch.old);
	printf("    The oldest is from %" PRId64 " s ago%s; of %zu of %zu intervals since then something is left.\n",
	       f->since, (double)(f->since + f->length) >= r->watched->seconds ?
	       ", when watching began" : "", f->intervals, intervals_of(r, f));
	if (f->old.allocs > f->old.calls)
		printf("    Of the allocations of these intervals 1 in %.0f is not freed.\n",
		       (double)f->old.allocs / (double)f->old.calls);
	else
		puts("    Of the allocations of these intervals none is freed.");
	print_growth(r, f);
}

static void print_text(struct report *r)
{
	const struct watched *w = r->watched;

	for (size_t i = 0; i < r->shown; i++)
		print_finding(r, i);
	if (r->how->output->no_headings)
		return;
	printf("%sleaks: %zu, unsure: %zu, grown in another way: %zu; %zu call site%s split by stack and age for %.0f s, %zu stacks with old memory\n",
	       r->shown ? "\n" : "", r->found->leaks, r->found->unsure,
	       r->found->count - r->found->leaks - r->found->unsure, r->sites, r->sites == 1 ? "" : "s", w->seconds, w->watch.series.names.count);
	if (w->lost)
		printf("%" PRId64 " allocations got no context and were not watched\n", w->lost);
}

static void finding_json(struct report *r, const struct stack_finding *f, struct json *json)
{
	const struct trend *t = &f->trend;

	json_object(json, NULL);
	site_json(&f->context->site, json);
	json_string(json, "function", caller_name(r, f));
	json_string(json, "caller", r->callers.module);
	json_array(json, "stack");
	for (size_t i = 0; i < f->context->frames; i++) {
		text_clear(&r->text);
		frame_place(&r->text, &r->watched->last.frame[f->context->frame + i]);
		json_string(json, NULL, r->text.s);
	}
	json_end_array(json);
	json_string(json, "verdict", f->certainty == STACK_UNSURE ? "unsure" :
					       trend_word(t->verdict));
	json_int(json, "size", f->all.bytes);
	json_int(json, "calls", f->all.calls);
	json_int(json, "old_size", f->old.bytes);
	json_int(json, "old_calls", f->old.calls);
	json_int(json, "old_allocs", f->old.allocs);
	json_int(json, "since", f->since);
	json_int(json, "intervals", f->intervals);
	json_real(json, "rate", t->drift.slope);
	json_real(json, "rate_low", t->drift.low);
	json_real(json, "rate_high", t->drift.high);
	json_real(json, "chance", chance_of(r, f));
	json_int(json, "steps", t->steps);
	json_int(json, "steps_up", t->ups);
	json_int(json, "steps_down", t->downs);
	json_end_object(json);
}

static void print_json(struct report *r)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_real(&json, "seconds", r->watched->seconds);
	json_int(&json, "snapshots", r->watched->watch.count);
	json_int(&json, "old", r->watched->watch.old);
	json_int(&json, "sites", r->sites);
	json_int(&json, "tested", r->found->tested);
	json_int(&json, "suspects", r->found->leaks);
	json_int(&json, "lost", r->watched->lost);
	json_array(&json, "rows");
	for (size_t i = 0; i < r->shown; i++)
		finding_json(r, &r->found->finding[i], &json);
	json_end_array(&json);
	json_end_object(&json);
}

static int report(const struct leaks_stacks *how, const struct watched *watched, size_t sites)
{
	const struct selection *selection = how->selection;
	struct stack_findings found;
	struct report r = {
		.how = how, .watched = watched, .found = &found, .sites = sites,
		.human = output_human(how->output),
	};
	int status;

	stack_watch_find(&found, &watched->watch, &watched->last,
			 selection->has_min ? selection->min : 1);
	r.shown = selection->all ? found.count : found.leaks + found.unsure;
	if (selection->top && selection->top < r.shown)
		r.shown = selection->top;
	if (how->output->json)
		print_json(&r);
	else
		print_text(&r);
	status = found.leaks ? STATUS_FOUND : STATUS_OK;
	callers_free(&r.callers);
	text_free(&r.text);
	stack_findings_free(&found);
	return status;
}

#ifdef HAVE_SQLITE
/* The contexts of snapshot @i that are asked for; false after a message. */
static bool load_contexts(struct contexts *contexts, struct recording *recording, size_t i,
			  const struct leaks_stacks *how)
{
	const char *path = how->selection->path;
	struct text text = { 0 };

	if (!recording_load_contexts(recording, i, &text)) {
		warning("%s: %s", path, recording_error(recording));
		text_free(&text);
		return false;
	}
	contexts_parse(contexts, text.s, text.len);
	contexts_select(contexts, how->selection->query, 0);
	return contexts_complete(contexts, path);
}

/* The longest interval of age: the one at hand is not at its end yet. */
static int64_t age_interval(const struct contexts *contexts)
{
	int64_t longest = 0, from, to;

	for (size_t i = 0; i < contexts->count; i++)
		if (context_age(contexts, &contexts->context[i], &from, &to) && to - from > longest)
			longest = to - from;
	return longest;
}

static bool watch_recorded(struct watched *watched, struct recording *recording,
			   const struct leaks_stacks *how)
{
	size_t count = recording_count(recording), take = count < TREND_MAX ? count : TREND_MAX;
	int64_t lost = -1;
	double start = 0;

	if (!load_contexts(&watched->last, recording, count - 1, how))
		return false;
	stack_watch_start(&watched->watch, 2 * age_interval(&watched->last));
	for (size_t k = 0; k < take; k++) {
		size_t i = recording_pick(recording, k, take);
		double time = (double)recording_time(recording, i) / 1000;

		contexts_free(&watched->last);
		if (!load_contexts(&watched->last, recording, i, how))
			return false;
		/* It begins when something is split. */
		if (!watched->last.splits && lost < 0)
			continue;
		if (lost < 0) {
			lost = lost_of(&watched->last);
			start = time;
		}
		watched->lost = lost_of(&watched->last) - lost;
		watched->seconds = time - start;
		if (watched->seconds >= (double)watched->watch.old)
			stack_watch_add(&watched->watch, watched->seconds, &watched->last);
	}
	return true;
}

int leaks_stacks_recorded(const struct leaks_stacks *how)
{
	struct recording *recording = open_recording(how->selection->path);
	struct watched watched = { 0 };
	int status = STATUS_TROUBLE;

	if (!recording)
		return status;
	if (!watch_recorded(&watched, recording, how)) {
		/* said why */
	} else if (!watched.watch.old) {
		warning("%s: no call site was split by stack and age", how->selection->path);
		hint("Before it is recorded: codetag split QUERY stack age");
	} else if (watched.watch.count < TREND_MIN) {
		warning("%zu snapshots in which anything can be old (more than %" PRId64
			" s) are too few to see a trend, it takes %d", watched.watch.count,
			watched.watch.old, TREND_MIN);
	} else {
		status = report(how, &watched, watched.last.splits);
	}
	contexts_free(&watched.last);
	stack_watch_free(&watched.watch);
	recording_close(recording);
	return status;
}
#else
int leaks_stacks_recorded(const struct leaks_stacks *how)
{
	warning("%s is a database, and this build cannot read it (sqlite3)",
		how->selection->path);
	return STATUS_TROUBLE;
}
#endif

int leaks_stacks(const struct leaks_stacks *how)
{
	/* A sixth of the time to see which sites grow; two intervals until memory is old. */
	double finding = (double)how->seconds / 6, left;
	struct watched watched = { 0 };
	struct splitting splitting;
	struct control control;
	int status = STATUS_TROUBLE;
	double start = (double)wall_clock() / 1000;
	int64_t step;
	bool good;

	interrupt_catch();
	if (!choose_sites(&control, how, finding)) {
		say_no_more();
		return STATUS_TROUBLE;
	}
	left = (double)how->seconds - ((double)wall_clock() / 1000 - start);
	step = (int64_t)fmax(round(left / STACKS_READINGS), 1);
	stack_watch_start(&watched.watch, 2 * step);
	good = splitting_begin(&splitting, &how->dir, &control, step);
	if (good) {
		good = watch_stacks(&watched, how, (double)step, left);
		good &= splitting_end(&splitting);
	}
	say_no_more();
	if (good && watched.watch.count < TREND_MIN)
		warning("interrupted after %.0f s: that is too short to tell", watched.seconds);
	else if (good)
		status = report(how, &watched, control.count);
	contexts_free(&watched.last);
	stack_watch_free(&watched.watch);
	control_free(&control);
	return status;
}
