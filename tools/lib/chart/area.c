// SPDX-License-Identifier: GPL-2.0-only
/* Stacked areas over time. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "chart/canvas.h"

#define LEGEND_WIDTH 330
#define LEFT 70
#define BOTTOM 40

struct area {
	struct canvas *canvas;
	const struct chart_series *series;
	double w, h, max;
};

static double x_of(const struct area *area, size_t column)
{
	const double *time = area->series->time;
	double span = time[area->series->columns - 1] - time[0];

	return LEFT + (span > 0 ? (time[column] - time[0]) / span : 0) * area->w;
}

static double y_of(const struct area *area, double value)
{
	return CANVAS_TOP + area->h * (1 - value / area->max);
}

/* 1, 2 or 5 times a power: of 2 for bytes, of 10 for other numbers. */
static double grid_step(double max, bool bytes)
{
	double base = bytes ? 1024 : 1000, unit = 1, step;
	static const double steps[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500 };

	while (max / unit >= base)
		unit *= base;
	step = unit;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		step = unit * steps[i];
		if (max / step <= 8)
			break;
	}
	return max / step < 2 ? step / 2 : step;
}

static void draw_grid(const struct area *area)
{
	double step = grid_step(area->max, area->canvas->chart->bytes);
	cairo_t *cr = area->canvas->cr;
	char text[SIZE_TEXT];

	cairo_set_line_width(cr, 0.5);
	for (double value = 0; value <= area->max; value += step) {
		double y = y_of(area, value);

		cairo_set_source_rgb(cr, 0.6, 0.6, 0.6);
		cairo_move_to(cr, LEFT, y);
		cairo_line_to(cr, LEFT + area->w, y);
		cairo_stroke(cr);
		cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
		canvas_text(area->canvas, LEFT - 6, y, LEFT - 8, ALIGN_RIGHT, 11,
			    canvas_value(area->canvas, text, value));
	}
}

/* Steps of time, in seconds, that people count in; at most @most of them fit in @span. */
static double tick_step(double span, double most)
{
	static const int steps[] = {
		1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
		86400, 2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400,
	};
	size_t i = 0;

	while (i + 1 < sizeof(steps) / sizeof(*steps) && span / steps[i] > most)
		i++;
	/* For years several steps of the longest kind. */
	return steps[i] * fmax(ceil(span / steps[i] / most), 1);
}

/*
 * At whole steps of local time. A day that is an hour longer shifts the ticks after it by an
 * hour.
 */
static void draw_times(const struct area *area)
{
	const struct chart_series *series = area->series;
	double first = series->time[0], last = series->time[series->columns - 1];
	double step = tick_step(last - first, fmax(area->w / 90, 2)), when;
	double y = CANVAS_TOP + area->h;
	cairo_t *cr = area->canvas->cr;
	time_t start = (time_t)first;
	struct tm tm = { 0 };

	localtime_r(&start, &tm);
	when = ceil((first + (double)tm.tm_gmtoff) / step) * step - (double)tm.tm_gmtoff;
	cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
	for (; when <= last || when - step < first; when += step) {
		/* If the span is shorter than a step there is no tick: show its beginning. */
		double shown = when <= last ? when : first;
		double x = LEFT + (last > first ? (shown - first) / (last - first) : 0) * area->w;
		time_t seconds = (time_t)shown;
		char text[32] = "";

		if (localtime_r(&seconds, &tm))
			strftime(text, sizeof(text), step >= 86400 ? "%Y-%m-%d" :
				 last - first > 86400 ? "%m-%d %H:%M" :
				 step >= 60 && shown == when ? "%H:%M" : "%H:%M:%S", &tm);
		cairo_move_to(cr, x, y);
		cairo_line_to(cr, x, y + 5);
		cairo_stroke(cr);
		canvas_text(area->canvas, x, y + 16, 100, ALIGN_CENTRE, 11, text);
		if (shown != when)
			break;
	}
}

static double largest(const struct area *area, const struct chart_line *line)
{
	double max = 1;

	for (size_t c = 0; c < area->series->columns; c++)
		max = fmax(max, line->value[c]);
	return max;
}

static bool on_axis(const struct area *area, const struct chart_line *line)
{
	return line->bytes && area->series->chart.bytes;
}

/* Black if the line crosses a colour or none; the first one is solid. */
static void stroke_line(const struct area *area, size_t i)
{
	static const double dashes[][2] = { { 1, 0 }, { 8, 4 }, { 2, 3 }, { 14, 5 }, { 5, 2 } };
	cairo_t *cr = area->canvas->cr;

	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_set_line_width(cr, 4);
	cairo_stroke_preserve(cr);
	cairo_set_source_rgb(cr, 0, 0, 0);
	cairo_set_line_width(cr, 1.5);
	cairo_set_dash(cr, dashes[i % (sizeof(dashes) / sizeof(*dashes))], i ? 2 : 0, 0);
	cairo_stroke(cr);
	cairo_set_dash(cr, NULL, 0, 0);
}

static void draw_line(const struct area *area, size_t i)
{
	const struct chart_line *line = &area->series->line[i];
	double scale = on_axis(area, line) ? 1 : area->max / 1.05 / largest(area, line);

	cairo_new_path(area->canvas->cr);
	for (size_t c = 0; c < area->series->columns; c++)
		cairo_line_to(area->canvas->cr, x_of(area, c),
			      y_of(area, fmax(line->value[c], 0) * scale));
	stroke_line(area, i);
}

/* "1.5M meminfo.Slab"; on a scale of its own "653 of 819 slabinfo.dentry/active" */
static void line_legend(const struct area *area, double width, size_t row, size_t rows, size_t i)
{
	const struct chart_line *line = &area->series->line[i];
	double x = area->series->chart.width - width, y = CANVAS_TOP + 10 + 20 * (double)row;
	char value[SIZE_TEXT], max[SIZE_TEXT], text[192];

	size_format(value, (int64_t)line->value[area->series->columns - 1], line->bytes);
	size_format(max, (int64_t)largest(area, line), line->bytes);
	if (on_axis(area, line))
		snprintf(text, sizeof(text), "%s  %.120s", value, line->name);
	else
		snprintf(text, sizeof(text), "%s of %s  %.120s", value, max, line->name);
	if (!canvas_legend(area->canvas, width, row, rows, 0, -1, text))
		return;
	cairo_new_path(area->canvas->cr);
	cairo_move_to(area->canvas->cr, x - 4, y);
	cairo_line_to(area->canvas->cr, x + 16, y);
	stroke_line(area, i);
}

bool chart_area(const struct chart_series *series, enum chart_format format, FILE *out)
{
	struct canvas canvas;
	struct area area = { .canvas = &canvas, .series = series, .max = 1 };
	double *below = xcalloc(series->columns, sizeof(*below));
	double *above = xcalloc(series->columns, sizeof(*above));
	char text[192], value[SIZE_TEXT];
	size_t i, legends = series->rows + series->lines;
	double legend;

	for (size_t c = 0; c < series->columns; c++) {
		double sum = 0;

		for (size_t r = 0; r < series->rows; r++)
			sum += fmax(series->value[r * series->columns + c], 0);
		area.max = fmax(area.max, sum * 1.05);
	}
	for (i = 0; i < series->lines; i++)
		if (on_axis(&area, &series->line[i]))
			area.max = fmax(area.max, largest(&area, &series->line[i]) * 1.05);
	canvas_open(&canvas, &series->chart, format, out);
	legend = fmin(LEGEND_WIDTH, series->chart.width * 0.45);
	area.w = series->chart.width - LEFT - legend - 20;
	area.h = series->chart.height - CANVAS_TOP - BOTTOM;

	for (size_t r = 0; r < series->rows; r++) {
		const double *row = &series->value[r * series->columns];

		for (size_t c = 0; c < series->columns; c++)
			above[c] = below[c] + fmax(row[c], 0);
		cairo_new_path(canvas.cr);
		for (size_t c = 0; c < series->columns; c++)
			cairo_line_to(canvas.cr, x_of(&area, c), y_of(&area, above[c]));
		for (size_t c = series->columns; c--; )
			cairo_line_to(canvas.cr, x_of(&area, c), y_of(&area, below[c]));
		cairo_close_path(canvas.cr);
		canvas_fill(&canvas, r, 0);
		cairo_new_path(canvas.cr);
		for (size_t c = 0; c < series->columns; c++)
			below[c] = above[c];
	}
	for (i = 0; i < series->lines; i++)
		draw_line(&area, i);
	draw_grid(&area);
	draw_times(&area);
	for (i = 0; i < series->lines; i++)
		line_legend(&area, legend, i, legends, i);
	/* The legend from top to bottom, in the order of the areas. */
	for (i = 0; i < series->rows; i++) {
		size_t r = series->rows - 1 - i;

		snprintf(text, sizeof(text), "%s  %.120s",
			 canvas_value(&canvas, value,
				      series->value[(r + 1) * series->columns - 1]),
			 series->name[r]);
		if (!canvas_legend(&canvas, legend, series->lines + i, legends, r, 0, text))
			break;
	}
	free(below);
	free(above);
	return canvas_close(&canvas);
}
