// SPDX-License-Identifier: GPL-2.0-only
#include "complaints.h"

#include <ctype.h>
#include <string.h>

static const char *const complaints[] = {
#include "complaint_texts.h"
};

/* The shortest number without 0x that counts as an address, such as ffff888003a41c00. */
#define ADDRESS_DIGITS 8

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_text(const char *line, const char *text)
{
	for (const char *at = line; (at = strstr(at, text)); at++)
		if (at == line || !is_word(at[-1]))
			return true;
	return false;
}

bool is_complaint(const char *line)
{
	for (size_t i = 0; i < sizeof(complaints) / sizeof(*complaints); i++)
		if (has_text(line, complaints[i]))
			return true;
	return false;
}

/* Whether a number at @at, in @line, is that of a source line: "mm/slub.c:4321". */
static bool is_source_line(const char *line, const char *at)
{
	static const char *const ends[] = { ".c:", ".h:", ".rs:", ".S:" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t len = strlen(ends[i]);

		if ((size_t)(at - line) > len && !strncmp(at - len, ends[i], len))
			return true;
	}
	return false;
}

void complaint_signature(const char *line, struct text *signature)
{
	size_t len, digits;

	for (const char *at = line; *at; at += len) {
		for (len = 0; is_word(at[len]); len++)
			;
		digits = strspn(at, "0123456789abcdef");
		if (!len)
			text_add(signature, at, len = 1);
		else if ((isdigit((unsigned char)*at) && !is_source_line(line, at)) ||
			 (digits == len && len >= ADDRESS_DIGITS))
			text_puts(signature, "#");
		else
			text_add(signature, at, len);
	}
}
