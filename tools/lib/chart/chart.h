/* SPDX-License-Identifier: GPL-2.0-only */
/* Charts by cairo, as SVG or PNG. Each kind of chart is a file of its own. */
#ifndef CODETAG_CHART_H
#define CODETAG_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/tree.h"

struct chart {
	const char *title, *subtitle;
	double width, height;
	bool bytes;	/* values are bytes, not a number of allocations */
	bool fit;	/* a flame graph is no higher than its rows need */
};

/* A tree: values are the sums of bytes of its nodes. */
struct chart_tree {
	struct chart chart;
	const struct tree *tree;	/* sorted by size */
	const struct tree_node *start;	/* the middle of the ring */
};

/* A recorded value that belongs to no sum: a line over the areas. */
struct chart_line {
	const char *name;
	const double *value;	/* of each column */
	bool bytes;	/* on the axis of the areas, if those are bytes; else on its own */
};

/* Values of @rows groups, each at @columns points in time. */
struct chart_series {
	struct chart chart;
	const char *const *name;	/* the last group may stand for the others */
	const double *value;		/* one row of values after the other */
	size_t rows, columns;
	const double *time;		/* seconds since 1970 */
	const struct chart_line *line;
	size_t lines;
};

enum chart_format { CHART_SVG, CHART_PNG };

/* Returns false if it cannot be drawn or written; the stream then has the error. */
bool chart_ring(const struct chart_tree *tree, enum chart_format format, FILE *out);
bool chart_treemap(const struct chart_tree *tree, enum chart_format format, FILE *out);
bool chart_flame(const struct chart_tree *tree, enum chart_format format, FILE *out);
bool chart_area(const struct chart_series *series, enum chart_format format, FILE *out);

/* The series has one column: a bar for each value. */
bool chart_bars(const struct chart_series *series, enum chart_format format, FILE *out);

#endif
