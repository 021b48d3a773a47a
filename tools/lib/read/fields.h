/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files with one value per line: "name: value" (the stats file of codetag), "Name: value kB"
 * (/proc/meminfo), "name value" (/proc/vmstat).
 */
#ifndef CODETAG_FIELDS_H
#define CODETAG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"

struct field {
	const char *name;
	const char *value;	/* as read, without the unit kB */
	bool is_number, kilobytes;	/* a number; one with the unit kB */
	int64_t number;		/* in bytes if the unit was kB */
	size_t line;		/* its number, from 1 */
};

struct fields {
	struct field *field;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/*
 * Takes over @text; afterwards @fields has to be freed in any case. A last line without a
 * newline counts only if its number has a unit.
 */
void fields_parse(struct fields *fields, char *text, size_t len);

/*
 * The same with a /proc/meminfo: a line without its unit is a bad one, for its number would be
 * taken for bytes.
 */
void meminfo_parse(struct fields *fields, char *text, size_t len);

/* A line that each kernel has and this meminfo lacks, NULL if there is none. */
const char *meminfo_lacks(const struct fields *fields);

/* Keeps the last copy of several; returns their number. Within a copy names are unique. */
size_t fields_last_copy(struct fields *fields);

/* Returns false with errno if @path cannot be read. */
bool fields_read(struct fields *fields, const char *path);

const struct field *fields_find(const struct fields *fields, const char *name);

/* 0 if the field does not exist or is no number. */
int64_t fields_number(const struct fields *fields, const char *name);
void fields_free(struct fields *fields);

#endif
