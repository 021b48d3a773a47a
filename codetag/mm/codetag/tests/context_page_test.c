// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of contexts of pages: marks, splits, moves between nodes
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgalloc_tag.h>
#include "split_test.h"

/* A single page says nothing of the next one, which is somebody else's; a pair does. */
static void marks(struct kunit *test)
{
	static const enum codetag_key keys[] = { CODETAG_KEY_SIZE, CODETAG_KEY_TASK };
	struct page *page, *pair;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		split_by(test, BIT(keys[i]));
		page = own(alloc_pages_noprof(GFP_KERNEL, 0));
		pair = own(alloc_pages_noprof(GFP_KERNEL, 1));
		KUNIT_EXPECT_FALSE(test, page_tag_is_mark(page_tag_get(page)));
		KUNIT_EXPECT_EQ(test, page_tag_get(pair), CODETAG_ID_TAIL + 1);
		KUNIT_EXPECT_PTR_EQ(test, page_tag_holder(pair), pair + 1);
		KUNIT_EXPECT_NOT_NULL(test, codetag_context_of(page_tag_get(pair + 1)));
		__free_page(page);
		__free_pages(pair, 1);
	}
}

#ifdef alloc_pages_bulk_list
#define alloc_some_pages(_nr, _pages)	\
	alloc_pages_bulk_noprof(GFP_KERNEL, numa_mem_id(), NULL, _nr, NULL, _pages)
#else
#define alloc_some_pages(_nr, _pages)	\
	alloc_pages_bulk_noprof(GFP_KERNEL, numa_mem_id(), NULL, _nr, _pages)
#endif

/* Allocate what @pages does not have. The page allocator may give fewer, but at least one. */
static void fill(struct kunit *test, struct page **pages, unsigned int nr)
{
	unsigned int got;

	do {
		got = own(alloc_some_pages(nr, pages));
		KUNIT_ASSERT_GT(test, got, 0);
	} while (got < nr);
}

/* Pages that are allocated together count as one allocation each, also in contexts. */
static void bulk(struct kunit *test)
{
	struct page *pages[16] = {}, *other = alloc_page(GFP_KERNEL);
	unsigned int i;
	u16 id;

	KUNIT_ASSERT_NOT_NULL(test, other);
	id = page_tag_get(other);
	/* A page that is there already stays as it is. */
	pages[3] = other;
	fill(test, pages, 8);
	expect_site(test, own_id(), 7 * PAGE_SIZE, 7);
	KUNIT_EXPECT_EQ(test, page_tag_get(other), id);

	split_by(test, BIT(CODETAG_KEY_TASK));
	fill(test, pages, 16);
	/* The sum of the site has both. */
	expect_site(test, own_id(), 15 * PAGE_SIZE, 15);
	expect(test, one(test), 8 * PAGE_SIZE, 8, 8);
	for (i = 0; i < 16; i++)
		__free_page(pages[i]);
	expect_site(test, own_id(), 0, 0);
	expect(test, one(test), 0, 0, 8);
}

/* Each part of pages that are split is an allocation of its own, and has a size of its own. */
static void split_pages(struct kunit *test)
{
	struct page *page;
	int i;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	expect(test, with(test, 4 * PAGE_SIZE), 4 * PAGE_SIZE, 1, 1);
	split_page(page, 2);
	expect(test, with(test, 4 * PAGE_SIZE), 0, 0, 0);
	expect(test, with(test, PAGE_SIZE), 4 * PAGE_SIZE, 4, 4);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	expect(test, with(test, PAGE_SIZE), 0, 0, 4);
	expect_site(test, own_id(), 0, 0);
}

/* Without the key size the parts stay in the context. */
static void split_pages_by_task(struct kunit *test)
{
	struct page *page;
	int i;

	split_by(test, BIT(CODETAG_KEY_TASK));
	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	split_page(page, 2);
	expect(test, one(test), 4 * PAGE_SIZE, 4, 4);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	expect(test, one(test), 0, 0, 4);
}

/* All other values stay as they are, and so does the stack. */
static void split_pages_by_all(struct kunit *test)
{
	struct found *found;
	struct page *page;
	unsigned int nr;
	int i;

	split_by(test, BIT(CODETAG_NR_KEYS) - 1);
	page = own(alloc_pages_noprof(GFP_KERNEL, 1));
	/* Contexts are also made of a site that is not split any more. */
	unsplit_id(own_id());
	split_page(page, 1);
	found = found_of(test, &nr);
	KUNIT_ASSERT_EQ(test, nr, 2);
	expect(test, &found[0], 0, 0, 0);
	expect(test, &found[1], 2 * PAGE_SIZE, 2, 2);
	KUNIT_EXPECT_EQ(test, found[0].words[1], 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, found[1].words[1], PAGE_SIZE);
	found[1].words[1] = found[0].words[1];
	KUNIT_EXPECT_MEMEQ(test, found[0].words, found[1].words, sizeof(found->words));
	KUNIT_ASSERT_EQ(test, found[0].nr_frames, found[1].nr_frames);
	KUNIT_EXPECT_MEMEQ(test, found[0].stack, found[1].stack,
			   found->nr_frames * sizeof(*found->stack));
	for (i = 0; i < 2; i++)
		__free_page(page + i);
	expect_site(test, own_id(), 0, 0);
}

/* Memory that moves changes its node, and no other key. */
static void moved_to_node(struct kunit *test)
{
	const unsigned int node = BIT(CODETAG_KEY_NODE);
	const unsigned int keys[] = { node, BIT(CODETAG_NR_KEYS) - 1, BIT(CODETAG_KEY_SIZE) };
	struct codetag_sum before = site_sum(own_id()), after;
	struct codetag_context *ctx;
	u16 id, back, other;
	struct page *page;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		split_by(test, keys[i]);
		page = own(alloc_pages_noprof(GFP_KERNEL | __GFP_COMP, 1));
		id = page_tag_get(page);
		KUNIT_EXPECT_EQ(test, codetag_context_moved(id, 2 * PAGE_SIZE, page_to_nid(page)),
				id);
		other = codetag_context_moved(id, 2 * PAGE_SIZE, page_to_nid(page) + 1);
		page_tag_set(page, other);
		KUNIT_EXPECT_EQ(test, other != id, !!(keys[i] & node));
		KUNIT_EXPECT_EQ(test, alloc_tag_read(other).bytes, 2 * PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, alloc_tag_read(other).calls, 1);
		if (other != id) {
			KUNIT_EXPECT_EQ(test, alloc_tag_read(id).bytes, 0);
			KUNIT_EXPECT_EQ(test, alloc_tag_read(id).calls, 0);
			/* A move is neither: so a reader never sees less. */
			KUNIT_EXPECT_EQ(test, alloc_tag_read(id).allocs, 1);
			KUNIT_EXPECT_EQ(test, alloc_tag_read(other).allocs, 0);
			KUNIT_EXPECT_EQ(test, alloc_tag_read(id).frees, 0);
		}
		ctx = codetag_context_of(other);
		KUNIT_ASSERT_NOT_NULL(test, ctx);
		if (keys[i] & node)
			KUNIT_EXPECT_EQ(test, ctx->words[0] & U16_MAX, page_to_nid(page) + 2);
		for (k = 1; k < ctx->nr_words; k++)
			KUNIT_EXPECT_EQ(test, ctx->words[k], codetag_context_of(id)->words[k]);
		back = codetag_context_moved(other, 2 * PAGE_SIZE, page_to_nid(page));
		page_tag_set(page, back);
		KUNIT_EXPECT_EQ(test, back, id);
		__free_pages(page, 1);
		expect_site(test, own_id(), 0, 0);
		unsplit_id(own_id());
		after = site_sum(own_id());
		KUNIT_EXPECT_EQ(test, after.allocs, before.allocs + i + 1);
		KUNIT_EXPECT_EQ(test, after.frees, before.frees + i + 1);
		KUNIT_EXPECT_EQ(test, after.parts, before.parts);
	}
}

/* A tracer allocates while the CPU has the lock: it must not take it again. */
static void locked_already(struct kunit *test)
{
	unsigned long flags;
	struct page *page;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "nothing allocates with this lock held there");
	split_by(test, BIT(CODETAG_KEY_TASK));
	flags = codetag_context_lock();
	page = own(alloc_pages_noprof(GFP_NOWAIT, 0));
	codetag_context_unlock(flags);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).bytes, PAGE_SIZE);
	__free_page(page);
	page = own(alloc_pages_noprof(GFP_KERNEL, 0));
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
	expect(test, one(test), PAGE_SIZE, 1, 1);
	__free_page(page);
	expect_site(test, own_id(), 0, 0);
}

/* An object that is charged to a control group later is accounted from then on. */
static void charged_later(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_charged", 200, 0, SLAB_NO_MERGE, NULL);
	struct found *found;
	unsigned int nr;
	void *object;

	KUNIT_ASSERT_NOT_NULL(test, s);
	split_by(test, BIT(CODETAG_KEY_ACCOUNTED) | BIT(CODETAG_KEY_CGROUP));
	object = own(kmem_cache_alloc_noprof(s, GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, object);
	codetag_slab_charged(s, object);
	found = found_of(test, &nr);
	KUNIT_ASSERT_EQ(test, nr, 2);
	expect(test, &found[0], 0, 0, 0);
	expect(test, &found[1], s->size, 1, 1);
	KUNIT_EXPECT_EQ(test, found[0].words[0], 0);
	KUNIT_EXPECT_EQ(test, found[1].words[0], 1ULL << CODETAG_ACCOUNTED_SHIFT);
	kmem_cache_free(s, object);
	expect(test, &found_of(test, &nr)[1], 0, 0, 1);
	expect_site(test, own_id(), 0, 0);
	kmem_cache_destroy(s);
}

/* Parts that find no context are charged to the site. */
static void split_pages_lost(struct kunit *test)
{
	struct page *page;
	int i;

	split_id(test, own_id(), BIT(CODETAG_KEY_SIZE), CODETAG_DEPTH_STACK, 1);
	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	split_page(page, 2);
	expect(test, one(test), 0, 0, 0);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).bytes, 4 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).calls, 4);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	expect_site(test, own_id(), 0, 0);
}

/* The remaining pages of an allocation have exactly the requested size. */
static void exact_pages(struct kunit *test)
{
	void *exact;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	exact = own(alloc_pages_exact_noprof(5 * PAGE_SIZE, GFP_KERNEL));
	expect(test, with(test, PAGE_SIZE), 5 * PAGE_SIZE, 5, 8);
	free_pages_exact(exact, 5 * PAGE_SIZE);
	expect(test, with(test, PAGE_SIZE), 0, 0, 8);
	expect_site(test, own_id(), 0, 0);
}

static struct kunit_case context_page_cases[] = {
	KUNIT_CASE(bulk),
	KUNIT_CASE(marks),
	KUNIT_CASE(split_pages),
	KUNIT_CASE(split_pages_by_task),
	KUNIT_CASE(split_pages_by_all),
	KUNIT_CASE(moved_to_node),
	KUNIT_CASE(split_pages_lost),
	KUNIT_CASE(locked_already),
	KUNIT_CASE(charged_later),
	KUNIT_CASE(exact_pages),
	{}
};

static struct kunit_suite context_page_suite = {
	.name = "codetag_context_page",
	.exit = split_test_exit,
	.test_cases = context_page_cases,
};

kunit_test_suite(context_page_suite);

MODULE_DESCRIPTION("Tests of contexts of pages");
MODULE_LICENSE("GPL");
