/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which callers hold memory that is old and grows? Call sites are split by stack and age, and
 * read again and again. The old memory that a stack still holds is a series over time. A leak
 * adds to it in every interval. Memory that is merely in use, however much it is, never gets
 * into it or leaves it again.
 */
#ifndef CODETAG_STACK_WATCH_H
#define CODETAG_STACK_WATCH_H

#include "analysis/trend.h"
#include "model/context_group.h"
#include "model/series.h"

struct stack_watch {
	const char *self;	/* the task whose own allocations are left out; NULL: none */
	int64_t old;		/* memory is old after so many seconds */
	struct series series;	/* old memory of each stack, by its site and frames */
	double time[TREND_MAX];	/* seconds since the sites were split */
	size_t count;
};

void stack_watch_start(struct stack_watch *watch, int64_t old);

/* Adds a reading at @time; memory that was allocated before time 0 is left out. */
void stack_watch_add(struct stack_watch *watch, double time, const struct contexts *contexts);

/* The largest number of tasks that are named. */
#define STACK_TASKS 3

enum certainty {
	STACK_LEAKS,
	STACK_UNSURE,	/* has only grown, but that can be chance */
	STACK_GREW,	/* grew in another way: once, or to and fro */
};

struct stack_finding {
	enum certainty certainty;
	size_t stack;			/* number of the stack in the series */
	const struct context *context;	/* a context with this stack, from the last reading */
	struct trend trend;		/* of old memory */
	struct context_sum all, old;	/* now */
	int64_t since;			/* age in seconds of the oldest memory that is left */
	size_t intervals;		/* old intervals from which something is left */
	int64_t length;			/* of such an interval, seconds */
	struct stack_task {		/* tasks that allocated the old memory, largest first */
		const char *name;
		int64_t bytes;
	} task[STACK_TASKS];
	size_t tasks;			/* number of all tasks; 0: not known */
	bool goes;			/* was freed when caches were dropped: no leak */
};

struct stack_findings {
	struct stack_finding *finding;	/* leaks first, those that surely grow most */
	size_t count, leaks, unsure, gone;
	size_t tested;			/* stacks with more old memory than before */
};

/*
 * @last is the reading that was added last. Needs at least TREND_MIN readings; growth of less
 * than @min is left out.
 */
void stack_watch_find(struct stack_findings *found, const struct stack_watch *watch,
		      const struct contexts *last, int64_t min);

/*
 * Caches were dropped, and @after was read after that. A leak that lost at least half of its
 * growth is none. The order stays, but these come last.
 */
void stack_watch_dropped(struct stack_findings *found, const struct stack_watch *watch,
			 double time, const struct contexts *after);

void stack_findings_free(struct stack_findings *found);
void stack_watch_free(struct stack_watch *watch);

#endif
