/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How does a series grow? Steadily, as a leak does, is said only of what can hardly
 * be chance: where as many series are looked at as there are call sites, some of
 * them will always look like anything.
 */
#ifndef CODETAG_TREND_H
#define CODETAG_TREND_H

#include <stddef.h>

#include "analysis/drift.h"

enum verdict {
	TREND_LEAK,	/* grows steadily, does not come back */
	TREND_STARTED,	/* the same, but in the second half only */
	TREND_SAWTOOTH,	/* grows and is freed again */
	TREND_STEP,	/* grew once, or twice */
	TREND_STOPPED,	/* grew, but no longer does */
	TREND_UNSTEADY,	/* grew, in none of these ways */
	TREND_NONE,	/* did not grow */
};

struct trend {
	enum verdict verdict;
	struct drift drift;	/* found where all else speaks for a leak */
	double growth;		/* last less first */
	double risen, fallen;	/* sums of the steps up and down */
	double largest, second;	/* steps up */
	size_t ups, downs, steps;
};				/* TREND_STARTED: all but growth of the second half */

#define TREND_MIN DRIFT_MIN	/* points */
#define TREND_MAX DRIFT_MAX

/* How likely it may be that any of the series that are tested is a leak by mistake. */
#define TREND_FALSE 0.01

/*
 * @time in seconds, ascending; TREND_MIN <= @count <= TREND_MAX; this is one of
 * @tested series.
 */
void trend_find(struct trend *trend, const double *time, const double *value,
		size_t count, size_t tested);

const char *trend_word(enum verdict verdict);

#endif
