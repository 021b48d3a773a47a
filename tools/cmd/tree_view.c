// SPDX-License-Identifier: GPL-2.0-only
#include "tree_view.h"

#include <stdio.h>

#include "base/number.h"
#include "write/table.h"

struct view {
	const struct tree *tree;
	const struct selection *selection;
	unsigned int depth;
	bool human;
	struct table table;
	struct json *json;	/* NULL: a table */
};

static bool shown(const struct view *view, const struct tree_node *node)
{
	const struct selection *s = view->selection;

	if ((s->has_min && node->sum.bytes < s->min) ||
	    (s->has_max && node->sum.bytes > s->max))
		return false;
	return s->all || node->sum.bytes || node->sum.calls;
}

static void add_row(struct view *view, const struct sum *sum, const char *label)
{
	char text[SIZE_TEXT];

	table_cell(&view->table, size_format(text, sum->bytes, view->human));
	table_cell(&view->table, size_format(text, sum->calls, false));
	table_cell(&view->table,
		   percent_format(text, percent(sum->bytes,
						view->tree->node[0].sum.bytes)));
	table_cell(&view->table, label);
}

static void json_sum(struct json *json, const struct sum *sum)
{
	json_int(json, "size", sum->bytes);
	json_int(json, "calls", sum->calls);
	json_int(json, "rows", sum->rows);
}

static void write_node(struct view *view, const struct tree_node *node,
		       unsigned int level);

static void write_children(struct view *view, const struct tree_node *node,
			   unsigned int level)
{
	struct sum others = { 0 };
	size_t written = 0, left_out = 0;
	struct text label = { 0 };

	for (size_t i = 0; i < node->children; i++) {
		const struct tree_node *child = &view->tree->node[node->child[i]];

		if (shown(view, child) &&
		    (!view->selection->top || written < view->selection->top)) {
			write_node(view, child, level);
			written++;
		} else if (child->sum.bytes || child->sum.calls) {
			sum_add(&others, &child->sum);
			left_out++;
		}
	}
	if (!left_out)
		return;
	if (view->json) {
		json_object(view->json, NULL);
		json_null(view->json, "path");
		json_int(view->json, "left_out", left_out);
		json_sum(view->json, &others);
		json_end_object(view->json);
		return;
	}
	text_printf(&label, "%*s(%zu more)", (int)level * 2, "", left_out);
	add_row(view, &others, label.s);
	text_free(&label);
}

static void write_node(struct view *view, const struct tree_node *node,
		       unsigned int level)
{
	bool deeper = node->children && (!view->depth || level < view->depth);
	struct text label = { 0 };

	if (view->json) {
		json_object(view->json, NULL);
		json_string(view->json, "path", node->path);
		json_sum(view->json, &node->sum);
		if (deeper) {
			json_array(view->json, "children");
			write_children(view, node, level + 1);
			json_end_array(view->json);
		}
		json_end_object(view->json);
		return;
	}
	text_printf(&label, "%*s", (int)level * 2, "");
	text_puts(&label, node->name);
	if (node->children)
		text_puts(&label, "/");
	add_row(view, &node->sum, label.s);
	text_free(&label);
	if (deeper)
		write_children(view, node, level + 1);
}

void tree_view(const struct tree *tree, unsigned int depth,
	       const struct selection *selection, const struct output *output)
{
	static const struct table_column columns[] = {
		{ "SIZE", true, NULL, false }, { "CALLS", true, NULL, false }, { "SHARE", true, NULL, false },
		{ "TREE", false, NULL, false },
	};
	struct view view = {
		.tree = tree,
		.selection = selection,
		.depth = depth,
		.human = output_human(output),
		.table = { .column = columns, .columns = 4 },
	};

	if (tree->count)
		write_node(&view, &tree->node[0], 0);
	output_table(&view.table, output);
}

void tree_json(const struct tree *tree, unsigned int depth,
	       const struct selection *selection, struct json *json)
{
	struct view view = {
		.tree = tree,
		.selection = selection,
		.depth = depth,
		.json = json,
	};

	json_array(json, "tree");
	if (tree->count)
		write_node(&view, &tree->node[0], 0);
	json_end_array(json);
}
