// SPDX-License-Identifier: GPL-2.0-only
#include "model/spread.h"

#include <stdlib.h>

#include "base/number.h"

static int compare(const void *a, const void *b)
{
	const struct ranked_host *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->host < y->host ? -1 : x->host > y->host;
}

/* The least value that @percent of the values do not exceed. */
static int64_t quantile(const struct ranked_host *ranked, size_t count, size_t percent)
{
	size_t below = (count * percent + 99) / 100;

	return ranked[count - (below ? below : 1)].bytes;
}

void spread_find(struct spread *spread, const struct fleet *fleet, size_t g, int64_t least)
{
	size_t count = fleet->count;
	struct ranked_host *ranked = xcalloc(count, sizeof(*ranked));
	int64_t lower, upper, beyond;

	*spread = (struct spread){ .ranked = ranked };
	for (size_t h = 0; h < count; h++) {
		struct fleet_value value = fleet_value(fleet, h, g);

		ranked[h] = (struct ranked_host){ value.bytes, h };
		spread->hosts += value.bytes || value.calls;
	}
	qsort(ranked, count, sizeof(*ranked), compare);
	spread->p99 = quantile(ranked, count, 99);
	lower = ranked[count / 2].bytes;
	upper = ranked[(count - 1) / 2].bytes;
	spread->median = lower + sub64(upper, lower) / 2;

	lower = quantile(ranked, count, 25);
	upper = quantile(ranked, count, 75);
	beyond = add64(upper, mul64(3, sub64(upper, lower)));
	while (spread->outliers < count && ranked[spread->outliers].bytes > beyond &&
	       sub64(ranked[spread->outliers].bytes, spread->median) >= least)
		spread->outliers++;
	spread->ranked = xreallocarray(ranked, spread->outliers + 1, sizeof(*ranked));
}

void spread_free(struct spread *spread)
{
	free(spread->ranked);
}
