/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws material as a ring, a treemap, bars or areas, and stacks as a flame graph. */
#ifndef CODETAG_PICTURE_H
#define CODETAG_PICTURE_H

#include "chart/chart.h"
#include "chart/material.h"

/* Returns false, after a message if there is nothing to draw or this build cannot draw it. */
bool picture_draw(const struct chart_wish *wish, const struct material *m,
		  const struct chart *chart, enum chart_format format, FILE *out);

/* The stacks of @groups. */
bool picture_draw_stacks(const struct groups *groups, const struct chart *chart,
			 enum chart_format format, FILE *out);

#endif
