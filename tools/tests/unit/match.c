// SPDX-License-Identifier: GPL-2.0-only
#include "model/match.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "base/text.h"

/* "10 20 30" as an allocinfo of one function with sites in these lines. */
static void make(struct allocinfo *info, const char *lines, bool listed)
{
	struct text text = { 0 };

	text_puts(&text, listed ? "0 0 a.c:1 func:other\n" : "1 1 a.c:1 func:other\n");
	while (*lines) {
		int len = (int)strcspn(lines, " ");

		text_printf(&text, "8 1 b.c:%.*s func:f\n", len, lines);
		lines += len + (lines[len] == ' ');
	}
	allocinfo_parse(info, text.s, text.len);
}

/* The line of each site of @old in @new; "-": none. */
static void check(const char *old_lines, bool old_listed, const char *new_lines,
		  bool new_listed, const char *want)
{
	struct allocinfo old, new;
	struct text got = { 0 };

	make(&old, old_lines, old_listed);
	make(&new, new_lines, new_listed);
	match_moved(&old, &new);
	text_clear(&got);
	for (size_t o = 1; o < old.count; o++) {
		bool found = false;

		for (size_t n = 1; n < new.count; n++)
			found |= old.site[o].line == new.site[n].line &&
				 !old.site[o].namesake;
		text_printf(&got, found ? "%s%u" : "%s-", o > 1 ? " " : "", old.site[o].line);
	}
	expect(!strcmp(got.s, want), "match: %s in %s are %s, not %s", old_lines,
	       new_lines, want, got.s);
	text_free(&got);
	allocinfo_free(&old);
	allocinfo_free(&new);
}

/* Later sites are distinguished from the ones that they were taken for. */
static void test_three_kernels(void)
{
	static const char *const lines[] = { "10 20", "15 17 25", "110 112 120" };
	uint32_t number[3][4];
	struct matcher m = { 0 };

	for (size_t i = 0; i < 3; i++) {
		struct allocinfo info;

		make(&info, lines[i], true);
		match_rows(&m, &info, number[i]);
		allocinfo_free(&info);
	}
	expect(m.count == 4, "match: four sites in three kernels, not %zu", m.count);
	expect(number[0][1] == number[1][1] && number[1][1] == number[2][1] &&
	       number[0][2] == number[1][3] && number[1][3] == number[2][3] &&
	       number[1][2] == number[2][2], "match: the same sites in three kernels");
	matcher_free(&m);
}

void test_match(void)
{
	check("10 20 30", true, "10 20 30", true, "10 20 30");
	check("10 20 30", true, "12 22 32", true, "12 22 32");
	check("10 20", true, "20 30", true, "20 30");
	check("10 10 20", true, "15 25", true, "15 15 25");
	/* One came, one went. */
	check("10 20 30", true, "15 25 27 35", true, "15 25 35");
	check("10 20 30", true, "15 35", true, "15 - 35");
	check("10 20 30", true, "10 30", true, "10 - 30");
	check("10 20 35", true, "20 30", true, "20 30 -");
	/* A different site in the place of one that is gone is not the same. */
	check("10 20 30 41", true, "20 30 40", true, "20 30 40 -");
	check("10 27 33 60 90", true, "20 37 43 90", true, "20 37 43 90 -");
	/* Nothing in common: matched in order. */
	check("10", true, "105 208", true, "105");
	/* If sites are missing, only sites in the same line are certain. */
	check("10", false, "20", false, "-");
	check("10", true, "20", false, "-");
	check("20", false, "10 20", true, "20");
	check("10 20", false, "20", false, "- 20");
	test_three_kernels();
}
