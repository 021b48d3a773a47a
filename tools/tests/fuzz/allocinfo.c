// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds any text to the parser and to all users of its result. The first line is the grouping
 * and the query, so these are fuzzed as well.
 */
#include "read/activity.h"
#include "read/allocinfo.h"
#include "read/copies.h"

#include <stdlib.h>
#include <string.h>

#include "model/group.h"
#include "model/tree.h"
#include "read/query.h"
#include "write/export.h"

/* The copies in a text cover all of it, one after the other. */
static void check_copies(const char *text, size_t len)
{
	struct copies copies;
	size_t at = 0;

	copies_find(&copies, text, len);
	if (!copies.count)
		abort();
	for (size_t i = 0; i < copies.count; i++) {
		if (copies.copy[i].start != at)
			abort();
		at += copies.copy[i].len;
	}
	if (at != len)
		abort();
	copies_free(&copies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct allocinfo *info, struct grouping by,
		     const struct query *query)
{
	struct groups groups = { .by = by };
	struct tree tree = { 0 };
	struct export export = { .groups = &groups };
	FILE *out = fopen("/dev/null", "w");

	groups_add(&groups, info, query);
	groups_add_before(&groups, info, query);
	/* The same snapshot twice is no change. */
	for (size_t i = 0; i < groups.count; i++)
		if (groups.group[i].now.bytes != groups.group[i].before.bytes ||
		    groups.group[i].now.rows != groups.group[i].before.rows)
			abort();
	groups_sort(&groups, ORDER_SIZE);
	export.count = groups.count;
	export_folded(&export, out);
	export_speedscope(&export, out);
	export_pprof(&export, out);
	export_prometheus(&export, out);
	export_csv(&export, out);
	tree_add_sites(&tree, info, query);
	tree_sort(&tree, ORDER_NAME);
	fclose(out);
	tree_free(&tree);
	groups_free(&groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1), *body, *rest;
	struct grouping by = { BY_SITE, 0 };
	struct query *query = NULL;
	struct query_error error;
	struct allocinfo info;
	const char *why;
	char *copy;

	memcpy(text, data, size);
	text[size] = '\0';
	body = memchr(text, '\n', size);
	body = body ? body + 1 : text;
	if (body > text) {
		body[-1] = '\0';
		rest = strchr(text, ' ');
		if (rest) {
			*rest++ = '\0';
			query = query_parse(rest, &error);
		}
		grouping_parse(&by, text);
	}
	/* The parser takes over its text. */
	size -= body - text;
	copy = memcpy(xcalloc(size + 1, 1), body, size);
	if (lines_plain(&copy, &size)) {
		check_copies(copy, size);
		/* Error messages for each input go to /dev/null. */
		allocinfo_parse(&info, copy, size);
	} else {
		allocinfo_parse(&info, copy, 0);
	}
	/* The text may be one of the other format, too. */
	copy = memcpy(xcalloc(size + 1, 1), body, strnlen(body, size));
	activity_parse(&info, copy, strlen(copy), &why);
	activity_between(&info, &info, false);
	free(copy);
	read_all(&info, by, query);
	allocinfo_free(&info);
	query_free(query);
	free(text);
	return 0;
}
