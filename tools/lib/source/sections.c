// SPDX-License-Identifier: GPL-2.0
#include "source/sections.h"

#include <stdio.h>
#include <string.h>

#include "read/copies.h"

/* What the first line of each file begins with. */
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

/* A prompt with a command, or what head(1) prints above a file */
static bool names_file(const char *line, size_t len)
{
	for (enum member m = 0; m < MEMBERS; m++) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/%s", member_files[m].name);
		if (begins[m] && memmem(line, len, path, strlen(path)))
			return true;
	}
	return false;
}

/*
 * The file that a line is of, MEMBERS if that is the file of the line before it. *@none: it is
 * of no file.
 */
static enum member file_of(const char *line, size_t len, bool *none)
{
	enum member m = 0;
	int64_t time;

	*none = false;
	while (m < MEMBERS && !can_begin(m, line, len))
		m++;
	if (m < MEMBERS)
		return m;
	switch (copies_line(line, len, &time)) {
	case LINE_ROW:
	case LINE_LOG_HEADER:
		return ALLOCINFO;
	case LINE_BETWEEN:
		/* The times between copies of allocinfo are theirs. */
		*none = !time;
		return time ? ALLOCINFO : MEMBERS;
	default:
		*none = names_file(line, len);
		return MEMBERS;
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
static void add_line(struct sections *sections, enum member m, const struct line *line)
{
	for (enum member i = 0; i < MEMBERS; i++) {
		if (i == m)
			text_add(&sections->of[i], line->s, line->len);
		else if (line->len > line->shown)
			text_add(&sections->of[i], "\n", 1);
	}
}

bool sections_cut(struct sections *sections, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	bool has[MEMBERS + 1] = { false }, none;
	enum member now = MEMBERS;
	struct line line;
	size_t files = 0;

	*sections = (struct sections){ 0 };
	while (next_line(&line, &at, end)) {
		enum member m = file_of(line.s, line.shown, &none);

		/* A time alone is no file. */
		if (m != ALLOCINFO || copies_line(line.s, line.shown, &(int64_t){ 0 }) != LINE_BETWEEN)
			has[m] = true;
	}
	for (enum member m = 0; m < MEMBERS; m++)
		files += has[m];
	if (files < 2)
		return false;
	for (at = text; next_line(&line, &at, end); ) {
		enum member m = file_of(line.s, line.shown, &none);

		if (m < MEMBERS)
			now = m;
		/* What is before the first file is of an allocinfo, which says so if it is none of it. */
		add_line(sections, none ? MEMBERS : now < MEMBERS ? now : ALLOCINFO, &line);
	}
	for (enum member m = 0; m < MEMBERS; m++)
		if (!has[m])
			text_free(&sections->of[m]);
	return true;
}

bool sections_take(struct sections *sections, enum member m, struct snapshot *s, const char *path)
{
	struct text *text = &sections->of[m];
	bool good = !text->len || member_take(s, m, text->s, text->len, path);

	if (text->len)
		*text = (struct text){ 0 };
	return good;
}

void sections_free(struct sections *sections)
{
	for (enum member m = 0; m < MEMBERS; m++)
		text_free(&sections->of[m]);
}
