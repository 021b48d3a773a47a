/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums by directory, for indented reports and for charts. */
#ifndef CODETAG_TREE_H
#define CODETAG_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "model/group.h"

struct tree_node {
	const char *path;	/* "fs/ext4", "" for the root */
	const char *name;	/* "ext4", "." for the root */
	struct sum sum;		/* sums of the node and all nodes below */
	uint32_t *child;	/* indices of nodes */
	size_t children, room;
};

struct tree {
	struct tree_node *node;	/* node[0] is the root */
	size_t count, room;
	struct strmap paths;
};

/* Adds @sum at @path, which is made if necessary. */
void tree_add(struct tree *tree, const char *path, const struct sum *sum);
void tree_add_sites(struct tree *tree, const struct allocinfo *info,
		    const struct query *query);

/* Orders the children of every node: largest first, names from A to Z. */
void tree_sort(struct tree *tree, enum order order);

/* The node at @path ("fs" or "fs/"), NULL if there is none. */
const struct tree_node *tree_find(const struct tree *tree, const char *path);
void tree_free(struct tree *tree);

#endif
