// SPDX-License-Identifier: GPL-2.0-only
#include "recording/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/glob.h"

static struct gauge *add_gauge(struct gauges *gauges, const char *name, size_t snapshots)
{
	char *copy = arena_copy(&gauges->strings, name, strlen(name));
	struct gauge *gauge;

	GROW(gauges->gauge, gauges->count, gauges->room);
	gauge = &gauges->gauge[gauges->count++];
	text_clean(copy);
	*gauge = (struct gauge){
		.name = copy,
		.value = xcalloc(snapshots, sizeof(*gauge->value)),
		.first = snapshots,
	};
	return gauge;
}

/* A value is stored only when it changes. */
static void fill(struct gauge *gauge, size_t from, size_t to)
{
	for (size_t i = from; i && i < to; i++)
		gauge->value[i] = gauge->value[i - 1];
}

/* Adds a gauge if it has ever had a value. */
static bool load_gauge(struct recording *rec, sqlite3_stmt *samples, struct gauges *gauges,
		       const char *name)
{
	struct gauge *gauge = NULL;
	size_t i = 0, filled = 0;
	int result;

	while ((result = sqlite3_step(samples)) == SQLITE_ROW) {
		if (!gauge)
			gauge = add_gauge(gauges, name, rec->count);
		while (i < rec->count && rec->snapshot[i].id < sqlite3_column_int64(samples, 0))
			i++;
		if (i == rec->count)
			continue;
		if (i < gauge->first)
			gauge->first = i;
		fill(gauge, filled, i);
		gauge->value[i] = sqlite3_column_int64(samples, 1);
		filled = i + 1;
	}
	if (gauge)
		fill(gauge, filled, rec->count);
	sqlite3_reset(samples);
	return result == SQLITE_DONE || store_fail(rec);
}

/*
 * The number of values is limited: each gauge has one for each snapshot, although few are
 * stored. On a real machine at least one in this many gauges changes between two snapshots.
 */
#define GAUGES_A_SAMPLE 128
#define FEW_VALUES (4 << 20)

/* Not count(*): within it SQLite never checks whether it has worked for too long. */
static bool most_values(struct recording *rec, size_t *most)
{
	sqlite3_stmt *s = store_query(rec, "SELECT total(1) FROM sample");
	int result = s ? sqlite3_step(s) : SQLITE_ERROR;

	if (result == SQLITE_ROW) {
		*most = FEW_VALUES + GAUGES_A_SAMPLE * (size_t)sqlite3_column_int64(s, 0);
		result = sqlite3_step(s);
	}
	return store_query_end(rec, s, result);
}

bool recording_load_gauges(struct recording *rec, const char *glob, struct gauges *gauges)
{
	sqlite3_stmt *s = store_query(rec, "SELECT id, source || '.' || name FROM gauge ORDER BY id");
	sqlite3_stmt *samples = store_query(rec, "SELECT snapshot, value FROM sample WHERE gauge = ?"
					   " ORDER BY snapshot");
	bool good = s && samples;
	int64_t last = INT64_MIN;
	int result = SQLITE_DONE;
	size_t most = 0;

	good = good && most_values(rec, &most);
	while (good && (result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 1);

		if (!database_ascends(&last, sqlite3_column_int64(s, 0)))
			good = store_fail_with(rec, store_damaged);
		else if (name && glob_match(glob, name) &&
			 most / (gauges->count + 1) < rec->count)
			good = store_fail_with(rec, "damaged: more gauges than change");
		else if (name && glob_match(glob, name)) {
			sqlite3_bind_int64(samples, 1, last);
			good = load_gauge(rec, samples, gauges, name);
		}
	}
	sqlite3_finalize(samples);
	return store_query_end(rec, s, result) && good;
}

void gauges_free(struct gauges *gauges)
{
	for (size_t i = 0; i < gauges->count; i++)
		free(gauges->gauge[i].value);
	free(gauges->gauge);
	arena_free(&gauges->strings);
	*gauges = (struct gauges){ 0 };
}
