/* SPDX-License-Identifier: GPL-2.0 */
/* A result as the table "rows" of an SQLite file. */
#ifndef CODETAG_ROWS_DB_H
#define CODETAG_ROWS_DB_H

#include <stdint.h>

struct rows_db;

/*
 * In @path, which is empty; @columns as in "size INTEGER, name TEXT". To be finished even if
 * that failed.
 */
struct rows_db *rows_db_create(const char *path, const char *columns, int count);

/* The value of a column of the row that comes next; what is not set is NULL. */
void rows_db_int(struct rows_db *db, int column, int64_t value);
void rows_db_real(struct rows_db *db, int column, double value);
void rows_db_text(struct rows_db *db, int column, const char *value);
void rows_db_add(struct rows_db *db);

/* Returns what failed, to be freed, or NULL. */
char *rows_db_finish(struct rows_db *db);

#endif
