/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How does a series grow? A series counts as steady, like a leak, only if that can hardly be
 * chance: among as many series as there are call sites, some always look like anything.
 */
#ifndef CODETAG_TREND_H
#define CODETAG_TREND_H

#include <stddef.h>

#include "analysis/drift.h"

enum verdict {
	TREND_LEAK,	/* grows steadily and does not come back */
	TREND_STARTED,	/* the same, but only in the second half */
	TREND_SAWTOOTH,	/* grows and is freed again */
	TREND_STEP,	/* grew once, or twice */
	TREND_STOPPED,	/* grew, but no longer does */
	TREND_UNSTEADY,	/* grew, in none of these ways */
	TREND_NONE,	/* did not grow */
};

struct trend {
	enum verdict verdict;
	struct drift drift;	/* the other conditions of a leak hold, so this was computed */
	double growth;		/* last value less the first */
	double risen, fallen;	/* sums of the steps up and down */
	double largest, second;	/* steps up */
	size_t ups, downs, steps;
};				/* TREND_STARTED: all but growth are of the second half */

#define TREND_MIN DRIFT_MIN	/* points */
#define TREND_MAX DRIFT_MAX

/* The probability that at least one tested series is called a leak by mistake. */
#define TREND_FALSE 0.01

/*
 * @time in seconds, ascending; TREND_MIN <= @count <= TREND_MAX. The series is one of @tested.
 */
void trend_find(struct trend *trend, const double *time, const double *value,
		size_t count, size_t tested);

const char *trend_word(enum verdict verdict);

#endif
