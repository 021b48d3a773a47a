// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of contexts: the values of each key, finding a context, and limits on their number
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/vmalloc.h>
#include "split_test.h"

/* ---- keys -------------------------------------------------------------------- */

/* Nothing is split, nothing is there. */
static void nothing(struct kunit *test)
{
	struct codetag_context_use now = use();

	KUNIT_EXPECT_EQ(test, now.sites, 0);
	KUNIT_EXPECT_EQ(test, now.used, 0);
	KUNIT_EXPECT_EQ(test, now.free, 0);
	KUNIT_EXPECT_EQ(test, id_use().contexts, 0);
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, own_id());
}

static void by_size(struct kunit *test)
{
	void *a, *b, *c;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, CODETAG_ID_NONE);
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	b = own(kmalloc_noprof(100, GFP_KERNEL));
	c = own(kmalloc_noprof(7, GFP_KERNEL));
	expect(test, with(test, 100), 2 * slab_bytes(a), 2, 2);
	expect(test, with(test, 7), slab_bytes(c), 1, 1);
	expect_site(test, own_id(), 2 * slab_bytes(a) + slab_bytes(c), 3);
	kfree(a);
	expect(test, with(test, 100), slab_bytes(b), 1, 2);
	kfree(b);
	kfree(c);
	expect(test, with(test, 100), 0, 0, 2);
	expect(test, with(test, 7), 0, 0, 1);
	expect_site(test, own_id(), 0, 0);

	/* The same is found again. */
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	expect(test, with(test, 100), slab_bytes(a), 1, 3);
	kfree(a);
}

/* As large as asked for; percpu memory on all CPUs. */
static void sizes(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_context_test", 40, 0, 0, NULL);
	void *object, *large, *area, *bulk[5];
	void __percpu *percpu;
	struct page *page;
	unsigned int nr;
	size_t size;

	KUNIT_ASSERT_NOT_NULL(test, s);
	split_by(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmem_cache_alloc_noprof(s, GFP_KERNEL));
	expect(test, with(test, 40), s->size, 1, 1);
	/* Some kernels say how many it got, others only whether it were all. */
	KUNIT_ASSERT_EQ(test, (int)own(kmem_cache_alloc_bulk_noprof(s, GFP_KERNEL, 5, bulk)),
			__same_type(kmem_cache_alloc_bulk_noprof(s, 0, 0, NULL), bool) ? 1 : 5);
	expect(test, with(test, 40), 6 * s->size, 6, 6);
	kmem_cache_free_bulk(s, 5, bulk);
	expect(test, with(test, 40), s->size, 1, 6);
	kmem_cache_free(s, object);
	kmem_cache_destroy(s);

	page = own(alloc_pages_noprof(GFP_KERNEL, 1));
	expect(test, with(test, 2 * PAGE_SIZE), 2 * PAGE_SIZE, 1, 1);
	__free_pages(page, 1);
	expect(test, with(test, 2 * PAGE_SIZE), 0, 0, 1);

	large = own(kmalloc_noprof(5 * PAGE_SIZE, GFP_KERNEL));
	expect(test, with(test, 5 * PAGE_SIZE), 8 * PAGE_SIZE, 1, 1);
	kfree(large);
	expect(test, with(test, 5 * PAGE_SIZE), 0, 0, 1);

	/* With more pages the orders that they are allocated in are not the same everywhere. */
	area = own(vmalloc_noprof(PAGE_SIZE));
	expect(test, with(test, PAGE_SIZE), PAGE_SIZE, 1, 1);
	vfree(area);
	expect(test, with(test, PAGE_SIZE), 0, 0, 1);
	area = own(vmalloc_noprof(3 * PAGE_SIZE));
	object = find_vm_area(area)->pages;
	expect_site(test, own_id(), 3 * PAGE_SIZE + slab_bytes(object), 4);
	vfree(area);
	expect_site(test, own_id(), 0, 0);

	size = 56 * num_possible_cpus();
	percpu = own(pcpu_alloc_noprof(56, 8, false, GFP_KERNEL));
	expect(test, with(test, size), size, 1, 1);
	free_percpu(percpu);
	expect(test, with(test, size), 0, 0, 1);

	/* And the arrays of the pages of the areas. */
	expect(test, with(test, sizeof(page)), 0, 0, 1);
	expect(test, with(test, 3 * sizeof(page)), 0, 0, 1);
	/* None has the size of the pages that the large object has. */
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 7);
}

static void by_node(struct kunit *test)
{
	void *object;
	struct page *page;
	void __percpu *percpu;
	u64 word;

	split_by(test, BIT(CODETAG_KEY_NODE));
	object = own(kmalloc_noprof(64, GFP_KERNEL));
	page = own(alloc_pages_noprof(GFP_KERNEL, 0));
	percpu = own(pcpu_alloc_noprof(8, 8, false, GFP_KERNEL));

	word = (page_to_nid(page) + 1ULL);
	if (page_to_nid(page) == page_to_nid(virt_to_page(object)))
		expect(test, with(test, word), PAGE_SIZE + slab_bytes(object), 2, 2);
	expect(test, with(test, 0), 8 * num_possible_cpus(), 1, 1);
	kfree(object);
	__free_page(page);
	free_percpu(percpu);
	expect(test, with(test, word), 0, 0, 2);
	expect(test, with(test, 0), 0, 0, 1);
}

static void by_cpu(struct kunit *test)
{
	void *object;
	int cpu;

	split_by(test, BIT(CODETAG_KEY_CPU));
	preempt_disable();
	cpu = smp_processor_id();
	object = own(kmalloc_noprof(64, GFP_ATOMIC));
	preempt_enable();
	expect(test, with(test, (u64)cpu << CODETAG_CPU_SHIFT), slab_bytes(object), 1, 1);
	kfree(object);
	expect(test, one(test), 0, 0, 1);
}

static void by_accounted(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_context_test", 40, 0, SLAB_ACCOUNT, NULL);
	void *a, *b, *c;
	u64 yes = 1ULL << CODETAG_ACCOUNTED_SHIFT;
	struct page *page;

	KUNIT_ASSERT_NOT_NULL(test, s);
	split_by(test, BIT(CODETAG_KEY_ACCOUNTED));
	a = own(kmalloc_noprof(64, GFP_KERNEL));
	b = own(kmalloc_noprof(64, GFP_KERNEL_ACCOUNT));
	c = own(kmem_cache_alloc_noprof(s, GFP_KERNEL));
	page = own(alloc_pages_noprof(GFP_KERNEL_ACCOUNT, 0));
	expect(test, with(test, 0), slab_bytes(a), 1, 1);
	expect(test, with(test, yes), slab_bytes(b) + s->size + PAGE_SIZE, 3, 3);
	kfree(a);
	kfree(b);
	kmem_cache_free(s, c);
	__free_page(page);
	kmem_cache_destroy(s);
	expect(test, with(test, 0), 0, 0, 1);
	expect(test, with(test, yes), 0, 0, 3);
}

static void by_gfp(struct kunit *test)
{
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_GFP));
	a = own(kmalloc_noprof(64, GFP_KERNEL));
	b = own(kmalloc_noprof(64, GFP_NOWAIT | __GFP_ZERO));
	expect(test, with(test, gfp_word(GFP_KERNEL)), slab_bytes(a), 1, 1);
	expect(test, with(test, gfp_word(GFP_NOWAIT | __GFP_ZERO)), slab_bytes(b), 1, 1);
	kfree(a);
	kfree(b);
}

/* Small values together, and the others behind them. */
static void several_keys(struct kunit *test)
{
	struct found *f;
	void *a, *b;
	u64 small;

	split_by(test, BIT(CODETAG_KEY_GFP) | BIT(CODETAG_KEY_ACCOUNTED) | BIT(CODETAG_KEY_NODE) |
		 BIT(CODETAG_KEY_SIZE) | BIT(CODETAG_KEY_TASK));
	a = own(kmalloc_noprof(64, GFP_KERNEL_ACCOUNT));
	b = own(kmalloc_noprof(64, GFP_KERNEL_ACCOUNT));
	f = one(test);
	small = (page_to_nid(virt_to_page(a)) + 1ULL) |
		1ULL << CODETAG_ACCOUNTED_SHIFT | gfp_word(GFP_KERNEL_ACCOUNT);
	KUNIT_EXPECT_EQ(test, f->words[0], small);
	KUNIT_EXPECT_EQ(test, f->words[1], 64);
	KUNIT_EXPECT_STREQ(test, (char *)&f->words[2], current->comm);
	expect(test, f, slab_bytes(a) + slab_bytes(b), 2, 2);
	kfree(a);
	kfree(b);
}

struct task_alloc {
	struct completion done;
	void *object;
};

static int task_allocates(void *data)
{
	struct task_alloc *t = data;

	t->object = own(kmalloc_noprof(64, GFP_KERNEL));
	complete(&t->done);
	return 0;
}

static void by_task(struct kunit *test)
{
	char name[TASK_COMM_LEN] = "context test 2";
	struct task_alloc t;
	void *object;
	u64 word;

	init_completion(&t.done);
	split_by(test, BIT(CODETAG_KEY_TASK));
	object = own(kmalloc_noprof(64, GFP_KERNEL));
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(task_allocates, &t, "%s", name)));
	wait_for_completion(&t.done);
	memcpy(&word, name, sizeof(word));
	expect(test, with(test, word), slab_bytes(object), 1, 1);
	memset(name, 0, sizeof(name));
	memcpy(name, current->comm, strlen(current->comm));
	memcpy(&word, name, sizeof(word));
	expect(test, with(test, word), slab_bytes(object), 1, 1);
	kfree(object);
	kfree(t.object);
}

/* In an interrupt it is not the task's. */
struct irq_alloc {
	struct irq_work work;
	void *object;
	struct page *page;
	bool done;
};

static void irq_allocates(struct irq_work *work)
{
	struct irq_alloc *i = container_of(work, struct irq_alloc, work);

	i->object = own(kmalloc_noprof(64, GFP_ATOMIC));
	i->page = own(alloc_pages_noprof(GFP_ATOMIC, 0));
	WRITE_ONCE(i->done, true);
}

static void in_interrupts(struct kunit *test)
{
	struct irq_alloc i = { .work = IRQ_WORK_INIT_HARD(irq_allocates) };
	unsigned int tries;
	struct found *f;

	split_by(test, BIT(CODETAG_KEY_TASK) | BIT(CODETAG_KEY_STACK));
	irq_work_queue(&i.work);
	for (tries = 0; !READ_ONCE(i.done) && tries < 250; tries++)
		msleep(20);
	irq_work_sync(&i.work);
	KUNIT_ASSERT_TRUE(test, i.done);

	/* One stack each. */
	f = with(test, *(u64 *)"<hardirq>");
	KUNIT_EXPECT_STREQ(test, (char *)f->words, "<hardirq>");
	expect_site(test, own_id(), (i.object ? slab_bytes(i.object) : 0) +
		    (i.page ? PAGE_SIZE : 0), !!i.object + !!i.page);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 0);
	kfree(i.object);
	if (i.page)
		__free_page(i.page);
	expect_site(test, own_id(), 0, 0);
}

static void by_age(struct kunit *test)
{
	unsigned int interval = codetag_age_interval;
	struct found *found;
	void *old, *new;
	unsigned int nr;

	codetag_age_interval = 1;
	split_by(test, BIT(CODETAG_KEY_AGE));
	old = own(kmalloc_noprof(64, GFP_KERNEL));
	msleep(1100);
	new = own(kmalloc_noprof(64, GFP_KERNEL));
	codetag_age_interval = interval;
	found = found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 2);
	KUNIT_EXPECT_EQ(test, found[0].words[0] >> 32, 1);
	KUNIT_EXPECT_NE(test, (u32)found[0].words[0], (u32)found[1].words[0]);
	expect(test, &found[0], slab_bytes(old), 1, 1);
	expect(test, &found[1], slab_bytes(new), 1, 1);
	kfree(old);
	kfree(new);
}

/* ---- finding ----------------------------------------------------------------- */

/* A folio moves to the group that it is charged to, after it was allocated for none. */
static void by_cgroup(struct kunit *test)
{
#ifdef CONFIG_MEMCG
	struct folio *folio;
	u64 group;

	if (mem_cgroup_disabled())
		kunit_skip(test, "no memory control groups");
	group = cgroup_id(root_mem_cgroup->css.cgroup);
	split_by(test, BIT(CODETAG_KEY_SIZE) | BIT(CODETAG_KEY_CGROUP));
	folio = own(folio_alloc_noprof(GFP_KERNEL, 1));
	expect(test, one(test), 2 * PAGE_SIZE, 1, 1);
	KUNIT_EXPECT_EQ(test, one(test)->words[1], 0);
	KUNIT_ASSERT_EQ(test, mem_cgroup_charge(folio, NULL, GFP_KERNEL), 0);
	expect(test, with_word(test, 1, 0), 0, 0, 0);
	expect(test, with_word(test, 1, group), 2 * PAGE_SIZE, 1, 1);
	folio_put(folio);
	expect(test, with_word(test, 1, group), 0, 0, 1);
	expect_site(test, own_id(), 0, 0);
#else
	kunit_skip(test, "no memory control groups");
#endif
}

/* The context of an allocation that needs no call to be found, NULL if it does need one. */
static struct codetag_context *soon_found(unsigned int key, int nid, size_t size)
{
	struct codetag_context *ctx = NULL;
	struct codetag_site *site;

	preempt_disable();
	if (codetag_split_now(&own_tag()->ct, &site) == BIT(key))
		ctx = codetag_context_lookup_fast(site, BIT(key), nid, false, size);
	preempt_enable();
	return ctx;
}

/* One key whose value is at hand: its context is found by that, if there is one. */
static void found_by_value(struct kunit *test)
{
	struct codetag_context *ctx;
	void *object;
	int nid;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	ctx = soon_found(CODETAG_KEY_SIZE, 0, 100);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	expect(test, with(test, 100), slab_bytes(object), 1, 1);
	KUNIT_EXPECT_EQ(test, with(test, 100)->id, ctx->id);
	KUNIT_EXPECT_NULL(test, soon_found(CODETAG_KEY_SIZE, 0, 101));

	split_by(test, BIT(CODETAG_KEY_NODE));
	kfree(object);
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	nid = page_to_nid(virt_to_page(object));
	KUNIT_EXPECT_NOT_NULL(test, soon_found(CODETAG_KEY_NODE, nid, 100));
	KUNIT_EXPECT_NULL(test, soon_found(CODETAG_KEY_NODE, nid + 1, 100));

	split_by(test, BIT(CODETAG_KEY_ACCOUNTED));
	kfree(object);
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	KUNIT_EXPECT_NOT_NULL(test, soon_found(CODETAG_KEY_ACCOUNTED, 0, 100));
	unsplit_id(own_id());
	KUNIT_EXPECT_NULL(test, soon_found(CODETAG_KEY_ACCOUNTED, 0, 100));
	kfree(object);
}

/* Sizes that 32 bits do not tell apart, as those of huge pages can be. */
static void large_sizes(struct kunit *test)
{
	const size_t large = (size_t)(BIT_ULL(34) + 100);
	const struct codetag_alloc alloc = { .size = large, .gfp = GFP_KERNEL };
	struct codetag_context *ctx;
	unsigned int id;
	void *object;

	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "no size is that large");

	split_by(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, soon_found(CODETAG_KEY_SIZE, 0, large));

	preempt_disable();
	id = own(codetag_context_id(&alloc, U16_MAX));
	preempt_enable();
	ctx = soon_found(CODETAG_KEY_SIZE, 0, large);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_EXPECT_EQ(test, ctx->id, id);
	expect(test, with(test, 100), slab_bytes(object), 1, 1);
	kfree(object);
}

/* A value of one key is as large as one of another key: they are not the same. */
static void equal_values(struct kunit *test)
{
	struct found *found;
	unsigned int nr;
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_NODE));
	a = own(kmalloc_noprof(64, GFP_KERNEL));
	split_by(test, BIT(CODETAG_KEY_SIZE));
	b = own(kmalloc_noprof(page_to_nid(virt_to_page(a)) + 1, GFP_KERNEL));
	found = found_of(test, &nr);
	KUNIT_ASSERT_EQ(test, nr, 2);
	KUNIT_EXPECT_EQ(test, found[0].words[0], found[1].words[0]);
	KUNIT_EXPECT_NE(test, found[0].split_by, found[1].split_by);
	expect(test, &found[0], slab_bytes(a), 1, 1);
	expect(test, &found[1], slab_bytes(b), 1, 1);
	kfree(a);
	kfree(b);
}

/* The one word that contexts are found by: no two values of any keys have the same. */
static void words(struct kunit *test)
{
	static const struct {
		enum codetag_key key;
		u64 value;
	} of[] = {
		{ CODETAG_KEY_NODE, 0 },
		{ CODETAG_KEY_NODE, 1 },
		{ CODETAG_KEY_NODE, U16_MAX },
		{ CODETAG_KEY_ACCOUNTED, 0 },
		{ CODETAG_KEY_ACCOUNTED, BIT(CODETAG_ACCOUNTED_SHIFT) },
		{ CODETAG_KEY_SIZE, 0 },
		{ CODETAG_KEY_SIZE, 1 },
		{ CODETAG_KEY_SIZE, BIT_ULL(31) },
		{ CODETAG_KEY_SIZE, U32_MAX },
		{ CODETAG_KEY_SIZE, BIT_ULL(CODETAG_LOOKUP_ID_SHIFT) - 1 },
	};
	static const u16 ids[] = { CODETAG_ID_FIRST, CODETAG_ID_FIRST + 1, 0x7fff, 0x8000,
				   (u16)~CODETAG_ID_FIRST, CODETAG_ID_MAX };
	u64 what[ARRAY_SIZE(ids) * ARRAY_SIZE(of)];
	const struct codetag_keys keys = {};
	struct codetag_info info = {};
	unsigned int i, n, nr = 0;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		struct codetag_site *site;

		info.id = ids[i];
		site = codetag_split_new(&info, &keys);
		KUNIT_ASSERT_NOT_NULL(test, site);
		for (n = 0; n < ARRAY_SIZE(of); n++)
			what[nr++] = codetag_lookup_key(site, BIT(of[n].key), of[n].value);
		KUNIT_EXPECT_EQ(test, 0, codetag_lookup_key(site, BIT(CODETAG_KEY_SIZE),
							    BIT_ULL(CODETAG_LOOKUP_ID_SHIFT)));
		KUNIT_EXPECT_EQ(test, 0, codetag_lookup_key(site, BIT(CODETAG_KEY_GFP), 1));
		codetag_site_free(site);
	}
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_NE(test, what[i], 0);
		for (n = 0; n < i; n++)
			KUNIT_EXPECT_NE(test, what[i], what[n]);
	}
}

/*
 * Sizes that one public multiplication puts into one bucket are those that users would
 * choose to make a long chain.
 */
static void chosen_sizes_spread(struct kunit *test)
{
	const unsigned int shift = 32 - CODETAG_CONTEXT_BITS;
	DECLARE_BITMAP(buckets, 1 << CODETAG_CONTEXT_BITS) = {};
	u32 size, nr = 0;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	for (size = 1; nr < 256; size++) {
		if (hash_32(size, 32) >> shift)
			continue;
		__set_bit(codetag_lookup_hash(size) >> shift, buckets);
		nr++;
	}
	KUNIT_EXPECT_GT(test, bitmap_weight(buckets, 1 << CODETAG_CONTEXT_BITS), nr / 4);
}

/* Nobody outside of the kernel can tell the hash of a name, not even root. */
static void names_have_seed(struct kunit *test)
{
	static const hsiphash_key_t none;
	const struct codetag_context *ctx;
	unsigned int nr = 0;
	void *object;
	u32 hash;

	split_by(test, BIT(CODETAG_KEY_TASK));
	object = own(kmalloc_noprof(64, GFP_KERNEL));
	codetag_contexts_lock();
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		if (ctx->site->id != own_id())
			continue;
		hash = hsiphash(ctx->words, ctx->nr_words * sizeof(ctx->words[0]), &none);
		KUNIT_EXPECT_NE(test, ctx->hash, (u32)(hash ^ (unsigned long)ctx->site));
		nr++;
	}
	codetag_contexts_unlock();
	KUNIT_EXPECT_EQ(test, nr, 1);
	kfree(object);
}

/* ---- bounds ------------------------------------------------------------------ */

/* Beyond the limit of contexts, allocations are charged to the site and counted. */
static void bound_of_site(struct kunit *test)
{
	unsigned long before = use().lost;
	void *object[4];
	unsigned int i, nr;

	split_id(test, own_id(), BIT(CODETAG_KEY_SIZE), 0, 2);
	for (i = 0; i < 4; i++)
		object[i] = own(kmalloc_noprof(97 + i, GFP_KERNEL));
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 2);
	expect(test, with(test, 97), slab_bytes(object[0]), 1, 1);
	expect(test, with(test, 98), slab_bytes(object[1]), 1, 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).bytes, 2 * slab_bytes(object[0]));
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).calls, 2);
	expect_site(test, own_id(), 4 * slab_bytes(object[0]), 4);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 2);
	KUNIT_EXPECT_EQ(test, use().lost - before, 2);

	/* When there is room again they get one. */
	for (i = 0; i < 4; i++)
		kfree(object[i]);
	expect_site(test, own_id(), 0, 0);
	reap();
	object[0] = own(kmalloc_noprof(100, GFP_KERNEL));
	expect(test, one(test), slab_bytes(object[0]), 1, 1);
	kfree(object[0]);
}

/* The same for all sites together, and for one that finds nothing set aside. */
static void bound_of_all(struct kunit *test)
{
	unsigned int max = codetag_max_contexts, i, nr;
	unsigned long before = use().lost;
	void *object[10];

	codetag_max_contexts = 3;
	split_by(test, BIT(CODETAG_KEY_SIZE));
	for (i = 0; i < 10; i++)
		object[i] = own(kmalloc_noprof(97 + i, GFP_KERNEL));
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 3);
	KUNIT_EXPECT_EQ(test, use().used, 3);
	KUNIT_EXPECT_EQ(test, use().lost - before, 7);
	expect_site(test, own_id(), 10 * slab_bytes(object[0]), 10);
	for (i = 0; i < 10; i++)
		kfree(object[i]);
	expect_site(test, own_id(), 0, 0);
	codetag_max_contexts = max;
}

/* A page store that does not hold the ids of contexts; objects still have them. */
static void ids_too_high(struct kunit *test)
{
	const struct codetag_alloc alloc = { .size = 5, .gfp = GFP_KERNEL };
	unsigned int id;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	alloc_hooks_tag(own_tag(), ({
		preempt_disable();
		id = codetag_context_id(&alloc, codetag_builtin_end - 1);
		preempt_enable();
		0;
	}));
	KUNIT_EXPECT_EQ(test, id, own_id());
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
	alloc_hooks_tag(own_tag(), ({
		preempt_disable();
		id = codetag_context_id(&alloc, CODETAG_ID_MAX);
		preempt_enable();
		0;
	}));
	KUNIT_EXPECT_GE(test, id, codetag_builtin_end);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
}

/* More than is set aside at first: a worker makes more. */
static void many(struct kunit *test)
{
	enum { NR = 1000 };
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	long bytes = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, object);
	split_by(test, BIT(CODETAG_KEY_SIZE));
	for (i = 0; i < NR; i++) {
		object[i] = own(kmalloc_noprof(i + 1, GFP_KERNEL));
		bytes += slab_bytes(object[i]);
		/* The worker has to run for it. */
		if (i % 50 == 0)
			msleep(20);
	}
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 0);
	KUNIT_EXPECT_EQ(test, use().used, NR);
	expect_site(test, own_id(), bytes, NR);
	for (i = 0; i < NR; i++)
		kfree(object[i]);
	expect_site(test, own_id(), 0, 0);
}

struct racer {
	struct completion *start;
	struct completion done;
	void *object[50];
};

static int race(void *data)
{
	struct racer *r = data;
	unsigned int i;

	wait_for_completion(r->start);
	for (i = 0; i < ARRAY_SIZE(r->object); i++)
		r->object[i] = own(kmalloc_noprof(i + 1, GFP_KERNEL));
	complete(&r->done);
	return 0;
}

/* First allocations of the same kinds on two CPUs make one context of each kind. */
static void races(struct kunit *test)
{
	struct racer *r = kunit_kcalloc(test, 2, sizeof(*r), GFP_KERNEL);
	DECLARE_COMPLETION_ONSTACK(start);
	struct task_struct *task;
	unsigned int i, n, nr;
	struct found *found;

	KUNIT_ASSERT_NOT_NULL(test, r);
	split_by(test, BIT(CODETAG_KEY_SIZE));
	for (n = 0; n < 2; n++) {
		r[n].start = &start;
		init_completion(&r[n].done);
		task = kthread_create(race, &r[n], "codetag_race/%u", n);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		kthread_bind(task, n ? cpumask_last(cpu_online_mask) :
			     cpumask_first(cpu_online_mask));
		wake_up_process(task);
	}
	msleep(20);
	complete_all(&start);
	for (n = 0; n < 2; n++)
		wait_for_completion(&r[n].done);

	found = found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(r->object));
	for (i = 0; i < nr; i++)
		expect(test, &found[i], 2 * slab_bytes(r[0].object[found[i].words[0] - 1]), 2, 2);
	for (n = 0; n < 2; n++)
		for (i = 0; i < ARRAY_SIZE(r->object); i++)
			kfree(r[n].object[i]);
	expect_site(test, own_id(), 0, 0);
}

static struct kunit_case context_cases[] = {
	KUNIT_CASE(nothing),
	KUNIT_CASE(by_size),
	KUNIT_CASE(sizes),
	KUNIT_CASE(by_node),
	KUNIT_CASE(by_cpu),
	KUNIT_CASE(by_accounted),
	KUNIT_CASE(by_gfp),
	KUNIT_CASE(several_keys),
	KUNIT_CASE(by_task),
	KUNIT_CASE(in_interrupts),
	KUNIT_CASE_SLOW(by_age),
	KUNIT_CASE(by_cgroup),
	KUNIT_CASE(found_by_value),
	KUNIT_CASE(large_sizes),
	KUNIT_CASE(equal_values),
	KUNIT_CASE(chosen_sizes_spread),
	KUNIT_CASE(names_have_seed),
	KUNIT_CASE(words),
	KUNIT_CASE(bound_of_site),
	KUNIT_CASE(bound_of_all),
	KUNIT_CASE(ids_too_high),
	KUNIT_CASE_SLOW(many),
	KUNIT_CASE(races),
	{}
};

static struct kunit_suite context_suite = {
	.name = "codetag_context",
	.exit = split_test_exit,
	.test_cases = context_cases,
};

kunit_test_suite(context_suite);

MODULE_DESCRIPTION("Tests of contexts");
MODULE_LICENSE("GPL");
