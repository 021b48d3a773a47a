// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/drift.h"

#include <math.h>

/* u(t) = memory * u(t-1) + e(t) + echo * e(t-1). With memory 1 it is a random walk. */
static const double memories[] = { 0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 1 };
static const double echoes[] = { -0.97, -0.93, -0.85, -0.7, -0.5, -0.25, 0, 0.4, 0.9 };

#define MEMORIES (sizeof(memories) / sizeof(*memories))
#define ECHOES (sizeof(echoes) / sizeof(*echoes))

/*
 * A process is ruled out if another one makes the series this much more likely (the logarithm
 * of the ratio). By trial: 4 calls more random walks leaks than @chance says; 7 misses leaks
 * under noise in short records.
 */
#define FAR_LESS_LIKELY 5

/* The variance of the first value of a walk, in units of that of a step: any large number. */
#define ANYWHERE 1e7

/* A straight line has no noise, and the logarithm of 0 must not be taken. */
#define LEAST_NOISE 1e-14

struct fit {
	double slope, error;	/* and its standard error */
	double likelihood;	/* its logarithm, up to a constant */
};

/*
 * Subtracts from each value the value expected from those before it (the innovations
 * algorithm), and does the same to the two terms of the line. The remainders are independent.
 */
static struct fit fit_line(double memory, double echo, const double *x, const double *y,
			   size_t count)
{
	double variance = memory < 1 ? (1 + 2 * memory * echo + echo * echo) /
				       (1 - memory * memory) : ANYWHERE;
	double one = 0, rest_x = 0, rest_y = 0;
	double s11 = 0, s1x = 0, sxx = 0, s1y = 0, sxy = 0, syy = 0, logs = 0;
	double det, level, noise;
	struct fit fit;

	for (size_t i = 0; i < count; i++) {
		double kept = i ? echo / variance : 0;

		one = 1 - (i ? memory + kept * one : 0);
		rest_x = x[i] - (i ? memory * x[i - 1] + kept * rest_x : 0);
		rest_y = y[i] - (i ? memory * y[i - 1] + kept * rest_y : 0);
		if (i)
			variance = 1 + echo * echo - echo * echo / variance;
		s11 += one * one / variance;
		s1x += one * rest_x / variance;
		sxx += rest_x * rest_x / variance;
		s1y += one * rest_y / variance;
		sxy += rest_x * rest_y / variance;
		syy += rest_y * rest_y / variance;
		logs += log(variance);
	}
	det = s11 * sxx - s1x * s1x;
	fit.slope = (s11 * sxy - s1x * s1y) / det;
	level = (s1y - fit.slope * s1x) / s11;
	noise = fmax(syy - level * s1y - fit.slope * sxy, LEAST_NOISE);
	fit.error = sqrt(noise / (double)(count - 2) * s11 / det);
	fit.likelihood = -(logs + log(det) + (double)(count - 2) * log(noise)) / 2;
	return fit;
}

/* Student's distribution: P(T > @t), approximated from above (Wallace). */
static double beyond(double t, double freedom)
{
	double z = (8 * freedom + 1) / (8 * freedom + 3) *
		   sqrt(freedom * log1p(t * t / freedom));

	return erfc((t > 0 ? z : -z) / sqrt(2)) / 2;
}

/* The quantile at 97.5 % (Cornish and Fisher). */
static double reach(double freedom)
{
	double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

/* Makes the mean 0 and the sum of squares 1; returns the divisor. */
static double normalise(double *out, const double *in, size_t count)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += in[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (in[i] - mean) * (in[i] - mean);
	squares = sqrt(squares);
	for (size_t i = 0; i < count; i++)
		out[i] = squares > 0 ? (in[i] - mean) / squares : 0;
	return squares;
}

void drift_find(struct drift *drift, const double *time, const double *value, size_t count)
{
	/* One degree of freedom less, because the data choose the process, too. */
	double freedom = (double)count - 3, far = reach(freedom);
	double x[DRIFT_MAX], y[DRIFT_MAX], scale_x, scale_y, scale;
	double best = -INFINITY, least = INFINITY;
	struct fit fits[MEMORIES][ECHOES];

	scale_x = normalise(x, time, count);
	scale_y = normalise(y, value, count);
	*drift = (struct drift){ .chance = 1 };
	if (scale_x <= 0 || scale_y <= 0)
		return;
	for (size_t m = 0; m < MEMORIES; m++) {
		for (size_t e = 0; e < ECHOES; e++) {
			fits[m][e] = fit_line(memories[m], echoes[e], x, y, count);
			best = fmax(best, fits[m][e].likelihood);
		}
	}
	scale = scale_y / scale_x;
	drift->low = INFINITY;
	drift->high = -INFINITY;
	for (size_t i = 0; i < MEMORIES * ECHOES; i++) {
		const struct fit *fit = &fits[i / ECHOES][i % ECHOES];
		double t = fit->slope / fit->error;

		if (fit->likelihood < best - FAR_LESS_LIKELY)
			continue;
		drift->low = fmin(drift->low, scale * (fit->slope - far * fit->error));
		drift->high = fmax(drift->high, scale * (fit->slope + far * fit->error));
		if (t >= least)
			continue;
		least = t;
		drift->slope = scale * fit->slope;
		drift->chance = beyond(t, freedom);
	}
}
