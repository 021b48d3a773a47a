// SPDX-License-Identifier: GPL-2.0
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

size_t utf8_length(const char *string)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)string;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 :
		     s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
	uint32_t code;

	if (len < 2)
		return len;
	code = s[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}
