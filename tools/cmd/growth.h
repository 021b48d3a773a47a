/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What call sites hold more of after each of several runs than before it, and not after runs
 * without a fault: memory that an error path has lost.
 *
 * Only sites of KIND_KERNEL and KIND_CACHE are compared. The memory of other kinds comes and goes
 * with processes and time. Each measurement drops the caches of the kernel first.
 */
#ifndef CODETAG_GROWTH_H
#define CODETAG_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strmap.h"

struct growth {
	struct strmap names;		/* of call sites; the index of site */
	struct growth_site {
		int64_t held;		/* at the last measurement */
		int64_t grown;		/* between the last two */
		int64_t noise;		/* at most, in runs without a fault */
		int64_t least, sum;	/* in the runs since growth_begin() */
		unsigned int times;	/* runs since then in which it has grown */
	} *site;
	size_t sites, room;
};

/* Between two of these is a run. False after a message. */
bool growth_measure(struct growth *growth);

/* That run was without a fault. */
void growth_is_noise(struct growth *growth);

/* Runs with a fault follow. */
void growth_begin(struct growth *growth);

/* That run was one of them. Whether anything has grown in all of them, by more than noise. */
bool growth_add(struct growth *growth, unsigned int runs);

/* The name of the one that has grown most in all @runs, and the mean of that; NULL: none has. */
const char *growth_leak(const struct growth *growth, unsigned int runs, int64_t *bytes);

void growth_free(struct growth *growth);

#endif
