// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the ioctls of /proc/allocinfo: which lines a filter wants, and what
 * user space gets of a line.
 */
#include <kunit/test.h>
#include <linux/string.h>
#include "../allocinfo.h"

#define MASK(_what)	ALLOCINFO_FILTER_MASK_##_what

static struct codetag some_tag = {
	.lineno		= 1234,
	.function	= "some_function",
	.filename	= CODETAG_FILENAME("built_in_name", "fs/some/file.c"),
};

static const struct codetag_info some_info = {
	.ct	= &some_tag,
	.id	= CODETAG_ID_FIRST,
	.bytes	= 4096,
	.calls	= 3,
};

static void masks(struct kunit *test)
{
	struct allocinfo_filter filter = {};
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		filter.mask = BIT_ULL(bit);
		KUNIT_EXPECT_EQ(test, allocinfo_filter_valid(&filter), bit < 7);
		filter.mask |= MASK(FUNCTION);
		KUNIT_EXPECT_EQ(test, allocinfo_filter_valid(&filter), bit < 7);
	}
	filter.mask = 0;
	KUNIT_EXPECT_TRUE(test, allocinfo_filter_valid(&filter));
	filter.mask = 0x7f;
	KUNIT_EXPECT_TRUE(test, allocinfo_filter_valid(&filter));
}

static void intervals(struct kunit *test)
{
	struct allocinfo_filter filter = { .min_size = 2, .max_size = 1 };

	filter.mask = MASK(MIN_SIZE);
	KUNIT_EXPECT_TRUE(test, allocinfo_filter_valid(&filter));
	filter.mask = MASK(MAX_SIZE);
	KUNIT_EXPECT_TRUE(test, allocinfo_filter_valid(&filter));
	filter.mask = MASK(MIN_SIZE) | MASK(MAX_SIZE);
	KUNIT_EXPECT_FALSE(test, allocinfo_filter_valid(&filter));
	filter.max_size = 2;
	KUNIT_EXPECT_TRUE(test, allocinfo_filter_valid(&filter));
}

static void nothing_asked(struct kunit *test)
{
	struct allocinfo_filter filter;

	memset(&filter, 0xff, sizeof(filter));
	filter.mask = 0;
	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&filter, &some_info));
	KUNIT_EXPECT_TRUE(test, allocinfo_size_matches(&filter, &some_info));
}

/* Does some_info match one field alone, and is that the only field looked at? */
static void expect_match(struct kunit *test, struct allocinfo_filter *filter, bool want)
{
	KUNIT_EXPECT_EQ(test, allocinfo_site_matches(filter, &some_info), want);
	filter->mask &= ~(MASK(MODNAME) | MASK(FUNCTION) | MASK(FILENAME) | MASK(LINENO));
	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(filter, &some_info));
}

static void names(struct kunit *test)
{
	static const struct {
		const char *name;
		bool function, filename;
	} tries[] = {
		{ "some_function", .function = true },
		{ "some_functio" }, { "some_function_" }, { "Some_function" }, { "ome_function" },
		{ "some_*" }, { "" },
		{ "fs/some/file.c", .filename = true },
		{ "file.c" }, { "/some/file.c" }, { "fs/some/file" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct allocinfo_filter filter = { .mask = MASK(FUNCTION) };

		strscpy(filter.fields.function, tries[i].name);
		expect_match(test, &filter, tries[i].function);
		filter.mask = MASK(FILENAME);
		strscpy(filter.fields.filename, tries[i].name);
		expect_match(test, &filter, tries[i].filename);
	}
}

static void lines(struct kunit *test)
{
	static const u64 tries[] = { 1234, 1233, 0, (1ULL << 32) + 1234, U64_MAX };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		struct allocinfo_filter filter = {
			.mask = MASK(LINENO),
			.fields.lineno = tries[i],
		};

		expect_match(test, &filter, tries[i] == 1234);
	}
}

/* Built-in code has no module, whatever it would be called as one. */
static void modules(struct kunit *test)
{
	struct allocinfo_filter filter = { .mask = MASK(MODNAME) };
	struct codetag_info info = some_info;

	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&filter, &info));
	strscpy(filter.fields.modname, "built_in_name");
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
	info.modname = "some_module";
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
	strscpy(filter.fields.modname, "some_module");
	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&filter, &info));
	strscpy(filter.fields.modname, "");
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
}

/* All that is asked has to be so. */
static void all_of_it(struct kunit *test)
{
	struct allocinfo_filter filter = {
		.mask = MASK(MODNAME) | MASK(FUNCTION) | MASK(FILENAME) | MASK(LINENO) |
			MASK(INACCURATE),
		.fields = {
			.function = "some_function",
			.filename = "fs/some/file.c",
			.lineno = 1234,
		},
	};

	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&filter, &some_info));
	filter.fields.lineno++;
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &some_info));
	filter.fields.lineno--;
	filter.fields.modname[0] = 'x';
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &some_info));
	filter.fields.modname[0] = '\0';
	filter.fields.function[0] = 'x';
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &some_info));
	filter.fields.function[0] = 's';
	filter.fields.filename[0] = 'x';
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &some_info));
	filter.fields.filename[0] = 'f';
	filter.inaccurate = 1;
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &some_info));
}

static void accuracy(struct kunit *test)
{
	struct allocinfo_filter yes = { .mask = MASK(INACCURATE) };
	struct allocinfo_filter no = { .mask = MASK(INACCURATE), .inaccurate = 1ULL << 40 };
	struct codetag_info info = some_info;
	struct allocinfo_tag_data data;
	struct codetag tag = some_tag;

	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&yes, &info));
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&no, &info));
	allocinfo_fill(&data, &info);
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 1);

	info.without_id = true;
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&yes, &info));
	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&no, &info));
	allocinfo_fill(&data, &info);
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 0);

	info.without_id = false;
	info.ct = &tag;
	tag.state = CODETAG_INACCURATE;
	KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&yes, &info));
	KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&no, &info));
	allocinfo_fill(&data, &info);
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 0);
}

static void sizes(struct kunit *test)
{
	static const struct {
		u64 size;
		bool min, max;
	} tries[] = {
		{ 0, .min = true }, { 4095, .min = true }, { 4096, .min = true, .max = true },
		{ 4097, .max = true }, { 1ULL << 63, .max = true }, { U64_MAX, .max = true },
	};
	struct allocinfo_filter filter;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tries); i++) {
		filter = (struct allocinfo_filter) {
			.mask = MASK(MIN_SIZE),
			.min_size = tries[i].size,
		};
		KUNIT_EXPECT_EQ(test, allocinfo_size_matches(&filter, &some_info), tries[i].min);
		filter = (struct allocinfo_filter) {
			.mask = MASK(MAX_SIZE),
			.max_size = tries[i].size,
		};
		KUNIT_EXPECT_EQ(test, allocinfo_size_matches(&filter, &some_info), tries[i].max);
		filter.mask |= MASK(MIN_SIZE);
		KUNIT_EXPECT_EQ(test, allocinfo_size_matches(&filter, &some_info), tries[i].max);
	}
}

/* Names around the length that there is room for: the last 63 characters count. */
static void long_names(struct kunit *test)
{
	char name[ALLOCINFO_STR_SIZE + 8], *end;
	struct codetag tag = some_tag;
	struct codetag_info info = some_info;
	struct allocinfo_tag_data data;
	unsigned int len;

	info.ct = &tag;
	info.modname = name;
	tag.function = name;
	tag.filename = name;
	for (len = ALLOCINFO_STR_SIZE - 3; len < sizeof(name); len++) {
		struct allocinfo_filter filter = {
			.mask = MASK(MODNAME) | MASK(FUNCTION) | MASK(FILENAME),
		};

		memset(name, 'x', len);
		name[0] = 'a';
		name[len - 1] = 'z';
		name[len] = '\0';
		end = name + max(len, ALLOCINFO_STR_SIZE - 1) - (ALLOCINFO_STR_SIZE - 1);

		memset(&data, 0xff, sizeof(data));
		allocinfo_fill(&data, &info);
		KUNIT_EXPECT_STREQ(test, data.tag.modname, end);
		KUNIT_EXPECT_STREQ(test, data.tag.function, end);
		KUNIT_EXPECT_STREQ(test, data.tag.filename, end);

		/* The returned position finds it again. */
		filter.fields = data.tag;
		KUNIT_EXPECT_TRUE(test, allocinfo_site_matches(&filter, &info));
		filter.fields.function[0] ^= 1;
		KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
		filter.fields.function[0] ^= 1;
		filter.fields.filename[strlen(end) - 1] ^= 1;
		KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
		filter.fields.filename[strlen(end) - 1] ^= 1;

		/* As many characters of it as fit without their end are no name. */
		memset(filter.fields.modname, 'x', ALLOCINFO_STR_SIZE);
		filter.fields.modname[ALLOCINFO_STR_SIZE - 1] = 'z';
		KUNIT_EXPECT_FALSE(test, allocinfo_site_matches(&filter, &info));
	}
}

/* All fields are filled in: no old value is left. */
static void filled(struct kunit *test)
{
	struct codetag_info info = some_info;
	struct allocinfo_tag_data data;
	unsigned int i;

	memset(&data, 0xff, sizeof(data));
	allocinfo_fill(&data, &info);
	KUNIT_EXPECT_NULL(test, memchr_inv(data.tag.modname, 0, sizeof(data.tag.modname)));
	KUNIT_EXPECT_STREQ(test, data.tag.function, "some_function");
	KUNIT_EXPECT_NULL(test, memchr_inv(data.tag.function + 13, 0, ALLOCINFO_STR_SIZE - 13));
	KUNIT_EXPECT_STREQ(test, data.tag.filename, "fs/some/file.c");
	KUNIT_EXPECT_NULL(test, memchr_inv(data.tag.filename + 14, 0, ALLOCINFO_STR_SIZE - 14));
	KUNIT_EXPECT_EQ(test, data.tag.lineno, 1234);
	KUNIT_EXPECT_EQ(test, data.counter.bytes, 4096);
	KUNIT_EXPECT_EQ(test, data.counter.calls, 3);
	KUNIT_EXPECT_NULL(test, memchr_inv(data.counter.pad, 0, sizeof(data.counter.pad)));

	info.modname = "gone";
	info.unloaded = true;
	allocinfo_fill(&data, &info);
	KUNIT_EXPECT_STREQ(test, data.tag.modname, "gone");
	for (i = 0; i < sizeof(data.counter.pad); i++)
		KUNIT_EXPECT_EQ(test, data.counter.pad[i], i == ALLOCINFO_PAD_UNLOADED);
}

/* Numbers of Linux 7.3. */
static void numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ALLOCINFO_IOC_CONTENT_ID, 0x8008a600);
	KUNIT_EXPECT_EQ(test, ALLOCINFO_IOC_GET_AT, 0xc1d0a601);
	KUNIT_EXPECT_EQ(test, ALLOCINFO_IOC_GET_NEXT, 0x80e0a602);
}

static struct kunit_case allocinfo_cases[] = {
	KUNIT_CASE(masks),
	KUNIT_CASE(intervals),
	KUNIT_CASE(nothing_asked),
	KUNIT_CASE(names),
	KUNIT_CASE(lines),
	KUNIT_CASE(modules),
	KUNIT_CASE(all_of_it),
	KUNIT_CASE(accuracy),
	KUNIT_CASE(sizes),
	KUNIT_CASE(long_names),
	KUNIT_CASE(filled),
	KUNIT_CASE(numbers),
	{}
};

static struct kunit_suite allocinfo_suite = {
	.name		= "codetag_allocinfo",
	.test_cases	= allocinfo_cases,
};

kunit_test_suite(allocinfo_suite);

MODULE_DESCRIPTION("KUnit tests of the ioctls of /proc/allocinfo");
MODULE_LICENSE("GPL");
