/* SPDX-License-Identifier: GPL-2.0-only */
/* A result as the table "rows" of an SQLite file. */
#ifndef CODETAG_ROWS_DB_H
#define CODETAG_ROWS_DB_H

#include <stdint.h>

struct rows_db;

/*
 * Writes to @path, which is empty; @columns is like "size INTEGER, name TEXT". Has to be
 * finished even if this failed.
 */
struct rows_db *rows_db_create(const char *path, const char *columns, int count);

/* Sets a column of the next row; columns that are not set are NULL. */
void rows_db_int(struct rows_db *db, int column, int64_t value);
void rows_db_real(struct rows_db *db, int column, double value);
void rows_db_text(struct rows_db *db, int column, const char *value);
void rows_db_add(struct rows_db *db);

/* Returns an error message, to be freed, or NULL. */
char *rows_db_finish(struct rows_db *db);

#endif
