// SPDX-License-Identifier: GPL-2.0-only
#include "read/activity.h"

#include <string.h>

#include "unit.h"

static void test_step(void)
{
	static const struct {
		const char *what;
		struct activity before, now;
		bool unloaded;
		int64_t allocs, frees;
	} steps[] = {
		{ "nothing happened", { 7, 5, true }, { 7, 5, true }, false, 0, 0 },
		{ "both grew", { 7, 5, true }, { 10, 6, true }, false, 3, 1 },
		{ "allocations wrapped around", { UINT32_MAX - 1, 5, true }, { 3, 6, true }, false, 5, 1 },
		{ "frees wrapped around", { 7, UINT32_MAX, true }, { 7, 0, true }, false, 0, 1 },
		{ "2^31 - 1 of them", { 7, 0, true }, { 6 + (1LL << 31), 0, true }, false, INT32_MAX, 0 },
		{ "a new row", { 0 }, { 9, 4, true }, false, 9, 4 },
		{ "a row of an unloaded module that was not seen", { 0 }, { 9, 4, true }, true, 0, 0 },
		{ "a module that was loaded again", { 100, 90, true }, { 9, 4, true }, false, 9, 4 },
		{ "one of whose numbers has passed the old one", { 100, 90, true }, { 101, 4, true }, false, 101, 4 },
		{ "frees in an unloaded module", { 100, 90, true }, { 100, 95, true }, true, 0, 5 },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct activity step = activity_step(steps[i].before.known ? &steps[i].before : NULL,
						     &steps[i].now, steps[i].unloaded);

		expect(step.known && step.allocs == steps[i].allocs && step.frees == steps[i].frees,
		       "%s: %lld allocations, %lld frees", steps[i].what, (long long)step.allocs,
		       (long long)step.frees);
	}
}

static bool take(struct allocinfo *info, const char *rows, const char *activity, const char **why)
{
	struct text text = { 0 };
	bool good;

	allocinfo_parse(info, xstrdup(rows), strlen(rows));
	text_puts(&text, activity);
	good = activity_parse(info, text.s, text.len, why);
	text_free(&text);
	return good;
}

#define HEAD "# activity - version: 1.0\n#  <allocs>    <frees>    <parts> <tag info>\n"

static void test_refused(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "does not begin with" },
		{ "# activity - version: 2.0\n", "does not begin with" },
		{ HEAD "1 2 a.c:1 func:f\n", "three numbers" },
		{ HEAD "1 2 4294967296 a.c:1 func:f\n", "three numbers" },
		{ HEAD "-1 2 3 a.c:1 func:f\n", "three numbers" },
		{ HEAD "1 2 3 a.c:1\n", "no func" },
		{ HEAD "1 2 3 a.c:1 func:f", "it is cut" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct allocinfo info;
		const char *why;

		expect(!take(&info, "1 1 a.c:1 func:f\n", bad[i].text, &why) && strstr(why, bad[i].why),
		       "it is refused: %s", bad[i].why);
		expect(!activity_known(&info), "nothing of it is taken");
		allocinfo_free(&info);
	}
}

/* Rows of one call site belong together in their order; a row can come between two readings. */
static void test_rows(void)
{
	static const char rows[] = "1 1 a.c:1 func:f\n2 2 a.c:1 func:f\n3 3 b.c:1 [m] func:g\n0 0 c.c:9 func:h\n";
	struct allocinfo now, before;
	const char *why;

	expect(take(&before, rows, HEAD "4294967295 7 0 a.c:1 func:f \n20 5 0 a.c:1 func:f \n8 8 0 c.c:9 func:h \n",
		    &why), "a list that lacks a row");
	expect(take(&now, rows, HEAD "4 8 0 a.c:1 func:f \n22 5 0 a.c:1 func:f \n6 3 0 b.c:1 [m] func:g accurate:no \n"
		    "8 8 0 c.c:9 func:h \n", &why), "the next one");
	activity_between(&now, &before, false);
	expect(now.site[0].all.allocs == 4 && now.site[0].recent.allocs == 5 && now.site[0].recent.frees == 1,
	       "the first row of a call site: %lld", (long long)now.site[0].recent.allocs);
	expect(now.site[1].recent.allocs == 2 && !now.site[1].recent.frees, "the second one: %lld",
	       (long long)now.site[1].recent.allocs);
	expect(now.site[2].recent.allocs == 6 && now.site[2].recent.frees == 3, "one that is new: %lld",
	       (long long)now.site[2].recent.allocs);
	expect(now.site[3].recent.known && !now.site[3].recent.allocs, "one at rest");
	activity_between(&before, &now, true);
	expect(before.site[0].recent.allocs == 5 && before.site[1].recent.allocs == 2 && !before.site[2].recent.known,
	       "backwards the same");
	allocinfo_free(&now);
	allocinfo_free(&before);
}

/* A module is loaded again, and the last memory of its unloaded self is freed. */
static void test_gone(void)
{
	struct allocinfo now, before;
	const char *why;

	expect(take(&before, "5 5 b.c:1 [m] func:g unloaded:yes\n1 1 b.c:1 [m] func:g\n",
		    HEAD "900 895 0 b.c:1 [m] func:g unloaded:yes \n20 19 0 b.c:1 [m] func:g \n", &why),
	       "a module that was loaded again");
	expect(take(&now, "1 1 b.c:1 [m] func:g\n", HEAD "27 26 0 b.c:1 [m] func:g \n", &why), "its self is gone");
	activity_between(&now, &before, false);
	expect(now.site[0].recent.allocs == 7 && now.site[0].recent.frees == 7, "the row that stays: %lld",
	       (long long)now.site[0].recent.allocs);
	allocinfo_free(&now);
	allocinfo_free(&before);
}

/* Two readings with a boot between them: what was counted before it has nothing to do with the later one. */
static void test_boot(void)
{
	struct allocinfo now, before;
	const char *why;

	expect(take(&before, "1 1 a.c:1 func:f\n", HEAD "3900000000 5 0 a.c:1 func:f \n", &why), "before a boot");
	expect(take(&now, "1 1 a.c:1 func:f\n", HEAD "100 90 0 a.c:1 func:f \n", &why), "after it");
	before.boot = 1;
	now.boot = 2;
	activity_between(&now, &before, false);
	expect(now.site[0].recent.allocs == 100 && now.site[0].recent.frees == 90, "counted from 0: %lld",
	       (long long)now.site[0].recent.allocs);
	activity_between(&before, &now, true);
	expect(before.site[0].recent.allocs == 100 && before.site[0].recent.frees == 90, "backwards, too: %lld",
	       (long long)before.site[0].recent.allocs);
	now.boot = 1;
	activity_between(&now, &before, false);
	expect(now.site[0].recent.allocs != 100, "without a boot it has wrapped");
	allocinfo_free(&now);
	allocinfo_free(&before);
}

void test_activity(void)
{
	test_step();
	test_refused();
	test_rows();
	test_gone();
	test_boot();
}
