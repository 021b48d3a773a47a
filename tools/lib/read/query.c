// SPDX-License-Identifier: GPL-2.0-only
#include "read/query.h"

#include <linux/codetag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codetag/query.h"

struct query {
	char *text;	/* as it was given … */
	char *words;	/* … and as the parser left it: the globs point into it */
	struct codetag_query *one;
	size_t count, room;
};

static void refuse_action(const struct query *query, const struct codetag_query *one,
			  struct query_error *error)
{
	const char *action = query->text + one->action_start;

	error->why = "a query that only selects has no action";
	error->at = one->action_start;
	snprintf(error->token, sizeof(error->token), "%.*s",
		 (int)strcspn(action, " \t;\n"), action);
}

/* "fs/pipe.c:800", as the kernel prints it: the length of the file's name, 0 if it is none. */
static size_t place_length(const char *word, size_t len)
{
	static const char *const ends[] = { ".c", ".h", ".rs", ".S", ".y", ".l", ".inc" };
	size_t digits = 0, name;

	while (digits < len && word[len - 1 - digits] >= '0' && word[len - 1 - digits] <= '9')
		digits++;
	if (!digits || len < digits + 2 || word[len - 1 - digits] != ':')
		return 0;
	name = len - 1 - digits;
	if (name == 7 && !strncmp(word, "codetag", name))
		return name;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (name > end && !strncmp(word + name - end, ends[i], end))
			return name;
	}
	return 0;
}

/* Words that may follow a place: "[ext4]", "func:ext4_alloc_inode", "accurate:no". */
static bool add_part(struct text *out, const char *word, size_t len)
{
	static const char *const notes[] = { "accurate:", "unloaded:", "disabled:" };

	if (len > 2 && word[0] == '[' && word[len - 1] == ']') {
		text_printf(out, " module %.*s", (int)len - 2, word + 1);
		return true;
	}
	if (len > 5 && !strncmp(word, "func:", 5)) {
		text_printf(out, " func %.*s", (int)len - 5, word + 5);
		return true;
	}
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		if (!strncmp(word, notes[i], strlen(notes[i])))
			return true;
	return false;
}

bool query_name_part(const char *word)
{
	struct text text = { 0 };
	bool is = place_length(word, strlen(word)) || add_part(&text, word, strlen(word));

	text_free(&text);
	return is;
}

/* Replaces printed names at the beginning of queries by terms. */
static char *spell_out(const char *text)
{
	struct text out = { 0 };

	text_clear(&out);
	while (*text) {
		size_t space = strspn(text, " \t;\n"), len, name;

		text_add(&out, text, space);
		text += space;
		len = strcspn(text, " \t;\n");
		name = place_length(text, len);
		if (name) {
			text_printf(&out, "file %.*s line %.*s", (int)name, text,
				    (int)(len - name - 1), text + name + 1);
			do {
				text += len;
				space = strspn(text, " \t");
				len = space + strcspn(text + space, " \t;\n");
			} while (len > space && add_part(&out, text + space, len - space));
		}
		len = strcspn(text, ";\n");
		text_add(&out, text, len);
		text += len;
	}
	return out.s;
}

struct query *query_parse(const char *given, struct query_error *error)
{
	struct query *query = xcalloc(1, sizeof(*query));
	struct codetag_query_error bad;
	struct codetag_query one;
	char *text = spell_out(given);
	size_t len = strlen(text), at = 0;
	int result;

	query->text = text;
	query->words = xstrdup(text);
	while ((result = codetag_query_parse(query->words, len, &at, &one, &bad)) > 0) {
		if (one.action != CODETAG_ACTION_NONE) {
			refuse_action(query, &one, error);
			query_free(query);
			return NULL;
		}
		GROW(query->one, query->count, query->room);
		query->one[query->count++] = one;
	}
	if (result < 0) {
		error->why = bad.why;
		error->at = bad.position;
		memcpy(error->token, bad.token, sizeof(error->token));
		query_free(query);
		return NULL;
	}
	return query;
}

bool query_is_empty(const struct query *query)
{
	return !query || !query->count;
}

size_t query_count(const struct query *query)
{
	return query_is_empty(query) ? 1 : query->count;
}

size_t query_last(const struct query *query, const struct site *site, uint16_t id)
{
	const struct codetag ct = {
		.lineno = site->line,
		.function = site->func,
		.filename = site->file,
	};
	size_t i = query_count(query);

	if (query_is_empty(query))
		return 1;
	while (i && !codetag_query_matches(&query->one[i - 1], &ct, id, site->module, !site->module))
		i--;
	return i;
}

bool query_match_id(const struct query *query, const struct site *site, uint16_t id)
{
	return query_last(query, site, id);
}

bool query_match(const struct query *query, const struct site *site)
{
	return query_match_id(query, site, CODETAG_ID_NONE);
}

bool query_has_id(const struct query *query)
{
	for (size_t i = 0; query && i < query->count; i++)
		if (query->one[i].all.by_id || query->one[i].none[0].by_id)
			return true;
	return false;
}

static const char *literal(const char *glob)
{
	return glob && !strpbrk(glob, "*?") ? glob : NULL;
}

bool query_names(const struct query *query, const char **func, const char **module)
{
	const struct codetag_terms *all;

	if (!query || query->count != 1)
		return false;
	all = &query->one[0].all;
	*func = literal(all->func);
	*module = literal(all->module);
	/* Queries call code without a module by this name. */
	if (*module && !strcmp(*module, "vmlinux"))
		*module = NULL;
	return *func || *module;
}

void query_with_action(const struct query *query, const char *action, struct text *text)
{
	if (query_is_empty(query))
		text_printf(text, "%s\n", action);
	for (size_t i = 0; query && i < query->count; i++) {
		const struct codetag_query *one = &query->one[i];

		text_add(text, query->text + one->start, one->end - one->start);
		text_printf(text, " %s\n", action);
	}
}

void query_free(struct query *query)
{
	if (!query)
		return;
	free(query->one);
	free(query->words);
	free(query->text);
	free(query);
}

static bool begins_query(const char *word, size_t len, const char *rest)
{
	struct codetag_query_error error;
	struct codetag_query query;
	size_t at = 0;
	char text[24];

	if (!len || len + strlen(rest) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s%s", (int)len, word, rest);
	return codetag_query_parse(text, strlen(text), &at, &query, &error) > 0;
}

/* Every keyword accepts the value "1", and "line 1" can follow as another term. */
bool query_keyword(const char *word, size_t len)
{
	return place_length(word, len) || begins_query(word, len, " 1") || begins_query(word, len, " line 1");
}
