// SPDX-License-Identifier: GPL-2.0
#include "source/sections.h"

#include <string.h>

#include "read/copies.h"

/* What the first line of each file begins with. */
static const char *const begins[MEMBERS] = {
	[MEMINFO] = "MemTotal:",
	[ALLOCINFO] = "allocinfo - version",
	[VMSTAT] = "nr_free_pages ",
	[ZONEINFO] = "Node 0, zone",
	[SLABINFO] = "slabinfo - version",
	[VMALLOCINFO] = "0xffff",
	[IOMEM] = "00000000-",
	[VERSION] = "Linux version ",
};

/* The file that begins with @line, MEMBERS if it is the beginning of none. */
static enum member beginning(const char *line, size_t len)
{
	enum member m = 0;

	while (m < MEMBERS && (!begins[m] || len < strlen(begins[m]) ||
			       memcmp(line, begins[m], strlen(begins[m]))))
		m++;
	return m;
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
	bool has[MEMBERS + 1] = { false };
	enum member now = ALLOCINFO;
	struct line line;
	size_t files = 0;

	*sections = (struct sections){ 0 };
	while (next_line(&line, &at, end))
		has[beginning(line.s, line.shown)] = true;
	for (enum member m = 0; m < MEMBERS; m++)
		files += has[m];
	if (files < 2)
		return false;
	for (at = text; next_line(&line, &at, end); ) {
		enum member begun = beginning(line.s, line.shown);
		int64_t time;

		if (begun < MEMBERS)
			now = begun;
		/* The times between copies of allocinfo are theirs. */
		if (begun == MEMBERS && copies_line(line.s, line.shown, &time) == LINE_BETWEEN)
			add_line(sections, ALLOCINFO, &line);
		else
			add_line(sections, now, &line);
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
