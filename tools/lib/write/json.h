/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes JSON to a stream, one element a line, commas where they belong. */
#ifndef CODETAG_JSON_H
#define CODETAG_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	unsigned int depth;
	bool first;	/* the next element is the first of its container */
	const char *only;	/* the fields of rows to write, NULL: all */
	unsigned int only_depth;	/* nesting level of these fields */
	unsigned int hidden;		/* open containers that are not written */
};

/* @key is NULL inside arrays and for the outermost value. */
void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);

/* An array of objects, of which only the fields in @only ("name,size") are written. */
void json_rows(struct json *json, const char *key, const char *only);
void json_end_object(struct json *json);
void json_end_array(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_int(struct json *json, const char *key, int64_t value);
void json_real(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
