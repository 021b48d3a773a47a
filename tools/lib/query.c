// SPDX-License-Identifier: GPL-2.0
#include "query.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"

enum key { KEY_FILE, KEY_FUNC, KEY_MODULE, KEY_LINE, KEY_ID };

static const char *const key_names[] = {
	[KEY_FILE] = "file",
	[KEY_FUNC] = "func",
	[KEY_MODULE] = "module",
	[KEY_LINE] = "line",
	[KEY_ID] = "id",
};

#define KEYS (sizeof(key_names) / sizeof(*key_names))

struct term {
	enum key key;
	char *glob;
	int64_t first, last;
	bool ends_query;	/* the next term starts another query */
};

struct query {
	struct term *term;
	size_t count, room;
};

/* Iterative: its time is bounded by the product of the lengths. */
bool glob_match(const char *pattern, const char *s)
{
	const char *star = NULL, *retry = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* "slub.c" and "mm/slub.c" both mean mm/slub.c, "lub.c" does not. */
static bool path_match(const char *pattern, const char *path)
{
	for (;;) {
		if (glob_match(pattern, path))
			return true;
		path = strchr(path, '/');
		if (!path)
			return false;
		path++;
	}
}

static int find_key(const char *word, size_t len)
{
	for (size_t i = 0; i < KEYS; i++)
		if (strlen(key_names[i]) == len && !memcmp(word, key_names[i], len))
			return i;
	return -1;
}

bool query_keyword(const char *word, size_t len)
{
	return find_key(word, len) >= 0;
}

static bool parse_range(struct term *term, const char *s)
{
	if (*s == '-' || !number_read(&s, &term->first) || term->first < 0)
		return false;
	term->last = term->first;
	if (*s == '-' && term->key == KEY_LINE) {
		s++;
		term->last = INT64_MAX;
		if (*s && (*s == '-' || !number_read(&s, &term->last)))
			return false;
	}
	return !*s && term->first <= term->last;
}

static bool is_separator(char c)
{
	return c == ';' || c == '\n';
}

static size_t word_length(const char *s)
{
	return strcspn(s, " \t;\n");
}

/* Reads "key value" at @s into @term; returns the length, 0 on error. */
static size_t parse_term(struct term *term, const char *s,
			 struct query_error *error)
{
	size_t len = word_length(s), gap;
	const char *value;
	int key = find_key(s, len);

	error->len = len;
	error->why = "not a keyword (file, func, module, line, id)";
	if (key < 0)
		return 0;
	gap = strspn(s + len, " \t");
	value = s + len + gap;
	error->at += len + gap;
	error->len = word_length(value);
	error->why = "a value is missing here";
	if (!error->len)
		return 0;

	term->key = key;
	term->glob = NULL;
	if (key == KEY_LINE || key == KEY_ID) {
		char *word = strndup(value, error->len);
		bool good = word && parse_range(term, word);

		free(word);
		error->why = key == KEY_LINE ? "not a line or range of lines" :
					       "not an id";
		if (!good)
			return 0;
	} else {
		term->glob = xmalloc(error->len + 1);
		memcpy(term->glob, value, error->len);
		term->glob[error->len] = '\0';
	}
	return value + error->len - s;
}

struct query *query_parse(const char *text, struct query_error *error)
{
	struct query *query = xcalloc(1, sizeof(*query));
	const char *s = text;

	for (;;) {
		struct term term = { 0 };
		size_t len;

		while (*s == ' ' || *s == '\t' || is_separator(*s)) {
			if (is_separator(*s) && query->count)
				query->term[query->count - 1].ends_query = true;
			s++;
		}
		if (!*s)
			break;
		error->at = s - text;
		len = parse_term(&term, s, error);
		if (!len) {
			query_free(query);
			return NULL;
		}
		s += len;
		GROW(query->term, query->count, query->room);
		query->term[query->count++] = term;
	}
	if (query->count)
		query->term[query->count - 1].ends_query = true;
	return query;
}

static bool term_match(const struct term *term, const struct site *site)
{
	switch (term->key) {
	case KEY_FILE:
		return path_match(term->glob, site->file);
	case KEY_FUNC:
		return glob_match(term->glob, site->func);
	case KEY_MODULE:
		return glob_match(term->glob,
				  site->module ? site->module : "vmlinux");
	case KEY_LINE:
		return term->first <= site->line && site->line <= term->last;
	case KEY_ID:
		break;
	}
	return false;
}

bool query_match(const struct query *query, const struct site *site)
{
	bool match = true;

	if (!query || !query->count)
		return true;
	for (size_t i = 0; i < query->count; i++) {
		const struct term *term = &query->term[i];

		match = match && term_match(term, site);
		if (term->ends_query) {
			if (match)
				return true;
			match = true;
		}
	}
	return false;
}

bool query_has_id(const struct query *query)
{
	for (size_t i = 0; query && i < query->count; i++)
		if (query->term[i].key == KEY_ID)
			return true;
	return false;
}

void query_free(struct query *query)
{
	if (!query)
		return;
	for (size_t i = 0; i < query->count; i++)
		free(query->term[i].glob);
	free(query->term);
	free(query);
}
