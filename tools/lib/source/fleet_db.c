// SPDX-License-Identifier: GPL-2.0-only
#include "source/fleet_db.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/spread.h"
#include "base/database.h"
#include "recording/site_row.h"

#define FORMAT "1"

static const char meta_schema[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;";

static const char schema[] =
	"CREATE TABLE host (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kernel TEXT,"
	" size INTEGER NOT NULL, calls INTEGER NOT NULL);"
	"CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL,"
	" line INTEGER NOT NULL, module TEXT, func TEXT NOT NULL, notes TEXT);"
	"CREATE TABLE value (host INTEGER NOT NULL REFERENCES host,"
	" site INTEGER NOT NULL REFERENCES site, size INTEGER NOT NULL,"
	" calls INTEGER NOT NULL, PRIMARY KEY (host, site)) WITHOUT ROWID;"
	"CREATE TABLE spread (site INTEGER PRIMARY KEY REFERENCES site,"
	" size INTEGER NOT NULL, calls INTEGER NOT NULL, hosts INTEGER NOT NULL,"
	" median INTEGER NOT NULL, p99 INTEGER NOT NULL, largest INTEGER NOT NULL,"
	" largest_host INTEGER NOT NULL REFERENCES host, outliers INTEGER NOT NULL);"
	"CREATE TABLE outlier (site INTEGER NOT NULL REFERENCES site,"
	" host INTEGER NOT NULL REFERENCES host, PRIMARY KEY (site, host)) WITHOUT ROWID;";

/* The sites that are not profiled. Older databases lack it: there the notes are those of any host. */
static const char unprofiled_schema[] =
	"CREATE TABLE unprofiled (host INTEGER NOT NULL REFERENCES host,"
	" site INTEGER NOT NULL REFERENCES site, PRIMARY KEY (host, site)) WITHOUT ROWID;";

struct fleet_db {
	sqlite3 *db;
	char *error;
	sqlite3_stmt *hosts, *values;
	int64_t last;	/* host */
};

static const char damaged[] = "damaged: its rows are not in their order";

static bool fail(struct fleet_db *db)
{
	if (!db->error)
		db->error = xstrdup(db->db ? database_error(db->db) : "out of memory");
	return false;
}

static bool run(struct fleet_db *db, const char *sql)
{
	return sqlite3_exec(db->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(db);
}

static sqlite3_stmt *prepare(struct fleet_db *db, const char *sql)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(db->db, sql, -1, &s, NULL) != SQLITE_OK)
		fail(db);
	return s;
}

static bool fail_with(struct fleet_db *db, const char *why)
{
	if (!db->error)
		db->error = xstrdup(why);
	return false;
}

static struct fleet_db *open_as(const char *path, enum database_use use)
{
	struct fleet_db *db = xcalloc(1, sizeof(*db));

	db->db = database_open(path, use, &db->error);
	return db;
}

const char *fleet_db_error(const struct fleet_db *db)
{
	return db->error;
}

void fleet_db_close(struct fleet_db *db)
{
	sqlite3_finalize(db->hosts);
	sqlite3_finalize(db->values);
	sqlite3_close(db->db);
	free(db->error);
	free(db);
}

static bool is_fleet(sqlite3 *db)
{
	sqlite3_stmt *s = NULL;
	bool is;

	is = database_has(db, meta_schema) &&
	     sqlite3_prepare_v2(db, "SELECT 1 FROM meta WHERE key = 'fleet_format'", -1, &s,
				NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return is;
}

bool fleet_db_is(const char *path)
{
	struct fleet_db *db = open_as(path, DATABASE_READ);
	bool is = !db->error && is_fleet(db->db);

	fleet_db_close(db);
	return is;
}

/*
 * Each host is read with all call sites, most of which have a value in a sound fleet. Not
 * count(*): within it SQLite never checks whether it has worked for too long.
 */
static void check_size(struct fleet_db *db)
{
	sqlite3_stmt *s = prepare(db, "SELECT (SELECT total(1) FROM host) *"
				  " (SELECT total(1) FROM site) > 5000000 + 64 * total(1) FROM value");

	if (s && sqlite3_step(s) != SQLITE_ROW)
		fail(db);
	else if (s && sqlite3_column_int(s, 0))
		fail_with(db, "damaged: too many hosts and call sites for its values");
	sqlite3_finalize(s);
}

struct fleet_db *fleet_db_open(const char *path)
{
	struct fleet_db *db = open_as(path, DATABASE_READ);

	if (!db->error && !database_has(db->db, schema))
		fail_with(db, "damaged: its tables are not those of a fleet");
	if (!db->error)
		check_size(db);
	if (db->error)
		return db;
	db->hosts = prepare(db, "SELECT id, name, kernel FROM host ORDER BY id");
	db->values = prepare(db, database_has(db->db, unprofiled_schema) ?
		"SELECT file, line, module, func, coalesce(size, 0), coalesce(calls, 0), CASE WHEN EXISTS"
		" (SELECT 1 FROM unprofiled AS u WHERE u.host = ?1 AND u.site = id) THEN notes"
		" ELSE nullif(trim(replace(notes, 'disabled:yes', '')), '') END, id FROM site"
		" LEFT JOIN value ON site = id AND host = ?1 ORDER BY id" :
		"SELECT file, line, module, func, coalesce(size, 0), coalesce(calls, 0), notes, id"
		" FROM site LEFT JOIN value ON site = id AND host = ?1 ORDER BY id");
	db->last = INT64_MIN;
	return db;
}

bool fleet_db_next(struct fleet_db *db, struct snapshot *snapshot)
{
	struct allocinfo *info = &snapshot->info;
	const char *name, *kernel;
	int64_t last = INT64_MIN;
	int result = sqlite3_step(db->hosts);

	if (result != SQLITE_ROW)
		return result != SQLITE_DONE && fail(db);
	if (!database_ascends(&db->last, sqlite3_column_int64(db->hosts, 0)))
		return fail_with(db, damaged);
	name = database_column(db->hosts, 1);
	kernel = database_column(db->hosts, 2);
	snapshot->host = xstrdup(name ? name : "");
	text_clean(snapshot->host);
	snapshot->kernel = kernel ? xstrdup(kernel) : NULL;
	if (kernel)
		text_clean(snapshot->kernel);
	sqlite3_bind_int64(db->values, 1, sqlite3_column_int64(db->hosts, 0));
	while ((result = sqlite3_step(db->values)) == SQLITE_ROW) {
		if (!database_ascends(&last, sqlite3_column_int64(db->values, 7))) {
			fail_with(db, damaged);
			break;
		}
		site_row_add(info, db->values);
	}
	sqlite3_reset(db->values);
	return result == SQLITE_DONE || fail(db);
}

struct fleet_db *fleet_db_create(const char *path)
{
	struct fleet_db *db = open_as(path, DATABASE_NEW);

	/* It gets its name when it is whole: no journal has to save it. */
	if (!db->error &&
	    run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;") &&
	    run(db, meta_schema) && run(db, schema) && run(db, unprofiled_schema))
		run(db, "INSERT INTO meta VALUES ('fleet_format', '" FORMAT "')");
	return db;
}

/* Binds text (NULL: none) and numbers in turn, as @kinds says ('t', 'i'), and runs it. */
static bool insert(struct fleet_db *db, sqlite3_stmt *s, const char *kinds, ...)
{
	va_list args;
	bool good;

	va_start(args, kinds);
	for (int i = 0; kinds[i]; i++) {
		if (kinds[i] == 't') {
			const char *text = va_arg(args, const char *);

			if (text)
				sqlite3_bind_text(s, i + 1, text, -1, SQLITE_TRANSIENT);
			else
				sqlite3_bind_null(s, i + 1);
		} else {
			sqlite3_bind_int64(s, i + 1, va_arg(args, int64_t));
		}
	}
	va_end(args);
	good = sqlite3_step(s) == SQLITE_DONE || fail(db);
	sqlite3_reset(s);
	return good;
}

static bool write_hosts(struct fleet_db *db, const struct fleet *fleet)
{
	sqlite3_stmt *host = prepare(db, "INSERT INTO host VALUES (?, ?, ?, ?, ?)");
	sqlite3_stmt *value = prepare(db, "INSERT INTO value VALUES (?, ?, ?, ?)");
	sqlite3_stmt *off = prepare(db, "INSERT INTO unprofiled VALUES (?, ?)");
	bool good = host && value && off;

	for (size_t h = 0; h < fleet->count && good; h++) {
		const struct fleet_host *one = &fleet->host[h];

		good = insert(db, host, "ittii", (int64_t)h + 1, one->name,
			      *one->kernel ? one->kernel : NULL, one->sum.bytes,
			      one->sum.calls);
		for (size_t g = 0; g < one->groups && good; g++) {
			if (one->value[g].bytes || one->value[g].calls)
				good = insert(db, value, "iiii", (int64_t)h + 1, (int64_t)g + 1,
					      one->value[g].bytes, one->value[g].calls);
			if (good && one->off[g])
				good = insert(db, off, "ii", (int64_t)h + 1, (int64_t)g + 1);
		}
	}
	sqlite3_finalize(host);
	sqlite3_finalize(value);
	sqlite3_finalize(off);
	return good;
}

static bool write_sites(struct fleet_db *db, const struct fleet *fleet, int64_t least)
{
	sqlite3_stmt *site = prepare(db, "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *row = prepare(db, "INSERT INTO spread VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
	sqlite3_stmt *outlier = prepare(db, "INSERT INTO outlier VALUES (?, ?)");
	bool good = site && row && outlier;
	struct text name = { 0 };

	for (size_t g = 0; g < fleet->groups && good; g++) {
		struct site one = fleet_site(fleet, g);
		struct spread spread;

		if (!fleet->group[g].sum.rows)	/* not selected */
			continue;
		spread_find(&spread, fleet, g, least);
		fleet_name(&name, fleet, g);
		good = insert(db, site, "ittittt", (int64_t)g + 1, name.s, one.file,
			      (int64_t)one.line, one.module, one.func,
			      site_notes(one.flags)) &&
		       insert(db, row, "iiiiiiiii", (int64_t)g + 1, one.bytes, one.calls,
			      (int64_t)spread.hosts, spread.median, spread.p99,
			      spread.ranked[0].bytes, (int64_t)spread.ranked[0].host + 1,
			      (int64_t)spread.outliers);
		for (size_t i = 0; i < spread.outliers && good; i++)
			good = insert(db, outlier, "ii", (int64_t)g + 1,
				      (int64_t)spread.ranked[i].host + 1);
		spread_free(&spread);
	}
	text_free(&name);
	sqlite3_finalize(site);
	sqlite3_finalize(row);
	sqlite3_finalize(outlier);
	return good;
}

bool fleet_db_write(struct fleet_db *db, const struct fleet *fleet, int64_t least)
{
	return !db->error && write_hosts(db, fleet) && write_sites(db, fleet, least) &&
	       run(db, "COMMIT");
}
