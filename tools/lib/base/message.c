// SPDX-License-Identifier: GPL-2.0
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *message_name = "codetag";

/* Standard output goes first, so that both streams read in order. */
__attribute__((format(printf, 1, 0)))
static void say(const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", message_name);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
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
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	exit(STATUS_TROUBLE);
}
