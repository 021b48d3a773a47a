// SPDX-License-Identifier: GPL-2.0-only
#include "read/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "read/input.h"

static bool has_control(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 0x7f)
			return true;
	return false;
}

/* Returns the error in the line, NULL if there is none. */
static const char *parse_field(struct field *field, char *line, size_t len)
{
	char *name = line + strspn(line, " \t");
	char *sep = strchr(name, ':');
	char *value, *unit;
	const char *s;

	*field = (struct field){ 0 };
	if (has_control(line, len))
		return "control character";
	if (!sep)
		sep = strpbrk(name, " \t");
	if (!sep || sep == name)
		return "no name and value";
	*sep = '\0';
	value = sep + 1 + strspn(sep + 1, " \t");
	for (size_t end = strlen(value);
	     end && strchr(" \t", value[end - 1]); )
		value[--end] = '\0';

	*field = (struct field){ .name = name, .value = value };
	s = value;
	if (!number_read(&s, &field->number))
		return NULL;
	unit = (char *)s + strspn(s, " ");
	if (!strcmp(unit, "kB")) {
		field->number = mul64(field->number, 1024);
		*(char *)s = '\0';
		field->is_number = field->kilobytes = true;
	} else {
		field->is_number = !*unit;
	}
	return NULL;
}

void fields_parse(struct fields *fields, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	bool complete;

	*fields = (struct fields){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct field field;
		const char *why;

		number++;
		if (!line_len)
			continue;
		why = parse_field(&field, line, line_len);
		if (!complete && (why || !field.kilobytes)) {
			fields->bad.cut = number;
			break;
		}
		if (why) {
			bad_lines_add(&fields->bad, number, why);
			continue;
		}
		field.line = number;
		GROW(fields->field, fields->count, fields->room);
		fields->field[fields->count++] = field;
	}
}

void meminfo_parse(struct fields *fields, char *text, size_t len)
{
	fields_parse(fields, text, len);
	for (size_t i = 0; i < fields->count && fields_find(fields, "MemTotal"); i++) {
		const struct field *field = &fields->field[i];

		/* These count pages. */
		if (!field->kilobytes && strncmp(field->name, "HugePages_", 10))
			bad_lines_add(&fields->bad, field->line, "no number of kB");
	}
}

const char *meminfo_lacks(const struct fields *fields)
{
	static const char *const always[] = {
		"MemTotal", "MemFree", "Buffers", "Cached", "SwapTotal", "AnonPages", "Shmem", "Slab",
		"SReclaimable", "SUnreclaim", "KernelStack", "PageTables",
	};

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (!fields_find(fields, always[i]))
			return always[i];
	return NULL;
}

size_t fields_last_copy(struct fields *fields)
{
	size_t copies = 0, last = 0;

	for (size_t i = 0; i < fields->count; i++) {
		if (strcmp(fields->field[i].name, fields->field[0].name))
			continue;
		copies++;
		last = i;
	}
	fields->count -= last;
	if (last)
		memmove(fields->field, fields->field + last, fields->count * sizeof(*fields->field));
	return copies;
}

bool fields_read(struct fields *fields, const char *path)
{
	size_t len;
	char *text;

	*fields = (struct fields){ 0 };
	if (!input_read(path, &text, &len))
		return false;
	fields_parse(fields, text, len);
	return true;
}

const struct field *fields_find(const struct fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->count; i++)
		if (!strcmp(fields->field[i].name, name))
			return &fields->field[i];
	return NULL;
}

int64_t fields_number(const struct fields *fields, const char *name)
{
	const struct field *field = fields_find(fields, name);

	return field && field->is_number ? field->number : 0;
}

void fields_free(struct fields *fields)
{
	free(fields->field);
	free(fields->text);
	*fields = (struct fields){ 0 };
}
