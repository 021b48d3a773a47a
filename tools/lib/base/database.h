/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQLite files. Only these functions open them, because another user may have made the file
 * and the files beside it:
 *
 * - Reading a file changes nothing: no file is created, recovered or removed. SQLite rolls
 *   back a hot journal when it opens a file for writing, and removes the files that the
 *   journal names.
 * - Views and triggers have no effect. The tables are compared with the expected ones before
 *   they are used, so that none computes anything.
 * - A statement ends with an error after more work, or more text, than a sound file of that
 *   size explains.
 */
#ifndef CODETAG_DATABASE_H
#define CODETAG_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

enum database_use {
	DATABASE_READ,
	DATABASE_APPEND,	/* to write to an existing one */
	DATABASE_NEW,		/* to write to an empty file that this process has created */
};

/* Returns NULL and a reason in *@why, to be freed. sqlite3_close() closes it. */
sqlite3 *database_open(const char *path, enum database_use use, char **why);

/* Whether it has all tables of @schema, with exactly these definitions. */
bool database_has(sqlite3 *db, const char *schema);

/* Why the last call failed. */
const char *database_error(sqlite3 *db);

/* The text in a column until the next step; NULL if there is none or the file returns too much. */
const char *database_column(sqlite3_stmt *s, int column);

/* A copy of the text in a column, cleaned by text_clean(); NULL if there is none. */
const char *database_text(struct arena *arena, sqlite3_stmt *s, int column);

/*
 * Checks the id of the next row, which has to be larger than *@last: false in a damaged file.
 */
bool database_ascends(int64_t *last, int64_t id);

#endif
