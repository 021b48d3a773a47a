/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of one value a line: "name: value" (the stats file of codetag),
 * "Name:   value kB" (/proc/meminfo), "name value" (/proc/vmstat).
 */
#ifndef CODETAG_FIELDS_H
#define CODETAG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"

struct field {
	const char *name;
	const char *value;	/* as read, without a unit of kB */
	bool is_number;
	int64_t number;		/* in bytes if the unit was kB */
};

struct fields {
	struct field *field;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/*
 * Takes over @text; @fields then always has to be freed. Of a last line without its end only a
 * number with its unit is believed.
 */
void fields_parse(struct fields *fields, char *text, size_t len);

/* Leaves the last copy of several; returns how many there are. No name comes twice in one. */
size_t fields_last_copy(struct fields *fields);

/* False with errno if @path cannot be read. */
bool fields_read(struct fields *fields, const char *path);

const struct field *fields_find(const struct fields *fields, const char *name);

/* 0 if it is not there or no number. */
int64_t fields_number(const struct fields *fields, const char *name);
void fields_free(struct fields *fields);

#endif
