// SPDX-License-Identifier: GPL-2.0-only
#include "words.h"

#include <string.h>

#include "base/text.h"
#include "model/group.h"

static const char *word(struct words words, size_t i)
{
	return *(const char *const *)((const char *)words.first + i * words.stride);
}

size_t words_find(struct words words, const char *arg, size_t len)
{
	size_t i = 0;

	while (i < words.count &&
	       (strlen(word(words, i)) != len || memcmp(word(words, i), arg, len)))
		i++;
	return i;
}

static void add_words(struct text *text, struct words words, const char *between)
{
	for (size_t i = 0; i < words.count; i++)
		text_printf(text, "%s%s", i ? between : "", word(words, i));
}

void words_refuse(struct words words, const char *arg, size_t len, const char *what,
		  struct argp_state *state)
{
	struct text all = { 0 };

	add_words(&all, words, ", ");
	argp_error(state, "'%.*s' is no %s, there are: %s", (int)len, arg, what, all.s);
	text_free(&all);
}

size_t argument_word(const char *arg, struct words words, const char *what,
		     struct argp_state *state)
{
	size_t len = strlen(arg), i = words_find(words, arg, len);

	if (i == words.count)
		words_refuse(words, arg, len, what, state);
	return i;
}

static char *replace(const char *text, const char *by)
{
	const char *at = text ? strstr(text, "%s") : NULL;
	struct text all = { 0 };

	/* argp frees a text that is not the original one. */
	if (!at)
		return (char *)text;
	text_printf(&all, "%.*s%s%s", (int)(at - text), text, by, at + strlen("%s"));
	return all.s;
}

char *words_help(const char *text, struct words words, const char *between)
{
	struct text all = { 0 };
	char *help;

	add_words(&all, words, between);
	help = replace(text, all.s);
	text_free(&all);
	return help;
}

/* The words of the command come first: the default is one of them, or "site". */
static void add_groups(struct text *text, struct group_words words, const char *depth)
{
	add_words(text, words.more, ", ");
	for (enum group_by by = 0; by <= BY_HOST; by++)
		if (words.mask & BIT_OF(by))
			text_printf(text, "%s%s%s", text->len ? ", " : "", grouping_name(by),
				    by == BY_DIR ? depth : "");
}

int argument_group(struct grouping *by, const char *arg, struct group_words words,
		   struct argp_state *state)
{
	size_t own = words_find(words.more, arg, strlen(arg));
	struct text all = { 0 };

	if (own < words.more.count)
		return (int)own;
	if (words.mask & BIT_OF(BY_HOST) && !strcmp(arg, grouping_name(BY_HOST))) {
		*by = (struct grouping){ .by = BY_HOST };
		return -1;
	}
	if (grouping_parse(by, arg) && words.mask & BIT_OF(by->by))
		return -1;
	add_groups(&all, words, ", dir:DEPTH");
	argp_error(state, "'%s' is nothing to group by, there are: %s", arg, all.s);
	text_free(&all);
	return -1;
}

char *group_help(const char *text, struct group_words words)
{
	struct text all = { 0 };
	char *help;

	add_groups(&all, words, "[:DEPTH]");
	help = replace(text, all.s);
	text_free(&all);
	return help;
}
