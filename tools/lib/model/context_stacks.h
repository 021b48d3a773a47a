/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts as groups that have the stacks they were allocated with, for exports and charts. */
#ifndef CODETAG_CONTEXT_STACKS_H
#define CODETAG_CONTEXT_STACKS_H

#include "model/context_group.h"
#include "model/group.h"

struct context_stacks {
	struct groups groups;
	struct stack *stack;	/* of each group */
	struct strmap names;	/* strings of groups and of frames */
};

/*
 * One group for each site and stack. With @rest there is a group for the memory of a site in no
 * context, with a frame that says so. A context without a stack has its values instead.
 * @contexts has to stay.
 */
void context_stacks_make(struct context_stacks *stacks, const struct contexts *contexts,
			 const struct helpers *helpers, bool rest);
void context_stacks_free(struct context_stacks *stacks);

#endif
