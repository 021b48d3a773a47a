// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the page ids, on whichever store the kernel uses.
 */
#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include "../page_store.h"
#include "../tags.h"

/* The highest id that a page can hold. */
static unsigned int max_id(void)
{
	return page_tag_in_flags() ? PAGE_TAG_ID_MASK : CODETAG_ID_MAX;
}

/*
 * A tag of this file, through which nothing else allocates. It has an id that
 * pages can hold on every store.
 */
static struct alloc_tag *own_tag(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);

	KUNIT_ASSERT_LE(test, tag.ct.id, max_id());
	return &tag;
}

static struct page *tagged_pages(struct kunit *test, unsigned int order, gfp_t gfp)
{
	struct alloc_tag *tag = own_tag(test);
	struct page *page;

	page = alloc_hooks_tag(tag, alloc_pages_noprof(GFP_KERNEL | gfp, order));
	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

static void expect_counts(struct kunit *test, s64 pages, s64 calls)
{
	struct codetag_sum sum = alloc_tag_read(own_tag(test)->ct.id);

	KUNIT_EXPECT_EQ(test, (s64)sum.bytes, pages * (s64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, (s64)sum.calls, calls);
}

/* The counts since @before */
static void expect_activity(struct kunit *test, const struct codetag_sum *before, u32 allocs,
			    u32 frees, u32 parts)
{
	struct codetag_sum sum = alloc_tag_read(own_tag(test)->ct.id);

	KUNIT_EXPECT_EQ(test, sum.allocs - before->allocs, allocs);
	KUNIT_EXPECT_EQ(test, sum.frees - before->frees, frees);
	KUNIT_EXPECT_EQ(test, sum.parts - before->parts, parts);
}

/* A split makes parts, no allocations, and each part is freed by itself. */
static void activity(struct kunit *test)
{
	struct codetag_sum before = alloc_tag_read(own_tag(test)->ct.id);
	struct page *page = tagged_pages(test, 3, 0);
	unsigned int i;

	expect_activity(test, &before, 1, 0, 0);
	split_page(page, 3);
	expect_activity(test, &before, 1, 0, 7);
	for (i = 0; i < 8; i++)
		__free_page(page + i);
	expect_activity(test, &before, 1, 8, 7);
	expect_counts(test, 0, 0);

	page = tagged_pages(test, 3, 0);
	__free_pages(page, 3);
	expect_activity(test, &before, 2, 9, 7);

	/* The first page is freed last, as a part. */
	page = tagged_pages(test, 3, 0);
	get_page(page);
	__free_pages(page, 3);
	expect_activity(test, &before, 3, 10, 8);
	put_page(page);
	expect_activity(test, &before, 3, 11, 8);
	expect_counts(test, 0, 0);
}

/* Every id that a page can hold, and nothing else of the page changes. */
static void every_id(struct kunit *test)
{
	struct page *page = tagged_pages(test, 2, 0);
	const unsigned long others = ~PAGE_TAG_FLAGS_MASK;
	unsigned long flags = *page_tag_flags(page + 2) & others;
	u16 left = page_tag_get(page + 1), right = page_tag_get(page + 3);
	unsigned int id;

	for (id = 0; id <= max_id(); id++) {
		page_tag_set(page + 2, id);
		KUNIT_ASSERT_EQ(test, page_tag_get(page + 2), id);
		KUNIT_ASSERT_EQ(test, *page_tag_flags(page + 2) & others, flags);
		if (page_zonenum(page + 2) != page_zonenum(page))
			KUNIT_FAIL_AND_ABORT(test, "id %u changes the zone", id);
	}
	KUNIT_EXPECT_EQ(test, page_tag_get(page + 1), left);
	KUNIT_EXPECT_EQ(test, page_tag_get(page + 3), right);
	page_tag_set(page + 2, CODETAG_ID_NONE);
	__free_pages(page, 2);
	expect_counts(test, 0, 0);
}

/* The flags of a page do not change its id. */
static void flags_keep_id(struct kunit *test)
{
	struct page *page = tagged_pages(test, 0, 0);
	u16 id = own_tag(test)->ct.id;

	KUNIT_EXPECT_EQ(test, page_tag_get(page), id);
	SetPageDirty(page);
	folio_set_active(page_folio(page));
	KUNIT_EXPECT_EQ(test, page_tag_get(page), id);
	page_tag_set(page, max_id());
	KUNIT_EXPECT_TRUE(test, PageDirty(page));
	ClearPageDirty(page);
	folio_clear_active(page_folio(page));
	KUNIT_EXPECT_EQ(test, page_tag_get(page), max_id());
	page_tag_set(page, id);
	__free_page(page);
	expect_counts(test, 0, 0);
}

static void all_orders(struct kunit *test)
{
	u16 id = own_tag(test)->ct.id;
	unsigned int order, holder, i;
	struct page *page;
	int compound;

	for (order = 0; order <= 6; order++) {
		for (compound = 0; compound < 2; compound++) {
			page = tagged_pages(test, order, compound ? __GFP_COMP : 0);
			expect_counts(test, 1 << order, 1);
			holder = order && !compound;
			KUNIT_EXPECT_PTR_EQ(test, page_tag_holder(page), page + holder);
			KUNIT_EXPECT_EQ(test, page_tag_get(page + holder), id);
			/* The others hold nothing that is charged. */
			for (i = 0; i < 1 << order; i++)
				if (page_tag_get(page + i) >= CODETAG_ID_FIRST && i != holder)
					KUNIT_FAIL(test, "order %u: page %u has an id",
						   order, i);
			__free_pages(page, order);
			expect_counts(test, 0, 0);
		}
	}
}

/* A free page holds no id: the next owner begins with none. */
static void no_id_is_inherited(struct kunit *test)
{
	struct alloc_tag untagged = { .ct = { .id = CODETAG_ID_NONE } };
	struct page *page;
	int i;

	for (i = 0; i < 100; i++) {
		page = tagged_pages(test, 1, 0);
		__free_pages(page, 1);
		page = alloc_hooks_tag(&untagged, alloc_pages_noprof(GFP_KERNEL, 1));
		KUNIT_ASSERT_NOT_NULL(test, page);
		KUNIT_EXPECT_EQ(test, page_tag_get(page), CODETAG_ID_NONE);
		KUNIT_EXPECT_EQ(test, page_tag_get(page + 1), CODETAG_ID_NONE);
		__free_pages(page, 1);
	}
	expect_counts(test, 0, 0);
}

static void splits(struct kunit *test)
{
	struct page *page = tagged_pages(test, 4, 0);
	u16 id = own_tag(test)->ct.id;
	int i;

	split_page(page, 4);
	expect_counts(test, 16, 16);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, page_tag_get(page + i), id);
	for (i = 15; i >= 0; i--) {
		__free_page(page + i);
		expect_counts(test, i, i);
	}
}

/* The bookkeeping of a split into parts that are not single pages. */
static void split_to_order(struct kunit *test)
{
	struct page *page = tagged_pages(test, 5, __GFP_COMP);
	u16 id = own_tag(test)->ct.id;
	unsigned int order, i;

	for (order = 5; order-- > 0;) {
		pgalloc_tag_split(page, 5, order);
		expect_counts(test, 32, 32 >> order);
		for (i = 0; i < 32; i++)
			KUNIT_EXPECT_EQ(test, page_tag_get(page + i),
					i % (1 << order) ? CODETAG_ID_NONE : id);
		/* Undo it. */
		for (i = 1 << order; i < 32; i += 1 << order)
			page_tag_set(page + i, CODETAG_ID_NONE);
		KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(id, 0, (32 >> order) - 1));
		expect_counts(test, 32, 1);
	}
	pgalloc_tag_split(page, 5, 5);
	expect_counts(test, 32, 1);
	__free_pages(page, 5);
	expect_counts(test, 0, 0);
}

/* Somebody holds the first page: the others go one by one, it stays. */
static void speculative_reference(struct kunit *test)
{
	u16 id = own_tag(test)->ct.id;
	unsigned int order;
	struct page *page;

	for (order = 1; order <= 6; order++) {
		page = tagged_pages(test, order, 0);
		get_page(page);
		__free_pages(page, order);
		expect_counts(test, 1, 1);
		KUNIT_EXPECT_EQ(test, page_tag_get(page), id);
		put_page(page);
		expect_counts(test, 0, 0);
	}

	page = tagged_pages(test, 3, __GFP_COMP);
	get_page(page);
	__free_pages(page, 3);
	expect_counts(test, 8, 1);
	put_page(page);
	expect_counts(test, 0, 0);
}

/* put_page() loses all but the first page. These stay with their site, each for itself. */
static void first_put_alone(struct kunit *test)
{
	u16 id = own_tag(test)->ct.id;
	unsigned int order, nr, i;
	struct page *page;

	for (order = 1; order <= 4; order++) {
		nr = 1 << order;
		page = tagged_pages(test, order, 0);
		put_page(page);
		expect_counts(test, nr - 1, nr - 1);
		/* Nothing is left that the next owner of the first page could be taken for. */
		KUNIT_EXPECT_EQ(test, page_tag_get(page), CODETAG_ID_NONE);
		KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page), 0);
		for (i = 1; i < nr; i++) {
			KUNIT_EXPECT_EQ(test, page_tag_get(page + i), id);
			set_page_count(page + i, 1);
			__free_page(page + i);
		}
		expect_counts(test, 0, 0);
	}
}

static void swapped(struct kunit *test)
{
	DEFINE_ALLOC_TAG(other);
	struct page *old = tagged_pages(test, 2, __GFP_COMP), *new;
	u16 id = own_tag(test)->ct.id;

	new = alloc_hooks_tag(&other, alloc_pages_noprof(GFP_KERNEL | __GFP_COMP, 2));
	KUNIT_ASSERT_NOT_NULL(test, new);
	pgalloc_tag_swap(page_folio(new), page_folio(old));
	KUNIT_EXPECT_EQ(test, page_tag_get(new), id);
	KUNIT_EXPECT_EQ(test, page_tag_get(old), other.ct.id);
	expect_counts(test, 4, 1);
	__free_pages(old, 2);
	expect_counts(test, 4, 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).bytes, 0);
	__free_pages(new, 2);
	expect_counts(test, 0, 0);
}

/* Freed by another name: the id of the page counts. */
static void free_takes_the_id_of_the_page(struct kunit *test)
{
	DEFINE_ALLOC_TAG(other);
	struct page *page = tagged_pages(test, 1, 0);
	u16 id = own_tag(test)->ct.id;

	alloc_tag_charge(other.ct.id, 2 * PAGE_SIZE, 1);
	page_tag_set(page_tag_holder(page), other.ct.id);
	__free_pages(page, 1);
	expect_counts(test, 2, 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).bytes, 0);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).calls, 0);
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(id, 2 * PAGE_SIZE, 1));
	expect_counts(test, 0, 0);
}

/* Parts of an allocation that was never split: no other id is charged for them. */
static void free_in_parts(struct kunit *test, bool backwards)
{
	struct page *page = tagged_pages(test, 2, 0);
	struct codetag_sum mark;
	int i;

	for (i = 1; i < 4; i++)
		set_page_count(page + i, 1);
	for (i = 0; i < 4; i++)
		__free_page(page + (backwards ? 3 - i : i));
	/* The page that holds the id is all that could be uncharged. */
	expect_counts(test, 3, 0);
	mark = alloc_tag_read(CODETAG_ID_TAIL + 2);
	KUNIT_EXPECT_EQ(test, mark.bytes, 0);
	KUNIT_EXPECT_EQ(test, mark.calls, 0);
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(own_tag(test)->ct.id, 3 * PAGE_SIZE, 0));
	expect_counts(test, 0, 0);
}

static void freed_in_parts(struct kunit *test)
{
	free_in_parts(test, false);
	free_in_parts(test, true);
}

/* The free of a single page can find each kind of id. */
static void single_ids(struct kunit *test)
{
	const u16 not_here[] = {
		CODETAG_ID_UNREPRESENTABLE, CODETAG_ID_EARLY, CODETAG_ID_UNTAGGED, CODETAG_ID_TAIL,
		CODETAG_ID_FIRST - 1, codetag_builtin_end, CODETAG_ID_MAX,
	};
	const u16 here[] = { CODETAG_ID_FIRST, codetag_builtin_end - 1 };
	const u16 id = own_tag(test)->ct.id;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(not_here); i++)
		KUNIT_EXPECT_FALSE_MSG(test, pgalloc_tag_uncharge_single(not_here[i]), "id %u",
				       not_here[i]);
	for (i = 0; i < ARRAY_SIZE(here); i++) {
		alloc_tag_charge(here[i], PAGE_SIZE, 1);
		KUNIT_EXPECT_TRUE_MSG(test, pgalloc_tag_uncharge_single(here[i]), "id %u", here[i]);
	}
	KUNIT_EXPECT_TRUE(test, pgalloc_tag_uncharge_single(CODETAG_ID_NONE));

	alloc_tag_charge(id, 3 * PAGE_SIZE, 2);
	KUNIT_EXPECT_TRUE(test, pgalloc_tag_uncharge_single(id));
	expect_counts(test, 2, 1);
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(id, 2 * PAGE_SIZE, 1));
	expect_counts(test, 0, 0);
}

/* An overwritten id does no harm. */
static void damaged(struct kunit *test)
{
	struct codetag_id_use before, after;
	struct page *page;

	if (max_id() < CODETAG_ID_MAX)
		kunit_skip(test, "all ids that a page can hold have counters");

	codetag_id_use(&before);
	page = tagged_pages(test, 1, 0);
	page_tag_set(page_tag_holder(page), CODETAG_ID_MAX);
	__free_pages(page, 1);
	page = tagged_pages(test, 0, 0);
	page_tag_set(page, CODETAG_ID_MAX - CODETAG_BLOCK_SIZE);
	__free_page(page);
	codetag_id_use(&after);
	KUNIT_EXPECT_EQ(test, after.damaged, before.damaged + 2);
	expect_counts(test, 3, 2);
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(own_tag(test)->ct.id, 3 * PAGE_SIZE, 2));
	expect_counts(test, 0, 0);
}

/* The order of the allocation that a page begins, whatever surrounds it. */
static void order(struct kunit *test)
{
	struct page *page;
	unsigned int i;
	u16 id;

	for (i = 0; i <= 5; i++) {
		page = tagged_pages(test, i, 0);
		KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page), i);
		__free_pages(page, i);
		page = tagged_pages(test, i, __GFP_COMP);
		KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page), i);
		__free_pages(page, i);
	}
	/* An odd page is the first one of nothing, whatever it holds and whatever follows. */
	page = tagged_pages(test, 2, 0);
	page_tag_set(page + 1, CODETAG_ID_TAIL + 1);
	page_tag_set(page + 2, CODETAG_ID_TAIL + 1);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page + 1), 0);
	KUNIT_EXPECT_PTR_EQ(test, page_tag_holder(page + 1), page + 1);
	/* Nor is one that is not aligned to its order. */
	page_tag_set(page + 2, CODETAG_ID_TAIL + 2);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page + 2), 0);
	page_tag_set(page + 1, own_tag(test)->ct.id);
	page_tag_set(page + 2, CODETAG_ID_NONE);
	/* It is known while others have references, too. */
	id = pgalloc_tag_first(page);
	KUNIT_EXPECT_EQ(test, id, own_tag(test)->ct.id);
	KUNIT_EXPECT_EQ(test, page_tag_get(page), id);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_order(page), 2);
	KUNIT_EXPECT_PTR_EQ(test, page_tag_holder(page), page);
	__free_pages(page, 2);
	expect_counts(test, 0, 0);
}

/* Memory goes offline with what somebody has of it. */
static void offline(struct kunit *test)
{
	struct page *page = tagged_pages(test, 3, 0);
	int i;

	for (i = 0; i < 8; i++)
		pgalloc_tag_offline(page + i);
	expect_counts(test, 0, 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, page_tag_get(page + i), CODETAG_ID_NONE);
	__free_pages(page, 3);
	expect_counts(test, 0, 0);

	page = tagged_pages(test, 3, 0);
	split_page(page, 3);
	for (i = 0; i < 8; i++) {
		pgalloc_tag_offline(page + i);
		expect_counts(test, 7 - i, 7 - i);
		__free_page(page + i);
	}
	expect_counts(test, 0, 0);
}

/*
 * Memory of a device has no place for an id: operations on behalf of its owner touch
 * none. Where there are slots, those of these pages would be anywhere.
 */
static void no_place(struct kunit *test)
{
#ifdef CONFIG_ZONE_DEVICE
	struct page *device = kunit_kcalloc(test, 8, sizeof(*device), GFP_KERNEL);
	struct page *page = tagged_pages(test, 2, __GFP_COMP);
	u16 id = own_tag(test)->ct.id;
	unsigned long flags;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, device);
	for (i = 0; i < 8; i++)
		set_page_zone(device + i, ZONE_DEVICE);
	flags = *page_tag_flags(device);
	pgalloc_tag_split(device, 3, 0);
	pgalloc_tag_split(device, 3, 1);
	pgalloc_tag_offline(device);
	/* To the device, within it, and back. */
	pgalloc_tag_swap((struct folio *)device, page_folio(page));
	pgalloc_tag_swap((struct folio *)(device + 4), (struct folio *)device);
	pgalloc_tag_swap(page_folio(page), (struct folio *)device);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, *page_tag_flags(device + i), flags);
	KUNIT_EXPECT_EQ(test, page_tag_get(page), id);
	expect_counts(test, 4, 1);
	__free_pages(page, 2);
	expect_counts(test, 0, 0);
#else
	kunit_skip(test, "this kernel has no memory of devices");
#endif
}

static void slots_fit(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, page_tag_slots_fit(get_num_physpages()));
	KUNIT_EXPECT_FALSE(test, page_tag_slots_fit((VMALLOC_END - VMALLOC_START) / 2));
	KUNIT_EXPECT_FALSE(test, page_tag_slots_fit(U64_MAX));
	KUNIT_EXPECT_FALSE(test, page_tag_slots_fit(1ULL << 63));
}

#ifdef alloc_pages_nolock
/* From any context, one that looks like an NMI too: these may fail. */
static void nolock(struct kunit *test)
{
	struct alloc_tag *tag = own_tag(test);
	unsigned int order;
	struct page *page;
	int nmi, nr = 0;

	for (nmi = 0; nmi <= NMI_OFFSET; nmi += NMI_OFFSET) {
		for (order = 0; order < 3; order++) {
			__preempt_count_add(nmi);
			page = alloc_hooks_tag(tag,
					       alloc_pages_nolock_noprof(0, NUMA_NO_NODE, order));
			__preempt_count_sub(nmi);
			if (!page)
				continue;
			nr++;
			expect_counts(test, 1 << order, 1);
			__preempt_count_add(nmi);
			free_pages_nolock(page, order);
			__preempt_count_sub(nmi);
			expect_counts(test, 0, 0);
		}
	}
	KUNIT_EXPECT_GT(test, nr, 0);
}
#endif

static struct kunit_case page_tag_cases[] = {
	KUNIT_CASE(activity),
	KUNIT_CASE(every_id),
	KUNIT_CASE(flags_keep_id),
	KUNIT_CASE(all_orders),
	KUNIT_CASE(no_id_is_inherited),
	KUNIT_CASE(splits),
	KUNIT_CASE(split_to_order),
	KUNIT_CASE(speculative_reference),
	KUNIT_CASE(first_put_alone),
	KUNIT_CASE(swapped),
	KUNIT_CASE(free_takes_the_id_of_the_page),
	KUNIT_CASE(freed_in_parts),
	KUNIT_CASE(single_ids),
	KUNIT_CASE(damaged),
	KUNIT_CASE(order),
	KUNIT_CASE(offline),
	KUNIT_CASE(no_place),
	KUNIT_CASE(slots_fit),
#ifdef alloc_pages_nolock
	KUNIT_CASE(nolock),
#endif
	{}
};

static struct kunit_suite page_tag_suite = {
	.name = "codetag_page_tag",
	.test_cases = page_tag_cases,
};

kunit_test_suite(page_tag_suite);

MODULE_DESCRIPTION("Tests of the page references of code tags");
MODULE_LICENSE("GPL");
