/* SPDX-License-Identifier: GPL-2.0-only */
/* chart --flame: the stacks of contexts as a flame graph. */
#ifndef CODETAG_CHART_FLAME_H
#define CODETAG_CHART_FLAME_H

#include "contexts_read.h"
#include "chart/chart.h"
#include "read/query.h"

struct chart_flame {
	struct contexts_choice contexts;
	const struct query *query;
	const char *output, *title;	/* NULL: the usual title */
	bool page;			/* to explore, else a picture … */
	enum chart_format format;	/* … of this format */
	bool calls;		/* counts objects instead of bytes */
	double width, height;
};

/* Returns an exit status. */
int chart_flame_contexts(const struct chart_flame *flame);

#endif
