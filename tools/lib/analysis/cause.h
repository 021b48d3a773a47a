/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which stacks have one cause? One leak leaves an inode here, a file there and pages elsewhere.
 * Their stacks differ at the inner end and meet at the outer end: the first function after the
 * entry into the kernel is the operation. The stacks of one process are joined by its name.
 */
#ifndef CODETAG_CAUSE_H
#define CODETAG_CAUSE_H

#include "analysis/stack_watch.h"

struct cause {
	size_t finding;		/* the first finding: the largest */
	size_t stacks, leaks;	/* findings, and how many of these surely leak */
	size_t sites;		/* call sites, each counted once */
	double rate, growth;	/* bytes per second of leaks; old bytes of all */
};

struct causes {
	struct cause *cause;	/* in the order of their first findings */
	size_t count;
	size_t *of;		/* the cause of each finding; SIZE_MAX: it neither leaks nor may */
};

void causes_find(struct causes *causes, const struct stack_findings *found,
		 const struct contexts *contexts);
void causes_free(struct causes *causes);

/* The outermost frame after the entry into the kernel; NULL: there is none. */
const struct frame *cause_frame(const struct contexts *contexts, const struct context *context);

#endif
