// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/stack_watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/group.h"

void stack_watch_start(struct stack_watch *watch, int64_t old)
{
	*watch = (struct stack_watch){ .old = old, .series.columns = TREND_MAX };
}

/* Finds its site and frames; false if it does not belong to this watch. */
static bool stack_of(struct text *name, const struct stack_watch *watch,
		     const struct contexts *contexts, const struct context *context, double time,
		     int64_t *from, int64_t *to)
{
	const char *task = context_value(contexts, context, "task");

	if (!context->frames || !context_age(contexts, context, from, to) ||
	    (double)*to > time + 1 || (task && watch->self && !strcmp(task, watch->self)))
		return false;
	text_clear(name);
	group_name(name, (struct grouping){ BY_SITE, 0 }, &context->site);
	for (size_t i = 0; i < context->frames; i++) {
		text_puts(name, "\n");
		frame_place(name, &contexts->frame[context->frame + i]);
	}
	return true;
}

void stack_watch_add(struct stack_watch *watch, double time, const struct contexts *contexts)
{
	struct text name = { 0 };
	int64_t from, to;

	for (size_t i = 0; i < contexts->count; i++) {
		const struct context *context = &contexts->context[i];
		struct sum sum = { context->site.bytes, context->site.calls, 1 };

		if (stack_of(&name, watch, contexts, context, time, &from, &to) && from >= watch->old)
			sum_add(&series_group(&watch->series, name.s, name.len)[watch->count],
				&sum);
	}
	watch->time[watch->count++] = time;
	text_free(&name);
}

static enum certainty certainty_of(const struct trend *trend)
{
	if (trend->verdict == TREND_LEAK || trend->verdict == TREND_STARTED)
		return STACK_LEAKS;
	return trend->verdict == TREND_UNSTEADY && !trend->downs ? STACK_UNSURE : STACK_GREW;
}

static double weight(const struct stack_finding *finding)
{
	return finding->certainty == STACK_LEAKS ? finding->trend.drift.low :
						   finding->trend.growth;
}

static int compare(const void *a, const void *b)
{
	const struct stack_finding *x = a, *y = b;
	double wx = weight(x), wy = weight(y);

	if (x->certainty != y->certainty)
		return x->certainty < y->certainty ? -1 : 1;
	return (wx < wy) - (wx > wy);
}

/* Is it the first context of this stack, whose @name is changed, and of this interval? */
static bool is_new(struct strmap *seen, struct text *name, int64_t to)
{
	size_t before = seen->count;

	text_printf(name, "\n%" PRId64, to);
	strmap_add(seen, name->s, name->len);
	return seen->count != before;
}

/* If there are more tasks than fit, those with most memory stay, as far as the order allows. */
static void add_task(struct stack_finding *f, const char *name, int64_t bytes)
{
	size_t i = 0, known = f->tasks < STACK_TASKS ? f->tasks : STACK_TASKS;

	if (!name)
		return;
	while (i < known && strcmp(f->task[i].name, name))
		i++;
	if (i == known) {
		f->tasks++;
		if (i == STACK_TASKS && bytes <= f->task[--i].bytes)
			return;
		f->task[i] = (struct stack_task){ name, 0 };
	}
	f->task[i].bytes = add64(f->task[i].bytes, bytes);
	for (; i && f->task[i].bytes > f->task[i - 1].bytes; i--) {
		struct stack_task lower = f->task[i - 1];

		f->task[i - 1] = f->task[i];
		f->task[i] = lower;
	}
}

/*
 * The memory that each stack holds now. A stack whose module came back has one context for each
 * time.
 */
static void add_last(struct stack_findings *found, const size_t *finding_of,
		     const struct stack_watch *watch, const struct contexts *last)
{
	double now = watch->time[watch->count - 1];
	struct strmap seen = { 0 };
	struct text name = { 0 };
	int64_t from, to;

	for (size_t i = 0; i < last->count; i++) {
		const struct context *context = &last->context[i];
		struct context_sum sum = context_sum_of(last, context);
		struct stack_finding *f;
		size_t stack;

		if (!stack_of(&name, watch, last, context, now, &from, &to))
			continue;
		stack = strmap_find(&watch->series.names, name.s, name.len);
		if (stack == STRMAP_NONE || finding_of[stack] == STRMAP_NONE)
			continue;
		f = &found->finding[finding_of[stack]];
		f->context = context;
		context_sum_add(&f->all, &sum);
		if (from < watch->old || !sum.calls)
			continue;
		context_sum_add(&f->old, &sum);
		add_task(f, context_value(last, context, "task"), sum.bytes);
		f->intervals += is_new(&seen, &name, to);
		f->since = to > f->since ? to : f->since;
		f->length = to - from;
	}
	strmap_free(&seen);
	text_free(&name);
}

static void bytes_of(const struct stack_watch *watch, size_t stack, double bytes[TREND_MAX])
{
	for (size_t c = 0; c < watch->count; c++)
		bytes[c] = (double)series_sums(&watch->series, stack)[c].bytes;
}

static bool grew(const double *bytes, size_t count, double min)
{
	return count && bytes[count - 1] - bytes[0] >= fmax(min, 1);
}

void stack_watch_find(struct stack_findings *found, const struct stack_watch *watch,
		      const struct contexts *last, int64_t min)
{
	size_t stacks = watch->series.names.count, kept = 0;
	size_t *finding_of = xcalloc(stacks, sizeof(*finding_of));
	double bytes[TREND_MAX];

	*found = (struct stack_findings){
		.finding = xcalloc(stacks, sizeof(*found->finding)),
	};
	for (size_t i = 0; i < stacks; i++) {
		bytes_of(watch, i, bytes);
		found->tested += grew(bytes, watch->count, (double)min);
	}
	for (size_t i = 0; i < stacks; i++) {
		struct stack_finding *f;

		finding_of[i] = STRMAP_NONE;
		bytes_of(watch, i, bytes);
		if (!grew(bytes, watch->count, (double)min))
			continue;
		finding_of[i] = found->count++;
		f = &found->finding[finding_of[i]];
		f->stack = i;
		trend_find(&f->trend, watch->time, bytes, watch->count, found->tested);
		f->certainty = certainty_of(&f->trend);
	}
	add_last(found, finding_of, watch, last);
	free(finding_of);
	/* A context that was made or freed during the last reading. */
	for (size_t i = 0; i < found->count; i++)
		if (found->finding[i].context)
			found->finding[kept++] = found->finding[i];
	found->count = kept;
	qsort(found->finding, found->count, sizeof(*found->finding), compare);
	for (size_t i = 0; i < found->count; i++) {
		found->leaks += found->finding[i].certainty == STACK_LEAKS;
		found->unsure += found->finding[i].certainty == STACK_UNSURE;
	}
}

/* The old memory in @after, by the numbers of the stacks. */
static int64_t *old_bytes(const struct stack_watch *watch, double time,
			  const struct contexts *after)
{
	int64_t *bytes = xcalloc(watch->series.names.count + 1, sizeof(*bytes)), from, to;
	struct text name = { 0 };

	for (size_t i = 0; i < after->count; i++) {
		const struct context *context = &after->context[i];
		size_t stack;

		if (!stack_of(&name, watch, after, context, time, &from, &to) || from < watch->old)
			continue;
		stack = strmap_find(&watch->series.names, name.s, name.len);
		if (stack != STRMAP_NONE)
			bytes[stack] = add64(bytes[stack], context->site.bytes);
	}
	text_free(&name);
	return bytes;
}

void stack_watch_dropped(struct stack_findings *found, const struct stack_watch *watch,
			 double time, const struct contexts *after)
{
	int64_t *bytes = old_bytes(watch, time, after);

	for (size_t i = 0; i < found->count; i++) {
		struct stack_finding *f = &found->finding[i];
		double first = (double)series_sums(&watch->series, f->stack)[0].bytes;

		if (f->certainty == STACK_GREW ||
		    (double)bytes[f->stack] - first > 0.5 * f->trend.growth)
			continue;
		found->leaks -= f->certainty == STACK_LEAKS;
		found->unsure -= f->certainty == STACK_UNSURE;
		found->gone++;
		f->goes = true;
		f->certainty = STACK_GREW;
	}
	qsort(found->finding, found->count, sizeof(*found->finding), compare);
	free(bytes);
}

void stack_findings_free(struct stack_findings *found)
{
	free(found->finding);
}

void stack_watch_free(struct stack_watch *watch)
{
	series_free(&watch->series);
}
