// SPDX-License-Identifier: GPL-2.0-only
/* Any text is safe after cleaning, and in each format that is written in lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "write/export.h"
#include "write/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *s, size_t len)
{
	for (const char *end = s + len; s < end; ) {
		size_t safe = *s == '\n' || *s == '\r' || *s == '\t' ? 1 : text_safe_length(s);

		if (!safe)
			abort();
		s += safe;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memcpy(calloc(size + 1, 1), data, size), *out;
	struct site site = { .file = text, .func = text, .module = text };
	struct group group = { .name = text, .site = &site, .now = { 1, 1, 1 } };
	struct groups groups = { .group = &group, .count = 1, .by = { size % 2 ? BY_SITE : BY_DIR, 1 } };
	struct export export = { .groups = &groups, .count = 1 };
	struct json json = { 0 };
	size_t len, lines = 0;
	FILE *file;

	file = open_memstream(&out, &len);
	csv_text(file, text);
	fclose(file);
	check(out, len);
	/* A formula is quoted, after a "'". */
	if (strpbrk(out, "\n\r") || (*out && strchr("=+-@", *out)))
		abort();
	free(out);

	file = open_memstream(&out, &len);
	export_folded(&export, file);
	fclose(file);
	check(out, len);
	for (size_t i = 0; i < len; i++)
		lines += out[i] == '\n';
	if (lines != 1)
		abort();
	free(out);

	file = open_memstream(&out, &len);
	export_prometheus(&export, file);
	fclose(file);
	check(out, len);
	free(out);

	file = open_memstream(&out, &len);
	json.out = file;
	json_object(&json, NULL);
	json_string(&json, "key", text);
	json_end_object(&json);
	fclose(file);
	check(out, len);
	free(out);

	text_clean(text);
	check(text, strlen(text));
	if (strpbrk(text, "\n\r\t"))
		abort();
	free(text);
	return 0;
}
