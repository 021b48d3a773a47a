// SPDX-License-Identifier: GPL-2.0-only
#include "base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *message_name = "codetag";

static size_t lines(const char *s)
{
	size_t count = 0;

	while ((s = strchr(s, '\n'))) {
		count++;
		s++;
	}
	return count;
}

/*
 * Names in a message can contain anything. Only the formats make new lines; other line breaks
 * become '?'.
 */
__attribute__((format(printf, 1, 0)))
static void print_clean(const char *fmt, va_list args)
{
	char *text, *line;

	if (vasprintf(&text, fmt, args) < 0)
		return;
	if (lines(text) != lines(fmt)) {
		text_clean(text);
		fputs(text, stderr);
	} else {
		for (char *rest = text; (line = strsep(&rest, "\n")); ) {
			text_clean(line);
			fprintf(stderr, "%s%s", line, rest ? "\n" : "");
		}
	}
	free(text);
	fputc('\n', stderr);
}

int message_flush(void)
{
	static int error;

	if (fflush(stdout) && !error)
		error = errno;
	return error;
}

/* Standard output is flushed first, so that both streams are in order. */
__attribute__((format(printf, 1, 0)))
static void say(const char *fmt, va_list args)
{
	message_flush();
	fprintf(stderr, "%s: ", message_name);
	print_clean(fmt, args);
}

void warning(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void hint(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_clean(fmt, args);
	va_end(args);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	exit(STATUS_TROUBLE);
}
