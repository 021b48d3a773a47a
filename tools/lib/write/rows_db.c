// SPDX-License-Identifier: GPL-2.0-only
#include "write/rows_db.h"

#include <stdlib.h>

#include "base/database.h"
#include "base/memory.h"
#include "base/text.h"

struct rows_db {
	sqlite3 *db;
	sqlite3_stmt *row;
	char *error;
};

static void note(struct rows_db *db, int result)
{
	if (result != SQLITE_OK && result != SQLITE_DONE && !db->error)
		db->error = xstrdup(db->db ? sqlite3_errmsg(db->db) : "out of memory");
}

static void run(struct rows_db *db, const char *sql)
{
	if (!db->error)
		note(db, sqlite3_exec(db->db, sql, NULL, NULL, NULL));
}

struct rows_db *rows_db_create(const char *path, const char *columns, int count)
{
	struct rows_db *db = xcalloc(1, sizeof(*db));
	struct text sql = { 0 };

	db->db = database_open(path, DATABASE_NEW, &db->error);
	/* The file gets its name when it is complete, so it needs no journal. */
	run(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;");
	text_printf(&sql, "CREATE TABLE rows (%s)", columns);
	run(db, sql.s);
	text_clear(&sql);
	text_puts(&sql, "INSERT INTO rows VALUES (?");
	for (int i = 1; i < count; i++)
		text_puts(&sql, ", ?");
	text_puts(&sql, ")");
	if (!db->error)
		note(db, sqlite3_prepare_v2(db->db, sql.s, -1, &db->row, NULL));
	text_free(&sql);
	return db;
}

void rows_db_int(struct rows_db *db, int column, int64_t value)
{
	if (!db->error)
		note(db, sqlite3_bind_int64(db->row, column + 1, value));
}

void rows_db_real(struct rows_db *db, int column, double value)
{
	if (!db->error)
		note(db, sqlite3_bind_double(db->row, column + 1, value));
}

void rows_db_text(struct rows_db *db, int column, const char *value)
{
	if (!db->error)
		note(db, sqlite3_bind_text(db->row, column + 1, value, -1, SQLITE_TRANSIENT));
}

void rows_db_add(struct rows_db *db)
{
	if (db->error)
		return;
	note(db, sqlite3_step(db->row));
	sqlite3_reset(db->row);
	sqlite3_clear_bindings(db->row);
}

char *rows_db_finish(struct rows_db *db)
{
	char *error;

	run(db, "COMMIT");
	error = db->error;
	sqlite3_finalize(db->row);
	sqlite3_close(db->db);
	free(db);
	return error;
}
