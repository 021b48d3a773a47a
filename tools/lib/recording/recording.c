// SPDX-License-Identifier: GPL-2.0-only
#include "recording/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

const char store_meta_schema[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;";

/* The names of sites and gauges, site.name and gauge.name, also distinguish equal places. */
const char store_schema[] =
	"CREATE TABLE snapshot (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
	" major INTEGER NOT NULL, minor INTEGER NOT NULL);"
	"CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" file TEXT NOT NULL, line INTEGER NOT NULL, module TEXT,"
	" func TEXT NOT NULL);"
	"CREATE TABLE row (site INTEGER NOT NULL REFERENCES site,"
	" snapshot INTEGER NOT NULL REFERENCES snapshot, bytes INTEGER,"
	" calls INTEGER, notes TEXT, PRIMARY KEY (site, snapshot)) WITHOUT ROWID;"
	"CREATE TABLE gauge (id INTEGER PRIMARY KEY, source TEXT NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (source, name));"
	"CREATE TABLE sample (gauge INTEGER NOT NULL REFERENCES gauge,"
	" snapshot INTEGER NOT NULL REFERENCES snapshot, value INTEGER NOT NULL,"
	" PRIMARY KEY (gauge, snapshot)) WITHOUT ROWID;";

/* Older recordings lack these tables and get them when a snapshot is added. */
const char store_contexts_schema[] =
	"CREATE TABLE IF NOT EXISTS stack (id INTEGER PRIMARY KEY,"
	" frames TEXT NOT NULL UNIQUE);"
	"CREATE TABLE IF NOT EXISTS contexts ("
	"snapshot INTEGER PRIMARY KEY REFERENCES snapshot, text TEXT NOT NULL);";

/* Likewise. The numbers are those of the kernel, modulo 2^32; NULL once the row has vanished. */
const char store_activity_schema[] =
	"CREATE TABLE IF NOT EXISTS activity (site INTEGER NOT NULL REFERENCES site,"
	" snapshot INTEGER NOT NULL REFERENCES snapshot, allocs INTEGER, frees INTEGER,"
	" PRIMARY KEY (site, snapshot)) WITHOUT ROWID;";

static const char *const sql[STATEMENTS] = {
	[ADD_SNAPSHOT] = "INSERT INTO snapshot VALUES (?, ?, ?, ?)",
	[ADD_SITE] = "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?)",
	[ADD_ROW] = "INSERT INTO row VALUES (?, ?, ?, ?, ?)",
	[ADD_GAUGE] = "INSERT INTO gauge VALUES (?, ?, ?)",
	[ADD_SAMPLE] = "INSERT INTO sample VALUES (?, ?, ?)",
	[ADD_ACTIVITY] = "INSERT INTO activity VALUES (?, ?, ?, ?)",
	/* The key finds the last row of each site without reading all rows. */
	[LOAD] = "SELECT file, line, module, func, bytes, calls, notes, id, name FROM site"
		 " JOIN row ON site = id AND snapshot = (SELECT max(snapshot)"
		 "  FROM row WHERE site = id AND snapshot <= ?)"
		 " WHERE bytes IS NOT NULL ORDER BY id",
};

const char store_damaged[] = "damaged: its rows are not in their order";

bool store_fail(struct recording *rec)
{
	if (!rec->error)
		rec->error = xstrdup(rec->db ? database_error(rec->db) : "out of memory");
	return false;
}

bool store_fail_with(struct recording *rec, const char *why)
{
	if (!rec->error)
		rec->error = xstrdup(why);
	return false;
}

bool store_run(struct recording *rec, const char *text)
{
	return sqlite3_exec(rec->db, text, NULL, NULL, NULL) == SQLITE_OK ||
	       store_fail(rec);
}

/* Runs a bound statement that returns nothing. */
bool store_step(struct recording *rec, enum statement i)
{
	bool good = sqlite3_step(rec->statement[i]) == SQLITE_DONE;

	if (!good)
		store_fail(rec);
	sqlite3_reset(rec->statement[i]);
	sqlite3_clear_bindings(rec->statement[i]);
	return good;
}

void store_bind_text(sqlite3_stmt *s, int i, const char *text)
{
	if (text)
		sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

const char *recording_error(const struct recording *rec)
{
	return rec->error;
}

const char *recording_hint(const struct recording *rec)
{
	return rec->hint;
}

size_t recording_count(const struct recording *rec)
{
	return rec->count;
}

int64_t recording_time(const struct recording *rec, size_t i)
{
	return rec->snapshot[i].time;
}

const char *recording_kernel(const struct recording *rec)
{
	return rec->kernel ? rec->kernel : "";
}

/*
 * Removes the recording and, if it was @opened, the file that holds what SQLite could not write
 * to it.
 */
static void remove_file(const char *path, bool opened)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	struct text name = { 0 };

	for (size_t i = 0; i < (opened ? sizeof(suffixes) / sizeof(*suffixes) : 1); i++) {
		text_clear(&name);
		text_printf(&name, "%s%s", path, suffixes[i]);
		unlink(name.s);
	}
	text_free(&name);
}

void recording_close(struct recording *rec)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(rec->statement[i]);
	sqlite3_close(rec->db);
	if (rec->created)
		remove_file(rec->created, rec->db);
	free(rec->created);
	/* Not earlier: that would drop SQLite's own locks on the file. */
	if (rec->lock >= 0)
		close(rec->lock);
	for (size_t i = 0; i < rec->state_room; i++)
		free(rec->state[i].notes);
	free(rec->state);
	free(rec->sample);
	free(rec->snapshot);
	free(rec->error);
	free(rec->kernel);
	strmap_free(&rec->sites);
	strmap_free(&rec->gauges);
	free(rec);
}

bool store_prepare(struct recording *rec)
{
	for (int i = 0; i < STATEMENTS; i++)
		if ((i != ADD_ACTIVITY || store_has_activity(rec)) &&
		    sqlite3_prepare_v3(rec->db, sql[i], -1,
				       SQLITE_PREPARE_PERSISTENT,
				       &rec->statement[i], NULL) != SQLITE_OK)
			return store_fail(rec);
	return true;
}

sqlite3_stmt *store_query(struct recording *rec, const char *text)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(rec->db, text, -1, &s, NULL) != SQLITE_OK)
		store_fail(rec);
	return s;
}

/* Ends a query; @result is the result of its last step. */
bool store_query_end(struct recording *rec, sqlite3_stmt *s, int result)
{
	/*
	 * This returns the error of the last step again: another query may have succeeded
	 * since.
	 */
	sqlite3_finalize(s);
	return result == SQLITE_DONE || store_fail(rec);
}

static bool load_meta(struct recording *rec)
{
	sqlite3_stmt *s;
	bool known = false, ours = false;
	int result;

	if (!database_has(rec->db, store_meta_schema)) {
		/*
		 * There is no such table, or no database at all; SQLite's own message covers
		 * the rest.
		 */
		int code = sqlite3_errcode(rec->db);

		if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_NOTADB)
			return store_fail(rec);
		return store_fail_with(rec, "not a recording of codetag");
	}
	s = store_query(rec, "SELECT key, value FROM meta");
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *key = database_column(s, 0);
		const char *value = database_column(s, 1);

		if (!key || !value)
			continue;
		if (!strcmp(key, "format")) {
			ours = true;
			known = !strcmp(value, STORE_FORMAT);
		}
		else if (!strcmp(key, "kernel") && !rec->kernel)
			rec->kernel = xstrdup(value);
	}
	if (rec->kernel)
		text_clean(rec->kernel);
	if (!store_query_end(rec, s, result))
		return false;
	return known || store_fail_with(rec, ours ? "a recording of another version of codetag" :
					 "not a recording of codetag");
}

static bool load_snapshots(struct recording *rec)
{
	sqlite3_stmt *s = store_query(rec, "SELECT id, time, major, minor FROM snapshot"
				       " ORDER BY id");
	int64_t last = 0;
	int result;

	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		if (!database_ascends(&last, sqlite3_column_int64(s, 0)) || last == INT64_MAX) {
			sqlite3_finalize(s);
			return store_fail_with(rec, store_damaged);
		}
		GROW(rec->snapshot, rec->count, rec->room);
		rec->snapshot[rec->count++] = (struct snapshot_head){
			sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
			sqlite3_column_int(s, 2), sqlite3_column_int(s, 3), 0, 0,
		};
	}
	return store_query_end(rec, s, result);
}

/* Snapshots of an earlier version have no number of a boot; they may be of the same boot. */
size_t store_since(const struct recording *rec, size_t i, int64_t boot)
{
	const struct snapshot_head *last = i ? &rec->snapshot[i - 1] : NULL;

	return last && (!last->boot || last->boot == boot) ? last->since : i;
}

/* A snapshot whose number is not stored has that of the one before. */
static bool load_boots(struct recording *rec)
{
	sqlite3_stmt *s = store_query(rec, "SELECT snapshot, value FROM sample WHERE gauge = (SELECT id FROM gauge"
				       " WHERE source = '" MACHINE "' AND name = '" BOOT_NUMBER "')"
				       " ORDER BY snapshot");
	int64_t boot = 0;
	int result;
	size_t i = 0;

	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		for (; i < rec->count && rec->snapshot[i].id < sqlite3_column_int64(s, 0); i++)
			rec->snapshot[i].boot = boot;
		boot = sqlite3_column_int64(s, 1);
	}
	for (; i < rec->count; i++)
		rec->snapshot[i].boot = boot;
	for (i = 0; i < rec->count; i++)
		rec->snapshot[i].since = store_since(rec, i, rec->snapshot[i].boot);
	return store_query_end(rec, s, result);
}

size_t recording_since_boot(const struct recording *rec, size_t i)
{
	return rec->snapshot[i].since;
}

static bool finds(struct recording *rec, const char *query)
{
	sqlite3_stmt *s = store_query(rec, query);
	bool has = s && sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	return has;
}

bool store_has_contexts(struct recording *rec)
{
	return finds(rec, "SELECT 1 FROM sqlite_master WHERE name IN ('contexts', 'stack')");
}

bool store_has_activity(struct recording *rec)
{
	return finds(rec, "SELECT 1 FROM sqlite_master WHERE name = 'activity'");
}

bool store_open(struct recording *rec, const char *path, enum database_use use)
{
	rec->db = database_open(path, use, &rec->error);
	return rec->db;
}

/* Whether the tables are those of a recording; newer ones may be missing. */
static bool check_tables(struct recording *rec)
{
	return (database_has(rec->db, store_schema) &&
		(!store_has_contexts(rec) || database_has(rec->db, store_contexts_schema)) &&
		(!store_has_activity(rec) || database_has(rec->db, store_activity_schema))) ||
	       store_fail_with(rec, "damaged: its tables are not those of a recording");
}

struct recording *store_new(void)
{
	struct recording *rec = xcalloc(1, sizeof(*rec));

	rec->lock = -1;
	return rec;
}

/* An index is computed for each row that is appended, at any cost; codetag makes none. */
static bool check_indexes(struct recording *rec)
{
	sqlite3_stmt *s = store_query(rec, "SELECT 1 FROM sqlite_master WHERE type = 'index' AND sql NOT NULL");
	bool has = s && sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	return s && (!has || store_fail_with(rec, "it has an index of its own: drop that first, "
				       "or take another name"));
}

bool store_open_existing(struct recording *rec, const char *path, enum database_use use)
{
	return store_open(rec, path, use) && load_meta(rec) && check_tables(rec) &&
	       (use != DATABASE_APPEND || check_indexes(rec)) && load_snapshots(rec) && load_boots(rec);
}

struct recording *recording_open(const char *path)
{
	struct recording *rec = store_new();

	if (store_open_existing(rec, path, DATABASE_READ))
		store_prepare(rec);
	return rec;
}

/* Makes space for the state of site number @i. */
