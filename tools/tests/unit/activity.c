// SPDX-License-Identifier: GPL-2.0-only
#include "read/activity.h"

#include <string.h>

#include "unit.h"

static void test_step(void)
{
	static const struct {
		const char *what;
		struct {
			int64_t allocs, frees;
		} before, now;
		enum activity_row kind;
		int64_t allocs, frees;
		bool restarts, is_new;
	} steps[] = {
		{ "nothing happened", { 7, 5 }, { 7, 5 }, ROW_STAYS, 0, 0, false, false },
		{ "both grew", { 7, 5 }, { 10, 6 }, ROW_STAYS, 3, 1, false, false },
		{ "allocations wrapped around", { UINT32_MAX - 1, 5 }, { 3, 6 }, ROW_STAYS, 5, 1, false, false },
		{ "frees wrapped around", { 7, UINT32_MAX }, { 7, 0 }, ROW_CAN_RESTART, 0, 1, false, false },
		{ "2^31 - 1 of them", { 7, 0 }, { 6 + (1LL << 31), 0 }, ROW_STAYS, INT32_MAX, 0, false, false },
		{ "more than 2^31", { 100, 0 }, { 4000000000, 0 }, ROW_STAYS, 3999999900, 0, false, false },
		{ "more than 2^31 of a module", { 100, 0 }, { 4000000000, 0 }, ROW_CAN_RESTART, 3999999900, 0, false, false },
		{ "more than 2^31, wrapped around", { 300, 0 }, { 200, 0 }, ROW_STAYS, UINT32_MAX - 99, 0, false, false },
		{ "a new row", { 0, 0 }, { 9, 4 }, ROW_CAN_RESTART, 9, 4, false, true },
		{ "a row of an unloaded module that was not seen", { 0, 0 }, { 9, 4 }, ROW_UNLOADED, 0, 0, false, true },
		{ "a module that was loaded again", { 100, 90 }, { 9, 4 }, ROW_CAN_RESTART, 9, 4, true, false },
		{ "one of whose numbers has passed the old one", { 100, 90 }, { 101, 4 }, ROW_CAN_RESTART, 101, 4, true, false },
		{ "frees in an unloaded module", { 100, 90 }, { 100, 95 }, ROW_UNLOADED, 0, 5, false, false },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct activity before = { steps[i].before.allocs, steps[i].before.frees, .known = true };
		struct activity now = { steps[i].now.allocs, steps[i].now.frees, .known = true };
		struct activity step = activity_step(steps[i].is_new ? NULL : &before, &now, steps[i].kind);

		expect(step.known && step.allocs == steps[i].allocs && step.frees == steps[i].frees &&
		       step.restarts == steps[i].restarts,
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
	activity_between(&now, &before, ACTIVITY_RECORDED);
	expect(now.site[0].all.allocs == 4 && now.site[0].recent.allocs == 5 && now.site[0].recent.frees == 1,
	       "the first row of a call site: %lld", (long long)now.site[0].recent.allocs);
	expect(now.site[1].recent.allocs == 2 && !now.site[1].recent.frees, "the second one: %lld",
	       (long long)now.site[1].recent.allocs);
	expect(!now.site[2].recent.known, "one whose numbers were missing: %lld",
	       (long long)now.site[2].recent.allocs);
	expect(now.site[3].recent.known && !now.site[3].recent.allocs, "one at rest");
	activity_between(&before, &now, ACTIVITY_BACKWARDS);
	expect(before.site[0].recent.allocs == 5 && before.site[1].recent.allocs == 2 && !before.site[2].recent.known,
	       "backwards the same");
	allocinfo_free(&before);

	expect(take(&before, "1 1 a.c:1 func:f\n", HEAD "4 8 0 a.c:1 func:f \n", &why), "an earlier one");
	activity_between(&now, &before, ACTIVITY_RECORDED);
	expect(now.site[2].recent.allocs == 6 && now.site[2].recent.frees == 3, "one that is new: %lld",
	       (long long)now.site[2].recent.allocs);
	allocinfo_free(&now);
	allocinfo_free(&before);
}

#define SITE " b.c:1 [m] func:g"
#define UNLOADED SITE " unloaded:yes"

/* Rows of a module that is unloaded, loaded again, or whose last memory is freed meanwhile */
static void test_modules(void)
{
	static const struct {
		const char *what, *before, *now;	/* of the file, without the parts */
		int64_t allocs, frees;			/* of all rows */
	} cases[] = {
		{ "the row of the unloaded module is gone", "900 895 0" UNLOADED "\n20 19 0" SITE "\n", "27 26 0" SITE "\n", 7, 7 },
		{ "the row of the loaded one is gone", "1000 990 0" UNLOADED "\n100 100 0" SITE "\n", "1000 995 0" UNLOADED "\n", 0, 5 },
		{ "the second of two unloaded ones is gone", "1000 990 0" UNLOADED "\n50 40 0" UNLOADED "\n", "1000 990 0" UNLOADED "\n", 0, 0 },
		{ "the first of two unloaded ones is gone", "1000 990 0" UNLOADED "\n50 40 0" UNLOADED "\n", "50 41 0" UNLOADED "\n", 0, 1 },
		{ "it was unloaded", "1000 990 0" SITE "\n", "1010 999 0" UNLOADED "\n", 10, 9 },
		{ "it was unloaded and loaded again", "1000 990 0" SITE "\n", "1000 991 0" UNLOADED "\n30 20 0" SITE "\n", 30, 21 },
		{ "with more than before", "10 9 0" SITE "\n", "12 10 0" UNLOADED "\n30 20 0" SITE "\n", 32, 21 },
		{ "one of two copies holds memory", "10 10 0" SITE "\n50 40 0" SITE "\n", "51 41 0" UNLOADED "\n", 1, 1 },
		{ "it was loaded, used and unloaded", "5 5 0" SITE "\n", "3 2 0" UNLOADED "\n", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text head = { 0 };
		struct activity sum = { 0 };
		struct allocinfo info[2];
		const char *why;

		for (int k = 0; k < 2; k++) {
			const char *rows = k ? cases[i].now : cases[i].before;

			text_clear(&head);
			for (const char *at = rows; *at; at = strchr(at, '\n') + 1)
				text_printf(&head, "1 1%.*s\n", (int)(strchr(at, '\n') - strstr(at, SITE)),
					    strstr(at, SITE));
			allocinfo_parse(&info[k], xstrdup(head.s), head.len);
			text_clear(&head);
			text_printf(&head, HEAD "%s", rows);
			expect(activity_parse(&info[k], head.s, head.len, &why), "%s: the file is read", cases[i].what);
		}
		activity_between(&info[1], &info[0], ACTIVITY_LIVE);
		for (size_t k = 0; k < info[1].count; k++)
			activity_add(&sum, &info[1].site[k].recent);
		expect(sum.allocs == cases[i].allocs && sum.frees == cases[i].frees && !sum.restarts,
		       "%s: %lld allocations, %lld frees", cases[i].what, (long long)sum.allocs, (long long)sum.frees);
		allocinfo_free(&info[0]);
		allocinfo_free(&info[1]);
		text_free(&head);
	}
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
	activity_between(&now, &before, ACTIVITY_RECORDED);
	expect(now.site[0].recent.allocs == 100 && now.site[0].recent.frees == 90, "counted from 0: %lld",
	       (long long)now.site[0].recent.allocs);
	activity_between(&before, &now, ACTIVITY_BACKWARDS);
	expect(before.site[0].recent.allocs == 100 && before.site[0].recent.frees == 90, "backwards, too: %lld",
	       (long long)before.site[0].recent.allocs);
	now.boot = 1;
	activity_between(&now, &before, ACTIVITY_RECORDED);
	expect(now.site[0].recent.allocs != 100, "without a boot it has wrapped");
	allocinfo_free(&now);
	allocinfo_free(&before);
}

void test_activity(void)
{
	test_step();
	test_refused();
	test_rows();
	test_modules();
	test_boot();
}
