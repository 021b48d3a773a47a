/* SPDX-License-Identifier: GPL-2.0 */
/* Aligned columns: collects cells, then prints them as wide as they need. */
#ifndef CODETAG_TABLE_H
#define CODETAG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "memory.h"

struct table_column {
	const char *heading;
	bool right;
};

struct table {
	const struct table_column *column;
	size_t columns;
	const char **cell;	/* row after row */
	size_t count, room;
	struct arena strings;
};

void table_cell(struct table *table, const char *s);
void table_print(const struct table *table, FILE *out, bool headings, bool bold);
void table_free(struct table *table);

/* Columns on a terminal that the UTF-8 string @s takes; wide letters count 1. */
size_t display_width(const char *s);

#endif
