/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that all charts share: a page with a title, colours, and text that fits. */
#ifndef CODETAG_CANVAS_H
#define CODETAG_CANVAS_H

#include <cairo.h>

#include "base/text.h"
#include "chart/chart.h"

/* Below the title */
#define CANVAS_TOP 68

struct canvas {
	cairo_t *cr;
	cairo_surface_t *surface;
	enum chart_format format;
	FILE *out;
	FILE *shapes;	/* SVG: the output of cairo, … */
	char *svg;
	size_t svg_len;
	struct text labels;	/* … and the texts, which cairo would write as outlines */
	const struct chart *chart;
};

void canvas_open(struct canvas *canvas, const struct chart *chart,
		 enum chart_format format, FILE *out);
bool canvas_close(struct canvas *canvas);

/* Colour number @i, lighter with @depth; grey if @depth < 0. */
void canvas_colour(struct canvas *canvas, size_t i, int depth);

/*
 * Fills the path and keeps it. There are twelve colours; after these they repeat with a
 * texture.
 */
void canvas_fill(struct canvas *canvas, size_t i, int depth);

/* Black or white, whichever is easier to read on canvas_colour(@i, @depth). */
void canvas_ink(struct canvas *canvas, size_t i, int depth);

enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

/*
 * Writes @s with its middle line at @y, cut to @room with an ellipsis. Returns false and writes
 * nothing if not even a few letters fit.
 */
bool canvas_text(struct canvas *canvas, double x, double y, double room,
		 enum align align, double size, const char *s);

/* Whether @s fits into @room without a cut. */
bool canvas_fits(const struct canvas *canvas, double room, double size, const char *s);

/* A value with its unit, such as "1.5M" or "1234". */
char *canvas_value(const struct canvas *canvas, char *out, double value);

/*
 * If the tree below @start has more than @levels levels, says at the bottom that these are not
 * drawn.
 */
void canvas_deeper(struct canvas *canvas, const struct chart_tree *tree, int levels);

/*
 * Line number @i of @count of a legend at the right, @width wide: a box of colour and a text.
 * Returns false where the page ends; that line says how many are left.
 */
bool canvas_legend(struct canvas *canvas, double width, size_t i, size_t count,
		   size_t colour, int depth, const char *text);

#endif
