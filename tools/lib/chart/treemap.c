// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nested boxes whose areas are their values. Children are laid out in rows along the shorter
 * side, and a row grows while that makes its boxes more like squares.
 */
#include <math.h>

#include "base/number.h"
#include "chart/canvas.h"

#define LEVELS 6
#define HEAD 15

struct box {
	double x, y, w, h;
};

struct map {
	struct canvas *canvas;
	const struct tree *tree;
};

static void draw_node(const struct map *map, const struct tree_node *node,
		      struct box box, int level, size_t colour);

static const struct tree_node *child_of(const struct map *map,
					const struct tree_node *node, size_t i)
{
	return &map->tree->node[node->child[i]];
}

/* The worst ratio of sides in a row of areas from @min to @max, @sum in all. */
static double worst(double min, double max, double sum, double side)
{
	double s2 = sum * sum, w2 = side * side;

	return fmax(w2 * max / s2, s2 / (w2 * min));
}

/* The number of children, from @first on, in the next row; *@sum is their area. */
static size_t row_length(const struct map *map, const struct tree_node *node,
			 size_t first, size_t end, double scale, double side,
			 double *sum)
{
	double max = (double)child_of(map, node, first)->sum.bytes * scale;
	double ratio = INFINITY;
	size_t i;

	*sum = 0;
	for (i = first; i < end; i++) {
		double area = (double)child_of(map, node, i)->sum.bytes * scale;
		double next = worst(area, max, *sum + area, side);

		if (next > ratio)
			break;
		ratio = next;
		*sum += area;
	}
	return i - first;
}

static void draw_children(const struct map *map, const struct tree_node *node,
			  struct box box, int level, size_t colour)
{
	size_t end = 0, first = 0;
	double total = 0, scale;

	while (end < node->children && child_of(map, node, end)->sum.bytes > 0)
		total += (double)child_of(map, node, end++)->sum.bytes;
	if (total <= 0)
		return;
	scale = box.w * box.h / total;
	while (first < end && box.w > 1 && box.h > 1) {
		bool upright = box.w >= box.h;	/* the row is a column */
		double side = upright ? box.h : box.w, sum, at = 0;
		size_t count = row_length(map, node, first, end, scale, side, &sum);
		double depth = sum / side;

		for (size_t i = first; i < first + count; i++) {
			const struct tree_node *child = child_of(map, node, i);
			double length = (double)child->sum.bytes * scale / depth;
			struct box place = upright ?
				(struct box){ box.x, box.y + at, depth, length } :
				(struct box){ box.x + at, box.y, length, depth };

			draw_node(map, child, place, level, level ? colour : i);
			at += length;
		}
		if (upright) {
			box.x += depth;
			box.w -= depth;
		} else {
			box.y += depth;
			box.h -= depth;
		}
		first += count;
	}
}

static void draw_node(const struct map *map, const struct tree_node *node,
		      struct box box, int level, size_t colour)
{
	cairo_t *cr = map->canvas->cr;
	bool inner = node->children && level < LEVELS && box.w > 30 &&
		     box.h > HEAD + 14;
	char label[160], value[SIZE_TEXT];

	if (box.w < 0.7 || box.h < 0.7)
		return;
	cairo_rectangle(cr, box.x, box.y, box.w, box.h);
	canvas_fill(map->canvas, colour, level);
	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_set_line_width(cr, 0.7);
	cairo_stroke(cr);
	if (box.h > 11 && box.w > 24) {
		double size = level > 1 ? 9 : 11;

		snprintf(label, sizeof(label), "%.120s  %s", node->name,
			 canvas_value(map->canvas, value, (double)node->sum.bytes));
		/* A cut number misleads. */
		if (!canvas_fits(map->canvas, box.w - 6, size, label))
			snprintf(label, sizeof(label), "%.120s", node->name);
		canvas_ink(map->canvas, colour, level);
		canvas_text(map->canvas, box.x + 3,
			    inner ? box.y + HEAD / 2.0 : box.y + fmin(box.h / 2, 9),
			    box.w - 6, ALIGN_LEFT, size, label);
	}
	if (inner)
		draw_children(map, node,
			      (struct box){ box.x + 2, box.y + HEAD, box.w - 4,
					    box.h - HEAD - 2 },
			      level + 1, colour);
}

bool chart_treemap(const struct chart_tree *tree, enum chart_format format, FILE *out)
{
	struct canvas canvas;
	struct map map = { .canvas = &canvas, .tree = tree->tree };

	canvas_open(&canvas, &tree->chart, format, out);
	draw_children(&map, tree->start,
		      (struct box){ 10, CANVAS_TOP, tree->chart.width - 20,
				    tree->chart.height - CANVAS_TOP - 22 }, 0, 0);
	canvas_deeper(&canvas, tree, LEVELS + 1);
	return canvas_close(&canvas);
}
