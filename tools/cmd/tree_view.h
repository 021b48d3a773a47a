/* SPDX-License-Identifier: GPL-2.0-only */
/* report --tree: directories and files, indented, with the sums of all below. */
#ifndef CODETAG_TREE_VIEW_H
#define CODETAG_TREE_VIEW_H

#include "output.h"
#include "selection.h"
#include "model/tree.h"
#include "write/json.h"

/*
 * Prints @depth levels of directories (0: all) and of those only what @selection shows. The
 * nodes that are left out are summed up in a line of their own.
 */
void tree_view(const struct tree *tree, unsigned int depth,
	       const struct selection *selection, const struct output *output);
void tree_json(const struct tree *tree, unsigned int depth,
	       const struct selection *selection, struct json *json);

#endif
