// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of traced call sites: their ids and events
 */
#include <kunit/test.h>
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <trace/events/codetag.h>
#include "../traced.h"
#include "split_test.h"

static void split_traced(struct kunit *test, unsigned int mask)
{
	split_by(test, mask | CODETAG_SPLIT_TRACE);
}

#ifdef CONFIG_TRACEPOINTS

/* Sums of the events of the own site, and the last one */
static struct {
	unsigned int allocs;
	unsigned int frees;
	s64 bytes;
	const void *address;
	gfp_t gfp;
	int node;
} events;

static void count_alloc(void *data, unsigned int id, const void *address, size_t bytes, gfp_t gfp,
			int node)
{
	if (id != own_id())
		return;
	events.allocs++;
	events.bytes += bytes;
	events.address = address;
	events.gfp = gfp;
	events.node = node;
}

static void count_free(void *data, unsigned int id, const void *address, size_t bytes, int node)
{
	if (id != own_id())
		return;
	events.frees++;
	events.bytes -= bytes;
	events.address = address;
	events.node = node;
}

static void forget_probes(void *data)
{
	unregister_trace_alloc(count_alloc, NULL);
	unregister_trace_free(count_free, NULL);
	tracepoint_synchronize_unregister();
}

static void count_events(struct kunit *test)
{
	memset(&events, 0, sizeof(events));
	KUNIT_ASSERT_EQ(test, register_trace_alloc(count_alloc, NULL), 0);
	KUNIT_ASSERT_EQ(test, register_trace_free(count_free, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, forget_probes, NULL), 0);
}

/* Events of the site, as many as its counters say */
static void expect_events(struct kunit *test, unsigned int allocs, unsigned int frees)
{
	struct codetag_sum sum = site_sum(own_id());

	KUNIT_EXPECT_EQ(test, events.allocs, allocs);
	KUNIT_EXPECT_EQ(test, events.frees, frees);
	KUNIT_EXPECT_EQ(test, events.bytes, (s64)sum.bytes);
}

/* The events of each kind of memory. */
static void traced_events(struct kunit *test)
{
	struct codetag_sum before = site_sum(own_id()), sum;
	void __percpu *percpu;
	struct page *page;
	void *object;
	int i;

	count_events(test);
	split_traced(test, 0);
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, events.address, (const void *)kasan_reset_tag(object));
	KUNIT_EXPECT_EQ(test, (__force u32)events.gfp, (__force u32)GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, events.node, slab_nid(virt_to_slab(object)));
	expect_events(test, 1, 0);
	kfree(object);
	expect_events(test, 1, 1);

	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	KUNIT_EXPECT_PTR_EQ(test, events.address,
			    (const void *)kasan_reset_tag(page_to_virt(page)));
	expect_events(test, 2, 1);
	split_page(page, 2);
	expect_events(test, 2, 1);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	expect_events(test, 2, 5);

	percpu = own(pcpu_alloc_noprof(56, 8, false, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, events.address, (__force const void *)percpu);
	KUNIT_EXPECT_EQ(test, events.node, NUMA_NO_NODE);
	expect_events(test, 3, 5);
	free_percpu(percpu);
	expect_events(test, 3, 6);

	sum = site_sum(own_id());
	KUNIT_EXPECT_EQ(test, sum.allocs - before.allocs, 3);
	KUNIT_EXPECT_EQ(test, sum.frees - before.frees, 6);
}

/* No events before tracing and after it, whatever was allocated when. */
static void traced_meanwhile(struct kunit *test)
{
	void *before, *meanwhile, *lasting;

	count_events(test);
	before = own(kmalloc_noprof(100, GFP_KERNEL));
	split_traced(test, 0);
	meanwhile = own(kmalloc_noprof(100, GFP_KERNEL));
	lasting = own(kmalloc_noprof(100, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, events.allocs, 2);
	kfree(before);
	KUNIT_EXPECT_EQ(test, events.frees, 0);
	kfree(meanwhile);
	KUNIT_EXPECT_EQ(test, events.frees, 1);
	unsplit_id(own_id());
	kfree(own(kmalloc_noprof(100, GFP_KERNEL)));
	kfree(lasting);
	KUNIT_EXPECT_EQ(test, events.allocs, 2);
	KUNIT_EXPECT_EQ(test, events.frees, 1);
	expect_site(test, own_id(), 0, 0);
}

#else

static void traced_events(struct kunit *test)
{
	kunit_skip(test, "this kernel has no tracepoints");
}

static void traced_meanwhile(struct kunit *test)
{
	kunit_skip(test, "this kernel has no tracepoints");
}

#endif /* CONFIG_TRACEPOINTS */

/* Frees do not know traced ids by themselves; otherwise these are like others. */
static void traced_ids(struct kunit *test)
{
	unsigned long damaged = id_use().damaged;
	struct page *page;
	struct found *f;
	void *object;

	split_traced(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	f = with(test, 100);
	KUNIT_EXPECT_FALSE(test, alloc_tag_id_counted(f->id));
	KUNIT_EXPECT_FALSE(test, alloc_tag_uncharge(f->id, 8, 1));
	KUNIT_EXPECT_TRUE(test, codetag_id_traced(f->id));
	KUNIT_EXPECT_TRUE(test, codetag_id_known(f->id));
	expect(test, f, slab_bytes(object), 1, 1);
	/* An id of the same block that no memory has is as damaged as any other. */
	KUNIT_EXPECT_FALSE(test, codetag_id_traced(f->id ^ (CODETAG_BLOCK_SIZE - 1)));
	KUNIT_EXPECT_FALSE(test, codetag_id_traced(own_id()));

	/* Not traced any more, but the memory still has the id. */
	split_by(test, BIT(CODETAG_KEY_SIZE));
	KUNIT_EXPECT_TRUE(test, codetag_id_traced(f->id));
	kfree(object);
	expect(test, with(test, 100), 0, 0, 1);

	split_traced(test, BIT(CODETAG_KEY_SIZE));
	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	expect(test, with(test, 4 * PAGE_SIZE), 4 * PAGE_SIZE, 1, 1);
	split_page(page, 2);
	expect(test, with(test, PAGE_SIZE), 4 * PAGE_SIZE, 4, 4);
	for (unsigned int i = 0; i < 4; i++)
		__free_page(page + i);
	/* The first page is freed last, and by somebody else. */
	page = own(alloc_pages_noprof(GFP_KERNEL, 2));
	get_page(page);
	__free_pages(page, 2);
	expect(test, with(test, 4 * PAGE_SIZE), PAGE_SIZE, 1, 2);
	put_page(page);
	expect_site(test, own_id(), 0, 0);
	KUNIT_EXPECT_EQ(test, id_use().damaged, damaged);
}

/* Each kind of site has free contexts of its own, which go when nobody needs them. */
static void traced_supply(struct kunit *test)
{
	void *object;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	KUNIT_EXPECT_GT(test, codetag_context_pool.supply[0].nr_free, 0);
	KUNIT_EXPECT_EQ(test, codetag_context_pool.supply[1].nr_free, 0);
	split_traced(test, BIT(CODETAG_KEY_SIZE));
	KUNIT_EXPECT_GT(test, codetag_context_pool.supply[1].nr_free, 0);
	reap();
	KUNIT_EXPECT_EQ(test, codetag_context_pool.supply[0].nr_free, 0);
	KUNIT_EXPECT_GT(test, codetag_context_pool.supply[1].nr_free, 0);
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	unsplit_id(own_id());
	reap();
	KUNIT_EXPECT_EQ(test, use().used, 1);
	KUNIT_EXPECT_LT(test, use().free, CODETAG_BLOCK_SIZE);
	kfree(object);
	expect_site(test, own_id(), 0, 0);
}

static struct kunit_case traced_cases[] = {
	KUNIT_CASE(traced_ids),
	KUNIT_CASE(traced_events),
	KUNIT_CASE(traced_meanwhile),
	KUNIT_CASE(traced_supply),
	{}
};

static struct kunit_suite traced_suite = {
	.name = "codetag_traced",
	.exit = split_test_exit,
	.test_cases = traced_cases,
};

kunit_test_suite(traced_suite);

MODULE_DESCRIPTION("Tests of traced call sites");
MODULE_LICENSE("GPL");
