// SPDX-License-Identifier: GPL-2.0-only
#include "calltree_view.h"

#include <stdio.h>

#include "base/number.h"
#include "model/calltree.h"

struct view {
	const struct calltree *tree;
	const struct contexts_view *how;
	size_t depth;
	bool human;
	struct table table;
	struct json json;
};

static void add_row(struct view *view, const struct context_sum *sum, const char *label)
{
	char text[SIZE_TEXT];

	table_cell(&view->table, size_format(text, sum->bytes, view->human));
	table_cell(&view->table, size_format(text, sum->calls, false));
	table_cell(&view->table,
		   percent_format(text, percent(sum->bytes, view->tree->node[0].sum.bytes)));
	table_cell(&view->table, label);
}

static bool shown(const struct view *view, const struct calltree_node *node)
{
	return view->how->all || node->sum.bytes || node->sum.calls;
}

/* The children that are left out of a level are summed up in one line. */
static void write_others(struct view *view, const struct context_sum *sum, size_t count,
			 size_t level)
{
	struct text label = { 0 };

	if (view->how->output.json) {
		json_object(&view->json, NULL);
		json_null(&view->json, "name");
		json_int(&view->json, "left_out", count);
		context_sum_json(sum, &view->json);
		json_end_object(&view->json);
		return;
	}
	text_printf(&label, "%*s(%zu more)", (int)level * 2, "", count);
	add_row(view, sum, label.s);
	text_free(&label);
}

static void write_node(struct view *view, const struct calltree_node *node, size_t level);

static void write_children(struct view *view, const struct calltree_node *node, size_t level)
{
	struct context_sum others = { 0 };
	size_t written = 0, left_out = 0;

	for (size_t i = 0; i < node->children; i++) {
		const struct calltree_node *child = &view->tree->node[node->child[i]];

		if (!shown(view, child))
			continue;
		if (!view->how->top || written < view->how->top) {
			write_node(view, child, level);
			written++;
		} else {
			context_sum_add(&others, &child->sum);
			left_out++;
		}
	}
	if (left_out)
		write_others(view, &others, left_out, level);
}

static void write_node(struct view *view, const struct calltree_node *node, size_t level)
{
	bool deeper = node->children && (!view->depth || level + 1 < view->depth);
	struct text label = { 0 };

	if (view->how->output.json) {
		json_object(&view->json, NULL);
		json_string(&view->json, "name", node->name);
		context_sum_json(&node->sum, &view->json);
		if (deeper) {
			json_array(&view->json, "children");
			write_children(view, node, level + 1);
			json_end_array(&view->json);
		}
		json_end_object(&view->json);
		return;
	}
	text_printf(&label, "%*s%s", (int)level * 2, "", node->name);
	add_row(view, &node->sum, label.s);
	text_free(&label);
	if (deeper)
		write_children(view, node, level + 1);
}

static void print(struct view *view, const struct contexts *contexts)
{
	struct json *json = &view->json;
	const struct calltree *tree = view->tree;
	const struct context_sum none = { 0 }, *sum = tree->count ? &tree->node[0].sum : &none;

	if (view->how->output.json) {
		json_object(json, NULL);
		contexts_summary_json(contexts, sum, json);
		json_array(json, "tree");
	}
	if (tree->count)
		write_children(view, &tree->node[0], 0);
	if (view->how->output.json) {
		json_end_array(json);
		json_end_object(json);
		return;
	}
	contexts_summary(contexts, sum, &view->how->output);
	if (view->table.count)
		output_table(&view->table, &view->how->output);
}

void calltree_view(const struct contexts *contexts, const struct helpers *helpers,
		   bool invert, size_t depth, const struct contexts_view *how)
{
	static const struct table_column columns[] = {
		{ "SIZE", true, NULL, false }, { "CALLS", true, NULL, false },
		{ "SHARE", true, NULL, false }, { "TREE", false, NULL, false },
	};
	struct calltree tree = { 0 };
	struct callers callers = { 0 };
	struct view view = {
		.tree = &tree,
		.how = how,
		.depth = depth,
		.human = output_human(&how->output),
		.table = { .column = columns, .columns = 4 },
		.json = { .out = stdout },
	};

	for (size_t i = 0; i < contexts->count; i++)
		calltree_add(&tree, contexts, &contexts->context[i], helpers, invert, &callers);
	calltree_sort(&tree);
	print(&view, contexts);
	calltree_free(&tree);
	callers_free(&callers);
}
