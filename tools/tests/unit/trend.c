// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/trend.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "unit.h"

#define COUNT 40

/* The same pseudo-random numbers each time, from 0 to 1. */
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

/*
 * The rates of false alarms and of leaks found, on generated series. The sites of a machine are
 * tested together: in 99 of 100 recordings no site that does not leak may be a suspect.
 */
#define SITES 500	/* snapshots of each recording */

static double normal(void)
{
	return sqrt(-2 * log(noise() + 1e-9)) * cos(6.283185307 * noise());
}

static double remembered;	/* state left by the last value of a series */

static double remember(double part, double more)
{
	return remembered = part * remembered + more;
}

static double walk(int i) { (void)i; return remember(1, normal()); }
static double lazy_walk(int i)
{
	(void)i;
	return remember(1, noise() < 0.2 ? (noise() < 0.5 ? 1 : -1) : 0);
}
/* Some steps are much larger than most. */
static double wild_walk(int i) { (void)i; return remember(1, normal() / (noise() + 0.05)); }
static double noisy_walk(int i) { return walk(i) + 3 * normal(); }
static double white(int i) { (void)i; return normal(); }
static double red3(int i) { (void)i; return remember(0.3, normal()); }
static double red7(int i) { (void)i; return remember(0.7, normal()); }
static double red9(int i) { (void)i; return remember(0.9, normal()); }
static double red97(int i) { (void)i; return remember(0.97, normal()); }
static double day(int i) { return 5 * sin(i * 0.1) + normal(); }

/* Leaks of 40 to 1300 objects in 128 snapshots. */
static double even_leak(int i) { (void)i; return remember(1, 10 + 2 * normal()); }
static double slow_leak(int i) { (void)i; return remember(1, noise() < 0.3); }
static double rough_leak(int i) { (void)i; return remember(1, 0.8 + normal()); }
static double leak_under_white(int i) { return i + 8 * normal(); }
static double leak_under_red(int i) { return 0.5 * i + remember(0.7, normal()); }
static double bursts(int i) { (void)i; return remember(1, noise() < 0.5 ? 8 * noise() : 0); }

static int suspects(double (*value)(int i), int recordings, size_t count)
{
	double time[TREND_MAX], values[TREND_MAX];
	struct trend trend;
	int all = 0;

	for (size_t i = 0; i < count; i++)
		time[i] = 10.0 * (double)i;
	for (int s = 0; s < recordings * SITES; s++) {
		remembered = 0;
		for (size_t i = 0; i < count; i++)
			values[i] = value((int)i);
		trend_find(&trend, time, values, count, SITES);
		all += trend.verdict == TREND_LEAK || trend.verdict == TREND_STARTED;
	}
	return all;
}

/* 10,000 series without a leak, and 12,000 with one; the man page has the rates. */
static void test_rates(void)
{
	static const struct {
		const char *name;
		double (*value)(int i);
	} chance[] = {
		{ "a walk", walk }, { "a lazy walk", lazy_walk }, { "a wild walk", wild_walk },
		{ "a walk under noise", noisy_walk }, { "white noise", white },
		{ "noise that remembers 0.3", red3 }, { "noise that remembers 0.7", red7 },
		{ "noise that remembers 0.9", red9 }, { "noise that remembers 0.97", red97 },
		{ "days and nights", day },
	};
	static const struct {
		const char *name;
		double (*value)(int i);
		double least[2];	/* to be found in 16 and in 128 snapshots */
	} leaks[] = {
		{ "an even leak", even_leak, { 0.95, 1 } },
		{ "a slow leak", slow_leak, { 0, 0.95 } },
		{ "a rough leak", rough_leak, { 0, 0.98 } },
		{ "a leak under white noise", leak_under_white, { 0, 0.85 } },
		{ "a leak under noise that remembers 0.7", leak_under_red, { 0, 0.98 } },
		{ "bursts", bursts, { 0, 0.98 } },
	};
	static const size_t counts[] = { 16, 128 };

	for (size_t c = 0; c < 2; c++) {
		int alarms = 0, found;

		for (size_t k = 0; k < sizeof(chance) / sizeof(*chance); k++) {
			found = suspects(chance[k].value, 2, counts[c]);
			expect(found <= 1, "of %d times %s, in %zu snapshots %d are suspects",
			       2 * SITES, chance[k].name, counts[c], found);
			alarms += found;
		}
		expect(alarms <= 2, "of 10000 series that do not leak, in %zu snapshots %d are suspects",
		       counts[c], alarms);
		for (size_t k = 0; k < sizeof(leaks) / sizeof(*leaks); k++) {
			found = suspects(leaks[k].value, 4, counts[c]);
			expect(found >= leaks[k].least[c] * 4 * SITES,
			       "of %d times %s, in %zu snapshots %d are found",
			       4 * SITES, leaks[k].name, counts[c], found);
		}
	}
}

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

	for (int i = 0; i < TREND_MAX; i++)
		time[i] = 10.0 * i;
	for (size_t s = 0; s < sizeof(series) / sizeof(*series); s++) {
		for (int i = 0; i < COUNT; i++)
			value[i] = series[s].value(i);
		trend_find(&trend, time, value, COUNT, 1);
		expect(trend.verdict == series[s].verdict, "trend of %s is %s, is %s",
		       series[s].name, trend_word(series[s].verdict),
		       trend_word(trend.verdict));
		if (series[s].value == steady)
			expect(fabs(trend.drift.slope - 100) < 1e-3 &&
			       fabs(trend.drift.low - 100) < 1e-3 &&
			       fabs(trend.drift.high - 100) < 1e-3 && trend.drift.chance < 1e-9,
			       "slope of a straight line");
		if (series[s].value == noisy)
			expect(trend.drift.low < 100 && 100 < trend.drift.high &&
			       trend.drift.high - trend.drift.low < 60,
			       "the interval holds the true slope");
	}
	for (int i = 0; i < TREND_MIN; i++)
		value[i] = steady(i);
	trend_find(&trend, time, value, TREND_MIN, 2000);
	expect(trend.verdict == TREND_LEAK, "as few points as there may be");
	test_rates();
}
