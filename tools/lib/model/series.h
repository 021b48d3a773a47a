/* SPDX-License-Identifier: GPL-2.0-only */
/* The sums of groups of call sites at several moments: a row for each group. */
#ifndef CODETAG_SERIES_H
#define CODETAG_SERIES_H

#include <stddef.h>

#include "base/strmap.h"
#include "model/group.h"

struct series {
	size_t columns;		/* number of moments, set before anything is added */
	struct strmap names;	/* of the groups */
	struct sum *sum;	/* of group g at moment c: [g * columns + c] */
	size_t room;		/* groups that fit */
};

/* The sums of the group @name, all zero if it is new; valid until the next new group. */
struct sum *series_group(struct series *series, const char *name, size_t len);

/* Adds the sites of @info that @query (may be NULL) selects to moment @column. */
void series_add(struct series *series, size_t column, struct grouping by,
		const struct allocinfo *info, const struct query *query);

static inline const struct sum *series_sums(const struct series *series, size_t group)
{
	return &series->sum[group * series->columns];
}

void series_free(struct series *series);

#endif
