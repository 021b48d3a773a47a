/* SPDX-License-Identifier: GPL-2.0 */
/* leaks --stacks: which callers hold memory that is old and grows. */
#ifndef CODETAG_LEAKS_STACKS_H
#define CODETAG_LEAKS_STACKS_H

#include "debugfs.h"
#include "output.h"
#include "selection.h"

/* Readings of contexts, and how many there can be at least. */
#define STACKS_READINGS 15
#define STACKS_SECONDS_MIN 12

struct leaks_stacks {
	const struct selection *selection;	/* which sites, how many findings, of what size */
	const struct output *output;
	struct debugfs_dir dir;
	int64_t seconds;	/* how long in all */
	size_t sites;		/* how many are split at most */
	bool drop;		/* have the kernel drop caches in the end */
};

/* Both return an exit status. */
int leaks_stacks(const struct leaks_stacks *how);

/* Of a recording, which selection names, of call sites that were split by stack and age. */
int leaks_stacks_recorded(const struct leaks_stacks *how);

#endif
