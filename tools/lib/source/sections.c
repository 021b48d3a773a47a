// SPDX-License-Identifier: GPL-2.0-only
#include "source/sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "read/copies.h"
#include "read/input.h"
#include "read/lines.h"

/* The first line of each file begins with this. */
static const char *const begins[MEMBERS] = {
	[MEMINFO] = "MemTotal:",
	[ALLOCINFO] = "allocinfo - version",
	[VMSTAT] = "nr_free_pages ",
	[ZONEINFO] = "Node 0, zone",
	[SLABINFO] = "slabinfo - version",
	[VMALLOCINFO] = "0x",
	[IOMEM] = "00000000-",
	[VERSION] = "Linux version ",
};

/* Longer than the first line of zoneinfo: buddyinfo begins in the same way. */
#define LONG_ZONE 40

/* Whether this can be the first line of the file @m. */
static bool can_begin(enum member m, const char *line, size_t len)
{
	if (!begins[m] || len < strlen(begins[m]) || memcmp(line, begins[m], strlen(begins[m])))
		return false;
	if (m == ZONEINFO)
		return len < LONG_ZONE;
	return m != VMALLOCINFO || memmem(line, len, "-0x", 3);
}

/* A prompt with a command, or the heading that head(1) prints above a file */
static bool names_file(const char *line, size_t len)
{
	const char *end = line + len, *name = memmem(line, len, "/proc/", 6);

	for (enum member m = 0; name && m < MEMBERS; m++) {
		size_t n = strlen(member_files[m].name);

		if (begins[m] && (size_t)(end - name) >= 6 + n && !memcmp(name + 6, member_files[m].name, n))
			return true;
	}
	return false;
}

/* Instead of a file: the line belongs to the file of the line before it, or to none. */
#define SAME_FILE MEMBERS
#define NO_FILE (MEMBERS + 1)

/* The file of a line. *@shows: a text with this line has that file. */
static unsigned int file_of(const char *line, size_t len, bool *shows)
{
	unsigned int m = 0;
	int64_t time;

	*shows = true;
	while (m < MEMBERS && !can_begin(m, line, len))
		m++;
	if (m < MEMBERS)
		return m;
	switch (copies_line(line, len, &time)) {
	case LINE_ROW:
	case LINE_LOG_HEADER:
		return ALLOCINFO;
	case LINE_BETWEEN:
		*shows = false;
		/* Copies of allocinfo have times between them. */
		return time ? ALLOCINFO : NO_FILE;
	default:
		*shows = false;
		return names_file(line, len) ? NO_FILE : SAME_FILE;
	}
}

/* A line with its newline, which is not counted in @shown. */
struct line {
	const char *s;
	size_t len, shown;
};

static bool next_line(struct line *line, const char **at, const char *end)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));

	*line = (struct line){ .s = *at, .shown = (size_t)((newline ? newline : end) - *at) };
	line->len = line->shown + (newline != NULL);
	*at += line->len;
	return line->len;
}

/* Adds the line to file @m, and an empty one to all others. */
static void add_line(struct sections *sections, unsigned int m, const struct line *line)
{
	for (unsigned int i = 0; i < MEMBERS; i++) {
		if (i == m)
			text_add(&sections->of[i], line->s, line->len);
		else if (line->len > line->shown)
			text_add(&sections->of[i], "\n", 1);
	}
}

bool sections_cut(struct sections *sections, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	bool has[MEMBERS] = { false }, shows;
	/* The reader of allocinfo reports lines that it does not understand. */
	unsigned int now = ALLOCINFO, m;
	struct line line;
	size_t files = 0;

	*sections = (struct sections){ 0 };
	while (next_line(&line, &at, end)) {
		m = file_of(line.s, line.shown, &shows);
		if (shows && !has[m]) {
			has[m] = true;
			files++;
		}
	}
	if (files < 2)
		return false;
	for (at = text; next_line(&line, &at, end); ) {
		m = file_of(line.s, line.shown, &shows);
		if (m < MEMBERS)
			now = m;
		add_line(sections, m == NO_FILE ? NO_FILE : now, &line);
	}
	for (m = 0; m < MEMBERS; m++)
		if (!has[m])
			text_free(&sections->of[m]);
	return true;
}

void sections_take(struct sections *sections, struct snapshot *s, const char *path, bool has[MEMBERS])
{
	for (enum member m = 0; m < MEMBERS; m++) {
		struct text *text = &sections->of[m];

		if (has[m] || !text->len) {
			text_free(text);
			continue;
		}
		has[m] = member_take(s, m, text->s, text->len, path);
		s->incomplete |= !has[m];
		*text = (struct text){ 0 };
	}
}

bool sections_take_file(struct snapshot *s, enum member m, char *text, size_t len, const char *path,
			bool has[MEMBERS])
{
	struct sections sections;

	/* Files are joined under the name of one of the first. */
	if (m <= ALLOCINFO) {
		if (!lines_plain(&text, &len)) {
			input_complain(path, errno);
			free(text);
			return false;
		}
		if (sections_cut(&sections, text, len)) {
			free(text);
			sections_take(&sections, s, path, has);
			return true;
		}
	}
	has[m] = true;
	return member_take(s, m, text, len, path);
}

bool sections_read(enum member m, const char *path, char **text, size_t *len)
{
	struct sections sections;
	bool found;

	if (!input_read_proc(path, member_files[m].name, text, len)) {
		int why = errno;

		input_complain(path, why);
		errno = why;
		return false;
	}
	if (!sections_cut(&sections, *text, *len))
		return true;
	free(*text);
	found = sections.of[m].len;
	*text = sections.of[m].s;
	*len = sections.of[m].len;
	sections.of[m] = (struct text){ 0 };
	sections_free(&sections);
	if (!found) {
		free(*text);
		warning("%s has no %s", input_name(path), member_files[m].name);
		errno = ENODATA;
	}
	return found;
}

void sections_free(struct sections *sections)
{
	for (enum member m = 0; m < MEMBERS; m++)
		text_free(&sections->of[m]);
}
