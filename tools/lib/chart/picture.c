// SPDX-License-Identifier: GPL-2.0-only
#include "chart/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#ifdef HAVE_CAIRO
#include "model/frames.h"

static bool nothing(void)
{
	warning("there is nothing to draw");
	return false;
}

static bool draw_tree(const struct chart_wish *wish, const struct tree *tree,
		      const struct chart *chart, enum chart_format format,
		      FILE *out)
{
	struct chart_tree drawing = { .chart = *chart, .tree = tree };

	drawing.start = tree_find(tree, wish->start ? wish->start : "");
	if (!drawing.start)
		return nothing();
	if (wish->kind == RING)
		return chart_ring(&drawing, format, out);
	return chart_treemap(&drawing, format, out);
}

static bool draw_bars(const struct chart_wish *wish, const struct material *m,
		      const struct chart *chart, enum chart_format format,
		      FILE *out)
{
	struct weighed *ranked;
	struct groups groups;
	const char **name;
	double *value;
	bool good;
	size_t rows;

	material_groups(&groups, m, wish, wish->by);
	rows = material_rank(wish, &groups, &ranked, 20);
	name = xcalloc(rows, sizeof(*name));
	value = xcalloc(rows, sizeof(*value));
	for (size_t r = 0; r < rows; r++) {
		name[r] = groups.group[ranked[r].i].name;
		value[r] = (double)ranked[r].value;
	}
	good = (rows || nothing()) &&
	       chart_bars(&(struct chart_series){ *chart, name, value, rows, 1, NULL, NULL, 0 },
			  format, out);
	free(name);
	free(value);
	free(ranked);
	groups_free(&groups);
	return good;
}

static double at_moment(const struct chart_wish *wish, const struct material *m, size_t group,
			size_t column)
{
	const struct sum *sum = &series_sums(&m->series, group)[column];

	return (double)(wish->attribute == CALLS ? sum->calls : sum->bytes);
}

/* The values of meminfo are bytes, the others plain numbers. */
static struct chart_line *gauge_lines(const struct material *m)
{
	size_t columns = m->series.columns;
	struct chart_line *line = xcalloc(m->gauges.count + 1, sizeof(*line));

	for (size_t i = 0; i < m->gauges.count; i++) {
		const struct gauge *gauge = &m->gauges.gauge[i];
		double *value = xcalloc(columns, sizeof(*value));

		for (size_t c = 0; c < columns; c++)
			value[c] = (double)gauge->value[m->snapshot[c]];
		line[i] = (struct chart_line){
			gauge->name, value, !strncmp(gauge->name, "meminfo.", 8),
		};
	}
	return line;
}

static bool draw_area(const struct chart_wish *wish, const struct material *m,
		      const struct chart *chart, enum chart_format format,
		      FILE *out)
{
	size_t groups = m->series.names.count, columns = m->series.columns, rows;
	struct groups last = { .group = xcalloc(groups, sizeof(*last.group)), .count = groups };
	struct weighed *ranked;
	const char **name;
	double *value;
	struct chart_line *line = gauge_lines(m);
	bool good, rest = false;

	for (size_t i = 0; i < groups; i++)
		last.group[i].now = series_sums(&m->series, i)[columns - 1];
	rows = material_rank(wish, &last, &ranked, 10);
	name = xcalloc(rows + 1, sizeof(*name));
	value = xcalloc((rows + 1) * columns, sizeof(*value));
	for (size_t r = 0; r < rows; r++)
		name[r] = m->series.names.entry[ranked[r].i].key;
	name[rows] = "all others";
	for (size_t c = 0; c < columns; c++) {
		double *others = &value[rows * columns + c];

		for (size_t i = 0; i < groups; i++)
			*others += at_moment(wish, m, i, c);
		for (size_t r = 0; r < rows; r++) {
			value[r * columns + c] = at_moment(wish, m, ranked[r].i, c);
			*others -= value[r * columns + c];
		}
		rest = rest || *others > 0;
	}
	good = (groups || nothing()) &&
	       chart_area(&(struct chart_series){ *chart, name, value, rows + rest,
						  columns, m->moment,
						  line, m->gauges.count },
			  format, out);
	free(name);
	free(value);
	free(ranked);
	free(last.group);
	for (size_t i = 0; i < m->gauges.count; i++)
		free((void *)line[i].value);
	free(line);
	return good;
}

bool picture_draw(const struct chart_wish *wish, const struct material *m,
		  const struct chart *chart, enum chart_format format, FILE *out)
{
	switch (wish->kind) {
	case AREA:
		return draw_area(wish, m, chart, format, out);
	case BARS:
		return draw_bars(wish, m, chart, format, out);
	default:
		return draw_tree(wish, &m->tree, chart, format, out);
	}
}

bool picture_draw_stacks(const struct groups *groups, const struct chart *chart,
			 enum chart_format format, FILE *out)
{
	struct tree tree = { 0 };
	struct chart_tree drawing = { .chart = *chart, .tree = &tree };
	bool good;

	frames_tree(&tree, groups, !chart->bytes);
	drawing.start = tree.node;
	good = chart_flame(&drawing, format, out);
	tree_free(&tree);
	return good;
}
#else
static bool without_cairo(const char *instead)
{
	warning("this build cannot make pictures, it was made without cairo");
	hint("Try %s.", instead);
	return false;
}

bool picture_draw(const struct chart_wish *wish, const struct material *m,
		  const struct chart *chart, enum chart_format format, FILE *out)
{
	(void)wish, (void)m, (void)chart, (void)format, (void)out;
	return without_cairo(".html");
}

bool picture_draw_stacks(const struct groups *groups, const struct chart *chart,
			 enum chart_format format, FILE *out)
{
	(void)groups, (void)chart, (void)format, (void)out;
	return without_cairo(".html, or 'codetag export --contexts'");
}
#endif
