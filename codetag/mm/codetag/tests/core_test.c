// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the registry: ids, counters, modules that come and go.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include "../parts.h"
#include "../totals.h"

/* Nothing of it goes while a test looks at it. */
static struct codetag *tag_of(u16 id)
{
	struct codetag *ct;

	codetag_lock();
	ct = codetag_from_id(id);
	codetag_unlock();
	return ct;
}

static void reserved_ids(struct kunit *test)
{
	static const char * const names[] = {
		[CODETAG_ID_UNREPRESENTABLE] = "not_representable",
		[CODETAG_ID_EARLY] = "early",
		[CODETAG_ID_UNLOADED] = "unloaded",
		[CODETAG_ID_UNTAGGED] = "untagged",
	};
	struct codetag *ct;
	unsigned int id;

	KUNIT_EXPECT_NULL(test, tag_of(CODETAG_ID_NONE));
	for (id = 1; id < CODETAG_ID_NR_RESERVED; id++) {
		ct = tag_of(id);
		KUNIT_ASSERT_NOT_NULL(test, ct);
		KUNIT_EXPECT_EQ(test, ct->id, id);
		KUNIT_EXPECT_EQ(test, ct->lineno, id);
		KUNIT_EXPECT_STREQ(test, ct->filename, "codetag");
		KUNIT_EXPECT_STREQ(test, ct->function, names[id]);
		KUNIT_EXPECT_TRUE(test, container_of(ct, struct alloc_tag, ct)->counters ==
				  builtin_alloc_tag_counters + id);
	}
	for (; id < CODETAG_ID_FIRST; id++)
		KUNIT_EXPECT_NULL(test, tag_of(id));
}

static void builtin_ids(struct kunit *test)
{
	unsigned int nr = __stop_alloc_tags - __start_alloc_tags;
	unsigned int i;

	KUNIT_ASSERT_GT(test, nr, 100);
	KUNIT_EXPECT_EQ(test, codetag_builtin_end, CODETAG_ID_FIRST + nr);
	for (i = 0; i < nr; i++) {
		struct codetag *ct = &__start_alloc_tags[i].ct;

		/* One failure is enough. */
		KUNIT_ASSERT_EQ(test, ct->id, CODETAG_ID_FIRST + i);
		KUNIT_ASSERT_PTR_EQ(test, tag_of(ct->id), ct);
		KUNIT_ASSERT_NOT_NULL(test, ct->function);
		KUNIT_ASSERT_NOT_NULL(test, ct->filename);
		KUNIT_ASSERT_EQ(test, ct->filename[-1], ':');
		KUNIT_ASSERT_TRUE(test, __start_alloc_tags[i].counters ==
				  builtin_alloc_tag_counters + ct->id);
	}
}

/* wait_event() has its condition more than once: an allocation in that has as many tags. */
static void twice_in_a_macro(struct kunit *test)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(queue);
	struct codetag_info info;
	unsigned long pos = 0;
	unsigned int line, nr = 0;
	void *object;

	line = __LINE__ + 1;
	wait_event(queue, (object = kmalloc(64, GFP_KERNEL)));
	kfree(object);
	codetag_lock();
	for (; codetag_next(&pos, &info, NULL); pos++)
		nr += info.ct->lineno == line && !strcmp(info.ct->function, __func__);
	codetag_unlock();
	KUNIT_EXPECT_GE(test, nr, 2);
}

/* Every tag once, in ascending positions, the reserved ones first. */
static void iteration(struct kunit *test)
{
	unsigned int nr = 0, reserved = 0, builtin = 0;
	struct codetag_id_use use;
	struct codetag_info info;
	unsigned long pos = 0, last = 0;

	codetag_lock();
	codetag_id_use(&use);
	for (; codetag_next(&pos, &info, NULL); pos++) {
		if (nr)
			KUNIT_EXPECT_GT(test, pos, last);
		last = pos;
		nr++;
		KUNIT_EXPECT_NOT_NULL(test, info.ct);
		KUNIT_EXPECT_FALSE(test, info.without_id);
		if (info.id < CODETAG_ID_FIRST)
			reserved++;
		else if (info.id < codetag_builtin_end)
			builtin++;
	}
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, reserved, CODETAG_ID_NR_RESERVED - 1);
	KUNIT_EXPECT_EQ(test, builtin, use.builtin);
	KUNIT_EXPECT_EQ(test, use.without_id, 0);
}

/* A tag of this file, through which nothing else allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static void uncharge(struct kunit *test, u16 id, size_t bytes, size_t calls)
{
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(id, bytes, calls));
}

static void expect_counts(struct kunit *test, u16 id, s64 bytes, s64 calls)
{
	struct codetag_sum sum = alloc_tag_read(id);

	KUNIT_EXPECT_EQ(test, (s64)sum.bytes, bytes);
	KUNIT_EXPECT_EQ(test, (s64)sum.calls, calls);
}

/* Also more than a word can count. */
static void counters(struct kunit *test)
{
	const size_t much = 1UL << 31;
	const u16 id = own_tag()->ct.id;
	int i;

	KUNIT_ASSERT_GE(test, id, CODETAG_ID_FIRST);
	expect_counts(test, id, 0, 0);
	alloc_tag_charge(id, 1000, 1);
	expect_counts(test, id, 1000, 1);
	for (i = 0; i < 512; i++)
		alloc_tag_charge(id, much, 7);
	expect_counts(test, id, (1LL << 40) + 1000, 512 * 7 + 1);
	uncharge(test, id, 1000, 1);
	expect_counts(test, id, 1LL << 40, 512 * 7);
	for (i = 0; i < 512; i++)
		uncharge(test, id, much, 7);
	expect_counts(test, id, 0, 0);
}

/* One CPU adds, another one subtracts: only the sum counts. */
static void counters_of_cpus(struct kunit *test)
{
	const u16 id = own_tag()->ct.id;
	struct alloc_tag_counters __percpu *counters = builtin_alloc_tag_counters + id;
	int first = cpumask_first(cpu_possible_mask);
	int last = first, cpu;

	for_each_possible_cpu(cpu)
		last = cpu;
	per_cpu_ptr(counters, first)->bytes += 300;
	per_cpu_ptr(counters, first)->allocs += 3;
	expect_counts(test, id, 300, 3);
	per_cpu_ptr(counters, last)->bytes -= 300;
	per_cpu_ptr(counters, last)->frees += 3;
	expect_counts(test, id, 0, 0);
	per_cpu_ptr(counters, first)->bytes = 0;
	per_cpu_ptr(counters, first)->allocs = 0;
	per_cpu_ptr(counters, last)->bytes = 0;
	per_cpu_ptr(counters, last)->frees = 0;
}

/* Allocations and frees wrap around, and the number of those held stays right. */
static void counters_wrap(struct kunit *test)
{
	const u16 id = own_tag()->ct.id;
	struct alloc_tag_counters *counters = per_cpu_ptr(builtin_alloc_tag_counters + id,
							  cpumask_first(cpu_possible_mask));
	struct codetag_sum before, after;
	unsigned int i;

	before = alloc_tag_read(id);
	counters->allocs += U32_MAX - before.allocs - 1;
	counters->frees += U32_MAX - before.frees - 1;
	for (i = 1; i <= 5; i++) {
		alloc_tag_charge(id, 8, 1);
		expect_counts(test, id, i * 8, i);
	}
	after = alloc_tag_read(id);
	KUNIT_EXPECT_EQ(test, after.allocs, 3);
	KUNIT_EXPECT_EQ(test, after.frees, U32_MAX - 1);
	uncharge(test, id, 5 * 8, 5);
	expect_counts(test, id, 0, 0);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(id).frees, 3);
}

/* Parts are held beside the allocations, and forgotten with the id. */
static void parts(struct kunit *test)
{
	const u16 id = own_tag()->ct.id;
	struct codetag_sum before = alloc_tag_read(id), after;

	alloc_tag_charge(id, 64, 1);
	alloc_tag_add_parts(id, 7);
	expect_counts(test, id, 64, 8);
	KUNIT_EXPECT_TRUE(test, codetag_id_holds_memory(id));
	uncharge(test, id, 64, 7);
	expect_counts(test, id, 0, 1);
	KUNIT_EXPECT_TRUE(test, codetag_id_holds_memory(id));
	uncharge(test, id, 0, 1);
	KUNIT_EXPECT_FALSE(test, codetag_id_holds_memory(id));
	after = alloc_tag_read(id);
	KUNIT_EXPECT_EQ(test, after.allocs, before.allocs + 1);
	KUNIT_EXPECT_EQ(test, after.frees, before.frees + 8);
	KUNIT_EXPECT_EQ(test, after.parts, before.parts + 7);

	codetag_parts_forget(id - 1, 3);
	KUNIT_EXPECT_EQ(test, codetag_parts(id), 0);
	alloc_tag_charge(id, 0, 7); /* as before */
}

/* Where the table has no room, parts count as allocations. */
static void parts_without_room(struct kunit *test)
{
	struct codetag_parts *saved;
	const u16 id = own_tag()->ct.id;
	u32 allocs = alloc_tag_read(id).allocs;
	unsigned int i;

	saved = kunit_kzalloc(test, sizeof(codetag_parts_of), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, saved);
	memcpy(saved, codetag_parts_of, sizeof(codetag_parts_of));
	for (i = 0; i < CODETAG_MAX_PARTS; i++)
		codetag_parts_of[i].id = CODETAG_ID_MAX;
	alloc_tag_charge(id, 64, 1);
	alloc_tag_add_parts(id, 3);
	expect_counts(test, id, 64, 4);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(id).allocs, allocs + 4);
	uncharge(test, id, 64, 4);
	expect_counts(test, id, 0, 0);
	memcpy(codetag_parts_of, saved, sizeof(codetag_parts_of));
}

/* A sum that misses what moves between CPUs while it is made is not shown as a huge one. */
static void negative_sums(struct kunit *test)
{
	const u16 id = own_tag()->ct.id;
	struct alloc_tag_counters __percpu *counters = builtin_alloc_tag_counters + id;
	struct codetag_info info;
	unsigned long pos = id;

	alloc_tag_count(counters, -300, 3, true);
	codetag_lock();
	KUNIT_EXPECT_TRUE(test, codetag_next(&pos, &info, NULL));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, pos, id);
	KUNIT_EXPECT_EQ(test, info.bytes, 0);
	KUNIT_EXPECT_EQ(test, info.calls, 0);
	alloc_tag_count(counters, 300, 3, false);
	expect_counts(test, id, 0, 0);
}

/* The audit reads the counters in blocks: these are those of each id. */
static void blocks(struct kunit *test)
{
	const u16 id = own_tag()->ct.id;
	struct codetag_sum sums[CODETAG_BLOCK_SIZE];

	alloc_tag_charge(id, 1000, 2);
	alloc_tag_read_block(round_down(id, CODETAG_BLOCK_SIZE), sums);
	KUNIT_EXPECT_EQ(test, sums[id % CODETAG_BLOCK_SIZE].bytes, 1000);
	KUNIT_EXPECT_EQ(test, sums[id % CODETAG_BLOCK_SIZE].calls, 2);
	uncharge(test, id, 1000, 2);

	/* There is nothing beyond the ids that are given out. */
	memset(sums, 0xff, sizeof(sums));
	alloc_tag_read_block(CODETAG_ID_MAX + 1 - CODETAG_BLOCK_SIZE, sums);
	KUNIT_EXPECT_NULL(test, memchr_inv(sums, 0, sizeof(sums)));

	/* The counters of id 0 have no meaning: readers get 0. */
	alloc_tag_count(builtin_alloc_tag_counters, -300, 3, true);
	alloc_tag_read_block(CODETAG_ID_NONE, sums);
	KUNIT_EXPECT_NULL(test, memchr_inv(sums, 0, sizeof(*sums)));
}

/* Nothing is charged to an id that nobody has. */
static void unknown_ids(struct kunit *test)
{
	unsigned int id = CODETAG_ID_MAX;

	KUNIT_EXPECT_FALSE(test, alloc_tag_id_counted(id));
	KUNIT_EXPECT_FALSE(test, alloc_tag_uncharge(id, 8, 1));
	KUNIT_EXPECT_FALSE(test, alloc_tag_uncharge(codetag_builtin_end, 8, 1));
	KUNIT_EXPECT_TRUE(test, alloc_tag_id_counted(codetag_builtin_end - 1));
	KUNIT_EXPECT_TRUE(test, alloc_tag_id_counted(own_tag()->ct.id));
}

static u16 current_id(void)
{
	return alloc_tag_id(alloc_tag_current());
}

/* The current tag is that of the innermost alloc_hooks(). */
static void nesting(struct kunit *test)
{
	DEFINE_ALLOC_TAG(second);
	struct alloc_tag *outer = own_tag(), *inner = &second;
	u16 before = current_id();
	u16 in_outer, in_inner, after_inner;

	in_outer = alloc_hooks_tag(outer, ({
		u16 id = current_id();

		in_inner = alloc_hooks_tag(inner, current_id());
		after_inner = current_id();
		id;
	}));
	KUNIT_EXPECT_EQ(test, before, CODETAG_ID_UNTAGGED);
	KUNIT_EXPECT_EQ(test, in_outer, outer->ct.id);
	KUNIT_EXPECT_EQ(test, in_inner, inner->ct.id);
	KUNIT_EXPECT_EQ(test, after_inner, outer->ct.id);
	KUNIT_EXPECT_EQ(test, current_id(), before);
}

struct sleeper {
	struct alloc_tag *tag;
	struct completion done;
	unsigned int wrong;
};

static struct alloc_tag *current_after_sleep(void)
{
	usleep_range(10, 50);
	return alloc_tag_current();
}

static int sleeps(void *data)
{
	struct sleeper *s = data;
	unsigned int i;

	for (i = 0; i < 200; i++) {
		s->wrong += alloc_hooks_tag(s->tag, current_after_sleep()) != s->tag;
		s->wrong += alloc_tag_current() != &alloc_tag_untagged;
	}
	complete(&s->done);
	return 0;
}

/* The current tag is that of the task, whatever others do on its CPU in between. */
static void tasks(struct kunit *test)
{
	DEFINE_ALLOC_TAG(second);
	struct sleeper s[] = { { .tag = own_tag() }, { .tag = &second }, { .tag = own_tag() } };
	struct task_struct *task[ARRAY_SIZE(s)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(s); i++) {
		init_completion(&s[i].done);
		task[i] = kthread_create(sleeps, &s[i], "codetag_sleeps/%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
		kthread_bind(task[i], cpumask_first(cpu_online_mask));
	}
	for (i = 0; i < ARRAY_SIZE(s); i++)
		wake_up_process(task[i]);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		wait_for_completion(&s[i].done);
		KUNIT_EXPECT_EQ(test, s[i].wrong, 0);
	}
}

static int looks(void *data)
{
	struct sleeper *s = data;

	s->tag = alloc_tag_current();
	complete(&s->done);
	do_exit(0);
}

/* A new task has none, also if its parent has been switched from while it had one. */
static void new_task(struct kunit *test)
{
	struct sleeper s = {};

	init_completion(&s.done);
	alloc_hooks_tag(own_tag(), current_after_sleep());
	KUNIT_ASSERT_GT(test, kernel_thread(looks, &s, "codetag_looks", CLONE_FS | CLONE_FILES), 0);
	wait_for_completion(&s.done);
	KUNIT_EXPECT_PTR_EQ(test, s.tag, &alloc_tag_untagged);
}

static void recording(struct kunit *test)
{
	struct alloc_tag *tag = own_tag(), *recorded = NULL;

	alloc_hooks_tag(tag, ({ alloc_tag_record(recorded); 0; }));
	KUNIT_EXPECT_PTR_EQ(test, recorded, tag);
}

#ifdef CONFIG_MODULES

#define FUNC_SIZE	16

/* A module of which nothing but its tags is real. */
static struct module *fake_module(struct kunit *test, const char *name, unsigned int nr)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	char (*names)[FUNC_SIZE] = vzalloc(nr * FUNC_SIZE);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, mod);
	KUNIT_ASSERT_NOT_NULL(test, names);
	strscpy(mod->name, name);
	mod->num_alloc_tags = nr;
	mod->alloc_tags = vzalloc(nr * sizeof(*mod->alloc_tags));
	KUNIT_ASSERT_NOT_NULL(test, mod->alloc_tags);
	for (i = 0; i < nr; i++) {
		snprintf(names[i], FUNC_SIZE, "func_%u", i);
		mod->alloc_tags[i].ct = (struct codetag) {
			.id = CODETAG_ID_UNREPRESENTABLE,
			.lineno = i + 1,
			.function = names[i],
			.filename = mod->name,
		};
	}
	return mod;
}

/* All that the module's memory held is gone. */
static void fake_module_gone(struct module *mod)
{
	char *names;

	if (!mod->alloc_tags)
		return;
	names = (char *)mod->alloc_tags[0].ct.function;
	memset(names, 0x6b, mod->num_alloc_tags * FUNC_SIZE);
	vfree(names);
	memset(mod->alloc_tags, 0x6b, mod->num_alloc_tags * sizeof(*mod->alloc_tags));
	vfree(mod->alloc_tags);
	mod->alloc_tags = NULL;
	memset(mod->name, 0x6b, sizeof(mod->name));
}

static struct codetag_id_use id_use(void)
{
	struct codetag_id_use use;

	codetag_reap();
	codetag_lock();
	codetag_id_use(&use);
	codetag_unlock();
	return use;
}

/* How many lines of a module are listed, and the last of them. */
static unsigned int listed(const char *modname, struct codetag_info *found, char *func,
			   size_t size)
{
	struct codetag_info info;
	unsigned long pos = 0;
	unsigned int nr = 0;

	codetag_lock();
	for (; codetag_next(&pos, &info, NULL); pos++) {
		if (!info.modname || strcmp(info.modname, modname))
			continue;
		nr++;
		*found = info;
		strscpy(func, info.ct->function, size);
	}
	codetag_unlock();
	return nr;
}

static void module_load(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_load", 70);
	struct codetag_id_use before = id_use(), now;
	struct codetag_info info;
	char func[32];
	unsigned int i;

	codetag_load_module(mod);
	for (i = 0; i < 70; i++) {
		u16 id = mod->alloc_tags[i].ct.id;

		KUNIT_EXPECT_EQ(test, id, mod->alloc_tags[0].ct.id + i);
		KUNIT_EXPECT_GE(test, id, codetag_builtin_end);
		KUNIT_EXPECT_PTR_EQ(test, tag_of(id), &mod->alloc_tags[i].ct);
		expect_counts(test, id, 0, 0);
	}
	KUNIT_EXPECT_NULL(test, tag_of(mod->alloc_tags[69].ct.id + 1));
	KUNIT_EXPECT_TRUE(test, alloc_tag_id_counted(mod->alloc_tags[69].ct.id));
	KUNIT_EXPECT_FALSE(test, alloc_tag_id_counted(mod->alloc_tags[69].ct.id + 1));
	KUNIT_EXPECT_EQ(test, listed("fake_load", &info, func, sizeof(func)), 70);
	KUNIT_EXPECT_FALSE(test, info.unloaded);
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.modules, before.modules + 70);
	KUNIT_EXPECT_LE(test, now.free, before.free - 70);

	/* Nothing is held: everything goes at once. */
	codetag_unload_module(mod);
	KUNIT_EXPECT_EQ(test, listed("fake_load", &info, func, sizeof(func)), 0);
	KUNIT_EXPECT_NULL(test, tag_of(mod->alloc_tags[0].ct.id));
	KUNIT_EXPECT_FALSE(test, alloc_tag_id_counted(mod->alloc_tags[0].ct.id));
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.modules, before.modules);
	KUNIT_EXPECT_EQ(test, now.free, before.free);
	KUNIT_EXPECT_EQ(test, now.tag_bytes, before.tag_bytes);
	KUNIT_EXPECT_EQ(test, now.counter_bytes, before.counter_bytes);
	fake_module_gone(mod);
}

/* Memory outlives the module: its line stays, with names that are copies. */
static void module_unload(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_unload", 10);
	struct codetag_id_use before = id_use(), now;
	struct codetag_info info;
	char func[32];
	u16 id;

	codetag_load_module(mod);
	id = mod->alloc_tags[4].ct.id;
	alloc_tag_charge(id, 640, 10);
	KUNIT_EXPECT_EQ(test, listed("fake_unload", &info, func, sizeof(func)), 10);

	codetag_unload_module(mod);
	fake_module_gone(mod);
	KUNIT_EXPECT_EQ(test, listed("fake_unload", &info, func, sizeof(func)), 1);
	KUNIT_EXPECT_TRUE(test, info.unloaded);
	KUNIT_EXPECT_EQ(test, info.id, id);
	KUNIT_EXPECT_EQ(test, info.bytes, 640);
	KUNIT_EXPECT_EQ(test, info.calls, 10);
	KUNIT_EXPECT_EQ(test, info.ct->lineno, 5);
	KUNIT_EXPECT_STREQ(test, func, "func_4");
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.unloaded, before.unloaded + 10);
	KUNIT_EXPECT_LT(test, now.free, before.free);

	/* As long as one byte is left the ids stay. */
	uncharge(test, id, 639, 9);
	KUNIT_EXPECT_EQ(test, listed("fake_unload", &info, func, sizeof(func)), 1);
	KUNIT_EXPECT_EQ(test, id_use().unloaded, before.unloaded + 10);
	uncharge(test, id, 1, 1);
	KUNIT_EXPECT_EQ(test, listed("fake_unload", &info, func, sizeof(func)), 0);
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.unloaded, before.unloaded);
	KUNIT_EXPECT_EQ(test, now.free, before.free);
	KUNIT_EXPECT_NULL(test, tag_of(id));
}

/* The index of lines has their number right. */
static u64 content_id(struct kunit *test)
{
	struct codetag_content content;
	struct codetag_info info;
	unsigned long pos = 0, nr = 0;

	codetag_lock();
	codetag_content(&content);
	for (; codetag_next(&pos, &info, NULL); pos++)
		nr++;
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, content.nr, nr);
	return content.id;
}

/* Expect another content id than the last one, or the same one. */
static void expect_content(struct kunit *test, u64 *last, bool other)
{
	u64 id = content_id(test);

	KUNIT_EXPECT_EQ(test, id != *last, other);
	KUNIT_EXPECT_GE(test, id, *last);
	KUNIT_EXPECT_EQ(test, content_id(test), id);
	*last = id;
}

/* Lines come and go with modules, and with the last byte of unloaded ones. */
static void content_ids(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_lines", 40);
	struct module *none = fake_module(test, "fake_none", 3);
	u64 last = content_id(test);
	u16 first, second;

	expect_content(test, &last, false);
	codetag_load_module(mod);
	expect_content(test, &last, true);
	first = mod->alloc_tags[3].ct.id;
	second = mod->alloc_tags[33].ct.id;
	alloc_tag_charge(first, 64, 2);
	alloc_tag_charge(second, 64, 1);
	expect_content(test, &last, false);

	codetag_load_module(none);
	expect_content(test, &last, true);
	codetag_unload_module(none);
	fake_module_gone(none);
	expect_content(test, &last, true);

	codetag_unload_module(mod);
	fake_module_gone(mod);
	expect_content(test, &last, true);
	uncharge(test, first, 32, 1);
	expect_content(test, &last, false);
	uncharge(test, first, 32, 1);
	expect_content(test, &last, true);
	codetag_reap();
	expect_content(test, &last, false);

	/* Nobody has asked between the last byte and the end of the range. */
	uncharge(test, second, 64, 1);
	codetag_reap();
	KUNIT_EXPECT_NULL(test, tag_of(second));
	expect_content(test, &last, true);
}

/* A walk without counters skips lines that are gone, too. */
static void tags_with_names(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_tags", 10);
	struct codetag_info info;
	unsigned long pos = 0;
	unsigned int nr = 0;
	u16 id;

	codetag_load_module(mod);
	id = mod->alloc_tags[7].ct.id;
	alloc_tag_charge(id, 8, 1);
	codetag_unload_module(mod);
	fake_module_gone(mod);

	codetag_lock();
	for (; codetag_next_tag(&pos, &info); pos++) {
		KUNIT_EXPECT_NOT_NULL(test, info.ct->function);
		if (!info.modname || strcmp(info.modname, "fake_tags"))
			continue;
		nr++;
		KUNIT_EXPECT_EQ(test, info.id, id);
		KUNIT_EXPECT_TRUE(test, codetag_read(&info, NULL));
		KUNIT_EXPECT_EQ(test, info.bytes, 8);
		uncharge(test, id, 8, 1);
		KUNIT_EXPECT_FALSE(test, codetag_read(&info, NULL));
	}
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, nr, 1);
	codetag_reap();
}

/* The next module with the same ids has no parts. */
static void module_parts(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_parts", 10);
	u16 id;

	codetag_load_module(mod);
	id = mod->alloc_tags[3].ct.id;
	alloc_tag_charge(id, 8, 1);
	alloc_tag_add_parts(id, 1);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(id).calls, 2);
	codetag_unload_module(mod);
	fake_module_gone(mod);
	codetag_reap();
	KUNIT_EXPECT_EQ(test, codetag_parts(id), 1);
	uncharge(test, id, 8, 2);
	codetag_reap();
	KUNIT_EXPECT_EQ(test, codetag_parts(id), 0);
}

/* Loaded again: ids and counters of its own, whatever the first load left. */
static void module_again(struct kunit *test)
{
	struct module *first = fake_module(test, "fake_again", 5), *second;
	struct codetag_id_use before = id_use();
	struct codetag_info info;
	char func[32];
	u16 old, new;

	codetag_load_module(first);
	old = first->alloc_tags[0].ct.id;
	alloc_tag_charge(old, 100, 1);
	codetag_unload_module(first);
	fake_module_gone(first);

	second = fake_module(test, "fake_again", 5);
	codetag_load_module(second);
	new = second->alloc_tags[0].ct.id;
	KUNIT_EXPECT_NE(test, new, old);
	expect_counts(test, new, 0, 0);
	expect_counts(test, old, 100, 1);
	KUNIT_EXPECT_EQ(test, listed("fake_again", &info, func, sizeof(func)), 6);
	alloc_tag_charge(new, 30, 1);
	uncharge(test, old, 100, 1);
	expect_counts(test, new, 30, 1);
	KUNIT_EXPECT_EQ(test, listed("fake_again", &info, func, sizeof(func)), 5);

	/* The old ids are free, and may be given out, but not those in use. */
	codetag_reap();
	KUNIT_EXPECT_NULL(test, tag_of(old));
	KUNIT_EXPECT_PTR_EQ(test, tag_of(new), &second->alloc_tags[0].ct);
	uncharge(test, new, 30, 1);
	codetag_unload_module(second);
	fake_module_gone(second);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
}

/* Bytes or calls alone keep the ids: a free is never caught half done. */
static void module_half(struct kunit *test)
{
	struct module *mod = fake_module(test, "fake_half", 3);
	struct codetag_id_use before = id_use();
	u16 id;

	codetag_load_module(mod);
	id = mod->alloc_tags[2].ct.id;
	alloc_tag_charge(id, 0, 1);
	codetag_unload_module(mod);
	fake_module_gone(mod);
	codetag_reap();
	KUNIT_EXPECT_NOT_NULL(test, tag_of(id));
	alloc_tag_charge(id, 8, 0);
	uncharge(test, id, 0, 1);
	codetag_reap();
	KUNIT_EXPECT_NOT_NULL(test, tag_of(id));
	uncharge(test, id, 8, 0);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
}

/* More lines than one piece of counters holds. */
static void module_large(struct kunit *test)
{
	struct codetag_id_use before = id_use();
	unsigned int nr = 5000, i;
	struct codetag_info info;
	struct module *mod;
	char func[32];

	mod = fake_module(test, "fake_large", nr);
	codetag_load_module(mod);
	for (i = 0; i < nr; i++) {
		const struct codetag *ct = &mod->alloc_tags[i].ct;

		KUNIT_ASSERT_PTR_EQ(test, tag_of(ct->id), ct);
		alloc_tag_charge(ct->id, i + 1, 1);
	}
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, alloc_tag_read(mod->alloc_tags[i].ct.id).bytes, i + 1);
	KUNIT_EXPECT_EQ(test, listed("fake_large", &info, func, sizeof(func)), nr);
	KUNIT_EXPECT_EQ(test, info.bytes, nr);
	for (i = 0; i < nr; i++)
		uncharge(test, mod->alloc_tags[i].ct.id, i + 1, 1);
	codetag_unload_module(mod);
	fake_module_gone(mod);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
	KUNIT_EXPECT_EQ(test, id_use().unloaded, before.unloaded);
}

/* Counters that are read ahead are those of the right ids, wherever one begins. */
static void module_read_ahead(struct kunit *test)
{
	/* More than one piece of counters, and one that is not full behind it. */
	struct module *mods[] = {
		fake_module(test, "fake_ahead", 3000),
		fake_module(test, "fake_behind", 70),
	};
	struct codetag_sums *sums = kunit_kzalloc(test, sizeof(*sums), GFP_KERNEL);
	unsigned int begin, i, n, wrong, nr = 0;
	struct codetag_info info;
	unsigned long pos;

	KUNIT_ASSERT_NOT_NULL(test, sums);
	for (n = 0; n < ARRAY_SIZE(mods); n++) {
		codetag_load_module(mods[n]);
		for (i = 0; i < mods[n]->num_alloc_tags; i++)
			alloc_tag_charge(mods[n]->alloc_tags[i].ct.id,
					 mods[n]->alloc_tags[i].ct.id, i + 1);
		nr += i;
	}
	for (begin = 0; begin < 40; begin += 13) {
		n = 0;
		wrong = 0;
		sums->nr = 0;
		codetag_lock();
		for (pos = codetag_builtin_end + begin; codetag_next(&pos, &info, sums); pos++) {
			if (!info.modname || strncmp(info.modname, "fake_", 5))
				continue;
			wrong += info.bytes != info.id;
			wrong += info.calls != alloc_tag_read(info.id).calls;
			n++;
		}
		codetag_unlock();
		KUNIT_EXPECT_EQ(test, wrong, 0);
		KUNIT_EXPECT_GE(test, n, nr - begin);
	}
	for (n = 0; n < ARRAY_SIZE(mods); n++) {
		for (i = 0; i < mods[n]->num_alloc_tags; i++)
			uncharge(test, mods[n]->alloc_tags[i].ct.id,
				 mods[n]->alloc_tags[i].ct.id, i + 1);
		codetag_unload_module(mods[n]);
		fake_module_gone(mods[n]);
	}
}

/* More lines than there are ids: listed, but charged to the reserved id. */
static void module_exhaustion(struct kunit *test)
{
	struct codetag_id_use before = id_use(), now;
	unsigned int nr = 16000, n, i;
	struct module *mod[6] = {}, *small;
	u64 last = content_id(test);
	unsigned int without = 0;

	for (n = 0; n < ARRAY_SIZE(mod); n++) {
		mod[n] = fake_module(test, "fake_too_large", nr);
		codetag_load_module(mod[n]);
		for (i = 0; i < nr; i++) {
			const struct codetag *ct = &mod[n]->alloc_tags[i].ct;

			if (ct->id == CODETAG_ID_UNREPRESENTABLE)
				without++;
			else if (tag_of(ct->id) != ct)
				KUNIT_FAIL_AND_ABORT(test, "id %u has another tag", ct->id);
		}
	}
	now = id_use();
	KUNIT_EXPECT_GE(test, without, nr * ARRAY_SIZE(mod) - 65536);
	KUNIT_EXPECT_EQ(test, now.without_id - before.without_id, without);
	KUNIT_EXPECT_EQ(test, now.modules - before.modules, nr * ARRAY_SIZE(mod) - without);
	KUNIT_EXPECT_GT(test, now.modules_without_id, before.modules_without_id);
	KUNIT_EXPECT_GT(test, without, 0);
	expect_content(test, &last, true);

	for (n = 0; n < ARRAY_SIZE(mod); n++) {
		codetag_unload_module(mod[n]);
		fake_module_gone(mod[n]);
	}
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.free, before.free);
	KUNIT_EXPECT_EQ(test, now.without_id, before.without_id);
	expect_content(test, &last, true);

	small = fake_module(test, "fake_small", 1);
	codetag_load_module(small);
	KUNIT_EXPECT_NE(test, small->alloc_tags[0].ct.id, CODETAG_ID_UNREPRESENTABLE);
	codetag_unload_module(small);
	fake_module_gone(small);
}

/*
 * A large module that leaks an object each time it is loaded, at one line or another: what
 * else it had is free again, so that it gets all of its ids each time.
 */
static void module_leaks(struct kunit *test)
{
	enum { NR = 2001, LOADS = 100 };
	struct codetag_id_use before = id_use(), now;
	unsigned int n, i, without = 0;
	u16 leaked[LOADS];

	for (n = 0; n < LOADS; n++) {
		struct module *mod = fake_module(test, "fake_leaks", NR);

		codetag_load_module(mod);
		for (i = 0; i < NR; i++)
			without += mod->alloc_tags[i].ct.id == CODETAG_ID_UNREPRESENTABLE;
		leaked[n] = mod->alloc_tags[n * 97 % NR].ct.id;
		alloc_tag_charge(leaked[n], 24, 1);
		codetag_unload_module(mod);
		fake_module_gone(mod);
	}
	KUNIT_EXPECT_EQ(test, without, 0);
	now = id_use();
	KUNIT_EXPECT_EQ(test, now.modules_without_id, before.modules_without_id);
	KUNIT_EXPECT_EQ(test, now.free, before.free - LOADS * CODETAG_BLOCK_SIZE);
	KUNIT_EXPECT_LE(test, now.unloaded, before.unloaded + LOADS * CODETAG_BLOCK_SIZE);
	KUNIT_EXPECT_EQ(test, now.names_lost, before.names_lost);
	for (n = 0; n < LOADS; n++) {
		expect_counts(test, leaked[n], 24, 1);
		uncharge(test, leaked[n], 24, 1);
	}
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
}

/* The most steps of a walk between two chances to schedule, and all of its steps. */
static unsigned long most_steps, all_steps;

static void count_steps(unsigned long steps)
{
	most_steps = max(most_steps, steps);
	all_steps += steps;
	cond_resched();
}

/* A module with many call sites comes and goes: others get a chance all the time. */
static void module_rests(struct kunit *test)
{
	enum { NR = 5000 };
	struct module *mod = fake_module(test, "fake_rests", NR);
	unsigned long cpus = num_possible_cpus();
	struct codetag_sums *sums = kunit_kzalloc(test, sizeof(*sums), GFP_KERNEL);
	struct codetag_info info;
	unsigned long pos = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, sums);
	kunit_activate_static_stub(test, codetag_rest, count_steps);
	most_steps = 0;
	all_steps = 0;
	codetag_load_module(mod);
	KUNIT_EXPECT_GE(test, all_steps, NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);

	/* A report that goes through all of it. */
	all_steps = 0;
	sums->may_sleep = true;
	codetag_lock();
	for (; codetag_next(&pos, &info, sums); pos++)
		;
	codetag_unlock();
	KUNIT_EXPECT_GE(test, all_steps, NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);

	/* All of them hold something when it goes, and then nothing. */
	for (i = 0; i < NR; i++)
		alloc_tag_charge(mod->alloc_tags[i].ct.id, 8, 1);
	all_steps = 0;
	codetag_unload_module(mod);
	KUNIT_EXPECT_GE(test, all_steps, NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);
	for (i = 0; i < NR; i++)
		uncharge(test, mod->alloc_tags[i].ct.id, 8, 1);
	all_steps = 0;
	codetag_reap();
	KUNIT_EXPECT_GE(test, all_steps, NR * cpus);
	KUNIT_EXPECT_LE(test, most_steps, CODETAG_BLOCK_SIZE * cpus);
	kunit_deactivate_static_stub(test, codetag_rest);
	fake_module_gone(mod);
}

static void module_without_tags(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	struct codetag_id_use before = id_use();

	KUNIT_ASSERT_NOT_NULL(test, mod);
	codetag_load_module(mod);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
	codetag_unload_module(mod);
	KUNIT_EXPECT_EQ(test, id_use().free, before.free);
}

#endif /* CONFIG_MODULES */

static struct kunit_case core_cases[] = {
	KUNIT_CASE(reserved_ids),
	KUNIT_CASE(builtin_ids),
	KUNIT_CASE(twice_in_a_macro),
	KUNIT_CASE(iteration),
	KUNIT_CASE(counters),
	KUNIT_CASE(counters_of_cpus),
	KUNIT_CASE(counters_wrap),
	KUNIT_CASE(parts),
	KUNIT_CASE(parts_without_room),
	KUNIT_CASE(negative_sums),
	KUNIT_CASE(blocks),
	KUNIT_CASE(unknown_ids),
	KUNIT_CASE(nesting),
	KUNIT_CASE(tasks),
	KUNIT_CASE(new_task),
	KUNIT_CASE(recording),
#ifdef CONFIG_MODULES
	KUNIT_CASE(module_load),
	KUNIT_CASE(module_unload),
	KUNIT_CASE(content_ids),
	KUNIT_CASE(tags_with_names),
	KUNIT_CASE(module_parts),
	KUNIT_CASE(module_again),
	KUNIT_CASE(module_half),
	KUNIT_CASE(module_large),
	KUNIT_CASE(module_read_ahead),
	KUNIT_CASE_SLOW(module_exhaustion),
	KUNIT_CASE(module_leaks),
	KUNIT_CASE(module_rests),
	KUNIT_CASE(module_without_tags),
#endif
	{}
};

static struct kunit_suite core_suite = {
	.name = "codetag_core",
	.test_cases = core_cases,
};

kunit_test_suite(core_suite);

MODULE_DESCRIPTION("Tests of the registry of code tags");
MODULE_LICENSE("GPL");
