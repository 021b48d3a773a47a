// SPDX-License-Identifier: GPL-2.0
#include "chart/canvas.h"

#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

static cairo_status_t write_out(void *closure, const unsigned char *data,
				unsigned int len)
{
	return fwrite(data, 1, len, closure) == len ? CAIRO_STATUS_SUCCESS :
						      CAIRO_STATUS_WRITE_ERROR;
}

void canvas_open(struct canvas *canvas, const struct chart *chart,
		 enum chart_format format, FILE *out)
{
	cairo_surface_t *surface;

	*canvas = (struct canvas){ .chart = chart, .format = format, .out = out };
	if (format == CHART_SVG)
		surface = cairo_svg_surface_create_for_stream(write_out, out,
							      chart->width,
							      chart->height);
	else
		surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
						     (int)chart->width,
						     (int)chart->height);
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
	canvas->top = 68;
}

bool canvas_close(struct canvas *canvas)
{
	bool good = cairo_status(canvas->cr) == CAIRO_STATUS_SUCCESS;

	cairo_destroy(canvas->cr);
	if (canvas->format == CHART_PNG &&
	    cairo_surface_write_to_png_stream(canvas->surface, write_out,
					      canvas->out) != CAIRO_STATUS_SUCCESS)
		good = false;
	cairo_surface_finish(canvas->surface);
	if (cairo_surface_status(canvas->surface) != CAIRO_STATUS_SUCCESS)
		good = false;
	cairo_surface_destroy(canvas->surface);
	return good && !ferror(canvas->out);
}

/* Neighbours differ in hue and in lightness, also for eyes that see few hues. */
static const double palette[][3] = {
	{ 0.27, 0.47, 0.67 }, { 0.93, 0.53, 0.20 }, { 0.13, 0.53, 0.40 },
	{ 0.80, 0.40, 0.47 }, { 0.53, 0.80, 0.93 }, { 0.67, 0.60, 0.20 },
	{ 0.53, 0.40, 0.67 }, { 0.27, 0.67, 0.60 }, { 0.67, 0.27, 0.40 },
	{ 0.73, 0.80, 0.40 }, { 0.40, 0.27, 0.20 }, { 0.87, 0.80, 0.47 },
};

static void mix(double out[3], size_t i, int depth)
{
	const double *c = palette[i % (sizeof(palette) / sizeof(*palette))];
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

void canvas_ink(struct canvas *canvas, size_t i, int depth)
{
	double c[3], ink, bright;

	mix(c, i, depth);
	/* What the eye sees; black and white contrast alike with 0.18 of white. */
	bright = 0.2126 * pow(c[0], 2.2) + 0.7152 * pow(c[1], 2.2) + 0.0722 * pow(c[2], 2.2);
	ink = bright < 0.18 ? 1 : 0;
	cairo_set_source_rgb(canvas->cr, ink, ink, ink);
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

bool canvas_text(struct canvas *canvas, double x, double y, double room,
		 enum align align, double size, const char *s)
{
	cairo_t *cr = canvas->cr;
	cairo_font_extents_t font;
	char text[256];

	snprintf(text, sizeof(text), "%s", s);
	cairo_set_font_size(cr, size);
	if (!fit(cr, text, sizeof(text), room))
		return false;
	if (align != ALIGN_LEFT)
		x -= text_width(cr, text) * (align == ALIGN_CENTRE ? 0.5 : 1);
	cairo_font_extents(cr, &font);
	cairo_move_to(cr, x, y + (font.ascent - font.descent) / 2);
	cairo_show_text(cr, text);
	return true;
}

bool canvas_fits(const struct canvas *canvas, double room, double size, const char *s)
{
	cairo_set_font_size(canvas->cr, size);
	return text_width(canvas->cr, s) <= room;
}

char *canvas_value(const struct canvas *canvas, char *out, double value)
{
	return size_format(out, (int64_t)value, canvas->chart->bytes);
}

bool canvas_legend(struct canvas *canvas, double width, size_t i, size_t count,
		   size_t colour, int depth, const char *text)
{
	double x = canvas->chart->width - width, y = canvas->top + 10 + 20 * (double)i;
	bool last = y + 30 > canvas->chart->height && i + 1 < count;
	char more[48];

	snprintf(more, sizeof(more), "and %zu more", count - i);
	if (!last) {
		canvas_colour(canvas, colour, depth);
		cairo_rectangle(canvas->cr, x, y - 6, 12, 12);
		cairo_fill(canvas->cr);
	}
	cairo_set_source_rgb(canvas->cr, 0, 0, 0);
	canvas_text(canvas, x + 18, y, width - 28, ALIGN_LEFT, 12, last ? more : text);
	return !last;
}
