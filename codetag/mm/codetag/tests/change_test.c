// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of changes: which of several queries decides, how much is prepared, and how far
 * a walk over call sites goes.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../change.h"
#include "../site.h"
#include "../split.h"

/* Two tags, through which nothing allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static struct alloc_tag *other_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static u16 id_of(const struct alloc_tag *tag)
{
	return tag - __start_alloc_tags + CODETAG_ID_FIRST;
}

/* The most steps of a walk between two chances to schedule, and all of its steps. */
static unsigned long most_steps, all_steps;

static void count_steps(unsigned long steps)
{
	most_steps = max(most_steps, steps);
	all_steps += steps;
	cond_resched();
}

/* Parse queries; returns how many they are. */
static unsigned int parse(struct kunit *test, const char *source, struct list_head *queries)
{
	size_t pos = 0, len = strlen(source);
	char *text = kunit_kzalloc(test, len + 1, GFP_KERNEL);
	struct codetag_query_error err;
	struct codetag_change *change;
	unsigned int nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memcpy(text, source, len);
	for (;;) {
		change = kunit_kzalloc(test, sizeof(*change), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, change);
		if (codetag_query_parse(text, len, &pos, &change->query, &err) <= 0)
			return nr;
		list_add_tail(&change->list, queries);
		nr++;
	}
}

/* Do what queries ask for; returns how many sites something was prepared for. */
static size_t apply(struct kunit *test, struct list_head *queries)
{
	LIST_HEAD(plans);
	size_t nr;

	codetag_lock();
	KUNIT_EXPECT_EQ(test, codetag_changes_prepare(queries, &plans), 0);
	nr = list_count_nodes(&plans);
	codetag_changes_commit(queries, &plans);
	codetag_unlock();
	codetag_changes_free(&plans);
	codetag_change_switch();
	return nr;
}

static size_t run(struct kunit *test, const char *source)
{
	LIST_HEAD(queries);

	parse(test, source, &queries);
	return apply(test, &queries);
}

static bool profiled(const struct alloc_tag *tag)
{
	struct codetag_info info;
	bool is;

	codetag_lock();
	is = codetag_info_of(id_of(tag), &info) && codetag_profiled(&info);
	codetag_unlock();
	return is;
}

/* As if they were done one after another. */
static void last_decides(struct kunit *test)
{
	static const struct {
		const char *queries;
		bool own, other;
	} of[] = {
		{ "func own_tag -p", false, true },
		{ "func own_tag +p; func other_tag =_", true, false },
		{ "func *_tag file change_test.c -p; func own_tag =p", true, false },
		{ "func own_tag =p; func *_tag file change_test.c -p", false, false },
		{ "func own_tag =p; func own_tag -p; func other_tag -p; func other_tag +p",
		  false, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		run(test, "file change_test.c =p");
		KUNIT_EXPECT_TRUE(test, profiled(own_tag()));
		run(test, of[i].queries);
		KUNIT_EXPECT_EQ(test, profiled(own_tag()), of[i].own);
		KUNIT_EXPECT_EQ(test, profiled(other_tag()), of[i].other);
	}
	run(test, "file change_test.c =p");
}

#ifdef CONFIG_CODETAG_CONTEXTS

static bool split(const struct alloc_tag *tag)
{
	struct codetag_info info;
	bool is;

	codetag_lock();
	is = codetag_info_of(id_of(tag), &info) && codetag_split_wanted(&info);
	codetag_unlock();
	return is;
}

static unsigned int split_bits(const struct alloc_tag *tag)
{
	struct codetag_info info;
	unsigned int bits = 0, max;

	codetag_lock();
	if (codetag_info_of(id_of(tag), &info))
		bits = codetag_split_by(&info, &max);
	codetag_unlock();
	return bits;
}

/* Keys and tracing, which one struct has, do not depend on one another. */
static void traces(struct kunit *test)
{
	const unsigned int size = BIT(CODETAG_KEY_SIZE), trace = CODETAG_SPLIT_TRACE;
	static const struct {
		const char *queries;
		bool size, trace;
	} of[] = {
		{ "func own_tag trace", false, true },
		{ "func own_tag keys=size", true, true },
		{ "func own_tag trace=off", true, false },
		{ "func own_tag trace; func own_tag keys=none", false, true },
		{ "func own_tag trace=off; func own_tag keys=size", true, false },
		{ "func own_tag keys=none; func own_tag trace", false, true },
		{ "func own_tag trace=off; func own_tag -p", false, false },
		{ "func own_tag trace", false, true },
		{ "func own_tag trace; func own_tag =p; trace=off", false, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		run(test, of[i].queries);
		KUNIT_EXPECT_EQ(test, split_bits(own_tag()),
				(of[i].size ? size : 0) | (of[i].trace ? trace : 0));
		KUNIT_EXPECT_EQ(test, split_bits(other_tag()), 0);
	}
	KUNIT_EXPECT_TRUE(test, profiled(own_tag()));
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, id_of(own_tag()));
	run(test, "func own_tag keys=stack depth=7 max=9; func own_tag trace");
	KUNIT_EXPECT_EQ(test, split_bits(own_tag()),
			BIT(CODETAG_KEY_STACK) | 7 << CODETAG_SPLIT_DEPTH | trace);
	run(test, "func own_tag keys=none; trace=off");
	KUNIT_EXPECT_EQ(test, split_bits(own_tag()), 0);
	codetag_contexts_reap();
}

/* Whether a site is profiled, its fault, guard and keys do not depend on one another. */
static void aspects(struct kunit *test)
{
	const bool faults = IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION);
	const bool guards = IS_ENABLED(CONFIG_CODETAG_GUARD);
	const unsigned int fault = faults ? 0x01 : 0, guard = guards ? 0x02 : 0;

	if (guards)
		run(test, "func own_tag guard rate=1000000");
	if (faults)
		run(test, "func own_tag fault nth=7");
	run(test, "func own_tag keys=size; func own_tag -p");
	KUNIT_EXPECT_FALSE(test, profiled(own_tag()));
	KUNIT_EXPECT_TRUE(test, split(own_tag()));
	KUNIT_EXPECT_EQ(test, own_tag()->ct.fault, fault | guard);
	if (faults)
		run(test, "func own_tag fault=off; func own_tag fault; func own_tag =p; fault=off");
	else
		run(test, "func own_tag =p; func own_tag fault=off");
	KUNIT_EXPECT_TRUE(test, profiled(own_tag()));
	KUNIT_EXPECT_TRUE(test, split(own_tag()));
	KUNIT_EXPECT_EQ(test, own_tag()->ct.fault, guard);
	run(test, "func own_tag guard=off");
	KUNIT_EXPECT_FALSE(test, own_tag()->ct.fault);
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, CODETAG_ID_NONE);
	run(test, "func own_tag keys=node; func own_tag keys=none");
	KUNIT_EXPECT_TRUE(test, profiled(own_tag()));
	KUNIT_EXPECT_FALSE(test, split(own_tag()));
	KUNIT_EXPECT_EQ(test, own_tag()->ct.id, id_of(own_tag()));
	codetag_contexts_reap();
}

#else

static void aspects(struct kunit *test)
{
	kunit_skip(test, "this kernel has no contexts");
}

static void traces(struct kunit *test)
{
	kunit_skip(test, "this kernel has no contexts");
}

#endif /* CONFIG_CODETAG_CONTEXTS */

/* Queries that match nothing are known, and those that others make superfluous. */
static void matched(struct kunit *test)
{
	static const bool want[] = { true, false, true, true, false };
	struct codetag_change *change;
	LIST_HEAD(queries);
	LIST_HEAD(plans);
	unsigned int i = 0;

	parse(test, "func own_tag +p; func no_such_tag +p; func other_tag +p;"
		    "func *_tag file change_test.c +p; line 1-1 func own_tag +p", &queries);
	codetag_lock();
	KUNIT_EXPECT_EQ(test, codetag_changes_prepare(&queries, &plans), 0);
	codetag_unlock();
	codetag_changes_free(&plans);
	list_for_each_entry(change, &queries, list)
		KUNIT_EXPECT_EQ(test, change->matched, want[i++]);
}

/* However often a site is asked for: it is prepared once, and not looked at for each. */
static void prepared_once(struct kunit *test)
{
	enum { NR = 1000 };
	char *text = kunit_kzalloc(test, NR * sizeof("=p;"), GFP_KERNEL);
	unsigned long sites = __stop_alloc_tags - __start_alloc_tags;
	LIST_HEAD(queries);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < NR; i++)
		strcat(text, "=p;");
	KUNIT_EXPECT_EQ(test, parse(test, text, &queries), NR);

	kunit_activate_static_stub(test, codetag_rest, count_steps);
	most_steps = 0;
	all_steps = 0;
	KUNIT_EXPECT_GE(test, apply(test, &queries), sites);
	/* One look at each site, and one query after the other at the first. */
	KUNIT_EXPECT_LE(test, most_steps, NR);
	KUNIT_EXPECT_LE(test, all_steps, NR + 10 * sites);
	kunit_deactivate_static_stub(test, codetag_rest);
}

#ifdef CONFIG_MODULES

/* A module that is loaded: its own sites, each once for all queries. */
static void of_module(struct kunit *test)
{
	enum { NR = 300, SITES = 40 };
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);
	char *text = kunit_kzalloc(test, NR * sizeof("module change_fake func none_123 -p;"),
				   GFP_KERNEL);
	unsigned int i, off = 0, nr;
	LIST_HEAD(queries);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	KUNIT_ASSERT_NOT_NULL(test, text);
	strscpy(mod->name, "change_fake");
	mod->num_alloc_tags = SITES;
	mod->alloc_tags = kunit_kcalloc(test, SITES, sizeof(*mod->alloc_tags), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mod->alloc_tags);
	for (i = 0; i < SITES; i++)
		mod->alloc_tags[i].ct = (struct codetag) {
			.lineno = i + 1,
			.function = "fake",
			.filename = "fake.c",
		};
	for (i = 0; i < NR; i++)
		sprintf(text + strlen(text), "module change_fake func none_%u -p;", i);
	strcat(text, "module change_fake line 33- -p");
	nr = parse(test, text, &queries);
	KUNIT_EXPECT_EQ(test, nr, NR + 1);

	codetag_load_module(mod);
	kunit_activate_static_stub(test, codetag_rest, count_steps);
	most_steps = 0;
	all_steps = 0;
	codetag_lock();
	codetag_changes_of_module(&queries, mod);
	codetag_unlock();
	kunit_deactivate_static_stub(test, codetag_rest);
	KUNIT_EXPECT_LE(test, most_steps, nr);
	KUNIT_EXPECT_GE(test, all_steps, NR * SITES);
	KUNIT_EXPECT_LE(test, all_steps, nr * SITES);
	for (i = 0; i < SITES; i++)
		off += mod->alloc_tags[i].ct.id == CODETAG_ID_NONE;
	KUNIT_EXPECT_EQ(test, off, SITES - 32);
	codetag_unload_module(mod);
}

#else

static void of_module(struct kunit *test)
{
	kunit_skip(test, "this kernel has no modules");
}

#endif /* CONFIG_MODULES */

static struct kunit_case change_cases[] = {
	KUNIT_CASE(last_decides),
	KUNIT_CASE(aspects),
	KUNIT_CASE(traces),
	KUNIT_CASE(matched),
	KUNIT_CASE(prepared_once),
	KUNIT_CASE(of_module),
	{}
};

static struct kunit_suite change_suite = {
	.name = "codetag_change",
	.test_cases = change_cases,
};

kunit_test_suite(change_suite);

MODULE_DESCRIPTION("Tests of what queries change");
MODULE_LICENSE("GPL");
