// SPDX-License-Identifier: GPL-2.0
#include "read/query.h"

#include <linux/codetag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "codetag/query.h"

struct query {
	char *text;	/* as it was given … */
	char *words;	/* … and as the parser left it: the globs are in here */
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

struct query *query_parse(const char *text, struct query_error *error)
{
	struct query *query = xcalloc(1, sizeof(*query));
	struct codetag_query_error bad;
	struct codetag_query one;
	size_t len = strlen(text), at = 0;
	int result;

	query->text = xstrdup(text);
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

bool query_match_id(const struct query *query, const struct site *site, uint16_t id)
{
	const struct codetag ct = {
		.lineno = site->line,
		.function = site->func,
		.filename = site->file,
	};

	if (query_is_empty(query))
		return true;
	for (size_t i = 0; i < query->count; i++)
		if (codetag_query_matches(&query->one[i], &ct, id, site->module, !site->module))
			return true;
	return false;
}

bool query_match(const struct query *query, const struct site *site)
{
	return query_match_id(query, site, CODETAG_ID_NONE);
}

bool query_has_id(const struct query *query)
{
	for (size_t i = 0; query && i < query->count; i++)
		if (query->one[i].all.by_id || query->one[i].none.by_id)
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
	/* That is what code without a module is called here. */
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

/* Whatever word it is, "1" is a value that it can have, and "line 1" a term behind it. */
bool query_keyword(const char *word, size_t len)
{
	return begins_query(word, len, " 1") || begins_query(word, len, " line 1");
}
