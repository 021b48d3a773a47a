/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chart to explore: one HTML file without external parts, with a flame graph, a treemap and a
 * ring of the same values, a search, and a slider over time.
 */
#ifndef CODETAG_PAGE_H
#define CODETAG_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/strmap.h"
#include "base/text.h"
#include "model/group.h"

#define PAGE_ATTRIBUTES 4

struct page_attribute {
	const char *key, *label;
	bool bytes;
};

/* Sites are added for the time of the last call of page_time(). */
struct page {
	const char *title, *subtitle;
	const char *what;		/* the unit: "call sites" */
	const char *view;		/* "flame", "treemap" or "ring" */
	size_t shown;			/* the attribute that is shown first */
	bool growth;			/* … by its growth, not its value */
	struct page_attribute attribute[PAGE_ATTRIBUTES];
	size_t attributes;
	double *time;			/* seconds since 1970, 0: not known */
	size_t times, time_room;
	struct strmap keys;		/* the frames and the name of each site, a line each */
	struct page_site *site;
	size_t sites, room;
	struct text notes;		/* a line each */
};

void page_time(struct page *page, double time);

/* If a site has a value at this time already, the new one is added to it. */
void page_add(struct page *page, const char *name, const char *const *stack,
	      size_t frames, const int64_t value[PAGE_ATTRIBUTES]);

/* Adds groups of sites or of contexts as stacks. */
void page_add_groups(struct page *page, const struct groups *groups);

/* Adds the sites that @query selects, as stacks; @by is BY_SITE or BY_FILE. */
void page_add_sites(struct page *page, const struct allocinfo *info,
		    const struct query *query, enum group_by by);

/* Returns false if it cannot be written. */
bool page_write(struct page *page, FILE *out);
void page_free(struct page *page);

#endif
