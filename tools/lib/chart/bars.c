// SPDX-License-Identifier: GPL-2.0
/* One bar a group, the name above it. */
#include <math.h>

#include "base/number.h"
#include "chart/canvas.h"

#define LEAST_STEP 24

bool chart_bars(const struct chart_series *series, enum chart_format format, FILE *out)
{
	struct canvas canvas;
	double max = 1, step, y, w = series->chart.width - 130;
	size_t rows = series->rows, fit;
	char text[SIZE_TEXT], more[48];

	for (size_t r = 0; r < series->rows; r++)
		max = fmax(max, fabs(series->value[r]));
	canvas_open(&canvas, &series->chart, format, out);
	/* As many as can be read; the last line tells how many more there are. */
	fit = (size_t)((series->chart.height - canvas.top - 10) / LEAST_STEP);
	if (rows > fit)
		rows = fit - 1;
	step = (series->chart.height - canvas.top - 10) / (double)(rows + (rows < series->rows));
	step = fmin(step, 60);
	y = canvas.top;
	for (size_t r = 0; r < rows; r++, y += step) {
		double value = series->value[r], length = fabs(value) / max * w;

		cairo_set_source_rgb(canvas.cr, 0, 0, 0);
		canvas_text(&canvas, 20, y + step * 0.25, w, ALIGN_LEFT,
			    fmin(12, step * 0.38), series->name[r]);
		canvas_colour(&canvas, value < 0 ? 2 : 0, 0);
		cairo_rectangle(canvas.cr, 20, y + step * 0.45, length, step * 0.42);
		cairo_fill(canvas.cr);
		cairo_set_source_rgb(canvas.cr, 0, 0, 0);
		canvas_text(&canvas, 26 + length, y + step * 0.66, 100, ALIGN_LEFT,
			    fmin(12, step * 0.38), canvas_value(&canvas, text, value));
	}
	snprintf(more, sizeof(more), "and %zu more", series->rows - rows);
	if (rows < series->rows)
		canvas_text(&canvas, 20, y + step * 0.25, w, ALIGN_LEFT, fmin(12, step * 0.38), more);
	return canvas_close(&canvas);
}
