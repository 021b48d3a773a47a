// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the recount of percpu memory while the machine works.
 */
#include <kunit/test.h>
#include <linux/alloc_tag.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include "../recount.h"
#include "../tags.h"
#include "../../percpu-internal.h"

/* One is larger than a slice, so that the next begin in others. */
static const size_t sizes[] = { 8, 8, 64, SZ_8K + SZ_4K, 8, 24, SZ_4K, 8 };

/* A walk, and the memory of one id that it has found */
struct walk {
	struct codetag_recount rc;
	u16 id;
	unsigned int all;
	unsigned int calls;
	size_t bytes;
};

/* A tag of this file, through which nothing else allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static void visit(struct codetag_recount *rc, const struct codetag_holding *holding)
{
	struct walk *walk = container_of(rc, struct walk, rc);

	walk->all++;
	if (holding->id != walk->id)
		return;
	walk->calls++;
	walk->bytes += holding->bytes;
}

/* The walk visits each allocation once, and no slice is longer than the limit. */
static void percpu_slices(struct kunit *test)
{
	struct walk walk = {
		.rc.visit = visit, .id = own_tag() - __start_alloc_tags + CODETAG_ID_FIRST,
	};
	void __percpu *memory[ARRAY_SIZE(sizes)];
	struct codetag_percpu_pos pos = {};
	unsigned int slices = 0, chunks = 0, most = 0, before;
	size_t bytes = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memory[i] = alloc_hooks_tag(own_tag(),
					    pcpu_alloc_noprof(sizes[i], 8, false, GFP_KERNEL));
		KUNIT_EXPECT_NOT_NULL(test, (__force void *)memory[i]);
		bytes += pcpu_codetag_size(sizes[i]);
	}

	do {
		before = walk.all;
		slices++;
		i = pos.chunk;
		if (!codetag_recount_percpu_live(&walk.rc, &pos))
			break;
		most = max(most, walk.all - before);
		chunks += i != pos.chunk;
	} while (slices < 1000000);

	KUNIT_EXPECT_EQ(test, walk.calls, ARRAY_SIZE(sizes));
	KUNIT_EXPECT_EQ(test, walk.bytes, bytes);
	KUNIT_EXPECT_LE(test, most, CODETAG_PERCPU_SLICE / PCPU_MIN_ALLOC_SIZE);
	/* A chunk is larger than two slices. */
	KUNIT_EXPECT_GT(test, slices, 2 * chunks);

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		free_percpu(memory[i]);
}

static struct kunit_case codetag_recount_cases[] = {
	KUNIT_CASE(percpu_slices),
	{}
};

static struct kunit_suite codetag_recount_suite = {
	.name = "codetag_recount",
	.test_cases = codetag_recount_cases,
};

kunit_test_suite(codetag_recount_suite);

MODULE_DESCRIPTION("KUnit tests of the recount");
MODULE_LICENSE("GPL");
