/* SPDX-License-Identifier: GPL-2.0 */
/* Contexts as groups that have the stacks they were allocated with, for exports and charts. */
#ifndef CODETAG_CONTEXT_STACKS_H
#define CODETAG_CONTEXT_STACKS_H

#include "model/context_group.h"
#include "model/group.h"

struct context_stacks {
	struct groups groups;
	struct stack *stack;	/* of each group */
	struct strmap names;	/* of groups, and of frames */
};

/*
 * One group for each site and stack; with @rest what the sites hold that is of no context,
 * which has a frame that says so. What has no stack has its values in place of it. @contexts
 * has to stay.
 */
void context_stacks_make(struct context_stacks *stacks, const struct contexts *contexts,
			 const struct helpers *helpers, bool rest);
void context_stacks_free(struct context_stacks *stacks);

#endif
