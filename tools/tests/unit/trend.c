// SPDX-License-Identifier: GPL-2.0
#include "analysis/trend.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "unit.h"

#define COUNT 40

/* Always the same pseudo-random numbers, from 0 to 1. */
static double noise(void)
{
	static uint32_t state = 12345;

	state = state * 1664525 + 1013904223;
	return (double)(state >> 8) / (1 << 24);
}

static double steady(int i) { return 1000.0 * i; }
static double noisy(int i) { return 1000.0 * i + 4000 * noise(); }
static double constant(int i) { (void)i; return 5000; }
static double random_values(int i) { (void)i; return 5000 * noise(); }
static double shrinking(int i) { return 100000 - 1000.0 * i; }
static double saw(int i) { return 1000.0 * (i % 8); }
static double rising_saw(int i) { return 1000.0 * (i % 4) + 700.0 * i; }
static double one_step(int i) { return i < 13 ? 1000 : 90000; }
static double early(int i) { return i < 12 ? 1000.0 * i : 12000; }
static double two_steps(int i) { return 1000 + 90000.0 * ((i >= 13) + (i >= 26)); }
static double late(int i) { return i < 20 ? 1000 + 100 * noise() : 1000.0 * (i - 19); }
static double one_reset(int i) { return 1000.0 * (i % 27); }
static double seldom(int i) { return 4096.0 * (i / 4); }

void test_trend(void)
{
	static const struct {
		const char *name;
		double (*value)(int i);
		enum verdict verdict;
	} series[] = {
		{ "steady", steady, TREND_LEAK },
		{ "noisy", noisy, TREND_LEAK },
		{ "rising sawtooth", rising_saw, TREND_LEAK },
		{ "one step in four", seldom, TREND_LEAK },
		{ "constant", constant, TREND_NONE },
		{ "shrinking", shrinking, TREND_NONE },
		{ "sawtooth", saw, TREND_SAWTOOTH },
		{ "random values", random_values, TREND_SAWTOOTH },
		{ "one step", one_step, TREND_STEP },
		{ "two steps", two_steps, TREND_STEP },
		{ "early growth", early, TREND_STOPPED },
		{ "late growth", late, TREND_STARTED },
		{ "growth, given back once", one_reset, TREND_UNSTEADY },
	};
	double time[TREND_MAX], value[TREND_MAX];
	struct trend trend;
	int leaks = 0;

	for (int i = 0; i < TREND_MAX; i++)
		time[i] = 10.0 * i;
	for (size_t s = 0; s < sizeof(series) / sizeof(*series); s++) {
		for (int i = 0; i < COUNT; i++)
			value[i] = series[s].value(i);
		trend_find(&trend, time, value, COUNT);
		expect(trend.verdict == series[s].verdict, "trend of %s is %s, is %s",
		       series[s].name, trend_word(series[s].verdict),
		       trend_word(trend.verdict));
		if (series[s].value == steady)
			expect(fabs(trend.slope - 100) < 1e-9 &&
			       fabs(trend.low - 100) < 1e-9 &&
			       fabs(trend.high - 100) < 1e-9 && trend.chance < 1e-6,
			       "slope of a straight line");
		if (series[s].value == noisy)
			expect(trend.low < 100 && 100 < trend.high &&
			       trend.high - trend.low < 40,
			       "the interval holds the true slope");
	}
	/* One wild value moves the mean slope, not the median. */
	for (int i = 0; i < COUNT; i++)
		value[i] = steady(i);
	value[COUNT - 1] = 1e9;
	trend_find(&trend, time, value, COUNT);
	expect(fabs(trend.slope - 100) < 10, "an outlier does not move the slope");

	/* Random walks: few may be taken for leaks. */
	for (int walk = 0; walk < 200; walk++) {
		value[0] = 1e6;
		for (int i = 1; i < COUNT; i++)
			value[i] = value[i - 1] + 1000 * (noise() - 0.5);
		trend_find(&trend, time, value, COUNT);
		leaks += trend.verdict == TREND_LEAK || trend.verdict == TREND_STARTED;
	}
	expect(leaks < 30, "random walks taken for leaks: %d of 200", leaks);

	for (int i = 0; i < TREND_MIN; i++)
		value[i] = steady(i);
	trend_find(&trend, time, value, TREND_MIN);
	expect(trend.verdict == TREND_LEAK, "as few points as there may be");
	/*
	 * Either side of the significance that it takes, 0.01: S is 15, then 13, its
	 * variance 6 * 5 * 17 / 18. All else speaks for a leak in both.
	 */
	expect(fabs(trend.chance - 0.00427) < 1e-5, "chance of 15 of 15 pairs: %g",
	       trend.chance);
	value[2] = steady(3);
	value[3] = steady(2);
	trend_find(&trend, time, value, TREND_MIN);
	expect(fabs(trend.chance - 0.01209) < 1e-5 && trend.low > 0 &&
	       trend.verdict != TREND_LEAK, "chance of 14 of 15 pairs is too high: %g, %s",
	       trend.chance, trend_word(trend.verdict));
}
