// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the end of contexts, and of how long their walks take
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include "split_test.h"

/* ---- the end of contexts ----------------------------------------------------- */

/* Those that hold nothing for a while go, those that hold something stay. */
static void reaping(struct kunit *test)
{
	struct codetag_sum before = site_sum(own_id()), after;
	unsigned int used = use().used, nr;
	struct page *page;
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	b = own(kmalloc_noprof(7, GFP_KERNEL));
	kfree(b);
	KUNIT_EXPECT_EQ(test, use().used, used + 2);

	/* It has been used since the last look. */
	codetag_contexts_reap();
	KUNIT_EXPECT_EQ(test, use().used, used + 2);
	codetag_contexts_reap();
	KUNIT_EXPECT_EQ(test, use().used, used + 1);
	expect(test, one(test), slab_bytes(a), 1, 1);
	reap();
	expect(test, one(test), slab_bytes(a), 1, 1);

	/* A new one of the same kind begins with nothing. */
	b = own(kmalloc_noprof(7, GFP_KERNEL));
	expect(test, with(test, 7), slab_bytes(b), 1, 1);
	kfree(a);
	kfree(b);
	page = own(alloc_pages_noprof(GFP_KERNEL, 1));
	split_page(page, 1);
	__free_page(page);
	__free_page(page + 1);
	reap();
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 0);
	KUNIT_EXPECT_EQ(test, use().used, used);

	/* The site has the counts of contexts that are gone. */
	after = site_sum(own_id());
	KUNIT_EXPECT_EQ(test, after.allocs, before.allocs + 4);
	KUNIT_EXPECT_EQ(test, after.frees, before.frees + 5);
	KUNIT_EXPECT_EQ(test, after.parts, before.parts + 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).allocs, after.allocs);
}

/* After keys=none contexts are listed until their memory is freed. Then their ids are free, too. */
static void unsplitting(struct kunit *test)
{
	struct codetag_id_use before = id_use();
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	unsplit_id(own_id());
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, own_id());
	KUNIT_EXPECT_EQ(test, use().sites, 0);
	b = own(kmalloc_noprof(100, GFP_KERNEL));
	expect(test, with(test, 100), slab_bytes(a), 1, 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(own_id()).bytes, slab_bytes(b));
	expect_site(test, own_id(), 2 * slab_bytes(a), 2);
	reap();
	expect(test, with(test, 100), slab_bytes(a), 1, 1);
	kfree(a);
	kfree(b);
	expect_site(test, own_id(), 0, 0);
	reap();
	KUNIT_EXPECT_EQ(test, use().used, 0);
	KUNIT_EXPECT_EQ(test, use().free, 0);
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), -1);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
	KUNIT_EXPECT_EQ(test, id_use().counter_bytes, before.counter_bytes);
}

/* A site that is split by other keys has contexts of both kinds, each with its own memory. */
static void other_keys(struct kunit *test)
{
	struct found *found;
	unsigned int nr;
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	split_by(test, BIT(CODETAG_KEY_GFP));
	b = own(kmalloc_noprof(100, GFP_KERNEL));
	found = found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 2);
	KUNIT_EXPECT_NE(test, found[0].split_by, found[1].split_by);
	expect(test, with(test, 100), slab_bytes(a), 1, 1);
	expect(test, with(test, gfp_word(GFP_KERNEL)), slab_bytes(b), 1, 1);
	kfree(a);
	kfree(b);
	expect_site(test, own_id(), 0, 0);
}

/* Not profiled and split: nothing is charged; profiled again: as before. */
static void switched_off(struct kunit *test)
{
	struct codetag_info info;
	void *a, *b;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	codetag_lock();
	KUNIT_ASSERT_TRUE(test, codetag_info_of(own_id(), &info));
	codetag_set_charging(&info, CODETAG_CHARGE_OFF);
	KUNIT_EXPECT_FALSE(test, codetag_profiled(&info));
	codetag_unlock();
	a = own(kmalloc_noprof(100, GFP_KERNEL));
	expect_site(test, own_id(), 0, 0);

	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_split_wanted(&info));
	codetag_set_charging(&info, CODETAG_CHARGE_CONTEXTS);
	KUNIT_EXPECT_TRUE(test, codetag_profiled(&info));
	codetag_unlock();
	b = own(kmalloc_noprof(100, GFP_KERNEL));
	expect(test, one(test), slab_bytes(b), 1, 1);
	kfree(a);
	kfree(b);
	expect(test, one(test), 0, 0, 1);
}

/* The site's module goes while its contexts hold memory: names stay until that is free. */
static void module_gone(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	char *func = kunit_kstrdup(test, "module_func", GFP_KERNEL);
	struct codetag_info info;
	struct alloc_tag *tag;
	void *object;
	size_t bytes;
	bool known;
	u16 id;

	KUNIT_ASSERT_NOT_NULL(test, mod);
	tag = kunit_kzalloc(test, sizeof(*tag), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tag);
	strscpy(mod->name, "context_test_mod");
	tag->ct.function = func;
	tag->ct.filename = "module.c";
	mod->alloc_tags = tag;
	mod->num_alloc_tags = 1;
	codetag_load_module(mod);
	id = tag->ct.id;
	split_id(test, id, BIT(CODETAG_KEY_SIZE), 0, 10);
	object = alloc_hooks_tag(tag, kmalloc_noprof(100, GFP_KERNEL));
	bytes = slab_bytes(object);
	expect_site(test, id, bytes, 1);

	codetag_unload_module(mod);
	memset(func, 'x', strlen(func));
	memset(tag, 0x6b, sizeof(*tag));
	expect_site(test, id, bytes, 1);
	codetag_lock();
	known = codetag_info_of(id, &info);
	KUNIT_EXPECT_TRUE(test, known && info.unloaded);
	if (known)
		KUNIT_EXPECT_STREQ(test, info.ct->function, "module_func");
	codetag_unlock();
	reap();
	expect_site(test, id, bytes, 1);

	/* The id, and those of its contexts, are free when nothing is charged to them. */
	kfree(object);
	reap();
	codetag_reap();
	codetag_lock();
	KUNIT_EXPECT_FALSE(test, codetag_info_of(id, &info));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, use().used, 0);
}

/* ---- how long it takes ------------------------------------------------------- */

/* The most steps of a walk between two chances to schedule, and all of its steps. */
static unsigned long most_steps, all_steps;

static void count_steps(unsigned long steps)
{
	most_steps = max(most_steps, steps);
	all_steps += steps;
	cond_resched();
}

static void forget_steps(void)
{
	most_steps = 0;
	all_steps = 0;
}

/*
 * However many contexts there are: others get a chance after those of one block, each on
 * all CPUs, and nothing looks at a context for each other one.
 */
static void rests(struct kunit *test)
{
	enum { NR = 500 };
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	unsigned long cpus = num_possible_cpus(), pos = own_id();
	struct codetag_sums *sums = kunit_kzalloc(test, sizeof(*sums), GFP_KERNEL);
	struct codetag_info info;
	DECLARE_SEQ_BUF(out, 128);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, sums);
	split_by(test, BIT(CODETAG_KEY_SIZE));
	for (i = 0; i < NR; i++) {
		object[i] = own(kmalloc_noprof(i + 1, GFP_KERNEL));
		if (i % 50 == 0)
			msleep(20);
	}
	KUNIT_EXPECT_EQ(test, use().used, NR);
	kunit_activate_static_stub(test, codetag_rest, count_steps);

	/* A report */
	forget_steps();
	sums->may_sleep = true;
	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_next(&pos, &info, sums));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, info.calls, NR);
	KUNIT_EXPECT_GE(test, all_steps, NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);

	/* One that may not sleep, when memory runs out */
	forget_steps();
	sums->may_sleep = false;
	sums->reads_left = NR * cpus;
	sums->nr = 0;
	pos = own_id();
	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_next(&pos, &info, sums));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, info.calls, NR);
	KUNIT_EXPECT_FALSE(test, sums->incomplete);
	KUNIT_EXPECT_EQ(test, all_steps, 0);

	/* … and not read more than it may */
	sums->reads_left = 10 * cpus + cpus - 1;
	sums->nr = 0;
	pos = own_id();
	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_next(&pos, &info, sums));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, info.calls, 10);
	KUNIT_EXPECT_TRUE(test, sums->incomplete);

	/* The audit's check: a few looks at each context and site, and at free ones */
	forget_steps();
	KUNIT_EXPECT_EQ(test, codetag_contexts_check(&out), 0);
	KUNIT_EXPECT_GE(test, all_steps, 3 * NR);
	KUNIT_EXPECT_LE(test, all_steps, 3 * NR + id_use().contexts);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE);

	/* Reaping: looked at, taken and freed */
	for (i = 0; i < NR; i++)
		kfree(object[i]);
	forget_steps();
	codetag_contexts_reap();
	codetag_contexts_reap();
	KUNIT_EXPECT_GE(test, all_steps, 3 * NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);
	KUNIT_EXPECT_EQ(test, use().used, 0);
	kunit_deactivate_static_stub(test, codetag_rest);
}

/* By default contexts take a small part of the memory, however many CPUs there are. */
static void default_bound(struct kunit *test)
{
	static const struct {
		u64 memory;
		unsigned int cpus;
	} of[] = {
		{ SZ_64M, 1 }, { SZ_512M, 2 }, { SZ_2G, 240 }, { 64ULL << 30, 64 },
		{ 64ULL << 30, 8192 }, { 16ULL << 40, 8192 },
	};
	unsigned int i, max;
	u64 block;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		max = codetag_default_contexts(of[i].memory, of[i].cpus);
		block = sizeof(struct codetag_block) +
			(u64)of[i].cpus * sizeof(struct codetag_block_counters);
		KUNIT_EXPECT_GE(test, max, CODETAG_BLOCK_SIZE);
		KUNIT_EXPECT_LE(test, max, (CODETAG_ID_MAX + 1) / 4);
		KUNIT_EXPECT_LE(test, max / CODETAG_BLOCK_SIZE * block,
				max_t(u64, of[i].memory / 64, block));
	}
	KUNIT_EXPECT_EQ(test, codetag_default_contexts(64ULL << 30, 64), (CODETAG_ID_MAX + 1) / 4);
	KUNIT_EXPECT_EQ(test, codetag_default_contexts(16ULL << 40, 8192),
			(CODETAG_ID_MAX + 1) / 4);
	KUNIT_EXPECT_LT(test, codetag_default_contexts(64ULL << 30, 8192),
			(CODETAG_ID_MAX + 1) / 8);
	KUNIT_EXPECT_NE(test, codetag_max_contexts, UINT_MAX);
}

struct reaper {
	struct completion reads;
	struct completion done;
};

/* Keeps grace periods from ending for a while. */
static int reads_long(void *data)
{
	struct reaper *reaper = data;

	rcu_read_lock();
	complete(&reaper->reads);
	mdelay(500);
	rcu_read_unlock();
	complete(&reaper->done);
	return 0;
}

static int reaps(void *data)
{
	struct reaper *reaper = data;

	codetag_contexts_reap();
	complete(&reaper->done);
	return 0;
}

/* Reaping waits for grace periods, but modules that load do not wait for that. */
static void reaping_waits_alone(struct kunit *test)
{
	struct task_struct *reader, *task;
	struct reaper reaper;
	u64 start, waited;
	void *object;

	if (num_online_cpus() < 2)
		kunit_skip(test, "there is one CPU");

	init_completion(&reaper.reads);
	init_completion(&reaper.done);
	split_by(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	kfree(object);
	codetag_contexts_reap();

	reader = kthread_run(reads_long, &reaper, "codetag_reads");
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	wait_for_completion(&reaper.reads);
	task = kthread_run(reaps, &reaper, "codetag_reaps");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	msleep(100);
	start = ktime_get_ns();
	codetag_contexts_lock();
	codetag_contexts_unlock();
	waited = ktime_get_ns() - start;
	KUNIT_EXPECT_LT(test, waited, 150 * NSEC_PER_MSEC);
	wait_for_completion(&reaper.done);
	wait_for_completion(&reaper.done);
	KUNIT_EXPECT_EQ(test, use().used, 0);
}

static struct kunit_case context_reap_cases[] = {
	KUNIT_CASE(reaping),
	KUNIT_CASE(unsplitting),
	KUNIT_CASE(other_keys),
	KUNIT_CASE(switched_off),
	KUNIT_CASE_SLOW(rests),
	KUNIT_CASE(default_bound),
	KUNIT_CASE_SLOW(reaping_waits_alone),
	KUNIT_CASE(module_gone),
	{}
};

static struct kunit_suite context_reap_suite = {
	.name = "codetag_context_reap",
	.exit = split_test_exit,
	.test_cases = context_reap_cases,
};

kunit_test_suite(context_reap_suite);

MODULE_DESCRIPTION("Tests of the end of contexts, and of how long their walks take");
MODULE_LICENSE("GPL");
