/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds call sites that hold more memory after each of several runs with a fault, and not after
 * runs without one: an error path has lost it. Only sites of KIND_KERNEL and KIND_CACHE are
 * compared. The memory of other kinds comes and goes with processes and time. Each measurement
 * first drops the caches of the kernel.
 */
#ifndef CODETAG_GROWTH_H
#define CODETAG_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strmap.h"

struct growth {
	struct strmap names;		/* of call sites; the index of site */
	struct growth_site {
		int64_t held;		/* bytes at the last measurement */
		int64_t grown;		/* growth between the last two */
		int64_t noise;		/* largest growth in runs without a fault */
		int64_t least, sum;	/* growth in the runs since growth_begin() */
		unsigned int times;	/* runs since then in which it has grown */
	} *site;
	size_t sites, room;
};

/* A run lies between two calls. Returns false after a message. */
bool growth_measure(struct growth *growth);

/* The last run was without a fault. */
void growth_is_noise(struct growth *growth);

/* Runs with a fault follow. */
void growth_begin(struct growth *growth);

/*
 * The last run had a fault. Returns whether anything has grown in all of these, by more than
 * noise.
 */
bool growth_add(struct growth *growth, unsigned int runs);

/* The name of the site that grew most in all @runs, and its mean growth; NULL: none did. */
const char *growth_leak(const struct growth *growth, unsigned int runs, int64_t *bytes);

void growth_free(struct growth *growth);

#endif
