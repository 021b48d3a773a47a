// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/trend.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void find_steps(struct trend *trend, const double *value, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		double step = value[i] - value[i - 1];

		if (step > 0) {
			trend->ups++;
			trend->risen += step;
			if (step > trend->largest) {
				trend->second = trend->largest;
				trend->largest = step;
			} else if (step > trend->second) {
				trend->second = step;
			}
		} else if (step < 0) {
			trend->downs++;
			trend->fallen -= step;
		}
	}
	trend->steps = count - 1;
	trend->growth = value[count - 1] - value[0];
}

static double median_of(const double *value, size_t count)
{
	double sorted[TREND_MAX];

	for (size_t i = 0; i < count; i++)
		sorted[i] = value[i];
	qsort(sorted, count, sizeof(*sorted), compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* A leak goes on: it grows from the first third to the second and from that to the last. */
static bool goes_on(const double *value, size_t count)
{
	size_t third = count / 3;
	double first = median_of(value, third);
	double middle = median_of(value + third, count - 2 * third);
	double last = median_of(value + count - third, third);
	double least = 0.2 * (last - first);

	return last > first && middle - first >= least && last - middle >= least;
}

static double range_of(const double *value, size_t count)
{
	double min = value[0], max = value[0];

	for (size_t i = 1; i < count; i++) {
		min = fmin(min, value[i]);
		max = fmax(max, value[i]);
	}
	return max - min;
}

static enum verdict judge(struct trend *trend, const double *time, const double *value,
			  size_t count, double chance)
{
	bool once = trend->largest + trend->second >= 0.8 * trend->risen;
	bool holds = trend->growth >= 0.5 * range_of(value, count);

	/* The expensive test comes last, and only for few series. */
	if (!once && holds && goes_on(value, count)) {
		drift_find(&trend->drift, time, value, count);
		if (trend->drift.chance <= chance)
			return TREND_LEAK;
	}
	if (trend->ups >= 2 && trend->downs >= 2 && !once &&
	    trend->fallen >= trend->risen / 2)
		return TREND_SAWTOOTH;
	if (trend->growth <= 0)
		return TREND_NONE;
	if (once && holds)
		return TREND_STEP;
	/* Growth from the middle on. */
	if (holds && value[count - 1] - value[count / 2] <= 0.1 * trend->growth)
		return TREND_STOPPED;
	return TREND_UNSTEADY;
}

static void find(struct trend *trend, const double *time, const double *value,
		 size_t count, double chance)
{
	*trend = (struct trend){ .drift.chance = 1 };
	find_steps(trend, value, count);
	trend->verdict = judge(trend, time, value, count, chance);
}

void trend_find(struct trend *trend, const double *time, const double *value,
		size_t count, size_t tested)
{
	/* Each series is tested twice: the whole, and its second half. */
	double chance = TREND_FALSE / (2 * (double)tested);
	size_t half = count / 2;
	struct trend late;

	find(trend, time, value, count, chance);
	if (trend->verdict != TREND_UNSTEADY || count - half < TREND_MIN ||
	    range_of(value, half) > 0.1 * trend->growth)
		return;
	find(&late, time + half, value + half, count - half, chance);
	if (late.verdict != TREND_LEAK)
		return;
	late.verdict = TREND_STARTED;
	late.growth = trend->growth;
	*trend = late;
}

const char *trend_word(enum verdict verdict)
{
	static const char *const words[] = {
		[TREND_LEAK] = "leak",
		[TREND_STARTED] = "started",
		[TREND_SAWTOOTH] = "sawtooth",
		[TREND_STEP] = "step",
		[TREND_STOPPED] = "stopped",
		[TREND_UNSTEADY] = "unsteady",
		[TREND_NONE] = "none",
	};

	return words[verdict];
}
