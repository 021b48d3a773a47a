/* SPDX-License-Identifier: GPL-2.0-only */
/* Draws material or stacks as a page to explore. */
#ifndef CODETAG_PAGE_DRAW_H
#define CODETAG_PAGE_DRAW_H

#include "chart/chart.h"
#include "chart/material.h"

/* Returns false, after a message if there is nothing to draw or this build cannot draw it. */
bool page_draw(const struct chart_wish *wish, const struct material *m,
	       const struct chart *chart, FILE *out);

/* The stacks of @groups. */
bool page_draw_stacks(const struct groups *groups, const struct chart *chart, FILE *out);

#endif
