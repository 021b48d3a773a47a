// SPDX-License-Identifier: GPL-2.0-only
#include "chart/canvas.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "write/xml.h"

static cairo_status_t write_out(void *closure, const unsigned char *data,
				unsigned int len)
{
	return fwrite(data, 1, len, closure) == len ? CAIRO_STATUS_SUCCESS :
						      CAIRO_STATUS_WRITE_ERROR;
}

static FILE *open_shapes(struct canvas *canvas)
{
	canvas->shapes = open_memstream(&canvas->svg, &canvas->svg_len);
	if (!canvas->shapes)
		abort();	/* like xmalloc() */
	return canvas->shapes;
}

void canvas_open(struct canvas *canvas, const struct chart *chart,
		 enum chart_format format, FILE *out)
{
	cairo_surface_t *surface;

	*canvas = (struct canvas){ .chart = chart, .format = format, .out = out };
	if (format == CHART_SVG) {
		surface = cairo_svg_surface_create_for_stream(write_out, open_shapes(canvas),
							      chart->width,
							      chart->height);
		/* The size in units of an SVG; a point is a third larger. */
		cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
	} else {
		surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
						     (int)chart->width,
						     (int)chart->height);
	}
	canvas->surface = surface;
	canvas->cr = cairo_create(surface);
	cairo_select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
			       CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_source_rgb(canvas->cr, 1, 1, 1);
	cairo_paint(canvas->cr);
	cairo_set_source_rgb(canvas->cr, 0, 0, 0);
	canvas_text(canvas, chart->width / 2, 24, chart->width - 40, ALIGN_CENTRE,
		    20, chart->title);
	cairo_set_source_rgb(canvas->cr, 0.35, 0.35, 0.35);
	canvas_text(canvas, chart->width / 2, 48, chart->width - 40, ALIGN_CENTRE,
		    13, chart->subtitle);
}

/* The texts are inserted before the end of the file that cairo has written. */
static bool finish_svg(struct canvas *canvas)
{
	static const char end[] = "</svg>";
	char *last = NULL;

	if (!fclose(canvas->shapes))
		for (char *s = canvas->svg; (s = strstr(s, end)); s++)
			last = s;
	if (last) {
		fwrite(canvas->svg, 1, last - canvas->svg, canvas->out);
		fwrite(canvas->labels.s, 1, canvas->labels.len, canvas->out);
		fputs(last, canvas->out);
	}
	free(canvas->svg);
	text_free(&canvas->labels);
	return last;
}

bool canvas_close(struct canvas *canvas)
{
	cairo_status_t status = cairo_status(canvas->cr);
	bool good = status == CAIRO_STATUS_SUCCESS;

	if (!good)
		warning("cannot draw: %s", cairo_status_to_string(status));
	cairo_destroy(canvas->cr);
	if (canvas->format == CHART_PNG &&
	    cairo_surface_write_to_png_stream(canvas->surface, write_out,
					      canvas->out) != CAIRO_STATUS_SUCCESS)
		good = false;
	cairo_surface_finish(canvas->surface);
	if (cairo_surface_status(canvas->surface) != CAIRO_STATUS_SUCCESS)
		good = false;
	cairo_surface_destroy(canvas->surface);
	if (canvas->format == CHART_SVG && !finish_svg(canvas))
		good = false;
	return good && !ferror(canvas->out);
}

/* Neighbours differ in hue and in lightness, also for eyes that see few hues. */
static const double palette[][3] = {
	{ 0.27, 0.47, 0.67 }, { 0.93, 0.53, 0.20 }, { 0.13, 0.53, 0.40 },
	{ 0.80, 0.40, 0.47 }, { 0.53, 0.80, 0.93 }, { 0.67, 0.60, 0.20 },
	{ 0.53, 0.40, 0.67 }, { 0.27, 0.67, 0.60 }, { 0.67, 0.27, 0.40 },
	{ 0.73, 0.80, 0.40 }, { 0.40, 0.27, 0.20 }, { 0.87, 0.80, 0.47 },
};

#define COLOURS (sizeof(palette) / sizeof(*palette))

static void mix(double out[3], size_t i, int depth)
{
	const double *c = palette[i % COLOURS];
	double light = fmin(0.16 * depth, 0.7);

	for (int k = 0; k < 3; k++)
		out[k] = depth < 0 ? 0.82 : c[k] + (1 - c[k]) * light;
}

void canvas_colour(struct canvas *canvas, size_t i, int depth)
{
	double c[3];

	mix(c, i, depth);
	cairo_set_source_rgb(canvas->cr, c[0], c[1], c[2]);
}

/* Lines that lean left, lean right, lie, stand; then the same, closer together. */
static void draw_texture(cairo_t *cr, size_t texture)
{
	static const double directions[][2] = { { 1, 1 }, { 1, -1 }, { 1, 0 }, { 0, 1 } };
	const double *d = directions[(texture - 1) % 4];
	double step = 9 / (double)(1 + (texture - 1) / 4), x0, y0, x1, y1, size, half;

	cairo_path_extents(cr, &x0, &y0, &x1, &y1);
	size = x1 - x0 + y1 - y0;
	half = size / 2;
	for (double at = -half; at <= half; at += step) {
		double x = (x0 + x1) / 2 - d[1] * at, y = (y0 + y1) / 2 + d[0] * at;

		cairo_new_path(cr);
		cairo_move_to(cr, x - d[0] * half, y - d[1] * half);
		cairo_line_to(cr, x + d[0] * half, y + d[1] * half);
		cairo_stroke(cr);
	}
}

void canvas_fill(struct canvas *canvas, size_t i, int depth)
{
	cairo_path_t *path;
	cairo_t *cr = canvas->cr;

	canvas_colour(canvas, i, depth);
	cairo_fill_preserve(cr);
	if (i < COLOURS || depth < 0)
		return;
	path = cairo_copy_path(cr);
	cairo_save(cr);
	cairo_clip_preserve(cr);
	cairo_set_line_width(cr, 1.5);
	/* Lighter than the colour, so that text on it stays easy to read. */
	canvas_colour(canvas, i, depth + 2);
	draw_texture(cr, i / COLOURS);
	cairo_restore(cr);
	cairo_new_path(cr);
	cairo_append_path(cr, path);
	cairo_path_destroy(path);
}

void canvas_ink(struct canvas *canvas, size_t i, int depth)
{
	double c[3], ink, bright;

	mix(c, i, depth);
	/*
	 * The brightness that the eye sees; black and white have equal contrast with 0.18 of
	 * white.
	 */
	bright = 0.2126 * pow(c[0], 2.2) + 0.7152 * pow(c[1], 2.2) + 0.0722 * pow(c[2], 2.2);
	ink = bright < 0.18 ? 1 : 0;
	cairo_set_source_rgb(canvas->cr, ink, ink, ink);
}

enum { LABEL = 256 };

/*
 * The part of @s that fits. Cairo draws nothing after a byte that is not UTF-8, or after a code
 * that is not a character. A damaged or cut name can have such bytes.
 */
static void copy_label(char to[LABEL], const char *s)
{
	static const char instead[] = "\xef\xbf\xbd";
	size_t at = 0;

	while (*s) {
		size_t len = utf8_length(s), safe = text_safe_length(s);
		size_t wide = safe ? safe : sizeof(instead) - 1;

		if (at + wide >= LABEL)
			break;
		memcpy(to + at, safe ? s : instead, wide);
		at += wide;
		s += len ? len : 1;
	}
	to[at] = '\0';
}

static double text_width(cairo_t *cr, const char *s)
{
	cairo_text_extents_t extents;

	cairo_text_extents(cr, s, &extents);
	return extents.x_advance;
}

/* Cuts @s to @room: never within a UTF-8 character. */
static bool fit(cairo_t *cr, char *s, size_t size, double room)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t len = strlen(s);

	if (text_width(cr, s) <= room)
		return true;
	while (len > 3) {
		do
			len--;
		while (len && ((unsigned char)s[len] & 0xc0) == 0x80);
		if (len + sizeof(ellipsis) > size)
			continue;
		memcpy(s + len, ellipsis, sizeof(ellipsis));
		if (text_width(cr, s) <= room)
			return true;
	}
	return false;
}

/* As a text that can be searched and copied, stretched to the width that was measured. */
static void add_label(struct canvas *canvas, double x, double y, double size,
		      double width, const char *s)
{
	struct text *to = &canvas->labels;
	double r = 0, g = 0, b = 0, a;
	cairo_matrix_t m;

	cairo_pattern_get_rgba(cairo_get_source(canvas->cr), &r, &g, &b, &a);
	cairo_get_matrix(canvas->cr, &m);
	text_printf(to, "<text xml:space=\"preserve\" font-family=\"sans-serif\" font-size=\"%.1f\" "
		    "fill=\"rgb(%.0f%%,%.0f%%,%.0f%%)\" textLength=\"%.2f\" ",
		    size, r * 100, g * 100, b * 100, width);
	if (m.xy != 0 || m.yx != 0 || m.xx < 0)
		text_printf(to, "transform=\"matrix(%.5f %.5f %.5f %.5f %.2f %.2f)\" ",
			    m.xx, m.yx, m.xy, m.yy, m.x0, m.y0);
	else
		cairo_user_to_device(canvas->cr, &x, &y);
	text_printf(to, "x=\"%.2f\" y=\"%.2f\">", x, y);
	xml_add(to, s);
	text_puts(to, "</text>\n");
}

bool canvas_text(struct canvas *canvas, double x, double y, double room,
		 enum align align, double size, const char *s)
{
	cairo_t *cr = canvas->cr;
	cairo_font_extents_t font;
	char text[LABEL];

	copy_label(text, s);
	cairo_set_font_size(cr, size);
	if (!fit(cr, text, sizeof(text), room))
		return false;
	if (align != ALIGN_LEFT)
		x -= text_width(cr, text) * (align == ALIGN_CENTRE ? 0.5 : 1);
	cairo_font_extents(cr, &font);
	y += (font.ascent - font.descent) / 2;
	if (canvas->format == CHART_SVG) {
		add_label(canvas, x, y, size, text_width(cr, text), text);
		return true;
	}
	cairo_move_to(cr, x, y);
	cairo_show_text(cr, text);
	return true;
}

bool canvas_fits(const struct canvas *canvas, double room, double size, const char *s)
{
	char text[LABEL];

	copy_label(text, s);
	cairo_set_font_size(canvas->cr, size);
	return text_width(canvas->cr, text) <= room;
}

char *canvas_value(const struct canvas *canvas, char *out, double value)
{
	return size_format(out, (int64_t)value, canvas->chart->bytes);
}

static int depth_of(const struct tree *tree, const struct tree_node *node)
{
	int depth = 0;

	for (size_t i = 0; i < node->children; i++) {
		const struct tree_node *child = &tree->node[node->child[i]];
		int below = child->sum.bytes > 0 ? 1 + depth_of(tree, child) : 0;

		if (below > depth)
			depth = below;
	}
	return depth;
}

void canvas_deeper(struct canvas *canvas, const struct chart_tree *tree, int levels)
{
	int deeper = depth_of(tree->tree, tree->start) - levels;
	char text[96];

	if (deeper <= 0)
		return;
	snprintf(text, sizeof(text), "%d deeper level%s %s not drawn: see --start-branch", deeper,
		 deeper > 1 ? "s" : "", deeper > 1 ? "are" : "is");
	cairo_set_source_rgb(canvas->cr, 0.35, 0.35, 0.35);
	canvas_text(canvas, 12, canvas->chart->height - 9, canvas->chart->width - 24, ALIGN_LEFT,
		    11, text);
}

bool canvas_legend(struct canvas *canvas, double width, size_t i, size_t count,
		   size_t colour, int depth, const char *text)
{
	double x = canvas->chart->width - width, y = CANVAS_TOP + 10 + 20 * (double)i;
	bool last = y + 30 > canvas->chart->height && i + 1 < count;
	char more[48];

	snprintf(more, sizeof(more), "and %zu more", count - i);
	if (!last) {
		cairo_rectangle(canvas->cr, x, y - 6, 12, 12);
		canvas_fill(canvas, colour, depth);
		cairo_new_path(canvas->cr);
	}
	cairo_set_source_rgb(canvas->cr, 0, 0, 0);
	canvas_text(canvas, x + 18, y, width - 28, ALIGN_LEFT, 12, last ? more : text);
	return !last;
}
