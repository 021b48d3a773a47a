/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the bytes of a group are spread over the machines of a fleet. A machine
 * without the group holds 0 of it and counts like any other.
 */
#ifndef CODETAG_SPREAD_H
#define CODETAG_SPREAD_H

#include "model/fleet.h"

struct spread {
	size_t hosts;		/* that hold anything */
	int64_t median;		/* of an even number of hosts: the mean of two, rounded down */
	int64_t p99;		/* the least that 99 of 100 hosts do not exceed */
	size_t outliers;	/* the first so many of … */
	struct ranked_host {
		int64_t bytes;
		size_t host;
	} *ranked;		/* … the hosts that hold most, of which there is one at least */
};

/*
 * An outlier is beyond the upper quartile by more than three times what is between
 * the quartiles, and beyond the median by @least or more.
 */
void spread_find(struct spread *spread, const struct fleet *fleet, size_t g, int64_t least);
void spread_free(struct spread *spread);

#endif
