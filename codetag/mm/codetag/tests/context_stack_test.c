// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the stacks of contexts, and of the callers among them
 */
#include <kunit/test.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>
#include "../context_stack.h"
#include "../helpers.h"
#include "split_test.h"

/* It allocates on behalf of its callers: contexts must name these. */
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

#if defined(CODETAG_FRAMES_SIZED) || defined(CODETAG_FRAMES_LINKED)

/* The stack of value_of_caller(), and how much of it there is */
static unsigned long stack_there[CODETAG_STACK_ENTRIES];
static unsigned int nr_there;

static noinline u64 value_of_caller(const struct codetag_site *site)
{
	u64 value;

	nr_there = stack_trace_save(stack_there, ARRAY_SIZE(stack_there), 0);
	preempt_disable();
	value = codetag_caller_value(site);
	preempt_enable();
	return value;
}

static noinline u64 calls_allocator(const struct codetag_site *site)
{
	u64 value = value_of_caller(site);

	OPTIMIZER_HIDE_VAR(value);
	return value;
}

static noinline u64 calls_site(const struct codetag_site *site)
{
	u64 value = calls_allocator(site);

	OPTIMIZER_HIDE_VAR(value);
	return value;
}

static noinline u64 calls_helper(const struct codetag_site *site)
{
	u64 value = calls_site(site);

	OPTIMIZER_HIDE_VAR(value);
	return value;
}

/* The first frame of stack_there that is in a function. */
static unsigned int frame_of(struct kunit *test, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_there && !is_in(stack_there[i], name); i++)
		;
	KUNIT_ASSERT_LT_MSG(test, i + 1, nr_there, "%s", name);
	return i;
}

/* As the slow way does it for each frame that it passes. */
static void learn_there(void)
{
	unsigned int i;

	preempt_disable();
	for (i = 0; i < nr_there; i++)
		codetag_is_helper(stack_there[i]);
	preempt_enable();
}

/* The caller is found without the unwinder, as soon as all on the way to it is known. */
static void caller_value(struct kunit *test)
{
	struct codetag_site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);
	unsigned int at;

	need_stacks(test);

	KUNIT_ASSERT_NOT_NULL(test, site);
	codetag_helpers_forget();
	KUNIT_EXPECT_EQ(test, calls_helper(site), 0);
	at = frame_of(test, "calls_allocator");
	site->calls[0] = 1;
	site->calls[1] = stack_there[at];
	KUNIT_EXPECT_EQ(test, calls_helper(site), 0);

	learn_there();
	KUNIT_EXPECT_EQ(test, calls_helper(site), 0);
	preempt_disable();
	codetag_code_is_call(stack_there[at]);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, calls_helper(site), codetag_lookup_caller(1, stack_there[at + 1]));

	/* A call of another site alone is none of this one. */
	site->calls[1] = 0;
	KUNIT_EXPECT_EQ(test, calls_helper(site), 0);
	site->calls[0] = stack_there[at];
	KUNIT_EXPECT_EQ(test, calls_helper(site), codetag_lookup_caller(0, stack_there[at + 1]));

	/* A new list of helpers: nothing is known, and then there is a helper to pass. */
	change_helpers(test, "calls_site", 0);
	KUNIT_EXPECT_EQ(test, calls_helper(site), 0);
	learn_there();
	preempt_disable();
	codetag_code_is_call(stack_there[at]);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, is_in(stack_there[at + 2], "calls_helper"));
	KUNIT_EXPECT_EQ(test, calls_helper(site), codetag_lookup_caller(0, stack_there[at + 2]));
	change_helpers(test, "-calls_site", 0);
}

#else

static void caller_value(struct kunit *test)
{
	kunit_skip(test, "callers are found by the unwinder alone");
}

#endif

/* More addresses than the table has places: one that is known is never taken for another. */
static void known_code(struct kunit *test)
{
	enum { NR = 4 << CODETAG_CODE_BITS };
	unsigned long begin = (unsigned long)known_code, code;
	unsigned int i, known = 0;

	codetag_helpers_forget();
	KUNIT_EXPECT_EQ(test, codetag_code_known(begin + 1), 0);
	preempt_disable();
	for (i = 1; i <= NR; i++)
		codetag_is_helper(begin + i);
	for (i = 1; i <= NR; i++) {
		code = codetag_code_known(begin + i);
		known += !!code;
		if (code && !codetag_code_is_at(code, begin + i))
			break;
	}
	preempt_enable();
	KUNIT_EXPECT_EQ(test, i, NR + 1);
	KUNIT_EXPECT_GT(test, known, 1 << CODETAG_CODE_BITS);
	KUNIT_EXPECT_LE(test, known, CODETAG_CODE_WAYS << CODETAG_CODE_BITS);
	codetag_helpers_forget();
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

/* Functions that these call are not in the stack, though that of the tag is inlined. */
static void any_allocator(struct kunit *test)
{
	const unsigned int by[] = {
		BIT(CODETAG_KEY_STACK),
		BIT(CODETAG_KEY_STACK) | BIT(CODETAG_KEY_SIZE),
	};
	size_t large = 5 * PAGE_SIZE, pages = 3 * PAGE_SIZE;
	struct found *found;
	void *object, *exact, *area, __percpu *percpu;
	unsigned int nr, i, n;
	struct folio *folio;
	struct page *page;

	need_stacks(test);

	OPTIMIZER_HIDE_VAR(large);
	for (i = 0; i < ARRAY_SIZE(by); i++) {
		split_by(test, by[i]);
		page = own(alloc_pages_noprof(GFP_KERNEL, 0));
		folio = own(folio_alloc_noprof(GFP_KERNEL, 1));
		object = own(kmalloc_noprof(large, GFP_KERNEL));
		exact = own(alloc_pages_exact_noprof(pages, GFP_KERNEL));
		area = own(vmalloc_noprof(pages));
		percpu = own(pcpu_alloc_noprof(8, 8, false, GFP_KERNEL));
		found = found_of(test, &nr);
		KUNIT_EXPECT_GE(test, nr, 6);
		for (n = 0; n < nr; n++)
			KUNIT_EXPECT_TRUE_MSG(test, is_in(found[n].stack[0], "any_allocator"),
					      "%pS", (void *)found[n].stack[0]);
		free_percpu(percpu);
		vfree(area);
		if (exact)
			free_pages_exact(exact, pages);
		kfree(object);
		if (folio)
			folio_put(folio);
		if (page)
			__free_page(page);
		unsplit_id(own_id());
	}
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
	const struct codetag_alloc alloc = { .size = 64, .gfp = GFP_ATOMIC };
	const struct codetag_site *site;
	unsigned int id, nr;

	split_by(test, BIT(CODETAG_KEY_STACK));
	__preempt_count_add(NMI_OFFSET);
	id = own(codetag_context_id(&alloc, CODETAG_ID_MAX));
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

static struct kunit_case context_stack_cases[] = {
	KUNIT_CASE(by_stack),
	KUNIT_CASE(by_caller),
	KUNIT_CASE(helpers_change),
	KUNIT_CASE(caller_value),
	KUNIT_CASE(known_code),
	KUNIT_CASE(stack_of_any_way),
	KUNIT_CASE(walked),
	KUNIT_CASE(any_allocator),
	KUNIT_CASE(several_calls),
	KUNIT_CASE(in_nmis),
	KUNIT_CASE(depth),
	KUNIT_CASE(frame_text),
	KUNIT_CASE(texts),
	{}
};

static struct kunit_suite context_stack_suite = {
	.name = "codetag_context_stack",
	.exit = split_test_exit,
	.test_cases = context_stack_cases,
};

kunit_test_suite(context_stack_suite);

MODULE_DESCRIPTION("Tests of the stacks of contexts, and of the callers among them");
MODULE_LICENSE("GPL");
