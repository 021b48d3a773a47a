// SPDX-License-Identifier: GPL-2.0-only
#include "read/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* "KEY=VALUE …"; the last one may be "site=" and all that follows. */
static bool parse_values(struct census_line *line, char *s)
{
	if (!strcmp(s, "others"))
		return true;
	while (*s) {
		char *equals = strchr(s, '='), *end;

		if (!equals || equals == s || line->keys == CENSUS_KEYS)
			return false;
		*equals = '\0';
		end = strcmp(s, "site") ? equals + 1 + strcspn(equals + 1, " ") : strchr(equals + 1, '\0');
		line->key[line->keys] = s;
		line->value[line->keys++] = equals + 1;
		s = end;
		while (*s == ' ')
			*s++ = '\0';
	}
	return line->keys;
}

static bool parse_line(struct census_file *file, char *s)
{
	struct census_line line = { 0 };
	const char *at = s + strspn(s, " ");

	if (!number_read(&at, &line.bytes))
		return false;
	at += strspn(at, " ");
	if (!number_read(&at, &line.calls) || *at != ' ' || line.bytes < 0 || line.calls < 0 ||
	    !parse_values(&line, s + (at + 1 - s)))
		return false;
	GROW(file->line, file->count, file->room);
	file->line[file->count++] = line;
	return true;
}

void census_parse(struct census_file *file, char *text, size_t len)
{
	char *at = text, *s;
	size_t line_len, number = 0;
	bool complete;

	*file = (struct census_file){ .text = text };
	while ((s = input_line(&at, text + len, &line_len, &complete))) {
		number++;
		if (!complete)
			file->bad.cut = number;
		for (size_t i = 0; i < line_len; i++)
			if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
				s[i] = '?';
		if (!strncmp(s, "# census - version: ", 20))
			file->known = true;
		else if (!strcmp(s, "# no census has run"))
			file->none = true;
		else if (*s && *s != '#' && !parse_line(file, s))
			bad_lines_add(&file->bad, number, "is no line of a census");
	}
}

const char *census_value(const struct census_line *line, const char *key)
{
	for (size_t i = 0; i < line->keys; i++)
		if (!strcmp(line->key[i], key))
			return line->value[i];
	return NULL;
}

void census_free(struct census_file *file)
{
	free(file->line);
	free(file->text);
	*file = (struct census_file){ 0 };
}
