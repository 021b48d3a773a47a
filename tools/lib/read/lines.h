/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of text files as people have them: ends of CR LF, UTF-16, quoted in a mail, behind the
 * prefix of a log, cut at the end. Of these, the parsers have to handle only the last.
 */
#ifndef CODETAG_LINES_H
#define CODETAG_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the file that begins with these bytes is UTF-16, like the output of PowerShell's '>'.
 */
bool lines_is_utf16(const char *head, size_t len);

/*
 * Decodes @text, which is @len bytes and a NUL, to UTF-8 and removes the prefixes of mails and
 * logs. Binary data stays as it is. Returns false with errno EILSEQ if it begins as UTF-16 and
 * is none.
 */
bool lines_plain(char **text, size_t *len);

/*
 * The same for one line: "> ", "kernel: " with the time before it, "<6>", "[ 12.345678] ".
 * Returns the text after these.
 */
char *line_plain(char *line);

/*
 * The next line of the text that ends at @end: it starts at *@at, is terminated in place, and
 * *@at moves behind it. *@complete says whether it had a newline; without one the end of the
 * line may be missing. NULL at the end.
 */
char *input_line(char **at, char *end, size_t *len, bool *complete);

/* The lines of a file that were not understood. */
struct bad_lines {
	size_t count;
	size_t first;		/* its number, from 1 */
	const char *why;
	size_t cut;		/* the last line, if it has no newline: a cut number misleads */
};

void bad_lines_add(struct bad_lines *bad, size_t number, const char *why);

/* Whether there were none; otherwise tells the user about them. */
bool bad_lines_none(const struct bad_lines *bad, const char *path);

#endif
