// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the call sites in the kernel's own reports.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/codetag_owner.h>
#include <linux/console.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/kmsg_dump.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/page_tag.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/static_key.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "../ids.h"
#include "../owner.h"
#include "../slab_ref.h"

/* In which header of mm/ it is depends on the version. */
DECLARE_STATIC_KEY_MAYBE(CONFIG_DEBUG_VM, check_pages_enabled);

/* A tag of this file, through which nothing else allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

#define own(_do_alloc)	alloc_hooks_tag(own_tag(), _do_alloc)

/* ---- the kernel log ---------------------------------------------------------- */

static struct kmsg_dump_iter log_end;
static int loglevel_before;

/* Reports from now on are for log_has() only: they are no trouble. */
static void begin_report(void)
{
	char line[256];
	size_t len;

	/* Results of tests that a console still has to print go with this line. */
	pr_info("# codetag_owner: the console does not show the report that follows\n");
	loglevel_before = console_loglevel;
	console_loglevel = CONSOLE_LOGLEVEL_SILENT;
	kmsg_dump_rewind(&log_end);
	while (kmsg_dump_get_line(&log_end, false, line, sizeof(line), &len))
		;
}

static void end_report(void)
{
	/* Consoles can have a thread of their own. */
	console_lock();
	console_unlock();
	console_loglevel = loglevel_before;
}

/* How many lines since begin_report() have this text? */
static unsigned int log_has(const char *text)
{
	struct kmsg_dump_iter iter = log_end;
	unsigned int nr = 0;
	char line[256];
	size_t len;

	while (kmsg_dump_get_line(&iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = '\0';
		nr += !!strstr(line, text);
	}
	return nr;
}

/* The end of a line about memory that own_tag() is charged with */
static const char *at_own_line(char *text, size_t size, const char *what)
{
	snprintf(text, size, "%s allocated at %s:%u", what, own_tag()->ct.filename,
		 own_tag()->ct.lineno);
	return text;
}

/* ---- addresses ----------------------------------------------------------------- */

static void expect_owner(struct kunit *test, const void *addr, const char *what, long offset)
{
	struct codetag_owner owner = {};

	KUNIT_ASSERT_TRUE(test, codetag_owner_of((unsigned long)addr, &owner));
	KUNIT_EXPECT_STREQ(test, owner.kind, what);
	KUNIT_EXPECT_EQ(test, owner.offset, offset);
	KUNIT_EXPECT_EQ(test, (unsigned int)owner.id, (unsigned int)own_tag()->ct.id);
}

/* Free memory can belong to somebody else by now. */
static void expect_nobody(struct kunit *test, const void *addr)
{
	struct codetag_owner owner = {};

	if (codetag_owner_of((unsigned long)addr, &owner))
		KUNIT_EXPECT_NE(test, (unsigned int)owner.id, (unsigned int)own_tag()->ct.id);
}

static void expect_none(struct kunit *test, const void *addr)
{
	struct codetag_owner owner = {};

	KUNIT_EXPECT_FALSE(test, codetag_owner_of((unsigned long)addr, &owner));
}

static void objects(struct kunit *test)
{
	static const unsigned int sizes[] = { 8, 40, 200, 1000, 2048, 5000 };
	struct kmem_cache *s;
	unsigned int i, size;
	void *object;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		size = sizes[i];
		s = kmem_cache_create("codetag_owned", size, 0, SLAB_NO_MERGE, NULL);
		KUNIT_ASSERT_NOT_NULL(test, s);
		object = own(kmem_cache_alloc_noprof(s, GFP_KERNEL));
		KUNIT_ASSERT_NOT_NULL(test, object);
		expect_owner(test, object, "codetag_owned", 0);
		expect_owner(test, object + size - 1, "codetag_owned", size - 1);
		kmem_cache_free(s, object);
		expect_nobody(test, object);
		kmem_cache_destroy(s);
	}
}

/* Each page of an allocation, compound or not */
static void every_page(struct kunit *test)
{
	static const gfp_t kinds[] = { GFP_KERNEL, GFP_KERNEL | __GFP_COMP };
	unsigned int kind, order, i;
	struct page *page;
	char what[16];

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		for (order = 0; order <= 4; order++) {
			page = own(alloc_pages_noprof(kinds[kind], order));
			KUNIT_ASSERT_NOT_NULL(test, page);
			snprintf(what, sizeof(what), order ? "%u pages" : "page", 1 << order);
			for (i = 0; i < 1 << order; i++)
				expect_owner(test, page_address(page) + i * PAGE_SIZE + 8, what,
					     i * PAGE_SIZE + 8);
			__free_pages(page, order);
			for (i = 0; i < 1 << order; i++)
				expect_nobody(test, page_address(page) + i * PAGE_SIZE + 8);
		}
	}
}

/* Registers can have any value: none of these is used as an address. */
static void bad_pointers(struct kunit *test)
{
	static const unsigned long values[] = {
		0, 1, 0xfff, 0x400000, INT_MAX, (unsigned long)LIST_POISON1, ULONG_MAX,
		ULONG_MAX - 4095, (unsigned long)LONG_MIN, LONG_MAX, ULONG_MAX / 3,
	};
	void *area = own(vmalloc_noprof(PAGE_SIZE));
	unsigned int bit, i;

	KUNIT_ASSERT_NOT_NULL(test, area);
	for (i = 0; i < ARRAY_SIZE(values); i++)
		expect_none(test, (void *)values[i]);
	for (bit = 0; bit < BITS_PER_LONG; bit++) {
		expect_nobody(test, (void *)BIT(bit));
		expect_nobody(test, (void *)~BIT(bit));
		expect_nobody(test, (void *)((unsigned long)PAGE_OFFSET ^ BIT(bit)));
	}
	expect_none(test, bad_pointers);
	expect_none(test, values);
	expect_none(test, area);
	codetag_show_page(NULL);
	vfree(area);
}

static void registers(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_owned", 104, 0, SLAB_NO_MERGE, NULL);
	char text[200];
	void *object;

	KUNIT_ASSERT_NOT_NULL(test, s);
	object = own(kmem_cache_alloc_noprof(s, GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, object);
	begin_report();
	codetag_show_register("R12", (unsigned long)object + 16);
	codetag_show_register("R13", 16);
	end_report();
	KUNIT_EXPECT_EQ(test, log_has(at_own_line(text, sizeof(text),
						  "R12: codetag_owned +16,")), 1);
	KUNIT_EXPECT_EQ(test, log_has("R13"), 0);
	kmem_cache_free(s, object);
	kmem_cache_destroy(s);
}

/* ---- reports ------------------------------------------------------------------- */

static void left_in_cache(struct kunit *test)
{
	static struct kunit_resource resource;
	static int errors;
	struct kmem_cache *s;
	void *object[20];
	char text[200];
	int i;

	if (!IS_ENABLED(CONFIG_SLUB_DEBUG))
		kunit_skip(test, "without SLUB_DEBUG a test cannot keep SLUB from warning");
	s = kmem_cache_create("codetag_left", 1000, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	errors = 0;
	/* SLUB counts the errors of a test that has this instead of reporting them. */
	kunit_add_named_resource(test, NULL, NULL, &resource, "slab_errors", &errors);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		object[i] = i ? own(kmem_cache_alloc_noprof(s, GFP_KERNEL)) :
				kmem_cache_alloc(s, GFP_KERNEL);
	begin_report();
	kmem_cache_destroy(s);
	end_report();
	KUNIT_EXPECT_EQ(test, log_has(at_own_line(text, sizeof(text),
						  "codetag_left: 19 objects")), 1);
	KUNIT_EXPECT_EQ(test, log_has("codetag_left: 1 objects allocated at"), 1);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kmem_cache_free(s, object[i]);
}

/* A free finds something wrong with a page, or with a page in the middle. */
static void bad_page_state(struct kunit *test)
{
	static const struct {
		gfp_t gfp;
		unsigned int order, bad;
	} cases[] = {
		{ GFP_KERNEL, 0, 0 },
		{ GFP_KERNEL, 2, 0 },
		{ GFP_KERNEL, 2, 3 },
		{ GFP_KERNEL | __GFP_COMP, 2, 0 },
		{ GFP_KERNEL | __GFP_COMP, 3, 5 },
	};
	/* User-mode Linux survives no bad address in a report. */
	static struct address_space no_mapping;
	bool checked = static_key_enabled(&check_pages_enabled);
	struct page *page;
	char text[200];
	int i, j;

	/* Reports are few a minute. */
	static_branch_enable(&check_pages_enabled);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		page = own(alloc_pages_noprof(cases[i].gfp, cases[i].order));
		KUNIT_ASSERT_NOT_NULL(test, page);
		page[cases[i].bad].mapping = &no_mapping;
		begin_report();
		__free_pages(page, cases[i].order);
		end_report();
		KUNIT_EXPECT_EQ_MSG(test, log_has("Bad page state"), 1, "case %d", i);
		KUNIT_EXPECT_GE_MSG(test, log_has(at_own_line(text, sizeof(text), "page")), 1,
				    "case %d", i);
		/* They are uncharged, and nobody gets them again. */
		KUNIT_EXPECT_EQ(test, alloc_tag_read(own_tag()->ct.id).bytes, 0);
		for (j = 0; j < 1 << cases[i].order; j++)
			KUNIT_EXPECT_EQ_MSG(test, page_tag_get(page + j), 0, "case %d, page %d",
					    i, j);
	}
	if (!checked)
		static_branch_disable(&check_pages_enabled);
}

static struct kunit_case owner_cases[] = {
	KUNIT_CASE(objects),
	KUNIT_CASE(every_page),
	KUNIT_CASE(bad_pointers),
	KUNIT_CASE(registers),
	KUNIT_CASE(left_in_cache),
	KUNIT_CASE(bad_page_state),
	{}
};

static struct kunit_suite owner_suite = {
	.name = "codetag_owner",
	.test_cases = owner_cases,
};

kunit_test_suite(owner_suite);

MODULE_DESCRIPTION("Tests of the call sites in reports");
MODULE_LICENSE("GPL");
