// SPDX-License-Identifier: GPL-2.0-only
#include "model/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/group.h"

static size_t reach(struct calltree *tree, size_t parent, const char *name)
{
	struct calltree_node *above;
	struct text path = { 0 };
	size_t i;

	text_printf(&path, "%zu\n%s", parent, name);
	i = strmap_add(&tree->paths, path.s, path.len);
	text_free(&path);
	if (i < tree->count)
		return i;
	GROW(tree->node, tree->count, tree->room);
	tree->node[tree->count++] = (struct calltree_node){
		.name = strchr(tree->paths.entry[i].key, '\n') + 1,
	};
	if (i) {
		above = &tree->node[parent];
		GROW(above->child, above->children, above->room);
		above->child[above->children++] = i;
	}
	return i;
}

static void add_level(struct calltree *tree, size_t *at, const char *name,
		      const struct context_sum *sum)
{
	*at = reach(tree, *at, name);
	context_sum_add(&tree->node[*at].sum, sum);
}

static void add_site(struct calltree *tree, size_t *at, const struct context *context,
		     const struct context_sum *sum)
{
	struct text name = { 0 };

	group_name(&name, (struct grouping){ BY_SITE, 0 }, &context->site);
	add_level(tree, at, name.s, sum);
	text_free(&name);
}

void calltree_add(struct calltree *tree, const struct contexts *contexts,
		  const struct context *context, const struct helpers *helpers,
		  bool invert, struct callers *callers)
{
	struct context_sum sum = context_sum_of(contexts, context);
	struct text name = { 0 };
	size_t at = SIZE_MAX;	/* above the root: a child of the root can lack a name, too */

	callers_of(callers, contexts, context, helpers);
	add_level(tree, &at, "", &sum);
	if (!invert)
		add_site(tree, &at, context, &sum);
	for (size_t i = 0; i < callers->count; i++) {
		text_clear(&name);
		frame_name(&name, callers->frame[invert ? callers->count - 1 - i : i]);
		add_level(tree, &at, name.s, &sum);
	}
	for (size_t i = 0; !context->frames && i < context->values; i++) {
		const struct context_value *value = &contexts->value[context->value + i];

		text_clear(&name);
		text_printf(&name, "%s=%s", value->key, value->value);
		add_level(tree, &at, name.s, &sum);
	}
	if (invert)
		add_site(tree, &at, context, &sum);
	text_free(&name);
}

static int compare(const void *a, const void *b, void *context)
{
	const struct calltree *tree = context;
	const struct calltree_node *x = &tree->node[*(const size_t *)a];
	const struct calltree_node *y = &tree->node[*(const size_t *)b];

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes < y->sum.bytes ? 1 : -1;
	return strcmp(x->name, y->name);
}

void calltree_sort(struct calltree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->node[i].children)
			qsort_r(tree->node[i].child, tree->node[i].children, sizeof(size_t),
				compare, tree);
}

void calltree_free(struct calltree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->node[i].child);
	free(tree->node);
	strmap_free(&tree->paths);
	*tree = (struct calltree){ 0 };
}
