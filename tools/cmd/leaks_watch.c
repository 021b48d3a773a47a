// SPDX-License-Identifier: GPL-2.0-only
#include "leaks_watch.h"

#include <stdlib.h>

#include "drop.h"
#include "interval.h"
#include "base/message.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

/* The kind that the group is judged as. */
static enum kind kind_of(const struct watched *watched, const struct site *site)
{
	return watched->named ? KIND_KERNEL : site_kind(site);
}

/* Whether the query chooses no memory of the kernel itself. */
static bool all_named(const struct allocinfo *info, const struct query *query)
{
	size_t chosen = 0;

	for (size_t i = 0; i < info->count; i++) {
		if (!query_match(query, &info->site[i]))
			continue;
		if (site_kind(&info->site[i]) == KIND_KERNEL)
			return false;
		chosen++;
	}
	return chosen;
}

static void add(struct series series[KINDS], struct watched *watched, size_t column,
		const struct selection *selection, const struct allocinfo *info)
{
	struct allocinfo some = { .site = xcalloc(info->count, sizeof(*some.site)) };

	for (enum kind kind = 0; kind < KIND_ALLOCATOR; kind++) {
		some.count = 0;
		for (size_t i = 0; i < info->count; i++)
			if (query_match(selection->query, &info->site[i]) &&
			    kind_of(watched, &info->site[i]) == kind)
				some.site[some.count++] = info->site[i];
		series_add(&series[kind], column, selection->by, &some, NULL);
	}
	free(some.site);
}

static void note_profiling(struct watched *watched, const struct allocinfo *info,
			   const struct query *query)
{
	struct profiled profiling;

	profiling_count(&profiling, info, query);
	if (!watched->count)
		watched->chosen = profiling.chosen;
	for (size_t i = 0; i < info->count && !watched->matched; i++)
		watched->matched = query_match(query, &info->site[i]);
	if (profiling.off <= watched->off)
		return;
	if (!watched->off)
		profiling_complain(&profiling, false);
	watched->off = profiling.off;
}

static bool watch_dropped(struct watched *watched, const struct selection *selection)
{
	struct allocinfo info;

	if (!drop_caches(DROP_PATH) || !allocinfo_read(&info, selection->path))
		return false;
	for (enum kind kind = 0; kind < KINDS; kind++)
		watched->dropped[kind].columns = 1;
	add(watched->dropped, watched, 0, selection, &info);
	watched->drop = true;
	allocinfo_free(&info);
	return true;
}

bool leaks_watch(struct watched *watched, const struct selection *selection,
		 const struct leaks_pace *pace)
{
	struct interval interval;

	for (enum kind kind = 0; kind < KINDS; kind++)
		watched->series[kind].columns = pace->count;
	interval_start(&interval, pace->interval);
	do {
		struct allocinfo info;
		bool complete;

		if (!allocinfo_read(&info, selection->path))
			return false;
		note_profiling(watched, &info, selection->query);
		if (!watched->count)
			watched->named = selection->query_text.len &&
					 all_named(&info, selection->query);
		watched->time[watched->count] = (double)wall_clock() / 1000;
		add(watched->series, watched, watched->count++, selection, &info);
		complete = allocinfo_complete(&info, selection->path);
		allocinfo_free(&info);
		/* There is nothing to watch. */
		if (!complete || (watched->off && watched->off == watched->chosen))
			return false;
	} while ((int64_t)watched->count < pace->count && interval_wait(&interval));
	return !pace->drop || watch_dropped(watched, selection);
}

#ifdef HAVE_SQLITE
struct part {
	const struct query *query;
	struct watched *watched;
};

static bool is_wanted(void *data, const struct site *site)
{
	const struct part *part = data;

	return query_match(part->query, site) &&
	       kind_of(part->watched, site) != KIND_ALLOCATOR;
}

static struct series *series_of(void *data, const struct site *site)
{
	const struct part *part = data;

	return &part->watched->series[kind_of(part->watched, site)];
}

/*
 * Counts the sites that were not profiled, and finds out whether QUERY chooses any of the
 * kernel's own memory.
 */
static bool look_at_sites(struct watched *watched, struct recording *recording,
			  const struct selection *selection)
{
	struct part part = { selection->query, watched };
	const struct recording_choice choice = { .keep = is_wanted, .context = &part };
	struct profiled profiling;
	struct allocinfo last;
	bool good = count_unprofiled(recording, &choice, &profiling);

	watched->off = profiling.off;
	watched->chosen = profiling.chosen;
	watched->matched = profiling.chosen > 0;
	if (!good || !selection->query_text.len)
		return good;
	good = load_recorded(recording, recording_count(recording) - 1, &last);
	watched->named = good && all_named(&last, selection->query);
	if (good)
		allocinfo_free(&last);
	return good;
}

bool leaks_load(struct watched *watched, const struct selection *selection)
{
	struct recording *recording = open_recording(selection->path);
	struct part part = { selection->query, watched };
	const struct recording_choice choice = {
		.keep = is_wanted, .context = &part, .into = series_of, .by = selection->by,
	};
	size_t at[TREND_MAX], first, take;
	bool good;

	if (!recording)
		return false;
	first = recorded_since_boot(recording, selection->path);
	take = recording_count(recording) - first;
	if (take > TREND_MAX)
		take = TREND_MAX;
	for (size_t k = 0; k < take; k++) {
		at[k] = recording_pick(recording, first, k, take);
		watched->time[k] = (double)recording_time(recording, at[k]) / 1000;
	}
	watched->count = take;
	for (enum kind kind = 0; kind < KINDS; kind++)
		watched->series[kind].columns = take;
	good = look_at_sites(watched, recording, selection) &&
	       load_series(recording, &watched->series[KIND_KERNEL], at, &choice);
	recording_close(recording);
	return good;
}
#else
bool leaks_load(struct watched *watched, const struct selection *selection)
{
	(void)watched;
	(void)selection;
	return false;
}
#endif

void watched_free(struct watched *watched)
{
	for (enum kind kind = 0; kind < KINDS; kind++) {
		series_free(&watched->series[kind]);
		series_free(&watched->dropped[kind]);
	}
}
