// SPDX-License-Identifier: GPL-2.0-only
#include "read/allocinfo.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "model/group.h"

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void parse(struct allocinfo *info, const char *text)
{
	allocinfo_parse(info, xstrdup(text), strlen(text));
}

static void test_rows(void)
{
	static const struct {
		const char *row;
		struct site site;
	} good[] = {
		{ "        4096        1 mm/slub.c:2412 func:alloc_slab_page ",
		  { "mm/slub.c", NULL, "alloc_slab_page", NULL, 2412, 0, 4096, 1, .line_before = 0 } },
		{ "1 2 a.c:3 [m] func:f",
		  { "a.c", "m", "f", NULL, 3, 0, 1, 2, .line_before = 0 } },
		{ "-64 -1 a.c:3 func:f accurate:no ",
		  { "a.c", NULL, "f", "accurate:no", 3, SITE_INACCURATE, -64, -1, .line_before = 0 } },
		{ "0 18446744073709551615 a.c:3 func:f x:y  accurate:no",
		  { "a.c", NULL, "f", "x:y  accurate:no", 3, SITE_INACCURATE, 0, -1, .line_before = 0 } },
		{ "0 0 a.c:0 func:f accurate:nope unloaded:yes disabled:yes",
		  { "a.c", NULL, "f", "accurate:nope unloaded:yes disabled:yes", 0,
		    SITE_UNLOADED | SITE_DISABLED, 0, 0, .line_before = 0 } },
		{ "1 1 /a b/c:d.c:3 [m] func:f",
		  { "/a b/c:d.c", "m", "f", NULL, 3, 0, 1, 1, .line_before = 0 } },
		{ "1 1 ./include/x.h:3 func:f\r",
		  { "include/x.h", NULL, "f", NULL, 3, 0, 1, 1, .line_before = 0 } },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct site *want = &good[i].site, *got;
		struct allocinfo info;
		char text[256];

		snprintf(text, sizeof(text), "%s\n", good[i].row);
		parse(&info, text);
		got = info.site;
		expect(info.count == 1 && !info.bad.count && !info.bad.cut &&
		       same(got->file, want->file) && got->line == want->line &&
		       same(got->module, want->module) &&
		       same(got->func, want->func) &&
		       same(got->notes, want->notes) &&
		       got->flags == want->flags && got->bytes == want->bytes &&
		       got->calls == want->calls, "row %zu", i);
		allocinfo_free(&info);
	}
}

static void test_headers(void)
{
	static const struct {
		const char *text;
		unsigned int major, minor;
		size_t bad;
		bool cut;
	} files[] = {
		{ "allocinfo - version: 1.0\n# x\n", 1, 0, 0, false },
		{ "allocinfo - version: 2.17\n", 2, 17, 0, false },
		{ "allocinfo - version: x\n", 0, 0, 1, false },
		{ "", 0, 0, 0, false },
		{ "1 1 a.c:1 func:f", 0, 0, 0, true },
		{ "1 1 a.c:1 [m func:f\n", 0, 0, 1, false },
		{ "1 1 func:f\n1 1 a.c:1 func:\n1 1 :1 func:f\n", 0, 0, 3, false },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct allocinfo info;

		parse(&info, files[i].text);
		expect(info.major == files[i].major &&
		       info.minor == files[i].minor &&
		       info.bad.count == files[i].bad &&
		       !info.bad.cut != files[i].cut, "header %zu", i);
		allocinfo_free(&info);
	}
}

static void test_groups(void)
{
	static const struct {
		const char *by, *name;
	} names[] = {
		{ "site", "fs/ext4/super.c:7 [ext4] func:f" },
		{ "func", "f" },
		{ "file", "fs/ext4/super.c" },
		{ "dir", "fs/ext4" },
		{ "dir:1", "fs" },
		{ "dir:2", "fs/ext4" },
		{ "dir:9", "fs/ext4" },
		{ "module", "ext4" },
		{ "subsystem", "fs/ext4" },
	};
	static const char *const bad[] = {
		"", "sites", "dir:", "dir:0", "dir:x", "dir:1x", "file:1",
	};
	const struct site site = {
		.file = "fs/ext4/super.c", .line = 7, .module = "ext4", .func = "f",
	};
	struct grouping by;
	struct text name = { 0 };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool good = grouping_parse(&by, names[i].by);

		group_name(&name, by, &site);
		expect(good && !strcmp(name.s, names[i].name),
		       "group by %s", names[i].by);
	}
	text_free(&name);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		expect(!grouping_parse(&by, bad[i]), "no group by '%s'", bad[i]);
}

void test_allocinfo(void)
{
	test_rows();
	test_headers();
	test_groups();
}
