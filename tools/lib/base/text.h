/* SPDX-License-Identifier: GPL-2.0-only */
/* A string that grows. Always NUL-terminated once something was added. */
#ifndef CODETAG_TEXT_H
#define CODETAG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char *s;
	size_t len, room;
};

void text_add(struct text *text, const char *s, size_t len);
void text_puts(struct text *text, const char *s);
void text_printf(struct text *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool text_ends_with(const char *s, const char *end);

/* Length of the valid UTF-8 character at @s, 0 if it is none. */
size_t utf8_length(const char *s);

/*
 * The same, but 0 also for a character that changes how the text around it is shown: control
 * characters, U+009B, line separators, and changes of the writing direction.
 */
size_t text_safe_length(const char *s);

/* Puts one '?' in the place of each such character and of each byte that is not UTF-8. */
void text_clean(char *s);

/*
 * Adds a name that users choose, up to @max bytes or a NUL byte: blanks, backslashes and all but
 * printable ASCII become octal, as in the kernel's files.
 */
void text_add_name(struct text *text, const char *name, size_t max);

void text_clear(struct text *text);
void text_free(struct text *text);

#endif
