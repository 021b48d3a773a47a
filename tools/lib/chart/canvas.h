/* SPDX-License-Identifier: GPL-2.0 */
/* What all charts draw with: a page with a title, colours, text that fits. */
#ifndef CODETAG_CANVAS_H
#define CODETAG_CANVAS_H

#include <cairo.h>

#include "base/text.h"
#include "chart/chart.h"

struct canvas {
	cairo_t *cr;
	cairo_surface_t *surface;
	enum chart_format format;
	FILE *out;
	FILE *shapes;	/* SVG: what cairo writes, … */
	char *svg;
	size_t svg_len;
	struct text labels;	/* … and the texts above it, which it would write as outlines */
	const struct chart *chart;
	double top;	/* below the title */
};

void canvas_open(struct canvas *canvas, const struct chart *chart,
		 enum chart_format format, FILE *out);
bool canvas_close(struct canvas *canvas);

/* Colour number @i, lighter with @depth; with @depth < 0 grey. */
void canvas_colour(struct canvas *canvas, size_t i, int depth);

/*
 * Fills the path and keeps it. There are twelve colours; behind them they come again,
 * with a texture.
 */
void canvas_fill(struct canvas *canvas, size_t i, int depth);

/* Black or white, whichever is easier to read on canvas_colour(@i, @depth). */
void canvas_ink(struct canvas *canvas, size_t i, int depth);

enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

/*
 * Writes @s with its middle line at @y, cut with an ellipsis to @room. False,
 * and nothing written, if not even a few letters fit.
 */
bool canvas_text(struct canvas *canvas, double x, double y, double room,
		 enum align align, double size, const char *s);

/* Whether @s is not cut in @room. */
bool canvas_fits(const struct canvas *canvas, double room, double size, const char *s);

/* A value with its unit, such as "1.5M" or "1234". */
char *canvas_value(const struct canvas *canvas, char *out, double value);

/*
 * At the bottom, if the tree below @start has more than @levels of levels: that these
 * are not drawn.
 */
void canvas_deeper(struct canvas *canvas, const struct chart_tree *tree, int levels);

/*
 * Line number @i of @count of a legend that is @width wide, at the right: a box of
 * colour and a text. False where the page ends; that line tells how many are left.
 */
bool canvas_legend(struct canvas *canvas, double width, size_t i, size_t count,
		   size_t colour, int depth, const char *text);

#endif
