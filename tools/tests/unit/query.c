// SPDX-License-Identifier: GPL-2.0
#include "query.h"

#include <string.h>

#include "unit.h"

static const struct site ext4 = {
	.file = "fs/ext4/super.c", .line = 1384, .module = "ext4",
	.func = "ext4_alloc_inode",
};
static const struct site slub = {
	.file = "mm/slub.c", .line = 2412, .func = "alloc_slab_page",
};

void test_query(void)
{
	static const struct {
		const char *text;
		bool ext4, slub;
	} good[] = {
		{ "", true, true },
		{ " ;\n; ", true, true },
		{ "file fs/*", true, false },
		{ "file super.c", true, false },
		{ "file uper.c", false, false },
		{ "file *uper.c", true, false },
		{ "file ext4/super.c", true, false },
		{ "file ext4/*", true, false },
		{ "file fs", false, false },
		{ "file s??b.c", false, true },
		{ "module ext4", true, false },
		{ "module vmlinux", false, true },
		{ "module *", true, true },
		{ "func *alloc*", true, true },
		{ "func alloc_slab_page", false, true },
		{ "line 1384", true, false },
		{ "line 1-2000", true, false },
		{ "line 2000-", false, true },
		{ "file fs/* line 2000-", false, false },
		{ "file fs/* line 2000-; module vmlinux", false, true },
		{ "module ext4\nfile mm/*", true, true },
		{ "file fs/*;;file mm/*;", true, true },
	};
	static const struct {
		const char *text;
		size_t at, len;
	} bad[] = {
		{ "files x", 0, 5 },
		{ "file", 4, 0 },
		{ "file ;func x", 5, 0 },
		{ "file x bad y", 7, 3 },
		{ "line x", 5, 1 },
		{ "line 5-3", 5, 3 },
		{ "line -3", 5, 2 },
		{ "line 3--4", 5, 4 },
		{ "line 99999999999999999999", 5, 20 },
		{ "id 3-4", 3, 3 },
		{ "File x", 0, 4 },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct query_error error;
		struct query *query = query_parse(good[i].text, &error);

		expect(query && query_match(query, &ext4) == good[i].ext4 &&
		       query_match(query, &slub) == good[i].slub,
		       "query %zu '%.*s'", i,
		       (int)strcspn(good[i].text, "\n"), good[i].text);
		query_free(query);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct query_error error = { 0 };
		struct query *query = query_parse(bad[i].text, &error);

		expect(!query && error.why && error.at == bad[i].at &&
		       error.len == bad[i].len, "bad query '%s'", bad[i].text);
		query_free(query);
	}
	/* Must not take exponential time. */
	expect(!glob_match("*a*a*a*a*a*a*a*a*a*a*b",
			   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	       "glob with many stars");
	expect(glob_match("", "") && !glob_match("", "a") && glob_match("**", ""),
	       "empty globs");
}
