/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which callers hold memory that is old and grows? Call sites are split by stack and
 * age, and read again and again. What a stack allocated long ago and still holds is a
 * series over time: a leak adds to it in every interval, and what is only in use, however
 * much it is, never gets into it or leaves it again.
 */
#ifndef CODETAG_STACK_WATCH_H
#define CODETAG_STACK_WATCH_H

#include "analysis/trend.h"
#include "model/context_group.h"
#include "model/series.h"

struct stack_watch {
	const char *self;	/* what this task allocates is left out; NULL: nothing */
	int64_t old;		/* seconds: what is allocated so long ago is old */
	struct series series;	/* old memory of each stack, by its site and frames */
	double time[TREND_MAX];	/* seconds since the sites were split */
	size_t count;
};

void stack_watch_start(struct stack_watch *watch, int64_t old);

/* What is read at @time; what was allocated before time 0 is not looked at. */
void stack_watch_add(struct stack_watch *watch, double time, const struct contexts *contexts);

/* Tasks that are told by name. */
#define STACK_TASKS 3

enum certainty {
	STACK_LEAKS,
	STACK_UNSURE,	/* it has only grown, but that can be chance */
	STACK_GREW,	/* in another way: once, or to and fro */
};

struct stack_finding {
	enum certainty certainty;
	size_t stack;			/* its number in the series */
	const struct context *context;	/* one with this stack, in what was read last */
	struct trend trend;		/* of old memory */
	struct context_sum all, old;	/* now */
	int64_t since;			/* seconds ago: the oldest that is left */
	size_t intervals;		/* old ones of which something is left */
	int64_t length;			/* of such an interval, seconds */
	struct stack_task {		/* that allocated what is old, most of it first */
		const char *name;
		int64_t bytes;
	} task[STACK_TASKS];
	size_t tasks;			/* all of them; 0: not known */
	bool goes;			/* it went when caches were dropped: no leak */
};

struct stack_findings {
	struct stack_finding *finding;	/* leaks first, those that surely grow most */
	size_t count, leaks, unsure, gone;
	size_t tested;			/* stacks with more old memory than before */
};

/* @last: what was added last. Takes at least TREND_MIN readings; less than @min is left out. */
void stack_watch_find(struct stack_findings *found, const struct stack_watch *watch,
		      const struct contexts *last, int64_t min);

/*
 * Caches were dropped since, and @after is what is there now: what lost at least half of what
 * it grew by is a leak no more. In the order of before, but those come last.
 */
void stack_watch_dropped(struct stack_findings *found, const struct stack_watch *watch,
			 double time, const struct contexts *after);

void stack_findings_free(struct stack_findings *found);
void stack_watch_free(struct stack_watch *watch);

#endif
