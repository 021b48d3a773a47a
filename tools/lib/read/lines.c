// SPDX-License-Identifier: GPL-2.0-only
#include "read/lines.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "read/input.h"

/*
 * How iconv() calls the UTF-16 that @head begins with: with a byte order mark, or with eight
 * characters that have one byte in ASCII. NULL: it is none.
 */
static const char *utf16_name(const char *head, size_t len)
{
	size_t little = 0, big = 0;

	if (len >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return "UTF-16";
	for (size_t i = 0; i < 16 && len >= 16; i += 2) {
		little += isprint((unsigned char)head[i]) && !head[i + 1];
		big += !head[i] && isprint((unsigned char)head[i + 1]);
	}
	return little == 8 ? "UTF-16LE" : big == 8 ? "UTF-16BE" : NULL;
}

bool lines_is_utf16(const char *head, size_t len)
{
	return utf16_name(head, len);
}

/* Half a character at the end of a copy that was cut is left out, and the newline with it. */
static bool from_utf16(char **text, size_t *len)
{
	iconv_t convert = iconv_open("UTF-8", utf16_name(*text, *len));
	size_t in_left = *len, out_left = 2 * *len;
	char *in = *text, *made, *out;
	bool good;

	if (convert == (iconv_t)-1)
		return false;
	made = out = xmalloc(out_left + 1);
	good = iconv(convert, &in, &in_left, &out, &out_left) != (size_t)-1 || errno == EINVAL;
	iconv_close(convert);
	if (!good) {
		free(made);
		errno = EILSEQ;
		return false;
	}
	*out = '\0';
	free(*text);
	*text = made;
	*len = out - made;
	return true;
}

/* "> > ", ">>" */
static char *skip_quotes(char *line)
{
	char *s = line;

	while (*s == '>')
		s += s[1] == ' ' ? 2 : 1;
	return s;
}

/*
 * The largest length of the time and host that a log has before a line: "Nov 25 12:00:00 web1
 * kernel: ".
 */
#define LOG_HEAD 80

/* The prefix of the kernel's messages in a system's log. */
static char *skip_system(char *line)
{
	static const char key[] = "kernel: ";
	char *found;
	size_t len;

	if (!isalnum((unsigned char)*line))
		return line;
	len = strcspn(line, "\n");
	found = memmem(line, len < LOG_HEAD ? len : LOG_HEAD, key, strlen(key));
	/* Only a time may stand before it, or nothing. */
	if (!found || (found > line && (found[-1] != ' ' || !memchr(line, ':', found - line))))
		return line;
	return found + strlen(key);
}

/* "[   12.345678] ", "[Wed Nov 25 12:00:00 2026] ", and "[   T12] " for the task that printed it. */
static char *skip_time(char *line)
{
	size_t len = strcspn(line, "]\n");
	char *s = line + 1;
	bool any = false;

	if (*line != '[' || line[len] != ']' || len > 40)
		return line;
	for (; s < line + len && (isdigit((unsigned char)*s) || *s == ' ' || *s == '.'); s++)
		any |= *s == '.';
	/* A word that is not a number is a date. */
	if (s < line + len || !any) {
		char *colon = memchr(line, ':', len);

		if (!isalpha((unsigned char)line[1]) || !colon || !memchr(colon + 1, ':',
		    line + len - colon - 1) || !isdigit((unsigned char)line[len - 1]))
			return line;
	}
	s = line + len + 1;
	if (*s == '[' && s[1 + strspn(s + 1, " ")] && strchr("TC", s[1 + strspn(s + 1, " ")])) {
		len = strcspn(s, "]\n");
		s += s[len] == ']' ? len + 1 : 0;
	}
	return *s == ' ' ? s + 1 : s;
}

char *line_plain(char *line)
{
	char *s = line;

	/* Most lines are numbers after blanks and need no closer look. */
	if (*s == ' ' || *s == '\t')
		return s;
	s = skip_system(skip_quotes(s));
	if (*s == '<') {
		size_t digits = strspn(s + 1, "0123456789");

		if (digits && digits < 4 && s[1 + digits] == '>')
			s += digits + 2;
	}
	return skip_time(s);
}

/* @s is @len bytes. */
static bool has(const char *s, size_t len, const char *what)
{
	return memmem(s, len, what, strlen(what));
}

static bool begins_with_number(const char *s, size_t len)
{
	while (len && (*s == ' ' || *s == '-')) {
		s++;
		len--;
	}
	return len && *s >= '0' && *s <= '9';
}

/*
 * Mail programs wrap long lines. A row of allocinfo begins with numbers and has a function. A
 * line that does not begin with numbers and has a function is the rest of a row without one.
 */
static bool is_wrapped(const char *before, size_t before_len, const char *line, size_t len)
{
	return before_len && before[before_len - 1] == '\n' && begins_with_number(before, before_len) &&
	       !has(before, before_len, "func:") && !begins_with_number(line, len) &&
	       has(line, len, "func:");
}

bool lines_plain(char **text, size_t *len)
{
	char *from, *to, *end, *before;

	if (lines_is_utf16(*text, *len) && !from_utf16(text, len))
		return false;
	from = to = before = *text;
	end = from + *len;
	if (*len >= 3 && !memcmp(from, "\xef\xbb\xbf", 3))
		from += 3;
	/* Binary data would lose bytes. */
	if (memchr(from, '\0', end - from))
		return true;
	while (from < end) {
		char *line = line_plain(from), *newline = memchr(line, '\n', end - line);
		size_t bytes = (newline ? newline + 1 : end) - line;

		if (is_wrapped(before, to - before, line, bytes))
			to[-1] = ' ';
		else
			before = to;
		if (to != line)
			memmove(to, line, bytes);
		to += bytes;
		from = line + bytes;
	}
	*to = '\0';
	*len = to - *text;
	return true;
}

char *input_line(char **at, char *end, size_t *len, bool *complete)
{
	char *line = *at, *newline;

	if (line >= end)
		return NULL;
	newline = memchr(line, '\n', end - line);
	*complete = newline != NULL;
	if (!newline)
		newline = end;
	*newline = '\0';
	*at = newline + 1;
	if (newline > line && newline[-1] == '\r')
		*--newline = '\0';
	*len = newline - line;
	return line;
}

void bad_lines_add(struct bad_lines *bad, size_t number, const char *why)
{
	if (!bad->count++) {
		bad->first = number;
		bad->why = why;
	}
}

bool bad_lines_none(const struct bad_lines *bad, const char *path)
{
	if (bad->count)
		warning("%s: %zu of its lines not understood, the first is line %zu: %s",
			input_name(path), bad->count, bad->first, bad->why);
	if (bad->cut)
		warning("%s ends within line %zu: was it cut?", input_name(path), bad->cut);
	return !bad->count && !bad->cut;
}
