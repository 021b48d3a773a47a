/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a series drift in one direction, or does it only wander? Values of a machine are not
 * independent: a large value stays large in the next snapshot, and a random walk has no trend
 * but looks as if it had one. So the model is a straight line plus noise that remembers, an
 * ARMA(1,1) process: from independent values over a random walk to a walk under noise. For each
 * process of a grid the slope is estimated by generalised least squares. The result is that of
 * the least favourable process that the data do not rule out (restricted likelihood). So a slow
 * leak under noise is found in a long record, which shows that the noise does not walk, and not
 * in a short one.
 */
#ifndef CODETAG_DRIFT_H
#define CODETAG_DRIFT_H

#include <stddef.h>

struct drift {
	double slope;		/* a second */
	double low, high;	/* its interval of 95 % confidence */
	double chance;		/* chance of such a rise, or a steeper one, without any drift */
};

#define DRIFT_MIN 6	/* values */
#define DRIFT_MAX 128

/* @time ascends; DRIFT_MIN <= @count <= DRIFT_MAX. */
void drift_find(struct drift *drift, const double *time, const double *value, size_t count);

#endif
