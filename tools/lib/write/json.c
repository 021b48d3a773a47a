// SPDX-License-Identifier: GPL-2.0-only
#include "write/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

/*
 * Characters that control a terminal; JSON writes them in UTF-16. Invalid UTF-8 (@len 0)
 * becomes U+FFFD.
 */
static void write_unsafe(FILE *out, const unsigned char *s, size_t len)
{
	uint32_t code = len ? s[0] & (0x7f >> len) : 0xfffd;

	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3f);
	if (code > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
	else
		fprintf(out, "\\u%04x", code);
}

static void write_string(FILE *out, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	putc('"', out);
	while (*s) {
		size_t len = utf8_length((const char *)s);
		bool safe = text_safe_length((const char *)s);

		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else if (safe)
			fwrite(s, 1, len, out);
		else
			write_unsafe(out, s, len);
		s += len ? len : 1;
	}
	putc('"', out);
}

static bool listed(const char *list, const char *key)
{
	size_t key_len = strlen(key);

	for (;;) {
		size_t len = strcspn(list, ",");

		if (len == key_len && !memcmp(list, key, len))
			return true;
		if (!list[len])
			return false;
		list += len + 1;
	}
}

/* Returns false if @key, or an element that contains it, was not asked for. */
static bool begin(struct json *json, const char *key)
{
	if (json->hidden || (json->only && key && json->depth == json->only_depth &&
			     !listed(json->only, key)))
		return false;
	if (!json->first && json->depth)
		putc(',', json->out);
	json->first = false;
	if (json->depth) {
		putc('\n', json->out);
		for (unsigned int i = 0; i < json->depth; i++)
			putc('\t', json->out);
	}
	if (key) {
		write_string(json->out, key);
		fputs(": ", json->out);
	}
	return true;
}

static void open_container(struct json *json, const char *key, char bracket)
{
	if (!begin(json, key)) {
		json->hidden++;
		return;
	}
	putc(bracket, json->out);
	json->depth++;
	json->first = true;
}

static void close_container(struct json *json, char bracket)
{
	if (json->hidden) {
		json->hidden--;
		return;
	}
	json->depth--;
	if (json->depth + 2 == json->only_depth)
		json->only = NULL;
	if (!json->first) {
		putc('\n', json->out);
		for (unsigned int i = 0; i < json->depth; i++)
			putc('\t', json->out);
	}
	json->first = false;
	putc(bracket, json->out);
	if (!json->depth)
		putc('\n', json->out);
}

void json_object(struct json *json, const char *key)
{
	open_container(json, key, '{');
}

void json_array(struct json *json, const char *key)
{
	open_container(json, key, '[');
}

void json_rows(struct json *json, const char *key, const char *only)
{
	json_array(json, key);
	json->only = only;
	json->only_depth = json->depth + 1;
}

void json_end_object(struct json *json)
{
	close_container(json, '}');
}

void json_end_array(struct json *json)
{
	close_container(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (begin(json, key))
		write_string(json->out, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	if (begin(json, key))
		fprintf(json->out, "%" PRId64, value);
}

void json_real(struct json *json, const char *key, double value)
{
	if (!begin(json, key))
		return;
	if (isfinite(value) && fabs(value) >= 1000)
		/* Times have more than six digits. */
		fprintf(json->out, "%.*f", value == trunc(value) ? 0 : 3, value);
	else if (isfinite(value))
		fprintf(json->out, "%.6g", value);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	if (begin(json, key))
		fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	if (begin(json, key))
		fputs("null", json->out);
}
