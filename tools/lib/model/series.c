// SPDX-License-Identifier: GPL-2.0-only
#include "model/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct sum *series_group(struct series *series, const char *name, size_t len)
{
	size_t i = strmap_add(&series->names, name, len);

	if (i >= series->room) {
		size_t old = series->room;

		series->room = old ? 2 * old : 16;
		series->sum = xreallocarray(series->sum, series->room,
					    series->columns * sizeof(*series->sum));
		memset(series->sum + old * series->columns, 0,
		       (series->room - old) * series->columns * sizeof(*series->sum));
	}
	return &series->sum[i * series->columns];
}

void series_add(struct series *series, size_t column, struct grouping by,
		const struct allocinfo *info, const struct query *query)
{
	struct groups groups = { .by = by };

	groups_add(&groups, info, query);
	for (size_t g = 0; g < groups.count; g++)
		series_group(series, groups.group[g].name,
			     strlen(groups.group[g].name))[column] = groups.group[g].now;
	groups_free(&groups);
}

void series_free(struct series *series)
{
	free(series->sum);
	strmap_free(&series->names);
	*series = (struct series){ 0 };
}
