/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of the memory in use the call sites explain.
 *
 * A slab page is charged to the line of the slab allocator that took it and
 * the objects in it once more to their own call sites; likewise chunks of the
 * percpu allocator. So the sum over all sites is more than the memory they
 * hold, and the objects have to be taken out to compare it with meminfo.
 */
#ifndef CODETAG_RECONCILE_H
#define CODETAG_RECONCILE_H

#include <stdbool.h>
#include <stdint.h>

#include "read/allocinfo.h"
#include "read/machine.h"

#define RECONCILE_KINDS 7

struct reconciliation {
	int64_t total;		/* MemTotal */
	int64_t used;		/* that minus the free pages … */
	bool percpu_known;	/* … and those on the lists of CPUs, if known */
	int64_t sites;		/* charged to all call sites */
	int64_t slab_objects;	/* of it inside slab pages … */
	bool slab_objects_known;	/* … by slabinfo, else: at most */
	int64_t percpu_objects;	/* of it inside percpu chunks, at most */
	int64_t attributed, unattributed;

	/* Kinds of what is attributed; they add up to it. */
	struct kind {
		const char *name;
		int64_t bytes;
	} kind[RECONCILE_KINDS];
	unsigned int kinds;
};

/* False if there is no usable meminfo. */
bool reconcile(struct reconciliation *r, const struct allocinfo *info,
	       const struct machine *machine);

#endif
