// SPDX-License-Identifier: GPL-2.0-only
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void make_room(struct text *text, size_t more)
{
	size_t need = text->len + more + 1;

	if (need <= text->room)
		return;
	if (need < 2 * text->room)
		need = 2 * text->room;
	text->s = xreallocarray(text->s, need, 1);
	text->room = need;
}

void text_add(struct text *text, const char *s, size_t len)
{
	make_room(text, len);
	if (len)
		memcpy(text->s + text->len, s, len);
	text->len += len;
	text->s[text->len] = '\0';
}

void text_puts(struct text *text, const char *s)
{
	text_add(text, s, strlen(s));
}

void text_printf(struct text *text, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0)
		return;
	make_room(text, len);
	va_start(args, fmt);
	vsnprintf(text->s + text->len, len + 1, fmt, args);
	va_end(args);
	text->len += len;
}

void text_clear(struct text *text)
{
	make_room(text, 0);
	text->len = 0;
	text->s[0] = '\0';
}

void text_free(struct text *text)
{
	free(text->s);
	*text = (struct text){ 0 };
}

/* The valid UTF-8 character at @string and its length, which is 0 if it is none. */
static uint32_t decode(const char *string, size_t *length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)string;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 :
		     s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
	uint32_t code;

	*length = len;
	if (len < 2)
		return s[0];
	*length = 0;
	code = s[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code >= least[len] && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000))
		*length = len;
	return code;
}

bool text_ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), cut = strlen(end);

	return len >= cut && !strcmp(s + len - cut, end);
}

size_t utf8_length(const char *s)
{
	size_t len;

	decode(s, &len);
	return len;
}

size_t text_safe_length(const char *s)
{
	static const struct {
		uint32_t first, last;
	} unsafe[] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff },
		{ 0xfdd0, 0xfdef }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
	};
	size_t len;
	uint32_t code = decode(s, &len);

	/* The last two of each plane are no characters: XML and cairo refuse them. */
	if ((code & 0xfffe) == 0xfffe)
		return 0;
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(*unsafe); i++)
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			return 0;
	return len;
}

void text_clean(char *s)
{
	char *to = s;

	while (*s) {
		size_t safe = *s >= ' ' && *s < 0x7f ? 1 : text_safe_length(s);
		size_t len = safe ? safe : utf8_length(s);

		if (safe)
			memmove(to, s, safe);
		else
			*to = '?';
		to += safe ? safe : 1;
		s += len ? len : 1;
	}
	*to = '\0';
}

void text_add_name(struct text *text, const char *name, size_t max)
{
	for (size_t i = 0; i < max && name[i]; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			text_add(text, name + i, 1);
		else
			text_printf(text, "\\%03o", c);
	}
}
