/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text files as people have them: ends of CR LF, UTF-16, quoted in a mail, behind
 * the prefix of a log, cut at the end. The parsers see none of that but the last.
 */
#ifndef CODETAG_LINES_H
#define CODETAG_LINES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the file that begins with these bytes is UTF-16, as what PowerShell's '>' writes.
 */
bool lines_is_utf16(const char *head, size_t len);

/*
 * Makes plain lines of @text, which is @len bytes and a NUL: as UTF-8 and without what a mail or
 * a log has put before each. What is no text stays as it is. False with errno EILSEQ if it
 * begins as UTF-16 and is none.
 */
bool lines_plain(char **text, size_t *len);

/*
 * The same for one line: "> ", "kernel: " with the time before it, "<6>", "[   12.345678] ".
 * Returns what is behind these.
 */
char *line_plain(char *line);

/*
 * The next line of the text that ends at @end: starts at *@at, is terminated
 * in place, and *@at moves behind it. *@complete tells whether a newline was
 * there; where it was not, the end of the line may be missing. NULL at the end.
 */
char *input_line(char **at, char *end, size_t *len, bool *complete);

/* What of a file was not understood. */
struct bad_lines {
	size_t count;
	size_t first;		/* its number, from 1 */
	const char *why;
	size_t cut;		/* the last line, if it has no end: half a number looks like another one */
};

void bad_lines_add(struct bad_lines *bad, size_t number, const char *why);

/* Whether there was nothing; tells the user what there was. */
bool bad_lines_none(const struct bad_lines *bad, const char *path);

#endif
