/* SPDX-License-Identifier: GPL-2.0-only */
/* leaks --stacks: which callers hold memory that is old and grows. */
#ifndef CODETAG_LEAKS_STACKS_H
#define CODETAG_LEAKS_STACKS_H

#include "debugfs.h"
#include "output.h"
#include "selection.h"

/* Readings of contexts, and the least number of them. */
#define STACKS_READINGS 15
#define STACKS_SECONDS_MIN 12

struct leaks_stacks {
	const struct selection *selection;	/* options about sites, findings, sizes */
	const struct output *output;
	struct debugfs_dir dir;
	int64_t seconds;	/* duration of the whole run */
	size_t sites;		/* the largest number of sites to split */
	bool drop;		/* drop the kernel's caches at the end */
};

/* Both return an exit status. */
int leaks_stacks(const struct leaks_stacks *how);

/* Of the recording that selection names: call sites that were split by stack and age. */
int leaks_stacks_recorded(const struct leaks_stacks *how);

#endif
