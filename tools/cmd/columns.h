/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of a table of groups; their names are the JSON fields too. */
#ifndef CODETAG_COLUMNS_H
#define CODETAG_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output.h"
#include "words.h"
#include "model/group.h"

enum column {
	COL_SIZE, COL_CALLS, COL_AVG, COL_SHARE, COL_ROWS, COL_FLAGS, COL_PEAK,
	COL_ALLOCS, COL_FREES, COL_ALLOCS_RECENT, COL_FREES_RECENT, COL_ALLOCS_RATE, COL_FREES_RATE,
	COL_BEFORE, COL_GROWTH, COL_CALLS_BEFORE, COL_CALLS_GROWTH, COL_STATE,
	COL_LINE_BEFORE,
	COL_NAME, COL_FILE, COL_LINE, COL_MODULE, COL_FUNC,
	COLUMNS
};

struct columns {
	enum column column[COLUMNS];
	size_t count;
};

/*
 * Parses "size,calls,name". Returns false, with *@bad at the unknown word, if one is no column.
 */
bool columns_parse(struct columns *columns, const char *list, const char **bad);

bool columns_have(const struct columns *columns, enum column column);

/* Whether one of them is about allocations and frees, or only about those between two readings. */
bool columns_of_activity(const struct columns *columns);
bool columns_since_boot(const struct columns *columns);	/* … or about those since boot */
bool columns_of_rates(const struct columns *columns);

/* Whether one of them compares two snapshots. */
bool columns_of_growth(const struct columns *columns);

/* Prints the first @count groups. */
void columns_table(const struct columns *columns, const struct groups *groups,
		   size_t count, const struct output *output);

struct json;

/* The same as a JSON array @key. If no columns are chosen: all that make sense. */
void columns_json(const struct columns *columns, const struct groups *groups,
		  size_t count, struct json *json, const char *key);

/*
 * Likewise as CSV, and as the table "rows" of a new database: that returns false after a
 * message.
 */
void columns_csv(const struct columns *columns, const struct groups *groups, size_t count,
		 bool headings, FILE *out);
bool columns_database(const struct columns *columns, const struct groups *groups,
		      size_t count, const char *path, bool must_be_new);

/* The names of all columns. */
struct words columns_words(void);

#endif
