/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts as a tree: from the call site outwards to its callers, or from the roots inwards. */
#ifndef CODETAG_CALLTREE_H
#define CODETAG_CALLTREE_H

#include "model/context_group.h"

struct calltree_node {
	const char *name;
	struct context_sum sum;	/* sums of the node and all nodes below */
	size_t *child;		/* indices of nodes */
	size_t children, room;
};

struct calltree {
	struct calltree_node *node;	/* node[0] is the root, which has no name */
	size_t count, room;
	struct strmap paths;		/* number of the parent, newline, name */
};

/*
 * Adds a context: its site, then its callers, the innermost first; with @invert the other way
 * round. A context without a stack has one level for each of its values.
 */
void calltree_add(struct calltree *tree, const struct contexts *contexts,
		  const struct context *context, const struct helpers *helpers,
		  bool invert, struct callers *callers);

/* Largest first. */
void calltree_sort(struct calltree *tree);
void calltree_free(struct calltree *tree);

#endif
