/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a copy of /proc/allocinfo begins and ends. A file can have several: what a loop of
 * "date; cat /proc/allocinfo" has written, or the lists that a kernel prints when memory is
 * short. Decided here, and nowhere else.
 */
#ifndef CODETAG_COPIES_H
#define CODETAG_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a line is, by itself. */
enum copies_line {
	LINE_ROW,		/* a call site with its numbers */
	LINE_HEADER,		/* "allocinfo - version: 1.0" */
	LINE_LOG_HEADER,	/* "Memory allocations (profiling is currently turned on):" */
	LINE_BETWEEN,		/* a time, a prompt with its command, "==> file <==" */
	LINE_COMMENT,		/* a '#', or nothing */
	LINE_OTHER,
};

/* @line need not be terminated; *@time, in ms since 1970, is set if it is LINE_BETWEEN. */
enum copies_line copies_line(const char *line, size_t len, int64_t *time);

struct copies {
	struct copy {
		size_t start, len;	/* bytes of the text */
		size_t line;		/* lines of it before that */
		int64_t time;		/* ms since 1970, 0: it does not say */
	} *copy;
	size_t count, room;
};

/* Fills @copies: one at least. */
void copies_find(struct copies *copies, const char *text, size_t len);
void copies_free(struct copies *copies);

/* The time that the name of a file tells, in ms since 1970; 0: none. */
int64_t copies_time_of_name(const char *path);

#endif
