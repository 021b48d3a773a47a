/* SPDX-License-Identifier: GPL-2.0-only */
/* contexts --tree: the callers, indented, with the sums of all below. */
#ifndef CODETAG_CALLTREE_VIEW_H
#define CODETAG_CALLTREE_VIEW_H

#include "contexts_view.h"

/* Prints @depth levels (0: all) and the first @view->top children of each node. */
void calltree_view(const struct contexts *contexts, const struct helpers *helpers,
		   bool invert, size_t depth, const struct contexts_view *view);

#endif
