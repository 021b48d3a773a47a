/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a series grow, and how sure is that? Medians and ranks instead of means:
 * one outlier, or one big allocation at the start, does not make a leak.
 */
#ifndef CODETAG_TREND_H
#define CODETAG_TREND_H

#include <stddef.h>

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
	double slope;		/* per second: median of all pairs (Theil and Sen) */
	double low, high;	/* its 95 % confidence interval */
	double chance;		/* of such an order of values without a trend
				   (Mann and Kendall), one-sided */
	double growth;		/* last less first */
	double risen, fallen;	/* sums of the steps up and down */
	double largest, second;	/* steps up */
	size_t ups, downs, steps;
};				/* TREND_STARTED: all but growth of the second half */

#define TREND_MIN 6	/* points */
#define TREND_MAX 128

/* @time in seconds, ascending; TREND_MIN <= @count <= TREND_MAX. */
void trend_find(struct trend *trend, const double *time, const double *value,
		size_t count);

const char *trend_word(enum verdict verdict);

#endif
