/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a series drift in one direction, or does it only wander?
 *
 * Values of a machine are not independent: what is large now is large in the next
 * snapshot, too, and a walk at random has no trend, but looks as if it had one. So
 * the series is taken for a straight line and noise that remembers, an ARMA(1,1)
 * process, from independent values over a random walk to a walk under noise; for
 * each of a grid of them the slope is estimated by generalised least squares.
 * What counts is the least favourable of those processes that the data do not
 * speak against (restricted likelihood). So a long record of a slow leak under
 * noise is found, since it shows that the noise does not walk, and a short one is not.
 */
#ifndef CODETAG_DRIFT_H
#define CODETAG_DRIFT_H

#include <stddef.h>

struct drift {
	double slope;		/* a second */
	double low, high;	/* the interval that holds it with 95 % */
	double chance;		/* of such a rise, or a steeper one, without any drift */
};

#define DRIFT_MIN 6	/* values */
#define DRIFT_MAX 128

/* @time ascends; DRIFT_MIN <= @count <= DRIFT_MAX. */
void drift_find(struct drift *drift, const double *time, const double *value, size_t count);

#endif
