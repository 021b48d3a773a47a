// SPDX-License-Identifier: GPL-2.0-only
/* One bar a group, the name above it. */
#include <math.h>

#include "base/number.h"
#include "chart/canvas.h"

#define LEAST_STEP 24
#define NUMBER 90	/* the width of one */

bool chart_bars(const struct chart_series *series, enum chart_format format, FILE *out)
{
	struct canvas canvas;
	double most = 0, least = 0, step, y, w = series->chart.width - 40, scale, zero;
	size_t rows = series->rows, fit;
	char text[SIZE_TEXT], more[48];

	for (size_t r = 0; r < series->rows; r++) {
		most = fmax(most, series->value[r]);
		least = fmin(least, series->value[r]);
	}
	/*
	 * Groups that have shrunk go to the left of zero. Each side leaves space for a number.
	 */
	w -= least < 0 ? 2 * NUMBER : NUMBER;
	scale = w / fmax(most - least, 1);
	zero = 20 + (least < 0 ? NUMBER : 0) - least * scale;
	canvas_open(&canvas, &series->chart, format, out);
	/* As many bars as can be read; the last line says how many more there are. */
	fit = (size_t)((series->chart.height - CANVAS_TOP - 10) / LEAST_STEP);
	if (rows > fit)
		rows = fit - 1;
	step = (series->chart.height - CANVAS_TOP - 10) / (double)(rows + (rows < series->rows));
	step = fmin(step, 60);
	y = CANVAS_TOP;
	for (size_t r = 0; r < rows; r++, y += step) {
		double value = series->value[r], length = fabs(value) * scale;
		double left = value < 0 ? zero - length : zero;

		cairo_set_source_rgb(canvas.cr, 0, 0, 0);
		canvas_text(&canvas, 20, y + step * 0.25, series->chart.width - 40, ALIGN_LEFT,
			    fmin(12, step * 0.38), series->name[r]);
		canvas_colour(&canvas, value < 0 ? 2 : 0, 0);
		cairo_rectangle(canvas.cr, left, y + step * 0.45, length, step * 0.42);
		cairo_fill(canvas.cr);
		cairo_set_source_rgb(canvas.cr, 0, 0, 0);
		canvas_text(&canvas, value < 0 ? left - 6 : zero + length + 6, y + step * 0.66,
			    NUMBER - 6, value < 0 ? ALIGN_RIGHT : ALIGN_LEFT,
			    fmin(12, step * 0.38), canvas_value(&canvas, text, value));
	}
	snprintf(more, sizeof(more), "and %zu more", series->rows - rows);
	if (rows < series->rows)
		canvas_text(&canvas, 20, y + step * 0.25, w, ALIGN_LEFT, fmin(12, step * 0.38), more);
	return canvas_close(&canvas);
}
