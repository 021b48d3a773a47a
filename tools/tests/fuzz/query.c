// SPDX-License-Identifier: GPL-2.0-only
/* Feeds any bytes to the kernel's parser of queries, and checks its promises. */
#include "read/query.h"

#include <errno.h>
#include <linux/array_size.h>
#include <limits.h>
#include <linux/codetag.h>
#include <stdlib.h>
#include <string.h>

#include "codetag/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* A copy whose memory ends where it ends. */
static char *copy(const char *text, size_t len)
{
	char *s = xmalloc(len + 1);

	memcpy(s, text, len);
	s[len] = '\0';
	return s;
}

static bool same_glob(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void check_glob(const char *glob, const char *text, size_t len)
{
	if (!glob)
		return;
	check(text <= glob && glob < text + len);
	check(*glob && strlen(glob) <= CODETAG_QUERY_WORD_MAX && !strstr(glob, "**"));
	check(glob + strlen(glob) <= text + len);
}

static void check_armed(const struct codetag_query *q)
{
	const struct codetag_fault_settings *fault = &q->fault;

	check(fault->probability <= 100 && fault->interval && fault->times >= -1 &&
	      fault->space >= 0 && fault->verbose <= 2 && fault->stacktrace_depth <= 32);
	if (q->action != CODETAG_ACTION_FAULT)
		check(fault->probability == 100 && fault->interval == 1 &&
		      fault->times == 1 && !fault->nth);
	check(q->rate && q->rate <= INT_MAX && (q->rate == 1 || q->action == CODETAG_ACTION_GUARD));
}

static void check_terms(const struct codetag_terms *terms, const char *words, size_t len)
{
	check(terms->id <= CODETAG_ID_MAX && (terms->by_id || !terms->id));
	check_glob(terms->file, words, len);
	check_glob(terms->func, words, len);
	check_glob(terms->module, words, len);
	check_glob(terms->subsystem, words, len);
}

static void check_query(const struct codetag_query *q, const char *words, size_t len)
{
	check(q->start < q->end && q->end <= len);
	check(q->start <= q->action_start && q->action_start <= q->end);
	check((q->action == CODETAG_ACTION_NONE) == (q->action_start == q->end));
	check(q->all.first_line <= q->all.last_line);
	for (size_t i = 0; i < CODETAG_QUERY_NOTS; i++) {
		const struct codetag_terms *none = &q->none[i];

		check(none->first_line <= none->last_line ||
		      (none->first_line == UINT_MAX && !none->last_line));
		check_terms(none, words, len);
	}
	check(!(q->flags & ~CODETAG_FLAG_PROFILE));
	check_terms(&q->all, words, len);
	check_armed(q);
	check(!codetag_query_names_module(q) || q->all.module || q->none[0].module);
}

static bool same_terms(const struct codetag_terms *a, const struct codetag_terms *b)
{
	return same_glob(a->file, b->file) && same_glob(a->func, b->func) &&
	       same_glob(a->module, b->module) && same_glob(a->subsystem, b->subsystem) && a->first_line == b->first_line &&
	       a->last_line == b->last_line && a->by_id == b->by_id && a->id == b->id;
}

/* A caller that keeps the text of a query gets the same query from it later. */
static void check_again(const struct codetag_query *q, const char *text)
{
	size_t len = q->end - q->start, pos = 0;
	char *words = copy(text + q->start, len);
	struct codetag_query_error error;
	struct codetag_query again;

	check(codetag_query_parse(words, len, &pos, &again, &error) == 1);
	check(same_terms(&q->all, &again.all));
	for (size_t i = 0; i < CODETAG_QUERY_NOTS; i++)
		check(same_terms(&q->none[i], &again.none[i]));
	check(q->action == again.action && q->flags == again.flags);
	check(q->fault.times == again.fault.times && q->fault.nth == again.fault.nth);
	check(q->rate == again.rate);
	check(again.start == 0 && again.end == len);
	check(codetag_query_parse(words, len, &pos, &again, &error) == 0);
	free(words);
}

static void check_matches(const struct codetag_query *q)
{
	static const struct codetag sites[] = {
		{ .filename = "fs/ext4/super.c", .lineno = 1384,
		  .function = "ext4_alloc_inode" },
		{ .filename = "./mm/slub.c", .lineno = 7, .function = "f" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		bool matches = codetag_query_matches(q, &sites[i], 3, i ? NULL : "ext4", i);
		const struct codetag_terms *all = &q->all;
		bool any_none = false;

		check(!matches || !all->by_id || all->id == 3);
		for (size_t k = 0; k < CODETAG_QUERY_NOTS; k++) {
			const struct codetag_terms *none = &q->none[k];
			bool in_none = none->first_line <= sites[i].lineno &&
				       sites[i].lineno <= none->last_line;

			check(!matches || !none->by_id || none->id != 3);
			check(!matches || !in_none);
			any_none |= none->by_id || none->file || none->func || none->module ||
				    none->subsystem || in_none;
		}
		check(matches || all->by_id || all->file || all->func || all->module || all->subsystem ||
		      all->first_line > sites[i].lineno || all->last_line < sites[i].lineno ||
		      any_none);
	}
}

static void check_error(const struct codetag_query_error *error, const char *text,
			size_t len)
{
	size_t token = strnlen(error->token, sizeof(error->token));

	check(error->why && *error->why && error->position < len);
	check(token < sizeof(error->token));
	if (!strcmp(error->token + token - (token > 3 ? 3 : 0), "..."))
		token -= 3;
	/*
	 * The word is in the text at that place. A quote and "./" before it do not belong to
	 * it.
	 */
	text += error->position;
	len -= error->position;
	for (; len && (*text == '"' || *text == '.' || *text == '/'); text++, len--)
		if (*text == *error->token)
			break;
	check(token <= len);
	for (size_t i = 0; i < token; i++) {
		check(error->token[i] >= ' ' && error->token[i] <= '~');
		check(error->token[i] == text[i] || error->token[i] == '?');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = copy((const char *)data, size), *words = copy(text, size);
	struct codetag_query_error error;
	struct query_error filter_error;
	struct codetag_query q;
	size_t pos = 0, before = 0;
	int result;

	while ((result = codetag_query_parse(words, size, &pos, &q, &error)) == 1) {
		check(before <= q.start && q.end <= pos && pos <= size);
		before = pos;
		check_query(&q, words, size);
		check_again(&q, text);
		check_matches(&q);
	}
	check(result == 0 || result == -EINVAL);
	if (result)
		check_error(&error, text, size);
	else
		check(pos == size && !memchr(text, '\0', size));
	query_free(query_parse(text, &filter_error));
	free(words);
	free(text);
	return 0;
}
