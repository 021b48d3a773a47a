// SPDX-License-Identifier: GPL-2.0-only
#include "leaks_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

static bool is_leak(const struct finding *f)
{
	return f->trend.verdict == TREND_LEAK || f->trend.verdict == TREND_STARTED;
}

/* Suspects come first, the most certain ones at the top; then kind after kind. */
static int compare(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->suspect != y->suspect)
		return x->suspect ? -1 : 1;
	if (!x->suspect && x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->trend.verdict != y->trend.verdict)
		return x->trend.verdict < y->trend.verdict ? -1 : 1;
	if (is_leak(x) && x->trend.drift.low != y->trend.drift.low)
		return x->trend.drift.low < y->trend.drift.low ? 1 : -1;
	if (x->trend.growth != y->trend.growth)
		return x->trend.growth < y->trend.growth ? 1 : -1;
	return strcmp(x->name, y->name);
}

static double risen(const double *value, size_t count)
{
	double sum = 0;

	for (size_t i = 1; i < count; i++)
		sum += fmax(value[i] - value[i - 1], 0);
	return sum;
}

static void bytes_of(const struct watched *watched, enum kind kind, size_t group,
		     double bytes[TREND_MAX])
{
	const struct sum *sum = series_sums(&watched->series[kind], group);

	for (size_t c = 0; c < watched->count; c++)
		bytes[c] = (double)sum[c].bytes;
}

/* The memory that the group holds after the drop; 0 if it is gone. */
static double bytes_after(const struct watched *watched, enum kind kind, const char *name)
{
	const struct series *dropped = &watched->dropped[kind];
	size_t group = strmap_find(&dropped->names, name, strlen(name));

	return group == STRMAP_NONE ? 0 : (double)series_sums(dropped, group)->bytes;
}

/*
 * Growing kernel memory is a suspect unless the drop frees it; a growing cache is one if it
 * stays.
 */
static void judge(struct findings *found, struct finding *f, const struct watched *watched,
		  double first)
{
	bool gone;

	f->suspect = is_leak(f) && f->kind == KIND_KERNEL;
	if (!watched->drop)
		return;
	f->after = bytes_after(watched, f->kind, f->name);
	gone = f->after - first <= 0.5 * f->trend.growth;
	f->stays = is_leak(f) && f->kind == KIND_CACHE && !gone;
	if (f->suspect && gone)
		found->gone++;
	f->suspect = (f->suspect && !gone) || f->stays;
}

static void find_kind(struct findings *found, const struct watched *watched, enum kind kind,
		      const struct selection *selection, double min)
{
	const struct series *series = &watched->series[kind];
	size_t last = watched->count - 1, tested = 0;
	double bytes[TREND_MAX];

	for (size_t i = 0; i < series->names.count; i++) {
		bytes_of(watched, kind, i, bytes);
		tested += risen(bytes, watched->count) >= min;
	}
	if (kind == KIND_KERNEL)
		found->tested = tested;
	for (size_t i = 0; i < series->names.count; i++) {
		struct finding *f = &found->finding[found->count];
		const struct sum *sum = series_sums(series, i);

		bytes_of(watched, kind, i, bytes);
		if (risen(bytes, watched->count) < min)
			continue;
		*f = (struct finding){ .kind = kind, .name = series->names.entry[i].key };
		trend_find(&f->trend, watched->time, bytes, watched->count, tested);
		if (f->trend.verdict == TREND_NONE ||
		    (f->trend.verdict == TREND_UNSTEADY && f->trend.growth < min))
			continue;
		if (is_leak(f) && llround(f->trend.drift.slope * 60) < found->min_rate) {
			found->slow += kind == KIND_KERNEL;
			continue;
		}
		if (!is_leak(f) && selection->all)
			drift_find(&f->trend.drift, watched->time, bytes, watched->count);
		f->now = bytes[last];
		f->calls_growth = (double)sub64(sum[last].calls, sum[0].calls);
		judge(found, f, watched, bytes[0]);
		found->suspects += f->suspect;
		if (!f->suspect && f->trend.growth > 0 && kind != KIND_KERNEL) {
			found->apart[kind].groups++;
			found->apart[kind].growth += f->trend.growth;
			found->apart[kind].left += fmax(f->after - bytes[0], 0);
		}
		found->count++;
	}
}

void leaks_find(struct findings *found, const struct watched *watched,
		const struct selection *selection, int64_t min_rate)
{
	double min = selection->has_min ? (double)selection->min : 4096;
	size_t groups = 0;

	for (enum kind kind = 0; kind < KIND_ALLOCATOR; kind++)
		groups += watched->series[kind].names.count;
	*found = (struct findings){
		.finding = xcalloc(groups + 1, sizeof(*found->finding)), .min_rate = min_rate,
	};
	for (enum kind kind = 0; kind < KIND_ALLOCATOR; kind++)
		find_kind(found, watched, kind, selection, fmax(min, 1));
	qsort(found->finding, found->count, sizeof(*found->finding), compare);
}

void findings_free(struct findings *found)
{
	free(found->finding);
}
