// SPDX-License-Identifier: GPL-2.0-only
#include "read/query.h"

#include <errno.h>
#include <linux/kstrtox.h>
#include <string.h>

#include "unit.h"
#include "base/glob.h"

static const struct site ext4 = {
	.file = "fs/ext4/super.c", .line = 1384, .module = "ext4",
	.func = "ext4_alloc_inode",
};
static const struct site slub = {
	.file = "mm/slub.c", .line = 2412, .func = "alloc_slab_page",
};

/* The meaning of a glob, implemented without regard to time. */
static bool matches(const char *pattern, const char *s)
{
	if (*pattern == '*')
		return matches(pattern + 1, s) || (*s && matches(pattern, s + 1));
	if (!*pattern || !*s)
		return !*pattern && !*s;
	return (*pattern == '?' || *pattern == *s) && matches(pattern + 1, s + 1);
}

/* The @n-th string of up to @max of the @letters; false if there are fewer. */
static bool nth_string(char *s, size_t max, const char *letters, size_t n)
{
	size_t count = strlen(letters), len = 0, of_len = 1;

	for (; n >= of_len; of_len *= count, len++)
		n -= of_len;
	if (len > max)
		return false;
	s[len] = '\0';
	for (; len; n /= count)
		s[--len] = letters[n % count];
	return true;
}

static void test_glob(void)
{
	char pattern[6], s[6];
	size_t wrong = 0;

	for (size_t i = 0; nth_string(pattern, 5, "ab*?", i); i++)
		for (size_t j = 0; nth_string(s, 5, "ab/", j); j++)
			wrong += glob_match(pattern, s) != matches(pattern, s);
	expect(!wrong, "globs: all short ones on all short strings");
	/* Must not take exponential time. */
	expect(!glob_match("*a*a*a*a*a*a*a*a*a*a*b",
			   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
	       "glob with many stars");
}

/* The kernel's rules, which differ from those of strtoul(). */
static void test_kernel_numbers(void)
{
	static const struct {
		const char *s;
		int error;
		unsigned long number;
	} numbers[] = {
		{ "0", 0, 0 },
		{ "42", 0, 42 },
		{ "+42", 0, 42 },
		{ "010", 0, 8 },
		{ "0x10", 0, 16 },
		{ "0XfF", 0, 255 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "0xfffffffffffffffff", -ERANGE, 0 },
		{ "99999999999999999999x", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "+", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "08", -EINVAL, 0 },
		{ "0x", -EINVAL, 0 },
		{ "0b1", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		unsigned long number = 0;
		int error = kstrtoul(numbers[i].s, 0, &number);

		expect(error == numbers[i].error && number == numbers[i].number,
		       "number '%s'", numbers[i].s);
	}
}

static void test_action(void)
{
	struct text text = { 0 };
	struct query_error error;
	struct query *query = query_parse("file \"a;b\" # x; y\n;;func x ;", &error);

	query_with_action(query, "=p", &text);
	expect(!strcmp(text.s, "file \"a;b\" =p\nfunc x =p\n"), "queries get an action");
	query_free(query);
	text_clear(&text);
	query_with_action(NULL, "=p", &text);
	expect(!strcmp(text.s, "=p\n"), "all sites get an action");
	text_free(&text);
}

static void test_id(void)
{
	struct query_error error;
	struct query *query = query_parse("file nothing; id 3", &error);

	expect(query_has_id(query) && query_match_id(query, &slub, 3) &&
	       !query_match_id(query, &slub, 4) && !query_match(query, &slub), "query of an id");
	query_free(query);
	query = query_parse("not id 3", &error);
	expect(query_has_id(query) && !query_match_id(query, &slub, 3) &&
	       query_match_id(query, &slub, 4), "query of not an id");
	query_free(query);
}

static void test_names(void)
{
	static const struct {
		const char *text, *func, *module;
	} queries[] = {
		{ "func f", "f", NULL }, { "module m", NULL, "m" },
		{ "file x func f line 3- module m", "f", "m" }, { "func f not module m", "f", NULL },
		{ "func f module vmlinux", "f", NULL }, { "func f; ;", "f", NULL },
		{ "func f*", NULL, NULL }, { "func ?f module *", NULL, NULL }, { "", NULL, NULL },
		{ "not func f", NULL, NULL }, { "func f; func f", NULL, NULL },
		{ "module vmlinux", NULL, NULL }, { "file f", NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct query_error error;
		struct query *query = query_parse(queries[i].text, &error);
		const char *func = NULL, *module = NULL;
		bool known = query_names(query, &func, &module);

		expect(known == (queries[i].func || queries[i].module), "names or not of %s",
		       queries[i].text);
		expect(!known || (!!func == !!queries[i].func && !!module == !!queries[i].module &&
		       (!func || !strcmp(func, queries[i].func)) &&
		       (!module || !strcmp(module, queries[i].module))), "names of %s",
		       queries[i].text);
		query_free(query);
	}
}

static void test_keyword(void)
{
	expect(query_keyword("file", 4) && query_keyword("idx", 2) && query_keyword("not", 3), "keywords");
	expect(!query_keyword("files", 5) && !query_keyword("", 0) &&
	       !query_keyword("=p", 2) && !query_keyword("fault", 5) && !query_keyword("guard", 5) &&
	       !query_keyword("# file", 6) && !query_keyword("file.allocinfo", 14),
	       "not keywords");
}

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
		{ "file ./mm/slub.c", false, true },
		{ "file s??b.c", false, true },
		{ "module ext4", true, false },
		{ "module vmlinux", false, true },
		{ "module *", true, true },
		{ "func *alloc*", true, true },
		{ "func alloc_slab_page", false, true },
		{ "line 1384", true, false },
		{ "line 1-2000", true, false },
		{ "line 2000-", false, true },
		{ "line -0x568", true, false },
		{ "file fs/* line 2000-", false, false },
		{ "file fs/* line 2000-; module vmlinux", false, true },
		{ "module ext4\nfile mm/*", true, true },
		{ "file fs/*;;file mm/*;", true, true },
		{ "file fs/* # ; file mm/*", true, false },
		{ "\"func\" \"*alloc_inode\"", true, false },
		{ "not file mm/slub.c", true, false },
		{ "not module ext4", false, true },
		{ "func *alloc* not line 1384", false, true },
		{ "not file fs/*; not file mm/*", true, true },
	};
	static const struct {
		const char *text;
		size_t at;
		const char *token;
	} bad[] = {
		{ "files x", 0, "files" },
		{ "file", 0, "file" },
		{ "file ;func x", 0, "file" },
		{ "file x bad y", 7, "bad" },
		{ "file x\nfile y file z", 14, "file" },
		{ "line x", 5, "x" },
		{ "line 5-3", 5, "5-3" },
		{ "line -", 5, "-" },
		{ "line 3--4", 5, "3--4" },
		{ "line 99999999999999999999", 5, "99999999999999999999" },
		{ "id 3-4", 3, "3-4" },
		{ "not x", 4, "x" },
		{ "File x", 0, "File" },
		{ "file \"x", 5, "x" },
		{ "=p", 0, "=p" },
		{ "file x; func y fault times=1", 15, "fault" },
		{ "func y guard rate=1", 7, "guard" },
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
		       !strcmp(error.token, bad[i].token), "bad query '%.*s'",
		       (int)strcspn(bad[i].text, "\n"), bad[i].text);
		query_free(query);
	}
	test_glob();
	test_kernel_numbers();
	test_action();
	test_id();
	test_names();
	test_keyword();
}
