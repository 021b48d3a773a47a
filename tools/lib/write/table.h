/* SPDX-License-Identifier: GPL-2.0-only */
/* Aligned columns: collects cells, then prints them as wide as they need. */
#ifndef CODETAG_TABLE_H
#define CODETAG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"

struct table_column {
	const char *heading;
	bool right;
	const char *name;	/* name in -o, the same as in JSON; NULL: cannot be chosen */
	bool more;		/* shown only if it is chosen */
};

/* More than any table has. */
#define TABLE_COLUMNS 24

struct table {
	const struct table_column *column;
	size_t columns;
	const char **cell;	/* row after row */
	size_t count, room;
	struct arena strings;
	size_t show[TABLE_COLUMNS], shown;	/* chosen columns; none: the usual ones */
};

/*
 * Chooses the columns to show: "active,name". Returns false, with *@bad at the word, for an
 * unknown column or one too many.
 */
bool table_choose(struct table *table, const char *list, const char **bad);

void table_cell(struct table *table, const char *s);
void table_print(struct table *table, FILE *out, bool headings, bool bold);

/* The same as CSV (RFC 4180): columns by their names, per cent as a number, no padding. */
void table_csv(struct table *table, FILE *out, bool headings);
void table_free(struct table *table);

/*
 * The number of columns that the UTF-8 string @s takes on a terminal; wide characters count 1.
 */
size_t display_width(const char *s);

#endif
