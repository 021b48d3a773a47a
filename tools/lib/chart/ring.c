// SPDX-License-Identifier: GPL-2.0-only
/* Concentric rings: each ring is one level of directories. */
#include <math.h>

#include "base/number.h"
#include "chart/canvas.h"

#define RINGS 6
#define LEGEND_WIDTH 260

struct ring {
	struct canvas *canvas;
	const struct chart_tree *tree;
	double x, y, hole, thickness;
	int rings;
};

static const struct tree_node *child_of(const struct ring *ring,
					const struct tree_node *node, size_t i)
{
	return &ring->tree->tree->node[node->child[i]];
}

static void draw_segment(const struct ring *ring, int level, double from, double to,
			 size_t colour, bool others)
{
	cairo_t *cr = ring->canvas->cr;
	double inner = ring->hole + level * ring->thickness;
	double outer = inner + ring->thickness;

	cairo_new_path(cr);
	cairo_arc(cr, ring->x, ring->y, outer, from, to);
	cairo_arc_negative(cr, ring->x, ring->y, inner, to, from);
	cairo_close_path(cr);
	canvas_fill(ring->canvas, colour, others ? -1 : level);
	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_set_line_width(cr, 0.8);
	cairo_stroke(cr);
}

/* Rings in which some node holds at least a hundredth of everything. */
static int count_rings(const struct ring *ring, const struct tree_node *node,
		       int level)
{
	int64_t least = ring->tree->start->sum.bytes / 100;
	int rings = level;

	for (size_t i = 0; i < node->children && level < RINGS; i++) {
		const struct tree_node *child = child_of(ring, node, i);
		int below;

		if (child->sum.bytes <= least)
			break;
		below = count_rings(ring, child, level + 1);
		if (below > rings)
			rings = below;
	}
	return rings;
}

/*
 * A label lies along the ring if there is more space than across it. It is straight, so a long
 * one would leave the curved ring.
 */
static double room_along(const struct ring *ring, double radius, double angle)
{
	double bend = ring->thickness / 2 - 8;
	double straight = 2 * sqrt(fmax(2 * radius * bend - bend * bend, 0));

	return fmin(straight, angle * radius - 8);
}

/* Never upside down. */
static void draw_label(const struct ring *ring, int level, double from, double to,
		       size_t colour, const char *name)
{
	double middle = (from + to) / 2, inner = ring->hole + level * ring->thickness;
	double radius = inner + ring->thickness / 2;
	double along = room_along(ring, radius, to - from), room = ring->thickness - 6;
	cairo_t *cr = ring->canvas->cr;

	if ((to - from) * radius < 12)
		return;
	cairo_save(cr);
	cairo_translate(cr, ring->x, ring->y);
	cairo_rotate(cr, middle);
	cairo_translate(cr, radius, 0);
	if (along > room) {
		cairo_rotate(cr, sin(middle) > 0 ? -M_PI / 2 : M_PI / 2);
		room = along;
	} else if (cos(middle) < 0) {
		cairo_rotate(cr, M_PI);
	}
	canvas_ink(ring->canvas, colour, level);
	canvas_text(ring->canvas, 0, 0, room, ALIGN_CENTRE, 11, name);
	cairo_restore(cr);
}

static void draw_children(const struct ring *ring, const struct tree_node *node,
			  int level, double from, double to, size_t colour)
{
	double per_byte = (to - from) / (double)node->sum.bytes, at = from;

	for (size_t i = 0; i < node->children && level < ring->rings; i++) {
		const struct tree_node *child = child_of(ring, node, i);
		double end = at + per_byte * (double)child->sum.bytes;

		/* Sorted: all further nodes are too small to be seen. */
		if (child->sum.bytes <= 0 || end - at < 0.004)
			break;
		if (end > to)
			end = to;
		if (!level)
			colour = i;
		draw_segment(ring, level, at, end, colour, false);
		draw_label(ring, level, at, end, colour, child->name);
		draw_children(ring, child, level + 1, at, end, colour);
		at = end;
	}
	if (to - at > 0.004 && node->children && level < ring->rings)
		draw_segment(ring, level, at, to, colour, true);
}

static void draw_legend(const struct ring *ring, double width)
{
	const struct tree_node *start = ring->tree->start;
	char text[160], value[SIZE_TEXT];
	size_t end = 0, i;

	while (end < start->children && child_of(ring, start, end)->sum.bytes > 0)
		end++;
	for (i = 0; i < end; i++) {
		const struct tree_node *child = child_of(ring, start, i);

		snprintf(text, sizeof(text), "%.100s  %s  %.1f %%", child->name,
			 canvas_value(ring->canvas, value, (double)child->sum.bytes),
			 percent(child->sum.bytes, start->sum.bytes));
		if (!canvas_legend(ring->canvas, width, i, end + 1, i, 0, text))
			return;
	}
	canvas_legend(ring->canvas, width, end, end + 1, 0, -1, "too small to be shown apart");
}

/* The text in the hole, which has space for two lines of 18 pixels. */
static void draw_centre(const struct ring *ring)
{
	const struct tree_node *start = ring->tree->start;
	double room = 2 * sqrt(fmax(ring->hole * ring->hole - 18 * 18, 0)) - 6;
	char value[SIZE_TEXT];

	cairo_set_source_rgb(ring->canvas->cr, 0, 0, 0);
	canvas_text(ring->canvas, ring->x, ring->y - 9, room, ALIGN_CENTRE, 14,
		    start->path[0] ? start->path : "all");
	canvas_value(ring->canvas, value, (double)start->sum.bytes);
	if (canvas_fits(ring->canvas, room, 14, value))
		canvas_text(ring->canvas, ring->x, ring->y + 9, room, ALIGN_CENTRE, 14, value);
}

bool chart_ring(const struct chart_tree *tree, enum chart_format format, FILE *out)
{
	const struct tree_node *start = tree->start;
	struct canvas canvas;
	struct ring ring = { .canvas = &canvas, .tree = tree };
	double legend = fmin(LEGEND_WIDTH, tree->chart.width * 0.45);
	double room_x = tree->chart.width - legend - 20, room_y;

	canvas_open(&canvas, &tree->chart, format, out);
	room_y = tree->chart.height - CANVAS_TOP - 10;
	ring.x = room_x / 2 + 10;
	ring.y = CANVAS_TOP + room_y / 2;
	ring.rings = count_rings(&ring, start, 0);
	ring.thickness = fmin(room_x, room_y) / 2 / (ring.rings + 1);
	ring.hole = ring.thickness;
	if (start->sum.bytes > 0)
		draw_children(&ring, start, 0, -M_PI / 2, 1.5 * M_PI, 0);
	draw_centre(&ring);
	draw_legend(&ring, legend);
	canvas_deeper(&canvas, tree, ring.rings);
	return canvas_close(&canvas);
}
