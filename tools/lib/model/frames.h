/* SPDX-License-Identifier: GPL-2.0-only */
/* The stack of a group, or the stack that its name stands for: directories, file, function. */
#ifndef CODETAG_FRAMES_H
#define CODETAG_FRAMES_H

#include "model/group.h"
#include "model/tree.h"

#define FRAMES_MAX 40

struct frames {
	const char *name[FRAMES_MAX];	/* root first */
	unsigned int count;
	struct text text;
};

/* Valid until the next call with the same @frames. */
void frames_of(struct frames *frames, const struct groups *groups,
	       const struct group *group);
void frames_free(struct frames *frames);

/* The stacks of @groups as a tree, sorted by bytes, or by calls if @calls. */
void frames_tree(struct tree *tree, const struct groups *groups, bool calls);

#endif
