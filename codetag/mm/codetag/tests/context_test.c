// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of contexts: what each key tells apart, exactly; how they end; what is lost.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cgroup.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/irq_work.h>
#include <linux/kallsyms.h>
#include <linux/kasan.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/siphash.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <trace/events/codetag.h>
#include "../context.h"
#include "../context_pool.h"
#include "../context_stack.h"
#include "../helpers.h"
#include "../site.h"
#include "../slab_ref.h"
#include "../split.h"
#include "../totals.h"
#include "../traced.h"

#define MAX_FOUND	64

/* A tag of this file, through which nothing else allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static u16 own_id(void)
{
	return own_tag() - __start_alloc_tags + CODETAG_ID_FIRST;
}

#define own(_do_alloc)	alloc_hooks_tag(own_tag(), _do_alloc)

/* ---- splitting and looking ---------------------------------------------------- */

static void split_id(struct kunit *test, u16 id, unsigned int mask, unsigned int depth,
		     unsigned int max)
{
	struct codetag_keys keys = { .mask = mask, .depth = depth, .max = max };
	struct codetag_site *site;
	struct codetag_info info;

	codetag_lock();
	KUNIT_ASSERT_TRUE(test, codetag_info_of(id, &info));
	site = codetag_split_new(&info, &keys);
	if (site)
		codetag_split(site);
	codetag_unlock();
	KUNIT_ASSERT_NOT_NULL(test, site);
	codetag_split_switch();
}

static void split_by(struct kunit *test, unsigned int mask)
{
	split_id(test, own_id(), mask, CODETAG_DEPTH_STACK, CODETAG_SITE_CONTEXTS);
}

static void unsplit_id(u16 id)
{
	struct codetag_info info;

	codetag_lock();
	if (codetag_info_of(id, &info))
		codetag_unsplit(&info);
	codetag_unlock();
	codetag_split_switch();
}

/* The listed values of a context */
struct found {
	u16 id;
	unsigned int split_by;
	unsigned int nr_frames;
	u64 words[CODETAG_VALUE_WORDS];
	unsigned long stack[CODETAG_DEPTH_MAX];
	s64 bytes;
	s64 calls;
	u64 allocs;
};

static unsigned int find_all(struct kunit *test, u16 id, struct found *found)
{
	struct codetag_context *ctx;
	struct codetag_sum sum;
	unsigned int nr = 0;

	codetag_contexts_lock();
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		if (ctx->site->id != id)
			continue;
		if (nr == MAX_FOUND)
			break;
		sum = alloc_tag_read(ctx->id);
		found[nr] = (struct found) {
			.id = ctx->id,
			.split_by = ctx->split_by,
			.nr_frames = ctx->nr_frames,
			.bytes = sum.bytes,
			.calls = sum.calls,
			.allocs = sum.allocs + sum.parts,
		};
		memcpy(found[nr].words, ctx->words, sizeof(ctx->words));
		memcpy(found[nr].stack, ctx->stack, sizeof(ctx->stack));
		nr++;
	}
	codetag_contexts_unlock();
	return nr;
}

static struct found *found_of(struct kunit *test, unsigned int *nr)
{
	struct found *found = kunit_kcalloc(test, MAX_FOUND, sizeof(*found), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, found);
	*nr = find_all(test, own_id(), found);
	return found;
}

static struct found *one(struct kunit *test)
{
	struct found *found;
	unsigned int nr;

	found = found_of(test, &nr);
	KUNIT_ASSERT_EQ(test, nr, 1);
	return found;
}

/* The one whose word number @i is @word. */
static struct found *with_word(struct kunit *test, unsigned int i, u64 word)
{
	struct found *found, *f;
	unsigned int nr;

	found = found_of(test, &nr);
	for (f = found; f < found + nr; f++)
		if (f->words[i] == word)
			return f;
	KUNIT_FAIL_AND_ABORT(test, "no context of %llu among %u", word, nr);
	return NULL;
}

static struct found *with(struct kunit *test, u64 word)
{
	return with_word(test, 0, word);
}

static void expect(struct kunit *test, const struct found *f, s64 bytes, s64 calls, u64 allocs)
{
	KUNIT_EXPECT_EQ(test, f->bytes, bytes);
	KUNIT_EXPECT_EQ(test, f->calls, calls);
	KUNIT_EXPECT_EQ(test, f->allocs, allocs);
}

/* The counters of the site and all of its contexts */
static struct codetag_sum site_sum(u16 id)
{
	unsigned long pos = id;
	struct codetag_info info;

	codetag_lock();
	codetag_next(&pos, &info, NULL);
	codetag_unlock();
	return info.sum;
}

/* The row of the site: its own and all of its contexts. */
static void expect_site(struct kunit *test, u16 id, s64 bytes, s64 calls)
{
	unsigned long pos = id;
	struct codetag_info info;

	codetag_lock();
	KUNIT_ASSERT_TRUE(test, codetag_next(&pos, &info, NULL));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, pos, id);
	KUNIT_EXPECT_EQ(test, info.bytes, bytes);
	KUNIT_EXPECT_EQ(test, (s64)info.calls, calls);
}

static struct codetag_context_use use(void)
{
	struct codetag_context_use use;

	codetag_context_use(&use);
	return use;
}

static struct codetag_id_use id_use(void)
{
	struct codetag_id_use use;

	codetag_lock();
	codetag_id_use(&use);
	codetag_unlock();
	return use;
}

/* Twice: what has been used since the last time stays. */
static void reap(void)
{
	codetag_contexts_reap();
	codetag_contexts_reap();
}

static long site_lost(u16 id)
{
	struct codetag_site *site;
	long lost = -1;

	codetag_contexts_lock();
	list_for_each_entry(site, &codetag_sites, list)
		if (site->id == id)
			lost = codetag_site_lost(site);
	codetag_contexts_unlock();
	return lost;
}

static size_t slab_bytes(const void *object)
{
	return virt_to_slab(object)->slab_cache->size;
}

/* ---- keys --------------------------------------------------------------------- */

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

static u64 gfp_word(gfp_t gfp)
{
	return (u64)(__force u32)gfp << CODETAG_GFP_SHIFT;
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

/* All that is small together, and what is not behind it. */
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

/* ---- stacks ------------------------------------------------------------------- */

/* A helper as there are many: who calls it is what matters. */
static noinline void *helper(size_t size)
{
	void *object = own(kmalloc_noprof(size, GFP_KERNEL));

	OPTIMIZER_HIDE_VAR(object);
	return object;
}

/* Different functions, or the compiler makes them one. */
static unsigned int calls_of_a, calls_of_b;

static noinline void *caller_a(void)
{
	void *object = helper(64);

	OPTIMIZER_HIDE_VAR(object);
	calls_of_a++;
	return object;
}

static noinline void *caller_b_noprof(void)
{
	void *object = helper(64);

	OPTIMIZER_HIDE_VAR(object);
	calls_of_b++;
	return object;
}

static noinline void *caller_c(void)
{
	void *object = caller_b_noprof();

	OPTIMIZER_HIDE_VAR(object);
	return object;
}

/* Without frame pointers these architectures guess. */
static void need_stacks(struct kunit *test)
{
	bool guessed = (IS_ENABLED(CONFIG_UML) || IS_ENABLED(CONFIG_RISCV)) &&
		       !IS_ENABLED(CONFIG_FRAME_POINTER);

	if (!IS_ENABLED(CONFIG_STACKTRACE) || !IS_ENABLED(CONFIG_KALLSYMS) || guessed)
		kunit_skip(test, "no stacks that can be relied on");
}

static bool is_in(unsigned long addr, const char *name)
{
	char symbol[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(symbol, addr - 1);
	return str_has_prefix(symbol, name);
}

static void by_stack(struct kunit *test)
{
	static const char * const chains[][3] = {
		{ "caller_a", "by_stack" },
		{ "caller_b", "by_stack" },
		{ "caller_b", "caller_c", "by_stack" },
	};
	unsigned int nr, i, n, matches, rounds = 2;
	void *object[6];
	struct found *found;

	need_stacks(test);

	split_by(test, BIT(CODETAG_KEY_STACK));
	/* From one place each, which is in the stack, too. */
	OPTIMIZER_HIDE_VAR(rounds);
	for (i = 0; i < rounds; i++) {
		object[3 * i] = caller_a();
		object[3 * i + 1] = caller_b_noprof();
		object[3 * i + 2] = caller_c();
	}
	found = found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 3);
	for (i = 0; i < ARRAY_SIZE(chains); i++) {
		matches = 0;
		for (n = 0; n < nr; n++) {
			if (!is_in(found[n].stack[1], chains[i][0]) ||
			    !is_in(found[n].stack[2], chains[i][1]) ||
			    (chains[i][2] && !is_in(found[n].stack[3], chains[i][2])))
				continue;
			matches++;
			KUNIT_EXPECT_TRUE(test, is_in(found[n].stack[0], "helper"));
			expect(test, &found[n], 2 * slab_bytes(object[0]), 2, 2);
		}
		KUNIT_EXPECT_EQ(test, matches, 1);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree(object[i]);
}

static void change_helpers(struct kunit *test, const char *words, int want)
{
	char *text = kunit_kstrdup(test, words, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_EQ_MSG(test, codetag_helpers_change(text), want, "%s", words);
}

/* The caller is the first function that is no helper, whatever it calls to allocate. */
static void by_caller(struct kunit *test)
{
	static const char * const callers[] = { "caller_a", "by_caller", "caller_c" };
	unsigned int nr, i, n, matches;
	struct found *found;
	void *object[3];

	need_stacks(test);

	change_helpers(test, "caller_b helper", 0);
	split_id(test, own_id(), BIT(CODETAG_KEY_CALLER), CODETAG_DEPTH_CALLER,
		 CODETAG_SITE_CONTEXTS);
	object[0] = caller_a();
	object[1] = caller_b_noprof();
	object[2] = caller_c();
	found = found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(callers));
	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		matches = 0;
		for (n = 0; n < nr; n++) {
			KUNIT_EXPECT_EQ(test, found[n].nr_frames, 2);
			KUNIT_EXPECT_TRUE(test, is_in(found[n].stack[0], "helper"));
			matches += is_in(found[n].stack[1], callers[i]);
		}
		KUNIT_EXPECT_EQ_MSG(test, matches, 1, "%s", callers[i]);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree(object[i]);
	change_helpers(test, "-caller_b,-helper", 0);
}

/* A list that is changed holds for the next allocation; a bad word changes nothing. */
static void helpers_change(struct kunit *test)
{
	static const char * const bad[] = {
		"caller_b -not_there", "caller_b wo/rd", "caller_b -", "caller_b \x01",
	};
	unsigned int nr, i;
	void *object[3];

	need_stacks(test);

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		change_helpers(test, bad[i], -EINVAL);
	split_id(test, own_id(), BIT(CODETAG_KEY_CALLER), CODETAG_DEPTH_CALLER,
		 CODETAG_SITE_CONTEXTS);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		if (i == 1)
			change_helpers(test, "caller_? ", 0);
		if (i == 2)
			change_helpers(test, "-caller_?", 0);
		object[i] = caller_c();
	}
	/* caller_b, helpers_change, and caller_b again */
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 2);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree(object[i]);
}

/* Whatever way the allocator takes, the stack is the same: it begins with the site. */
static void stack_of_any_way(struct kunit *test)
{
	enum { NR = 200 };
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	unsigned int nr, i;

	need_stacks(test);

	KUNIT_ASSERT_NOT_NULL(test, object);
	split_by(test, BIT(CODETAG_KEY_STACK));
	/* Objects of the CPU's slab and such that need a new one. */
	for (i = 0; i < NR; i++)
		object[i] = helper(512);
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 1);
	for (i = 0; i < NR; i++)
		kfree(object[i]);
}

/* Where the tag's function is inlined there are several calls, and all get known. */
static void several_calls(struct kunit *test)
{
	const struct codetag_site *site;
	void *object[6];
	unsigned int nr, i;

	need_stacks(test);

	split_by(test, BIT(CODETAG_KEY_STACK));
	object[0] = own(kmalloc_noprof(64, GFP_KERNEL));
	object[1] = own(kmalloc_noprof(64, GFP_KERNEL));
	object[2] = own(kmalloc_noprof(64, GFP_KERNEL));
	object[3] = own(kmalloc_noprof(64, GFP_KERNEL));
	object[4] = own(kmalloc_noprof(64, GFP_KERNEL));
	object[5] = own(kmalloc_noprof(64, GFP_KERNEL));
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(object));

	/* It is split: nobody lets go of it. */
	preempt_disable();
	site = codetag_site_by_id(own_id());
	preempt_enable();
	for (nr = 0; nr < CODETAG_SITE_CALLS && site->calls[nr]; nr++)
		;
	KUNIT_EXPECT_EQ(test, nr, ARRAY_SIZE(object));
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree(object[i]);
}

#ifdef CONFIG_ARCH_STACKWALK

/* The way to a call that is known is walked once, and no further than is wanted. */
static void walked(struct kunit *test)
{
	enum { WANTED = 3 };
	struct codetag_site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);
	unsigned long entries[CODETAG_STACK_ENTRIES], stack[1 + WANTED];
	struct codetag_stack_walk walk = {
		.site = site,
		.depth = WANTED,
		.entries = entries,
	};

	need_stacks(test);

	KUNIT_ASSERT_NOT_NULL(test, site);
	KUNIT_ASSERT_EQ(test, stack_trace_save(stack, ARRAY_SIZE(stack), 0), ARRAY_SIZE(stack));
	site->calls[0] = stack[1];
	arch_stack_walk(codetag_stack_step, &walk, current, NULL);
	KUNIT_EXPECT_EQ(test, walk.nr, walk.end);
	KUNIT_ASSERT_EQ(test, walk.end, walk.at + WANTED);
	KUNIT_EXPECT_MEMEQ(test, entries + walk.at, stack + 1, WANTED * sizeof(*stack));

	/* One that is not there is not looked for in all of the stack. */
	site->calls[0] = 1;
	walk.nr = 0;
	walk.end = 0;
	arch_stack_walk(codetag_stack_step, &walk, current, NULL);
	KUNIT_EXPECT_EQ(test, walk.end, 0);
	KUNIT_EXPECT_LE(test, walk.nr, CODETAG_STACK_INNER + 1);
}

#else

static void walked(struct kunit *test)
{
	kunit_skip(test, "this kernel saves stacks and does not walk them");
}

#endif /* CONFIG_ARCH_STACKWALK */

/* Nothing that takes a lock is done in NMI: the allocation is the site's. */
static void in_nmis(struct kunit *test)
{
	const struct codetag_site *site;
	unsigned int id, nr;

	split_by(test, BIT(CODETAG_KEY_STACK));
	__preempt_count_add(NMI_OFFSET);
	id = own(codetag_context_id(0, GFP_ATOMIC, false, 64, CODETAG_ID_MAX));
	__preempt_count_sub(NMI_OFFSET);
	KUNIT_EXPECT_EQ(test, id, own_id());
	found_of(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 0);

	preempt_disable();
	site = codetag_site_by_id(own_id());
	preempt_enable();
	KUNIT_EXPECT_EQ(test, codetag_site_lost(site), 1);
	KUNIT_EXPECT_EQ(test, site->calls[0], 0);
}

static void depth(struct kunit *test)
{
	void *object[3];
	struct found *f;
	unsigned int i;

	need_stacks(test);

	/* Only where the helper calls: all callers are one. */
	split_id(test, own_id(), BIT(CODETAG_KEY_STACK), 1, 10);
	object[0] = caller_a();
	object[1] = caller_b_noprof();
	object[2] = caller_c();
	f = one(test);
	KUNIT_EXPECT_EQ(test, f->nr_frames, 1);
	expect(test, f, 3 * slab_bytes(object[0]), 3, 3);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree(object[i]);
}

/* ---- what becomes of them ------------------------------------------------------ */

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
		KUNIT_EXPECT_PTR_EQ(test, pgalloc_tag_holder(pair), pair + 1);
		KUNIT_EXPECT_NOT_NULL(test, codetag_context_of(page_tag_get(pair + 1)));
		__free_page(page);
		__free_pages(pair, 1);
	}
}

/* A page that is split into several stays with its context, and so do the parts. */
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

/* Memory that moves is on the node where it is, and otherwise what it was. */
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
	struct codetag_context *ctx;
	unsigned int id;
	void *object;

	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "no size is that large");

	split_by(test, BIT(CODETAG_KEY_SIZE));
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, soon_found(CODETAG_KEY_SIZE, 0, large));

	preempt_disable();
	id = own(codetag_context_id(0, GFP_KERNEL, false, large, U16_MAX));
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

/* keys=none: what they hold is still listed, and then all is given back. */
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

/* Split by something else: contexts of both kinds, each with what is its. */
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

/* ---- bounds -------------------------------------------------------------------- */

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
	unsigned int id;

	split_by(test, BIT(CODETAG_KEY_SIZE));
	alloc_hooks_tag(own_tag(), ({
		preempt_disable();
		id = codetag_context_id(0, GFP_KERNEL, false, 5, codetag_builtin_end - 1);
		preempt_enable();
		0;
	}));
	KUNIT_EXPECT_EQ(test, id, own_id());
	KUNIT_EXPECT_EQ(test, site_lost(own_id()), 1);
	alloc_hooks_tag(own_tag(), ({
		preempt_disable();
		id = codetag_context_id(0, GFP_KERNEL, false, 5, CODETAG_ID_MAX);
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

/* ---- how long it takes --------------------------------------------------------- */

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
	sums->nr = 0;
	pos = own_id();
	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_next(&pos, &info, sums));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, info.calls, NR);
	KUNIT_EXPECT_EQ(test, all_steps, 0);

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

/* ---- at the same time ------------------------------------------------------------ */

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

/* ---- modules --------------------------------------------------------------------- */

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

static struct codetag_stack_text *text_of(const unsigned long *stack, unsigned int nr)
{
	struct codetag_stack_text *text;

	codetag_contexts_lock();
	text = codetag_stack_text_get(stack, nr);
	codetag_contexts_unlock();
	return text;
}

static void forget_text(struct codetag_stack_text *text)
{
	codetag_contexts_lock();
	codetag_stack_text_put(text);
	codetag_contexts_unlock();
}

/* A stack's text is there once, as long as anybody has it. */
static void texts(struct kunit *test)
{
	const unsigned long stack[] = { (unsigned long)texts, (unsigned long)forget_text };
	struct codetag_stack_text *text[3];
	size_t before = use().bytes, one;
	char expected[256];

	text[0] = text_of(stack, 2);
	KUNIT_ASSERT_NOT_NULL(test, text[0]);
	snprintf(expected, sizeof(expected), " %pS\n %pS\n", texts, forget_text);
	KUNIT_EXPECT_STREQ(test, text[0]->text, expected);
	one = use().bytes - before;
	KUNIT_EXPECT_GT(test, one, strlen(expected));

	text[1] = text_of(stack, 2);
	KUNIT_EXPECT_PTR_EQ(test, text[1], text[0]);
	KUNIT_EXPECT_EQ(test, use().bytes, before + one);
	text[2] = text_of(stack, 1);
	KUNIT_EXPECT_PTR_NE(test, text[2], text[0]);

	forget_text(text[2]);
	forget_text(text[0]);
	KUNIT_EXPECT_EQ(test, use().bytes, before + one);
	KUNIT_EXPECT_STREQ(test, text[1]->text, expected);
	forget_text(text[1]);
	KUNIT_EXPECT_EQ(test, use().bytes, before);
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

/* ---- tracing --------------------------------------------------------------------- */

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
	KUNIT_EXPECT_GT(test, codetag_pool.supply[0].nr_free, 0);
	KUNIT_EXPECT_EQ(test, codetag_pool.supply[1].nr_free, 0);
	split_traced(test, BIT(CODETAG_KEY_SIZE));
	KUNIT_EXPECT_GT(test, codetag_pool.supply[1].nr_free, 0);
	reap();
	KUNIT_EXPECT_EQ(test, codetag_pool.supply[0].nr_free, 0);
	KUNIT_EXPECT_GT(test, codetag_pool.supply[1].nr_free, 0);
	object = own(kmalloc_noprof(100, GFP_KERNEL));
	unsplit_id(own_id());
	reap();
	KUNIT_EXPECT_EQ(test, use().used, 1);
	KUNIT_EXPECT_LT(test, use().free, CODETAG_BLOCK_SIZE);
	kfree(object);
	expect_site(test, own_id(), 0, 0);
}

/* ---- the suite ------------------------------------------------------------------- */

static void context_exit(struct kunit *test)
{
	DECLARE_SEQ_BUF(out, 128);

	unsplit_id(own_id());
	KUNIT_EXPECT_EQ(test, codetag_contexts_check(&out), 0);
	reap();
	KUNIT_EXPECT_EQ(test, use().used, 0);
	KUNIT_EXPECT_EQ(test, use().free, 0);
	KUNIT_EXPECT_EQ(test, id_use().contexts, 0);
}

/* ---- as text -------------------------------------------------------------------- */

static void frame_text(struct kunit *test)
{
	static const char start[] = " schedule+0x0/0x";
	char *text = kunit_kmalloc(test, CODETAG_FRAME_TEXT + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	codetag_frame_text(text, (unsigned long)schedule);
	KUNIT_EXPECT_MEMEQ(test, text, start, strlen(start));
	/* Code without a symbol shows no address. */
	codetag_frame_text(text, 0x1234);
	KUNIT_EXPECT_STREQ(test, text, " [unknown]\n");
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
	KUNIT_CASE(by_stack),
	KUNIT_CASE(by_caller),
	KUNIT_CASE(helpers_change),
	KUNIT_CASE(stack_of_any_way),
	KUNIT_CASE(walked),
	KUNIT_CASE(several_calls),
	KUNIT_CASE(in_nmis),
	KUNIT_CASE(depth),
	KUNIT_CASE(frame_text),
	KUNIT_CASE(marks),
	KUNIT_CASE(split_pages),
	KUNIT_CASE(split_pages_by_task),
	KUNIT_CASE(split_pages_by_all),
	KUNIT_CASE(moved_to_node),
	KUNIT_CASE(split_pages_lost),
	KUNIT_CASE(locked_already),
	KUNIT_CASE(charged_later),
	KUNIT_CASE(exact_pages),
	KUNIT_CASE(by_cgroup),
	KUNIT_CASE(found_by_value),
	KUNIT_CASE(large_sizes),
	KUNIT_CASE(equal_values),
	KUNIT_CASE(chosen_sizes_spread),
	KUNIT_CASE(names_have_seed),
	KUNIT_CASE(traced_ids),
	KUNIT_CASE(traced_events),
	KUNIT_CASE(traced_meanwhile),
	KUNIT_CASE(traced_supply),
	KUNIT_CASE(words),
	KUNIT_CASE(reaping),
	KUNIT_CASE(unsplitting),
	KUNIT_CASE(other_keys),
	KUNIT_CASE(switched_off),
	KUNIT_CASE(bound_of_site),
	KUNIT_CASE(bound_of_all),
	KUNIT_CASE(ids_too_high),
	KUNIT_CASE_SLOW(many),
	KUNIT_CASE_SLOW(rests),
	KUNIT_CASE(default_bound),
	KUNIT_CASE_SLOW(reaping_waits_alone),
	KUNIT_CASE(races),
	KUNIT_CASE(module_gone),
	KUNIT_CASE(texts),
	{}
};

static struct kunit_suite context_suite = {
	.name = "codetag_context",
	.exit = context_exit,
	.test_cases = context_cases,
};

kunit_test_suite(context_suite);

MODULE_DESCRIPTION("Tests of contexts");
MODULE_LICENSE("GPL");
