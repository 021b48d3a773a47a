// SPDX-License-Identifier: GPL-2.0
#include "base/text.h"

#include <stdarg.h>
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
