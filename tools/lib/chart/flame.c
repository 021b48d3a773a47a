// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs: a function stands on its caller, as wide as the memory that was allocated below
 * it. A function has the same colour everywhere.
 */
#include <math.h>

#include "base/number.h"
#include "chart/canvas.h"

#define ROW 17		/* of a frame, if there is space for all */
#define BOTTOM 22	/* free below them */
#define NARROW 0.4	/* narrower frames are not drawn */

struct flame {
	struct canvas *canvas;
	const struct tree *tree;
	double row;
};

static size_t depth_of(const struct tree *tree, const struct tree_node *node)
{
	size_t deepest = 0;

	for (size_t i = 0; i < node->children; i++)
		deepest = fmax(deepest, depth_of(tree, &tree->node[node->child[i]]));
	return deepest + 1;
}

static size_t colour_of(const char *name)
{
	size_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash % 12;
}

static void draw_node(const struct flame *flame, const struct tree_node *node, double x,
		      double width, size_t level)
{
	double y = CANVAS_TOP + (double)level * flame->row, total = 0;
	struct canvas *canvas = flame->canvas;
	size_t colour = colour_of(node->name);
	char label[200], value[SIZE_TEXT];

	if (width < NARROW)
		return;
	cairo_rectangle(canvas->cr, x, y, width, flame->row);
	canvas_fill(canvas, colour, 1);
	cairo_set_source_rgb(canvas->cr, 1, 1, 1);
	cairo_set_line_width(canvas->cr, 0.5);
	cairo_stroke(canvas->cr);
	if (width > 24 && flame->row > 8) {
		double size = fmin(flame->row * 0.6, 10);

		snprintf(label, sizeof(label), "%.150s  %s", node->name,
			 canvas_value(canvas, value, (double)node->sum.bytes));
		/* A cut number misleads. */
		if (!canvas_fits(canvas, width - 4, size, label))
			snprintf(label, sizeof(label), "%.150s", node->name);
		canvas_ink(canvas, colour, 1);
		canvas_text(canvas, x + 2, y + flame->row / 2, width - 4, ALIGN_LEFT, size, label);
	}
	for (size_t i = 0; i < node->children; i++)
		total += fmax((double)flame->tree->node[node->child[i]].sum.bytes, 0);
	/* A frame is never wider than its parent. */
	total = fmax(total, (double)node->sum.bytes);
	for (size_t i = 0; i < node->children && total > 0; i++) {
		const struct tree_node *child = &flame->tree->node[node->child[i]];
		double own = width * fmax((double)child->sum.bytes, 0) / total;

		draw_node(flame, child, x, own, level + 1);
		x += own;
	}
}

bool chart_flame(const struct chart_tree *tree, enum chart_format format, FILE *out)
{
	struct canvas canvas;
	struct flame flame = { .canvas = &canvas, .tree = tree->tree };
	double rows = (double)depth_of(tree->tree, tree->start);
	struct chart chart = tree->chart;

	if (chart.fit)
		chart.height = fmin(chart.height, CANVAS_TOP + rows * ROW + BOTTOM);
	canvas_open(&canvas, &chart, format, out);
	/* The roots are at the top, as on pages. */
	flame.row = fmin((chart.height - BOTTOM - CANVAS_TOP) / rows, ROW);
	draw_node(&flame, tree->start, 10, tree->chart.width - 20, 0);
	return canvas_close(&canvas);
}
