/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A chart to explore: one HTML file that needs nothing else, with a flame graph, a
 * treemap and a ring of the same values, search, and a slider over time.
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

/* Sites are added for the time that page_time() was last called for. */
struct page {
	const char *title, *subtitle;
	const char *what;		/* what is counted: "call sites" */
	const char *view;		/* "flame", "treemap" or "ring" */
	size_t shown;			/* the attribute that is shown first */
	bool growth;			/* … and its growth, not what it is */
	struct page_attribute attribute[PAGE_ATTRIBUTES];
	size_t attributes;
	double *time;			/* seconds since 1970, 0: not known */
	size_t times, time_room;
	struct strmap names;
	struct page_site *site;
	size_t sites, room;
	struct text notes;		/* a line each */
};

void page_time(struct page *page, double time);

/* The values of one that was there before at this time are added up. */
void page_add(struct page *page, const char *name, const char *const *stack,
	      size_t frames, const int64_t value[PAGE_ATTRIBUTES]);

/* Adds groups of sites or of contexts as stacks. */
void page_add_groups(struct page *page, const struct groups *groups);

/* Adds the sites that @query selects, as stacks; @by is BY_SITE or BY_FILE. */
void page_add_sites(struct page *page, const struct allocinfo *info,
		    const struct query *query, enum group_by by);

/* False if it cannot be written. */
bool page_write(struct page *page, FILE *out);
void page_free(struct page *page);

#endif
