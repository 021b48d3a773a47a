// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the lines that take memory at boot.
 *
 * A self-test, boot.sh, compares the file with the memory of a machine.
 */
#include <kunit/test.h>
#include <linux/init.h>
#include <linux/prandom.h>
#include "../boot.h"

#define BYTES	64
#define SITES	4

static const struct codetag_boot_site sites[SITES] __initconst;

/* Areas with few places, and the expected value of each byte. */
struct map {
	struct codetag_boot_area area[BYTES + 1];
	struct codetag_boot_areas areas;
	const struct codetag_boot_site *byte[BYTES];
};

static struct map * __init new_map(struct kunit *test, unsigned int max)
{
	struct map *map = kunit_kzalloc(test, sizeof(*map), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, map);
	map->areas.area = map->area;
	map->areas.max = max;
	return map;
}

static void __init take(struct map *map, unsigned int start, unsigned int end,
			const struct codetag_boot_site *site)
{
	unsigned int i;

	codetag_boot_take(&map->areas, start, end, site);
	for (i = start; i < end; i++)
		if (!map->byte[i])
			map->byte[i] = site;
}

static void __init give(struct map *map, unsigned int start, unsigned int end)
{
	unsigned int i;

	codetag_boot_give(&map->areas, start, end);
	for (i = start; i < end; i++)
		map->byte[i] = NULL;
}

/* The areas give each byte its expected value, are in order, and are as few as can be. */
static void __init check(struct kunit *test, const struct map *map)
{
	const struct codetag_boot_area *area = map->area;
	unsigned int i, byte = 0;

	for (i = 0; i < map->areas.nr; i++, area++) {
		KUNIT_ASSERT_LT(test, area->start, area->end);
		KUNIT_ASSERT_LE(test, area->end, BYTES);
		KUNIT_ASSERT_LE(test, byte, area->start);
		if (i && area->start == byte)
			KUNIT_ASSERT_PTR_NE(test, area->site, area[-1].site);
		for (; byte < area->start; byte++)
			KUNIT_ASSERT_NULL(test, map->byte[byte]);
		for (; byte < area->end; byte++)
			KUNIT_ASSERT_PTR_EQ(test, map->byte[byte], area->site);
	}
	for (; byte < BYTES; byte++)
		KUNIT_ASSERT_NULL(test, map->byte[byte]);
}

static void __init first_line_keeps(struct kunit *test)
{
	struct map *map = new_map(test, BYTES);

	take(map, 10, 20, &sites[0]);
	take(map, 30, 40, &sites[1]);
	take(map, 0, 50, &sites[2]);
	check(test, map);
	KUNIT_EXPECT_EQ(test, map->areas.nr, 5);
}

static void __init neighbours_join(struct kunit *test)
{
	struct map *map = new_map(test, BYTES);

	take(map, 20, 30, &sites[0]);
	take(map, 10, 20, &sites[0]);
	take(map, 40, 50, &sites[0]);
	take(map, 30, 40, &sites[0]);
	check(test, map);
	KUNIT_EXPECT_EQ(test, map->areas.nr, 1);
}

static void __init middle_is_given(struct kunit *test)
{
	struct map *map = new_map(test, BYTES);

	take(map, 10, 40, &sites[0]);
	give(map, 20, 30);
	check(test, map);
	KUNIT_EXPECT_EQ(test, map->areas.nr, 2);
	give(map, 0, BYTES);
	check(test, map);
	KUNIT_EXPECT_EQ(test, map->areas.nr, 0);
}

static void __init any_order(struct kunit *test)
{
	struct map *map = new_map(test, BYTES);
	struct rnd_state random;
	unsigned int i;

	prandom_seed_state(&random, 1);
	for (i = 0; i < 5000; i++) {
		unsigned int a = prandom_u32_state(&random) % (BYTES + 1);
		unsigned int b = prandom_u32_state(&random) % (BYTES + 1);
		unsigned int what = prandom_u32_state(&random) % (SITES + 2);

		if (what < SITES)
			take(map, min(a, b), max(a, b), &sites[what]);
		else
			give(map, min(a, b), max(a, b));
		check(test, map);
	}
}

/* An area without room is not there, and all that is there is right. */
static void __init no_room(struct kunit *test)
{
	struct map *map = new_map(test, 3);

	take(map, 0, 10, &sites[0]);
	take(map, 20, 30, &sites[1]);
	take(map, 40, 50, &sites[2]);
	codetag_boot_take(&map->areas, 15, 60, &sites[3]);
	codetag_boot_give(&map->areas, 22, 28);
	KUNIT_EXPECT_EQ(test, map->areas.nr, 3);
	KUNIT_EXPECT_EQ(test, map->area[1].start, 20);
	KUNIT_EXPECT_EQ(test, map->area[1].end, 22);
	KUNIT_EXPECT_PTR_EQ(test, map->area[3].site, NULL);
}

static struct kunit_case boot_cases[] __refdata = {
	KUNIT_CASE(first_line_keeps),
	KUNIT_CASE(neighbours_join),
	KUNIT_CASE(middle_is_given),
	KUNIT_CASE(any_order),
	KUNIT_CASE(no_room),
	{}
};

static struct kunit_suite boot_suite __refdata = {
	.name = "codetag_boot",
	.test_cases = boot_cases,
};

kunit_test_init_section_suites(&boot_suite);
