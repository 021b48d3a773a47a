// SPDX-License-Identifier: GPL-2.0-only
#include "leaks_stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "contexts_read.h"
#include "drop.h"
#include "interval.h"
#include "sites_view.h"
#include "splitting.h"
#include "analysis/cause.h"
#include "analysis/stack_watch.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "model/kind.h"
#include "model/series.h"
#include "read/profiling.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

/* Readings of allocinfo to see which sites grow. */
#define FIND_READINGS 7

/* Which call sites are watched, and which are not. */
struct chosen {
	size_t split;
	size_t growing;		/* call sites that grew, or all if that was not tested */
	size_t apart;		/* call sites left out because their kind is no leak by itself */
	size_t off;		/* not profiled */
};

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

/*
 * A caller allocates slabs, and the profiler's own memory, by chance: the sites of the objects
 * tell more. Memory that is no leak by itself is watched only with --drop, or if the query asks
 * for it.
 */
static bool can_tell(const struct control_site *site, bool drop, bool named)
{
	enum kind kind = site_kind(&site->site);

	return site->id && kind != KIND_ALLOCATOR &&
	       (kind == KIND_KERNEL || named || (drop && kind == KIND_CACHE));
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

/* Groups that hold more than before, the largest growth first. */
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

/* Keeps the groups that grow most; returns how many grow. */
static size_t keep_growing(struct control *control, const struct series *series, size_t most)
{
	struct growth *growth = xcalloc(series->names.count, sizeof(*growth));
	bool *wanted = xcalloc(series->names.count, sizeof(*wanted));
	size_t count = growing(series, growth), kept = 0, taken = 0;
	struct strmap names = { 0 };
	struct text name = { 0 };

	for (size_t i = 0; i < control->count; i++) {
		group_name(&name, (struct grouping){ BY_SITE, 0 }, &control->site[i].site);
		strmap_add(&names, name.s, name.len);
	}
	for (size_t g = 0; g < count; g++) {
		const char *key = series->names.entry[growth[g].group].key;

		if (strmap_find(&names, key, strlen(key)) != STRMAP_NONE)
			wanted[growth[g].group] = taken++ < most;
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
	strmap_free(&names);
	free(growth);
	free(wanted);
	return taken;
}

/*
 * Whether QUERY chooses nothing but memory that is no leak by itself. Then the user
 * asks about that.
 */
static bool is_named(const struct control *control, const struct selection *selection)
{
	if (!selection->query_text.len)
		return false;
	for (size_t i = 0; i < control->count; i++)
		if (site_kind(&control->site[i].site) == KIND_KERNEL)
			return false;
	return true;
}

/* Sites that are not profiled cannot be seen to leak. Returns false if none is profiled. */
static bool check_profiled(const struct control *control, const struct leaks_stacks *how,
			   struct chosen *chosen)
{
	struct profiled profiling;

	sites_profiled(control, &how->dir, &profiling);
	chosen->off = profiling.off;
	if (profiling.off)
		profiling_complain(&profiling, false);
	return profiling.off < profiling.chosen;
}

/* Chooses the sites to split. Returns false after a message, or when it was interrupted. */
static bool choose_sites(struct control *control, const struct leaks_stacks *how,
			 struct chosen *chosen, double seconds)
{
	struct series series = { 0 };
	size_t kept = 0;
	bool good = true, named;

	*chosen = (struct chosen){ 0 };
	switch (splitting_restore(&how->dir)) {
	case LEFT_PUT_BACK:
		warning("an earlier run was killed: its call sites are as they were before");
		break;
	case LEFT_RUNNING:
	case LEFT_FAILED:
		return false;
	case LEFT_NOTHING:
		break;
	}
	if (!control_read(control, &how->dir))
		return false;
	for (size_t i = 0; i < control->count; i++)
		if (query_match_id(how->selection->query, &control->site[i].site,
				   control->site[i].id))
			control->site[kept++] = control->site[i];
	control->count = kept;
	named = is_named(control, how->selection);
	kept = 0;
	for (size_t i = 0; i < control->count; i++)
		if (can_tell(&control->site[i], how->drop, named))
			control->site[kept++] = control->site[i];
	chosen->apart = control->count - kept;
	control->count = kept;
	if (!kept)
		warning("no call site is chosen that could be split");
	else
		good = check_profiled(control, how, chosen);
	for (size_t i = kept = 0; i < control->count; i++)
		if (control->site[i].profiled)
			control->site[kept++] = control->site[i];
	control->count = chosen->growing = kept;
	if (good && kept > how->sites) {
		good = watch_sites(&series, how, seconds);
		if (good)
			chosen->growing = keep_growing(control, &series, how->sites);
		series_free(&series);
	}
	chosen->split = control->count;
	if (good && kept)
		return true;
	control_free(control);
	return false;
}

/* ---- what their callers hold ------------------------------------------------------ */

struct watched {
	struct stack_watch watch;
	struct contexts last;
	struct contexts dropped;	/* caches were dropped after this snapshot, at … */
	double dropped_at;	/* … this time; 0: they were not */
	int64_t lost;		/* allocations without a context */
	double seconds;
	double start;
};

static int64_t lost_of(const struct contexts *contexts)
{
	int64_t lost = 0;

	for (size_t i = 0; i < contexts->splits; i++)
		lost = add64(lost, contexts->split[i].lost);
	return lost;
}

/* Waits until the time is over or a signal comes; false after a message. */
static bool watch_stacks(struct watched *watched, const struct leaks_stacks *how,
			 double step, double seconds)
{
	const struct contexts_choice choice = { .dir = how->dir };
	double start = watched->start = (double)wall_clock() / 1000;
	struct interval interval;
	int64_t lost = -1;

	interval_start(&interval, step);
	do {
		struct contexts contexts;

		watched->seconds = (double)wall_clock() / 1000 - start;
		say("watching the memory of callers,", fmax(seconds - watched->seconds, 0));
		if (!contexts_read(&contexts, &choice))
			return false;
		contexts_free(&watched->last);
		watched->last = contexts;
		if (!contexts_complete(&contexts, contexts_name(&choice)))
			return false;
		if (lost < 0)
			lost = lost_of(&contexts);
		watched->lost = lost_of(&contexts) - lost;
		/* Before that time no memory can be old. */
		if (watched->seconds >= (double)watched->watch.old + step)
			stack_watch_add(&watched->watch, watched->seconds, &contexts);
	} while (watched->seconds + step / 2 < seconds && watched->watch.count < TREND_MAX &&
		 interval_wait(&interval));
	return true;
}

/* A test's made-up kernel has the file beside the others. */
static bool watch_dropped(struct watched *watched, const struct leaks_stacks *how)
{
	const struct contexts_choice choice = { .dir = how->dir };
	char *path = how->dir.given ? debugfs_path(&how->dir, "drop_caches") : xstrdup(DROP_PATH);
	bool good;

	say("dropping caches,", 1);
	good = drop_caches(path) && contexts_read(&watched->dropped, &choice);
	free(path);
	watched->dropped_at = (double)wall_clock() / 1000 - watched->start;
	return good && contexts_complete(&watched->dropped, contexts_name(&choice));
}

/* ---- the report --------------------------------------------------------------------- */

struct report {
	const struct leaks_stacks *how;
	const struct watched *watched;
	const struct stack_findings *found;
	const struct chosen *chosen;
	struct causes causes;
	size_t leaks, unsure;		/* causes */
	size_t shown;
	bool human;
	struct helpers helpers;
	struct callers callers;
	struct text text;
};

static const char *size(char out[SIZE_TEXT], double bytes, bool human)
{
	return size_format(out, llround(bytes), human);
}

/* The name of the caller, or the function of the site where there is none. */
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

/* The number of old intervals that there can have been. */
static size_t intervals_of(const struct report *r, const struct stack_finding *f)
{
	double all = (r->watched->seconds - (double)r->watched->watch.old) /
		     (double)(f->length > 0 ? f->length : 1);

	return fmax(all, (double)f->intervals);
}

static double chance_of(const struct report *r, const struct stack_finding *f)
{
	return fmin(f->trend.drift.chance * 2 * (double)r->found->tested, 1);
}

/* Says in words that random ups and downs are not the only other explanation. */
static void print_chance(double chance)
{
	fputs("    Random ups and downs alone look like this ", stdout);
	if (chance < 1e-6)
		fputs("in less than one of a million such runs", stdout);
	else if (chance < 0.01)
		printf("once in %.0f such runs", 1 / chance);
	else
		printf("in %.0f of 100 such runs", ceil(100 * chance));
	puts("; a cache that still fills does, too.");
}

static void print_growth(struct report *r, const struct stack_finding *f)
{
	const struct trend *t = &f->trend;
	char rate[SIZE_TEXT], low[SIZE_TEXT], high[SIZE_TEXT];

	printf("    Memory older than %" PRId64 " s grew in %zu of %zu steps", r->watched->watch.old,
	       t->ups, t->steps);
	if (t->downs)
		printf(" and gave back %.0f %% of that", 100 * t->fallen / t->risen);
	else
		fputs(" and never shrank", stdout);
	if (f->goes) {
		puts(", and went when caches were dropped.");
		return;
	}
	if (f->certainty != STACK_LEAKS) {
		puts(f->certainty == STACK_UNSURE ?
		     ", which can be chance: watch for longer (--for) to be sure." :
		     ", not steadily.");
		return;
	}
	printf(", by %s per minute (95 %% sure: %s to %s).\n", size(rate, t->drift.slope * 60, r->human),
	       size(low, fmax(t->drift.low, 0) * 60, r->human),
	       size(high, t->drift.high * 60, r->human));
	print_chance(chance_of(r, f));
}

static void print_tasks(const struct stack_finding *f)
{
	size_t known = f->tasks < STACK_TASKS ? f->tasks : STACK_TASKS;

	for (size_t i = 0; i < known; i++)
		printf("%s%s", i ? ", " : "", f->task[i].name);
	if (f->tasks > known)
		printf(" and %zu more", f->tasks - known);
}

static void print_finding(struct report *r, const struct stack_finding *f)
{
	char all[SIZE_TEXT], old[SIZE_TEXT];

	print_stack(r, f);
	if (f->tasks) {
		fputs("    Tasks: ", stdout);
		print_tasks(f);
		puts(".");
	}
	printf("    It holds %s in %" PRId64 " allocations, of which %s in %" PRId64
	       " are more than %" PRId64 " s old.\n",
	       size(all, (double)f->all.bytes, r->human), f->all.calls,
	       size(old, (double)f->old.bytes, r->human), f->old.calls, r->watched->watch.old);
	printf("    The oldest is %" PRId64 " s old%s; %zu of %zu intervals since then still hold memory.\n",
	       f->since, (double)(f->since + f->length) >= r->watched->seconds ?
	       ", from when watching began" : "", f->intervals, intervals_of(r, f));
	if (f->old.allocs > f->old.calls)
		printf("    1 in %.0f of the allocations of these intervals was not freed.\n",
		       (double)f->old.allocs / (double)f->old.calls);
	else
		puts("    None of the allocations of these intervals was freed.");
	print_growth(r, f);
}

/* Prints a line for each cause: caller, rate, tasks, and the number of stacks. */
static void print_cause(struct report *r, size_t number)
{
	const struct cause *cause = &r->causes.cause[number];
	const struct stack_finding *f = &r->found->finding[cause->finding];
	const struct frame *asked = cause_frame(&r->watched->last, f->context);
	char rate[SIZE_TEXT];

	printf("%2zu. %s %s", number + 1, caller_name(r, f), cause->leaks ? "leaks" : "may leak");
	if (cause->leaks)
		printf(" %s per minute", size(rate, cause->rate * 60, r->human));
	if (asked && asked != r->callers.function) {
		text_clear(&r->text);
		frame_name(&r->text, asked);
		printf(" in %s", r->text.s);
	}
	if (f->tasks) {
		fputs(", by ", stdout);
		print_tasks(f);
	}
	if (cause->stacks > 1)
		printf("; %zu stacks, %zu call sites", cause->stacks, cause->sites);
	putchar('\n');
	for (size_t i = 0, printed = 0; i < r->found->count; i++) {
		if (r->causes.of[i] != number || (printed && !r->how->selection->all))
			continue;
		if (printed++)
			printf("    And %s:\n", caller_name(r, &r->found->finding[i]));
		print_finding(r, &r->found->finding[i]);
	}
}

/* Stacks that grew in another way are numbered after the causes. */
static size_t print_others(struct report *r, size_t printed)
{
	for (size_t i = 0; i < r->found->count && printed < r->shown; i++) {
		if (r->causes.of[i] != SIZE_MAX)
			continue;
		printf("%2zu. %s grew\n", ++printed, caller_name(r, &r->found->finding[i]));
		print_finding(r, &r->found->finding[i]);
	}
	return printed;
}

/* Prints the limits of this run. */
static void print_limits(const struct report *r)
{
	const struct chosen *chosen = r->chosen;
	const struct watched *w = r->watched;

	if (w->lost)
		printf("%" PRId64 " allocations got no context and were not watched\n", w->lost);
	if (!chosen)
		return;
	if (chosen->growing > chosen->split)
		printf("%zu call sites grew, of which the %zu that grew most were watched: --sites N watches more\n",
		       chosen->growing, chosen->split);
	if (chosen->apart && !r->how->selection->query_text.len)
		printf("%zu call sites of caches, process memory, slabs and the profiler were left out%s\n",
		       chosen->apart, r->how->drop ? "" : " (--drop watches and tests caches, too)");
	if (!r->leaks)
		printf("a leak less often than every %.0f s does not show in this time: watch longer (--for 30m)\n",
		       fmax((double)w->watch.old / 2, 1));
}

static void print_text(struct report *r)
{
	const struct watched *w = r->watched;
	size_t printed;

	for (printed = 0; printed < r->causes.count && printed < r->shown; printed++)
		print_cause(r, printed);
	if (r->how->selection->all)
		printed = print_others(r, printed);
	if (r->how->output->no_headings)
		return;
	printf("%sleaks: %zu, unsure: %zu, grown in another way: %zu; %zu call site%s split by stack and age for %.0f s, %zu stacks with old memory\n",
	       printed ? "\n" : "", r->leaks, r->unsure,
	       r->found->count - r->found->leaks - r->found->unsure, r->chosen->split, r->chosen->split == 1 ? "" : "s", w->seconds, w->watch.series.names.count);
	if (r->found->gone)
		printf("stacks that leaked or may have, until caches were dropped: %zu\n", r->found->gone);
	print_limits(r);
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
	json_array(json, "tasks");
	for (size_t i = 0; i < f->tasks && i < STACK_TASKS; i++)
		json_string(json, NULL, f->task[i].name);
	json_end_array(json);
	if (r->causes.of[f - r->found->finding] == SIZE_MAX)
		json_null(json, "cause");
	else
		json_int(json, "cause", r->causes.of[f - r->found->finding] + 1);
	json_string(json, "kind", kind_word(site_kind(&f->context->site)));
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
	json_int(&json, "sites", r->chosen->split);
	json_int(&json, "growing", r->chosen->growing);
	json_int(&json, "not_profiled", r->chosen->off);
	json_int(&json, "causes", r->leaks);
	json_int(&json, "tested", r->found->tested);
	json_int(&json, "suspects", r->found->leaks);
	json_int(&json, "lost", r->watched->lost);
	json_array(&json, "rows");
	for (size_t i = 0; i < r->shown; i++)
		finding_json(r, &r->found->finding[i], &json);
	json_end_array(&json);
	json_end_object(&json);
}

static void count_causes(struct report *r)
{
	for (size_t i = 0; i < r->causes.count; i++) {
		r->leaks += r->causes.cause[i].leaks > 0;
		r->unsure += !r->causes.cause[i].leaks;
	}
}

/* How many findings are printed: causes and other stacks in text, each stack in JSON. */
static size_t shown_of(const struct report *r)
{
	const struct selection *selection = r->how->selection;
	size_t surely = r->found->leaks + r->found->unsure, shown = r->found->count;

	if (!r->how->output->json)
		shown = selection->all ? r->causes.count + r->found->count - surely : r->causes.count;
	else if (!selection->all)
		shown = surely;
	return selection->top && selection->top < shown ? selection->top : shown;
}

static int report(const struct leaks_stacks *how, const struct watched *watched,
		  const struct chosen *chosen)
{
	const struct selection *selection = how->selection;
	struct stack_findings found;
	struct report r = {
		.how = how, .watched = watched, .found = &found, .chosen = chosen,
		.human = output_human(how->output),
	};
	int status;

	stack_watch_find(&found, &watched->watch, &watched->last,
			 selection->has_min ? selection->min : 1);
	if (watched->dropped_at > 0)
		stack_watch_dropped(&found, &watched->watch, watched->dropped_at, &watched->dropped);
	causes_find(&r.causes, &found, &watched->last);
	count_causes(&r);
	r.shown = shown_of(&r);
	if (how->output->json)
		print_json(&r);
	else
		print_text(&r);
	status = found.leaks ? STATUS_FOUND : chosen->off ? STATUS_TROUBLE : STATUS_OK;
	causes_free(&r.causes);
	callers_free(&r.callers);
	text_free(&r.text);
	stack_findings_free(&found);
	return status;
}

#ifdef HAVE_SQLITE
/* The chosen contexts of snapshot @i; false after a message. */
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

/* The longest interval of age. The current one has not ended. */
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
	size_t first = recorded_since_boot(recording, how->selection->path);
	size_t count = recording_count(recording) - first, take = count < TREND_MAX ? count : TREND_MAX;
	int64_t lost = -1;
	double start = 0;

	if (!load_contexts(&watched->last, recording, first + count - 1, how))
		return false;
	stack_watch_start(&watched->watch, 2 * age_interval(&watched->last));
	for (size_t k = 0; k < take; k++) {
		size_t i = recording_pick(recording, first, k, take);
		double time = (double)recording_time(recording, i) / 1000;

		contexts_free(&watched->last);
		if (!load_contexts(&watched->last, recording, i, how))
			return false;
		/* The analysis begins when the first site is split. */
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

static bool is_wanted(void *query, const struct site *site)
{
	return query_match(query, site) && site_kind(site) != KIND_ALLOCATOR;
}

int leaks_stacks_recorded(const struct leaks_stacks *how)
{
	const struct recording_choice choice = { .keep = is_wanted, .context = how->selection->query };
	struct recording *recording = open_recording(how->selection->path);
	struct profiled profiling;
	struct watched watched = { 0 };
	struct chosen chosen = { 0 };
	int status = STATUS_TROUBLE;

	if (!recording)
		return status;
	if (!count_unprofiled(recording, &choice, &profiling)) {
		recording_close(recording);
		return status;
	}
	chosen.off = profiling.off;
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
		chosen.split = chosen.growing = watched.last.splits;
		status = report(how, &watched, &chosen);
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
	/* A sixth of the time finds the sites that grow; memory is old after two intervals. */
	double finding = (double)how->seconds / 6, left;
	struct watched watched = { 0 };
	struct splitting splitting;
	struct control control;
	struct chosen chosen;
	char self[17] = "";
	int status = STATUS_TROUBLE;
	double start = (double)wall_clock() / 1000;
	int64_t step;
	bool good;

	interrupt_catch();
	if (!choose_sites(&control, how, &chosen, finding)) {
		say_no_more();
		return STATUS_TROUBLE;
	}
	left = (double)how->seconds - ((double)wall_clock() / 1000 - start);
	step = (int64_t)fmax(round(left / STACKS_READINGS), 1);
	stack_watch_start(&watched.watch, 2 * step);
	/* The name of this task in contexts: its own allocations are left out. */
	if (!prctl(PR_GET_NAME, self))
		watched.watch.self = self;
	good = splitting_begin(&splitting, &how->dir, &control, step);
	if (good) {
		good = watch_stacks(&watched, how, (double)step, left) &&
		       (!how->drop || watch_dropped(&watched, how));
		good &= splitting_end(&splitting);
	}
	say_no_more();
	if (good && watched.watch.count < TREND_MIN)
		warning("interrupted after %.0f s: that is too short to tell", watched.seconds);
	else if (good)
		status = report(how, &watched, &chosen);
	contexts_free(&watched.last);
	contexts_free(&watched.dropped);
	stack_watch_free(&watched.watch);
	control_free(&control);
	return status;
}
