/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file census of a codetag kernel, or a copy of it:
 *
 *	# census - version: 1.0
 *	BYTES CALLS KEY=VALUE …
 *
 * The last key can be site, whose value has blanks. "others" in place of all keys are those
 * that the kernel had no room to tell apart.
 */
#ifndef CODETAG_CENSUS_H
#define CODETAG_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"

#define CENSUS_KEYS 16

struct census_line {
	int64_t bytes, calls;
	size_t keys;	/* 0: others */
	const char *key[CENSUS_KEYS], *value[CENSUS_KEYS];
};

struct census_file {
	bool known;	/* it has the first line */
	bool none;	/* no census has run */
	struct census_line *line;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/* Takes over @text. */
void census_parse(struct census_file *file, char *text, size_t len);

/* NULL: the line does not have this key. */
const char *census_value(const struct census_line *line, const char *key);

void census_free(struct census_file *file);

#endif
