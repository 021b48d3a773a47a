// SPDX-License-Identifier: GPL-2.0-only
#include "read/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/strmap.h"
#include "read/input.h"

/* ---- rows of one call site in two lists --------------------------------------------------- */

#define NO_ROW SIZE_MAX

static size_t find(const struct strmap *names, struct text *name, const struct site *site)
{
	text_clear(name);
	site_name(site, name);
	return strmap_find(names, name->s, name->len);
}

/*
 * For each row of @info its row in @other: the first one of a call site belongs to the first one
 * there, the second one to the second. If @other has more of them, its first ones have gone: a
 * module that is loaded again has its rows behind those of its unloaded self. The caller frees
 * it.
 */
static size_t *match(const struct allocinfo *info, const struct allocinfo *other)
{
	size_t *row = xcalloc(info->count, sizeof(*row)), *next = xcalloc(other->count, sizeof(*next));
	size_t *first = xcalloc(other->count, sizeof(*first));
	size_t *gone = xcalloc(other->count, sizeof(*gone));
	struct strmap names = { 0 };
	struct text name = { 0 };

	/* From the end, so that each call site has its rows in their order. */
	for (size_t i = other->count; i-- > 0; ) {
		size_t known = names.count, n;

		text_clear(&name);
		site_name(&other->site[i], &name);
		n = strmap_add(&names, name.s, name.len);
		next[i] = n < known ? first[n] : NO_ROW;
		first[n] = i;
		gone[n]++;
	}
	for (size_t i = 0; i < info->count; i++) {
		size_t n = find(&names, &name, &info->site[i]);

		if (n != STRMAP_NONE && gone[n])
			gone[n]--;
	}
	for (size_t n = 0; n < names.count; n++)
		for (; gone[n]; gone[n]--)
			first[n] = next[first[n]];
	for (size_t i = 0; i < info->count; i++) {
		size_t n = find(&names, &name, &info->site[i]);

		row[i] = n == STRMAP_NONE ? NO_ROW : first[n];
		if (row[i] != NO_ROW)
			first[n] = next[row[i]];
	}
	text_free(&name);
	strmap_free(&names);
	free(first);
	free(next);
	free(gone);
	return row;
}

/* ---- the file ----------------------------------------------------------------------------- */

static bool read_count(const char **s, int64_t *value)
{
	*s += strspn(*s, " ");
	return number_read(s, value) && *value >= 0 && *value <= UINT32_MAX && **s == ' ';
}

/* Returns the error in the line, NULL if it is right. */
static const char *parse_row(struct site *site, char *line, size_t len)
{
	const char *s = line;
	int64_t parts;

	if (!read_count(&s, &site->all.allocs) || !read_count(&s, &site->all.frees) ||
	    !read_count(&s, &parts))
		return "a line does not begin with three numbers of 32 bits";
	site->all.known = true;
	s += strspn(s, " ");
	return site_parse(site, (char *)s, len - (size_t)(s - line));
}

bool activity_parse(struct allocinfo *info, char *text, size_t len, const char **why)
{
	static const char header[] = "# activity - version: 1.";
	struct allocinfo rows = { 0 };
	char *at = text, *line;
	size_t line_len, *row;
	bool complete;

	*why = strncmp(text, header, strlen(header)) ? "it does not begin with \"# activity - version: 1.\"" : NULL;
	while (!*why && (line = input_line(&at, text + len, &line_len, &complete))) {
		struct site site = { 0 };

		if (*line == '#')
			continue;
		*why = complete ? parse_row(&site, line, line_len) : "it is cut";
		GROW(rows.site, rows.count, rows.room);
		rows.site[rows.count++] = site;
	}
	if (!*why) {
		row = match(info, &rows);
		for (size_t i = 0; i < info->count; i++)
			if (row[i] != NO_ROW)
				info->site[i].all = rows.site[row[i]].all;
		free(row);
	}
	free(rows.site);
	return !*why;
}

bool activity_read(struct allocinfo *info, const char *path, const char **why)
{
	size_t len;
	char *text;
	bool good;

	*why = NULL;
	if (!input_read(path, &text, &len))
		return false;
	good = activity_parse(info, text, len, why);
	free(text);
	return good;
}

/* ---- between two readings ------------------------------------------------------------------- */

bool activity_known(const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->site[i].all.known)
			return true;
	return false;
}

bool activity_recent_known(const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->site[i].recent.known)
			return true;
	return false;
}

struct activity activity_step(const struct activity *before, const struct activity *now, bool unloaded)
{
	if (before) {
		uint32_t allocs = (uint32_t)now->allocs - (uint32_t)before->allocs;
		uint32_t frees = (uint32_t)now->frees - (uint32_t)before->frees;

		if (!((allocs | frees) >> 31))
			return (struct activity){ allocs, frees, true };
	}
	return unloaded ? (struct activity){ .known = true } : *now;
}

void activity_between(struct allocinfo *now, const struct allocinfo *before, bool back)
{
	/* After a boot the kernel counts from 0. */
	bool booted = now->boot && before->boot && now->boot != before->boot;
	size_t *row;

	if (!activity_known(now) || !activity_known(before))
		return;
	row = match(now, before);
	for (size_t i = 0; i < now->count; i++) {
		struct site *site = &now->site[i];
		const struct site *was = row[i] == NO_ROW ? NULL : &before->site[row[i]];
		const struct activity *old = was && was->all.known ? &was->all : NULL;

		if (!site->all.known)
			continue;
		if (back)
			site->recent = old ? activity_step(booted ? NULL : &site->all, old, was->flags & SITE_UNLOADED) :
					     (struct activity){ .known = true };
		else
			site->recent = activity_step(booted ? NULL : old, &site->all, site->flags & SITE_UNLOADED);
	}
	free(row);
}

void activity_add(struct activity *to, const struct activity *more)
{
	to->allocs = add64(to->allocs, more->allocs);
	to->frees = add64(to->frees, more->frees);
	to->known |= more->known;
}
