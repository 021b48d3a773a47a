/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The distribution of a group's bytes over the machines of a fleet. A machine without the group
 * holds 0 bytes of it and counts like any other.
 */
#ifndef CODETAG_SPREAD_H
#define CODETAG_SPREAD_H

#include "model/fleet.h"

struct spread {
	size_t hosts;		/* hosts that hold anything */
	int64_t median;		/* for an even number of hosts: the mean of two, rounded down */
	int64_t p99;		/* the least value that 99 of 100 hosts do not exceed */
	size_t outliers;	/* so many of the first … */
	struct ranked_host {
		int64_t bytes;
		size_t host;
	} *ranked;		/* … hosts that hold most; there is at least one */
};

/*
 * An outlier exceeds the upper quartile by more than three times the distance between the
 * quartiles, and the median by @least or more.
 */
void spread_find(struct spread *spread, const struct fleet *fleet, size_t g, int64_t least);
void spread_free(struct spread *spread);

#endif
