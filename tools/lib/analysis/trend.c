// SPDX-License-Identifier: GPL-2.0
#include "analysis/trend.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Variance of Kendall's S for @count values, sorted, with ties. */
static double variance_of_s(const double *sorted, size_t count)
{
	double n = (double)count;
	double variance = n * (n - 1) * (2 * n + 5);

	for (size_t i = 0, j; i < count; i = j) {
		double ties;

		for (j = i + 1; j < count && sorted[j] <= sorted[i]; j++)
			;
		ties = (double)(j - i);
		variance -= ties * (ties - 1) * (2 * ties + 5);
	}
	return variance / 18;
}

static double at_rank(const double *sorted, size_t count, double rank)
{
	if (rank < 0)
		rank = 0;
	if (rank > (double)(count - 1))
		rank = (double)(count - 1);
	return sorted[(size_t)rank];
}

static void find_slope(struct trend *trend, const double *time,
		       const double *value, size_t count)
{
	double *slope = xcalloc(count * (count - 1) / 2, sizeof(*slope));
	double *sorted = xcalloc(count, sizeof(*sorted));
	double s = 0, deviation, z = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < count; i++) {
		sorted[i] = value[i];
		for (size_t j = i + 1; j < count; j++) {
			if (time[j] <= time[i])
				continue;
			slope[pairs++] = (value[j] - value[i]) / (time[j] - time[i]);
			s += (value[j] > value[i]) - (value[j] < value[i]);
		}
	}
	qsort(slope, pairs, sizeof(*slope), compare);
	qsort(sorted, count, sizeof(*sorted), compare);
	deviation = sqrt(variance_of_s(sorted, count));
	if (deviation > 0)
		z = (s - (s > 0) + (s < 0)) / deviation;
	trend->chance = 0.5 * erfc(z / sqrt(2));
	if (pairs) {
		double middle = (double)(pairs - 1) / 2;
		double reach = 1.96 * deviation / 2;

		trend->slope = (at_rank(slope, pairs, floor(middle)) +
				at_rank(slope, pairs, ceil(middle))) / 2;
		trend->low = at_rank(slope, pairs, floor(middle - reach));
		trend->high = at_rank(slope, pairs, ceil(middle + reach));
	}
	free(slope);
	free(sorted);
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

/*
 * Values that drift at random look like a trend to a test of ranks. A leak goes
 * on: from the first third to the second and from that to the last.
 */
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

static enum verdict judge(const struct trend *trend, const double *value,
			  size_t count)
{
	bool once = trend->largest + trend->second >= 0.8 * trend->risen;
	bool holds = trend->growth >= 0.5 * range_of(value, count);

	if (!once && holds && trend->chance < 0.01 && trend->low > 0 &&
	    goes_on(value, count))
		return TREND_LEAK;
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
		 size_t count)
{
	*trend = (struct trend){ 0 };
	find_slope(trend, time, value, count);
	find_steps(trend, value, count);
	trend->verdict = judge(trend, value, count);
}

void trend_find(struct trend *trend, const double *time, const double *value,
		size_t count)
{
	size_t half = count / 2;
	struct trend late;

	find(trend, time, value, count);
	if (trend->verdict != TREND_UNSTEADY || count - half < TREND_MIN ||
	    range_of(value, half) > 0.1 * trend->growth)
		return;
	find(&late, time + half, value + half, count - half);
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
