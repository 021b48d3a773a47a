// SPDX-License-Identifier: GPL-2.0-only
#include "write/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "write/export.h"

void table_cell(struct table *table, const char *s)
{
	char *copy = arena_copy(&table->strings, s, strlen(s));

	text_clean(copy);
	GROW(table->cell, table->count, table->room);
	table->cell[table->count++] = copy;
}

size_t display_width(const char *s)
{
	size_t width = 0;

	for (; *s; s++)
		width += (*s & 0xc0) != 0x80;
	return width;
}

static void print_blanks(FILE *out, size_t count)
{
	static const char blanks[] = "                                ";

	while (count) {
		size_t some = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;

		fwrite(blanks, 1, some, out);
		count -= some;
	}
}

static void print_cell(FILE *out, const char *s, size_t width, bool right,
		       bool last)
{
	size_t own = display_width(s);
	size_t fill = own < width ? width - own : 0;

	if (right)
		print_blanks(out, fill);
	fputs(s, out);
	if (!right && !last)
		print_blanks(out, fill);
	if (!last)
		print_blanks(out, 2);
}

static size_t find_column(const struct table *table, const char *name, size_t len)
{
	size_t c = 0;

	while (c < table->columns &&
	       (!table->column[c].name || strlen(table->column[c].name) != len ||
		memcmp(table->column[c].name, name, len)))
		c++;
	return c;
}

bool table_choose(struct table *table, const char *list, const char **bad)
{
	table->shown = 0;
	for (;;) {
		size_t len = strcspn(list, ","), c = find_column(table, list, len);

		*bad = list;
		if (c == table->columns || table->shown == TABLE_COLUMNS)
			return false;
		table->show[table->shown++] = c;
		if (!list[len])
			return true;
		list += len + 1;
	}
}

static void choose_usual(struct table *table)
{
	for (size_t c = 0; c < table->columns; c++)
		if (!table->column[c].more)
			table->show[table->shown++] = c;
}

void table_print(struct table *table, FILE *out, bool headings, bool bold)
{
	size_t *width = xcalloc(table->columns, sizeof(*width));
	size_t last;

	if (!table->shown)
		choose_usual(table);
	last = table->shown - 1;
	for (size_t c = 0; c < table->columns && headings; c++)
		width[c] = display_width(table->column[c].heading);
	for (size_t i = 0; i < table->count; i++) {
		size_t own = display_width(table->cell[i]);

		if (own > width[i % table->columns])
			width[i % table->columns] = own;
	}
	if (headings) {
		if (bold)
			fputs("\033[1m", out);
		for (size_t i = 0; i <= last; i++) {
			size_t c = table->show[i];

			print_cell(out, table->column[c].heading, width[c],
				   table->column[c].right, i == last);
		}
		fputs(bold ? "\033[0m\n" : "\n", out);
	}
	for (size_t row = 0; row < table->count; row += table->columns) {
		/* No blanks after the last cell that is not empty. */
		size_t end = last;

		while (end && !*table->cell[row + table->show[end]])
			end--;
		for (size_t i = 0; i <= end; i++) {
			size_t c = table->show[i];

			print_cell(out, table->cell[row + c], width[c],
				   table->column[c].right, i == end);
		}
		putc('\n', out);
	}
	free(width);
}

void table_csv(struct table *table, FILE *out, bool headings)
{
	if (!table->shown)
		choose_usual(table);
	for (size_t i = 0; i < table->shown && headings; i++)
		fprintf(out, "%s%s", i ? "," : "", table->column[table->show[i]].name);
	if (headings)
		fputs("\r\n", out);
	for (size_t row = 0; row < table->count; row += table->columns) {
		for (size_t i = 0; i < table->shown; i++) {
			size_t c = table->show[i];
			const char *cell = table->cell[row + c];

			if (i)
				putc(',', out);
			if (table->column[c].right)
				fprintf(out, "%.*s", (int)strcspn(cell + (*cell == '+'), "%"),
					cell + (*cell == '+'));
			else
				csv_text(out, cell);
		}
		fputs("\r\n", out);
	}
}

void table_free(struct table *table)
{
	free(table->cell);
	arena_free(&table->strings);
	table->cell = NULL;
	table->count = table->room = 0;
}
