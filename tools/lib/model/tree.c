// SPDX-License-Identifier: GPL-2.0-only
#include "model/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "read/query.h"

/* The node at the first @len characters of @path, which is made if necessary. */
static uint32_t reach(struct tree *tree, uint32_t parent, const char *path,
		      size_t len, size_t name)
{
	uint32_t i = strmap_add(&tree->paths, path, len);
	struct tree_node *above;
	const char *own;

	if (i < tree->count)
		return i;
	own = tree->paths.entry[i].key;
	GROW(tree->node, tree->count, tree->room);
	tree->node[tree->count++] = (struct tree_node){
		.path = own,
		.name = len ? own + name : ".",
	};
	if (i) {
		above = &tree->node[parent];
		GROW(above->child, above->children, above->room);
		above->child[above->children++] = i;
	}
	return i;
}

/* Deeper than any source tree; the names below it stay one name. */
#define TREE_DEPTH 64

void tree_add(struct tree *tree, const char *path, const struct sum *sum)
{
	uint32_t at = reach(tree, 0, "", 0, 0);
	const char *end = path;

	sum_add(&tree->node[at].sum, sum);
	for (unsigned int depth = 1; *end && (end == path || end[1]); depth++) {
		const char *name = end > path ? end + 1 : end;

		/* A leading slash belongs to the first name. */
		end = depth < TREE_DEPTH ? strchrnul(name + (*name == '/'), '/') :
					   name + strlen(name);
		at = reach(tree, at, path, end - path, name - path);
		sum_add(&tree->node[at].sum, sum);
	}
}

void tree_add_sites(struct tree *tree, const struct allocinfo *info,
		    const struct query *query)
{
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];
		struct sum sum = { site->bytes, site->calls, 1 };

		if (query_match(query, site))
			tree_add(tree, site->file, &sum);
	}
}

static int64_t weight(const struct tree_node *node, enum order order)
{
	switch (order) {
	case ORDER_CALLS:
		return node->sum.calls;
	case ORDER_AVERAGE:
		return sum_average(&node->sum);
	case ORDER_NAME:
		return 0;
	default:
		return node->sum.bytes;
	}
}

struct order_of {
	const struct tree *tree;
	enum order order;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct order_of *by = context;
	const struct tree_node *x = &by->tree->node[*(const uint32_t *)a];
	const struct tree_node *y = &by->tree->node[*(const uint32_t *)b];
	int64_t wx = weight(x, by->order), wy = weight(y, by->order);

	if (wx != wy)
		return wx < wy ? 1 : -1;
	return strcmp(x->name, y->name);
}

void tree_sort(struct tree *tree, enum order order)
{
	struct order_of by = { tree, order };

	for (size_t i = 0; i < tree->count; i++)
		if (tree->node[i].children)
			qsort_r(tree->node[i].child, tree->node[i].children,
				sizeof(uint32_t), compare, &by);
}

const struct tree_node *tree_find(const struct tree *tree, const char *path)
{
	size_t len = strlen(path), i;

	while (len > 1 && path[len - 1] == '/')
		len--;
	i = strmap_find(&tree->paths, path, len);
	return i == STRMAP_NONE ? NULL : &tree->node[i];
}

void tree_free(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->node[i].child);
	free(tree->node);
	strmap_free(&tree->paths);
	*tree = (struct tree){ 0 };
}
