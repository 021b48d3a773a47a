/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which stacks are of one cause? One leak leaves an inode here, a file there and pages elsewhere.
 * Their stacks differ at the inner end, and meet at the outer one: the first function behind the
 * entry into the kernel is what was asked for. Stacks of one process
 * are joined by its name.
 */
#ifndef CODETAG_CAUSE_H
#define CODETAG_CAUSE_H

#include "analysis/stack_watch.h"

struct cause {
	size_t finding;		/* the first one: the largest */
	size_t stacks, leaks;	/* findings, and how many of these surely leak */
	size_t sites;		/* call sites, each once */
	double rate, growth;	/* bytes a second of those that leak; of old memory of all */
};

struct causes {
	struct cause *cause;	/* in the order of their first findings */
	size_t count;
	size_t *of;		/* the cause of each finding; SIZE_MAX: it neither leaks nor may */
};

void causes_find(struct causes *causes, const struct stack_findings *found,
		 const struct contexts *contexts);
void causes_free(struct causes *causes);

/* The outermost frame that is not the way into the kernel; NULL: there is none. */
const struct frame *cause_frame(const struct contexts *contexts, const struct context *context);

#endif
