/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The beginnings and ends of copies of /proc/allocinfo. A file can have several: the output of
 * a loop of "date; cat /proc/allocinfo", or the lists that a kernel prints when memory is
 * short. Only this file decides it.
 */
#ifndef CODETAG_COPIES_H
#define CODETAG_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a single line. */
enum copies_line {
	LINE_ROW,		/* a call site with its numbers */
	LINE_HEADER,		/* "allocinfo - version: 1.0" */
	LINE_LOG_HEADER,	/* "Memory allocations (profiling is currently turned on):" */
	LINE_BETWEEN,		/* a time, a prompt with its command, "==> file <==" */
	LINE_COMMENT,		/* a '#' alone, or nothing */
	LINE_OTHER,
};

/* @line need not be terminated. *@time, in ms since 1970, is set if it is LINE_BETWEEN. */
enum copies_line copies_line(const char *line, size_t len, int64_t *time);

struct copies {
	struct copy {
		size_t start, len;	/* number of bytes before it in the text */
		size_t line;		/* number of lines before it */
		int64_t time;		/* ms since 1970, 0: not known */
	} *copy;
	size_t count, room;
};

/* Fills @copies with at least one. */
void copies_find(struct copies *copies, const char *text, size_t len);
void copies_free(struct copies *copies);

/* The time in the name of a file, in ms since 1970; 0: none. */
int64_t copies_time_of_name(const char *path);

#endif
