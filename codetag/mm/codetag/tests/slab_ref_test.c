// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the slab references: where the ids are, and that they are right.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/codetag_pool.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "../recount.h"
#include "../slab_far.h"
#include "../slab_ref.h"
#include "../tags.h"

/* A tag of this file, through which nothing else allocates. */
static struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static void *tagged_object(struct kmem_cache *s)
{
	return alloc_hooks_tag(own_tag(), kmem_cache_alloc_noprof(s, GFP_KERNEL));
}

static unsigned int others_of(const struct kmem_cache *s)
{
	return atomic_read(&s->codetag_near.others);
}

/* The fast way is open whenever all slabs of the cache have their ids at the end. */
static void expect_near(struct kunit *test, const struct kmem_cache *s)
{
	if (IS_ENABLED(CONFIG_64BIT))
		KUNIT_EXPECT_EQ(test, s->codetag_near.mask != 0,
				!s->codetag_vector && !others_of(s));
	else
		KUNIT_EXPECT_FALSE(test, s->codetag_near.mask && others_of(s));
}

/* Where an object's id is, which all ways to find it agree on. */
static u16 *ref(struct kunit *test, const struct kmem_cache *s, const void *object)
{
	u16 *any = codetag_slab_ref_slow(s, object), *ids;
	unsigned long shift = s->codetag_shift;
	long index;

	if (is_kfence_address(object))
		return any;
	if (codetag_slab_find(object, s->codetag_near.mask, shift, &ids, &index))
		KUNIT_EXPECT_PTR_EQ(test, ids + index, any);
	if (codetag_slab_find_far(s, virt_to_slab(object), CODETAG_SLAB_KNOWN, object, shift,
				  &ids, &index))
		KUNIT_EXPECT_PTR_EQ(test, ids + index, any);
	else
		KUNIT_EXPECT_TRUE(test, codetag_slab_is_other(virt_to_slab(object)));
	if (codetag_slab_find_far(s, NULL, CODETAG_SLAB_UNKNOWN, object, shift, &ids, &index))
		KUNIT_EXPECT_PTR_EQ(test, ids + index, any);
	else
		KUNIT_EXPECT_GT(test, others_of(s), 0);
	expect_near(test, s);
	return any;
}

static void expect_objects(struct kunit *test, const struct kmem_cache *s, s64 nr)
{
	struct codetag_sum sum = alloc_tag_read(own_tag()->ct.id);

	KUNIT_EXPECT_EQ(test, (s64)sum.bytes, nr * s->size);
	KUNIT_EXPECT_EQ(test, (s64)sum.calls, nr);
}

/*
 * For every size there can be: at least one object, and the objects and two
 * bytes for each of them fit.
 */
static void layout(struct kunit *test)
{
	struct kmem_cache *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int size, order, chosen, nr;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (order = 0; order <= 3; order++) {
		for (size = 8; size <= PAGE_SIZE << order; size += 8) {
			s->size = size;
			s->object_size = size;
			chosen = codetag_slab_layout(s, order, 3);
			KUNIT_ASSERT_GE(test, chosen, order);
			KUNIT_ASSERT_LE(test, chosen, max(order, 1U));
			nr = codetag_slab_objects(s, chosen);
			KUNIT_ASSERT_GE(test, nr, 1);
			KUNIT_ASSERT_LE(test, nr * size, PAGE_SIZE << chosen);
			if (s->codetag_vector || nr == 1)
				continue;
			if (nr * (size + sizeof(u16)) > PAGE_SIZE << chosen)
				KUNIT_FAIL_AND_ABORT(test, "size %u, order %u: no room for ids",
						     size, order);
		}
	}
}

/* The ids never cost more than a few percent of a slab. */
static void cost(struct kunit *test)
{
	struct kmem_cache *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int size, order, plain, objects;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (size = 64; size <= 4096; size += 8) {
		for (order = 0; order <= 3; order++) {
			if (size > (PAGE_SIZE << order) / 4)
				continue;
			s->size = size;
			s->object_size = size;
			if (codetag_slab_layout(s, order, 3) != order)
				continue;
			plain = (PAGE_SIZE << order) / size;
			objects = codetag_slab_objects(s, order);
			/* Objects that are lost, in percent: two bytes in 64 are 3. */
			if ((plain - objects) * 100 > plain * 7 && plain - objects > 1)
				KUNIT_FAIL(test, "size %u, order %u: %u objects instead of %u",
					   size, order, objects, plain);
		}
	}
}

/* Where slabs may have single pages only, large objects take no more of them. */
static void single_pages(struct kunit *test)
{
	struct kmem_cache *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	unsigned int size;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (size = 256; size <= PAGE_SIZE / 2; size *= 2) {
		s->size = size;
		s->object_size = size;
		KUNIT_EXPECT_EQ(test, codetag_slab_layout(s, 0, 0), 0);
		/* A vector has an end, which is that of larger pages, too. */
		if (PAGE_SIZE / size <= 32)
			KUNIT_EXPECT_EQ(test, codetag_slab_objects(s, 0), PAGE_SIZE / size);
	}
}

/* What SLUB lays out: an object with some of its debugging data. */
struct plan {
	unsigned int object_size;
	slab_flags_t flags;
	unsigned int order;
	unsigned int max_order;
};

static unsigned int lay_out(struct kmem_cache *s, const struct plan *plan)
{
	unsigned int order;

	s->object_size = plan->object_size;
	s->size = plan->object_size;
	s->flags = plan->flags;
	if (s->flags & SLAB_POISON)
		s->size += sizeof(void *);
	if (s->flags & SLAB_STORE_USER)
		s->size += 9 * sizeof(void *);
	/* As SLUB does it: without red zones the pad stays as it was. */
	if (s->flags & SLAB_RED_ZONE) {
		s->red_left_pad = sizeof(void *);
		s->size += sizeof(void *) + s->red_left_pad;
	}
	order = max_t(unsigned int, plan->order, get_order(s->size));
	return codetag_slab_layout(s, order, plan->max_order);
}

static bool same_layout(const struct kmem_cache *a, const struct kmem_cache *b)
{
	return a->codetag_near.mask == b->codetag_near.mask &&
	       others_of(a) == others_of(b) &&
	       a->codetag_within == b->codetag_within &&
	       a->codetag_uncharge == b->codetag_uncharge &&
	       a->codetag_shift == b->codetag_shift &&
	       a->codetag_bytes == b->codetag_bytes &&
	       a->codetag_vector == b->codetag_vector;
}

#define PLAN_TEXT	64

static void plan_text(const struct plan *plan, char *text)
{
	snprintf(text, PLAN_TEXT, "size %u flags %#x order %u of %u", plan->object_size,
		 (__force unsigned int)plan->flags, plan->order, plan->max_order);
}

/*
 * With slab_debug=O a cache is laid out with its debugging data and then without: the
 * second layout is the same as without the first, for any two.
 */
static void laid_out_again(struct kunit *test)
{
	static const unsigned int sizes[] = { 8, 100, 256, 512, 1000, 1024, 2048, 4096, 8192 };
	static const slab_flags_t flags[] = { SLAB_RED_ZONE, SLAB_POISON, SLAB_STORE_USER };
	struct kmem_cache *once = kunit_kzalloc(test, sizeof(*once), GFP_KERNEL);
	struct kmem_cache *twice = kunit_kzalloc(test, sizeof(*twice), GFP_KERNEL);
	unsigned int i, j, nr = 0, max = ARRAY_SIZE(sizes) * 8 * 4 * 2;
	struct plan *plan = kunit_kcalloc(test, max, sizeof(*plan), GFP_KERNEL);
	char text[2][PLAN_TEXT];

	KUNIT_ASSERT_TRUE(test, once && twice && plan);
	for (nr = 0; nr < max; nr++) {
		plan[nr].max_order = nr % 2 ? 3 : 0;
		plan[nr].order = nr / 2 % 4;
		for (i = 0; i < ARRAY_SIZE(flags); i++)
			if (nr >> (3 + i) & 1)
				plan[nr].flags |= flags[i];
		plan[nr].object_size = sizes[nr / 64];
	}

	for (i = 0; i < nr; i++) {
		memset(once, 0, sizeof(*once));
		lay_out(once, &plan[i]);
		for (j = 0; j < nr; j++) {
			memset(twice, 0, sizeof(*twice));
			lay_out(twice, &plan[j]);
			lay_out(twice, &plan[i]);
			if (same_layout(once, twice))
				continue;
			plan_text(&plan[i], text[0]);
			plan_text(&plan[j], text[1]);
			KUNIT_FAIL_AND_ABORT(test, "%s after %s", text[0], text[1]);
		}
	}
}

/* A free that slab_debug=F refuses takes nothing back, however wrong the address is. */
static void refused(struct kunit *test)
{
	/* Until the test is over. */
	static struct kunit_resource resource;
	static int errors;
	struct kmem_cache *s;
	void *a, *b, *p[2];

	if (IS_ENABLED(CONFIG_KASAN) || !IS_ENABLED(CONFIG_SLUB_DEBUG))
		kunit_skip(test, "it is not SLUB that refuses frees");
	/* SLUB counts errors in it and prints none. */
	errors = 0;
	kunit_add_named_resource(test, NULL, NULL, &resource, "slab_errors", &errors);
	s = kmem_cache_create("codetag_refused", 200, 0,
			      SLAB_CONSISTENCY_CHECKS | SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	/* Not a flag that kmem_cache_create() takes. */
	s->flags |= SLAB_SKIP_KFENCE;

	a = tagged_object(s);
	b = tagged_object(s);
	p[0] = tagged_object(s);
	p[1] = a + sizeof(void *);
	expect_objects(test, s, 3);
	kmem_cache_free(s, b);
	expect_objects(test, s, 2);
	KUNIT_EXPECT_EQ(test, errors, 0);

	/* Twice: with init_on_free that destroys the list of free objects. */
	if (!want_init_on_free()) {
		kmem_cache_free(s, b);
		expect_objects(test, s, 2);
	}
	/* An address within an object, alone and with one that is right: none is freed. */
	kmem_cache_free(s, p[1]);
	expect_objects(test, s, 2);
	kmem_cache_free_bulk(s, ARRAY_SIZE(p), p);
	expect_objects(test, s, 2);
	KUNIT_EXPECT_GT(test, errors, 0);
	KUNIT_EXPECT_EQ(test, *ref(test, s, a), own_tag()->ct.id);
	KUNIT_EXPECT_EQ(test, *ref(test, s, p[0]), own_tag()->ct.id);

	kmem_cache_free(s, a);
	kmem_cache_free(s, p[0]);
	expect_objects(test, s, 0);
	p[0] = tagged_object(s);
	p[1] = tagged_object(s);
	expect_objects(test, s, 2);
	kmem_cache_free_bulk(s, ARRAY_SIZE(p), p);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/* Objects of two sites and of none, in one bulk: the runs of one site are uncharged together. */
static void bulk_of_sites(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_bulk", 64, 0, SLAB_NO_MERGE, NULL);
	struct codetag_sum before, held, after;
	void *object[32];
	unsigned int i;
	DEFINE_ALLOC_TAG(other);

	KUNIT_ASSERT_NOT_NULL(test, s);
	before = alloc_tag_read(other.ct.id);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = i % 8 < 5 ? tagged_object(s) :
			    alloc_hooks_tag(&other, kmem_cache_alloc_noprof(s, GFP_KERNEL));
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		if (i % 8 == 2)
			codetag_slab_free_checked(s, object[i]);
	}
	held = alloc_tag_read(other.ct.id);
	KUNIT_EXPECT_EQ(test, held.bytes - before.bytes, 12ULL * s->size);
	expect_objects(test, s, 16);
	kmem_cache_free_bulk(s, ARRAY_SIZE(object), object);
	after = alloc_tag_read(other.ct.id);
	KUNIT_EXPECT_EQ(test, after.bytes, before.bytes);
	KUNIT_EXPECT_EQ(test, after.calls, before.calls);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

struct shape {
	const char *name;
	unsigned int size;
	unsigned int align;
	slab_flags_t flags;
	bool ctor;
};

static const struct shape shapes[] = {
	{ "8", 8 },
	{ "16", 16 },
	{ "24", 24 },
	{ "32", 32 },
	{ "40", 40 },
	{ "64", 64 },
	{ "72", 72 },
	{ "96", 96 },
	{ "136", 136 },
	{ "192", 192 },
	{ "200", 200 },
	{ "200 aligned", 200, 0, SLAB_HWCACHE_ALIGN },
	{ "200 constructed", 200, 0, 0, true },
	{ "200 by RCU", 200, 0, SLAB_TYPESAFE_BY_RCU },
	{ "200 accounted", 200, 0, SLAB_ACCOUNT },
	{ "256", 256 },
	{ "512", 512 },
	{ "1000", 1000 },
	{ "1024", 1024 },
	{ "2048", 2048 },
	{ "2056", 2056 },
	{ "3000", 3000 },
	{ "4096", 4096 },
	{ "5000", 5000 },
	{ "8192", 8192 },
	{ "20000", 20000 },
	{ "100 on pages", 100, 4096 },
#ifdef CONFIG_SLUB_DEBUG
	{ "120 with red zone", 120, 0, SLAB_RED_ZONE },
	{ "120 with poison", 120, 0, SLAB_POISON },
	{ "120 with owner", 120, 0, SLAB_STORE_USER },
	{ "1000 with all", 1000, 0, SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER },
#endif
};

static void shape_name(const struct shape *shape, char *text)
{
	strscpy(text, shape->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, shape_name);

/* All places of the ids in few shapes, for cases that take long or leave objects behind. */
static const struct shape few_shapes[] = {
	{ "200", 200 },
	{ "1000", 1000 },
	{ "1024", 1024 },
	{ "4096", 4096 },
};

KUNIT_ARRAY_PARAM(few_shapes, few_shapes, shape_name);

static void construct(void *object)
{
	memset(object, 0x33, 8);
}

static struct kmem_cache *make(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct kmem_cache *s;

	s = kmem_cache_create("codetag_kunit", shape->size, shape->align,
			      shape->flags | SLAB_NO_MERGE,
			      shape->ctor ? construct : NULL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	return s;
}

#define NR_OBJECTS	300

/*
 * Many objects, in several slabs: each holds its id and keeps it whatever is
 * written to it and to its neighbours, and the data is left alone as well.
 */
static void objects(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct kmem_cache *s = make(test);
	unsigned int nr = shape->size > 2000 ? 40 : NR_OBJECTS;
	u16 id = own_tag()->ct.id;
	void **object;
	unsigned int i;

	object = kunit_kcalloc(test, nr, sizeof(*object), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	expect_objects(test, s, 0);
	for (i = 0; i < nr; i++) {
		object[i] = tagged_object(s);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		memset(object[i], 0xff, shape->size);
	}
	expect_objects(test, s, nr);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), id);
	for (i = 0; i < nr; i++)
		memset(object[i], i, shape->size);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), id);

	/* Another id in every second one changes no other and no data. */
	for (i = 0; i < nr; i += 2)
		*ref(test, s, object[i]) = 0xffff;
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), i % 2 ? id : 0xffff);
		KUNIT_EXPECT_NULL(test, memchr_inv(object[i], i, shape->size));
	}
	for (i = 0; i < nr; i += 2)
		*ref(test, s, object[i]) = id;

	for (i = 0; i < nr; i++) {
		kmem_cache_free(s, object[i]);
		expect_objects(test, s, nr - 1 - i);
	}
	kmem_cache_destroy(s);
}

/* A free object has no id: who gets it next untagged has none. */
static void no_id_is_inherited(struct kunit *test)
{
	struct alloc_tag untagged = { .ct = { .id = CODETAG_ID_NONE } };
	struct kmem_cache *s = make(test);
	void *object[20];
	int i;

	for (i = 0; i < ARRAY_SIZE(object); i++)
		object[i] = tagged_object(s);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kmem_cache_free(s, object[i]);
	expect_objects(test, s, 0);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = alloc_hooks_tag(&untagged, kmem_cache_alloc_noprof(s, GFP_KERNEL));
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), CODETAG_ID_NONE);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kmem_cache_free(s, object[i]);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/* A request for zeroes gets them, from the slab of this CPU or not. */
static void zeroed(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO;
	struct kmem_cache *s;
	void *object[40];
	int i, round;

	if (shape->ctor)
		kunit_skip(test, "zeroes are not for what is constructed");

	s = make(test);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(object); i++) {
			object[i] = alloc_hooks_tag(own_tag(), kmem_cache_alloc_noprof(s, gfp));
			KUNIT_ASSERT_NOT_NULL(test, object[i]);
			KUNIT_EXPECT_NULL(test, memchr_inv(object[i], 0, shape->size));
			memset(object[i], 0xff, shape->size);
		}
		expect_objects(test, s, ARRAY_SIZE(object));
		for (i = 0; i < ARRAY_SIZE(object); i++)
			kmem_cache_free(s, object[i]);
		expect_objects(test, s, 0);
	}
	kmem_cache_destroy(s);
}

static void bulk(struct kunit *test)
{
	DEFINE_ALLOC_TAG(other);
	struct codetag_sum before = alloc_tag_read(own_tag()->ct.id), after;
	struct kmem_cache *s = make(test);
	void *object[24];
	int nr, i;

	nr = alloc_hooks_tag(own_tag(), kmem_cache_alloc_bulk_noprof(s, GFP_KERNEL, 16, object));
	/* Some kernels say how many it got, others only whether it were all. */
	KUNIT_ASSERT_EQ(test, nr,
			__same_type(kmem_cache_alloc_bulk_noprof(s, 0, 0, NULL), bool) ? 1 : 16);
	expect_objects(test, s, 16);
	for (i = 16; i < 24; i++)
		object[i] = alloc_hooks_tag(&other, kmem_cache_alloc_noprof(s, GFP_KERNEL));
	/* Of two sites, mixed. */
	for (i = 0; i < 8; i++)
		swap(object[i * 2], object[16 + i]);
	kmem_cache_free_bulk(s, 12, object);
	expect_objects(test, s, 10);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).calls, 2);
	kmem_cache_free_bulk(s, 12, object + 12);
	expect_objects(test, s, 0);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).bytes, 0);
	KUNIT_EXPECT_EQ(test, alloc_tag_read(other.ct.id).calls, 0);
	after = alloc_tag_read(own_tag()->ct.id);
	KUNIT_EXPECT_EQ(test, after.allocs, before.allocs + 16);
	KUNIT_EXPECT_EQ(test, after.frees, before.frees + 16);
	kmem_cache_destroy(s);
}

/* Charge an object as a fast path does that has its slab at hand. */
static bool alloc_again(struct kmem_cache *s, struct slab *slab, void *object)
{
	return alloc_hooks_tag(own_tag(), codetag_slab_alloc_fast(s, slab, object));
}

/*
 * When memory is short a cache gets slabs of the lowest order: their ids are
 * right, and so are those of its other slabs meanwhile and afterwards.
 */
static void lowest_order(struct kunit *test)
{
	struct kmem_cache *s = make(test);
	struct kmem_cache_order_objects usual = s->oo;
	u16 id = own_tag()->ct.id;
	unsigned int others = 0, at_first = others_of(s);
	struct slab *slab;
	void **object;
	int part, all, i;

	if (s->oo.x == s->min.x) {
		kmem_cache_destroy(s);
		kunit_skip(test, "the lowest order is the usual one");
	}
	/* The order of objects that it has is one for usual slabs, not for s->min. */
	cache_random_seq_destroy(s);
	/* More than one slab for each third, and no multiple of 7, see below. */
	object = tagged_object(s);
	KUNIT_ASSERT_NOT_NULL(test, object);
	part = max(virt_to_slab(object)->objects + 1, 20);
	kmem_cache_free(s, object);
	part += part % 7 == 0;
	all = 3 * part;
	object = kunit_kmalloc_array(test, all, sizeof(*object), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	for (i = 0; i < all; i++) {
		s->oo = i / part == 1 ? s->min : usual;
		object[i] = tagged_object(s);
		slab = virt_to_slab(object[i]);
		others += codetag_slab_is_other(slab);
		/* Not fewer objects than without us, but for what ids need at the end. */
		if (s->codetag_vector)
			KUNIT_EXPECT_EQ(test, (size_t)slab->objects, slab_size(slab) / s->size);
		/* An object of a usual slab needs no slow way. */
		if (!codetag_slab_is_other(slab))
			KUNIT_EXPECT_TRUE(test, codetag_slab_free_fast(s, slab, object[i]) &&
					  alloc_again(s, slab, object[i]));
	}
	KUNIT_EXPECT_GT(test, others, 0);
	KUNIT_EXPECT_LT(test, others, all);
	KUNIT_EXPECT_GT(test, others_of(s), 0);
	expect_objects(test, s, all);
	for (i = 0; i < all; i++)
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), id);
	for (i = 0; i < all; i++)
		kmem_cache_free(s, object[(i * 7) % all]);
	expect_objects(test, s, 0);

	/* Empty slabs go, and with them what made the cache slow. */
	kmem_cache_shrink(s);
	if (s->flags & SLAB_TYPESAFE_BY_RCU)
		rcu_barrier();
	KUNIT_EXPECT_EQ(test, others_of(s), at_first);
	expect_near(test, s);
	object[0] = tagged_object(s);
	KUNIT_EXPECT_EQ(test, *ref(test, s, object[0]), id);
	kmem_cache_free(s, object[0]);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

struct churn {
	struct kmem_cache *s;
	struct kmem_cache_order_objects usual;
	unsigned int others;	/* at first */
	unsigned int came;
};

/* Make slabs of the lowest order and remove them. */
static int churn(void *data)
{
	struct churn *churn = data;
	struct kmem_cache *s = churn->s;
	void *object[40];
	int i;

	while (!kthread_should_stop()) {
		WRITE_ONCE(s->oo.x, s->min.x);
		for (i = 0; i < ARRAY_SIZE(object); i++)
			object[i] = tagged_object(s);
		WRITE_ONCE(churn->came, churn->came + (others_of(s) > churn->others));
		WRITE_ONCE(s->oo.x, churn->usual.x);
		for (i = 0; i < ARRAY_SIZE(object); i++)
			if (object[i])
				kmem_cache_free(s, object[i]);
		kmem_cache_shrink(s);
		cond_resched();
	}
	return 0;
}

/* While such slabs come and go, all objects have their ids and lose them. */
static void others_come_and_go(struct kunit *test)
{
	struct churn data = { .s = make(test) };
	struct kmem_cache *s = data.s;
	struct task_struct *task;
	unsigned int open = 0, opens;
	unsigned long begin;
	void *object[20];
	int i;

	if (s->oo.x == s->min.x) {
		kmem_cache_destroy(s);
		kunit_skip(test, "the lowest order is the usual one");
	}
	cache_random_seq_destroy(s);
	data.usual = s->oo;
	data.others = others_of(s);
	/* Does the fast way open at all? */
	opens = IS_ENABLED(CONFIG_64BIT) && s->codetag_near.mask;
	task = kthread_run(churn, &data, "codetag_churn");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	begin = jiffies;
	do {
		for (i = 0; i < ARRAY_SIZE(object); i++)
			object[i] = tagged_object(s);
		open += READ_ONCE(s->codetag_near.mask) != 0;
		for (i = 0; i < ARRAY_SIZE(object); i++) {
			if (!object[i])
				continue;
			if (*codetag_slab_ref_slow(s, object[i]) != own_tag()->ct.id)
				KUNIT_FAIL(test, "an object without its id");
			kmem_cache_free(s, object[i]);
		}
		cond_resched();
	} while (time_before(jiffies, begin + HZ / 2) ||
		 ((!READ_ONCE(data.came) || open < opens) &&
		  time_before(jiffies, begin + 10 * HZ)));
	kthread_stop(task);
	KUNIT_EXPECT_GT(test, data.came, 0);
	KUNIT_EXPECT_GE(test, open, opens);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/*
 * A tracer allocates and frees while its CPU has the lock of far vectors: it does not take
 * the lock again.
 */
static void far_locked(struct kunit *test)
{
	struct kmem_cache *s = kmem_cache_create("codetag_kunit", PAGE_SIZE / 2, 0,
						 SLAB_NO_MERGE, NULL);
	void *object[32];
	unsigned int locked = 0, i;
	unsigned long flags;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		kmem_cache_destroy(s);
		kunit_skip(test, "nothing allocates with this lock held there");
	}
	KUNIT_ASSERT_NOT_NULL(test, s);
	if (!s->codetag_vector || s->oo.x == s->min.x) {
		kmem_cache_destroy(s);
		kunit_skip(test, "no slab of this cache has a far vector");
	}
	cache_random_seq_destroy(s);
	s->oo = s->min;
	s->min_partial = 0;
	for (i = 0; i < 3; i++)
		object[i] = tagged_object(s);
	KUNIT_EXPECT_EQ(test, (unsigned int)virt_to_slab(object[0])->objects, 2);
	flags = codetag_far_lock();
	for (; i < ARRAY_SIZE(object); i++) {
		object[i] = alloc_hooks_tag(own_tag(), kmem_cache_alloc_noprof(s, GFP_NOWAIT));
		if (object[i])
			locked += virt_to_slab(object[i])->objects == 1;
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		if (object[i])
			kmem_cache_free(s, object[i]);
	codetag_far_unlock(flags);
	/* The others were there before: in a slab with a vector, or in the CPU's sheaf of 12. */
	KUNIT_EXPECT_GE(test, locked, ARRAY_SIZE(object) / 2);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/* How many objects of own_tag() the audit finds in a slab. */
static s64 recounted(struct kunit *test, struct slab *slab)
{
	struct codetag_recount rc = {};
	u16 id = own_tag()->ct.id;
	s64 nr;

	rc.found = vcalloc(CODETAG_ID_MAX + 1, sizeof(*rc.found));
	KUNIT_ASSERT_NOT_NULL(test, rc.found);
	if (codetag_recount_prepare()) {
		codetag_recount_slab(&rc, &slab_folio(slab)->page);
		codetag_recount_done();
	}
	codetag_recount_flush(&rc);
	nr = atomic64_read(&rc.found[id].calls);
	vfree(rc.found);
	return nr;
}

/* The audit still finds the objects left of a cache that is destroyed too early. */
static void destroyed_in_use(struct kunit *test)
{
	static struct kunit_resource resource;
	static int errors;
	struct kmem_cache *s;
	void *object;

	if (!IS_ENABLED(CONFIG_SLUB_DEBUG))
		kunit_skip(test, "without SLUB_DEBUG a test cannot keep SLUB from warning");
	s = make(test);
	errors = 0;
	/* SLUB counts the errors of a test that has this instead of reporting them. */
	kunit_add_named_resource(test, NULL, NULL, &resource, "slab_errors", &errors);
	object = tagged_object(s);
	KUNIT_ASSERT_NOT_NULL(test, object);
	if (is_kfence_address(object)) {
		kmem_cache_free(s, object);
		kunit_skip(test, "KFENCE has the object");
	}
	KUNIT_EXPECT_EQ(test, recounted(test, virt_to_slab(object)), 1);
	kmem_cache_destroy(s);
	KUNIT_EXPECT_GT(test, errors, 0);
	expect_objects(test, s, 1);
	KUNIT_EXPECT_EQ(test, recounted(test, virt_to_slab(object)), 1);
	/* The cache stays as long as there is an object, and then it is too late. */
	kmem_cache_free(s, object);
	expect_objects(test, s, 0);
}

/* KFENCE rejects a free of an address within an object: it stays charged. */
static void invalid_free(struct kunit *test)
{
	struct kmem_cache *s = make(test);
	void *object = NULL;
	int i;

	for (i = 0; i < 100 && !is_kfence_address(object); i++) {
		if (object)
			kmem_cache_free(s, object);
		fsleep(1000);
		object = tagged_object(s);
		KUNIT_ASSERT_NOT_NULL(test, object);
	}
	if (is_kfence_address(object)) {
		codetag_slab_free_slow(s, object + 8);
		expect_objects(test, s, 1);
	}
	kmem_cache_free(s, object);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
	if (i == 100)
		kunit_skip(test, "no object of KFENCE: boot with kfence.sample_interval=1");
}

/* An overflow into an id does no harm. */
static void damaged(struct kunit *test)
{
	struct kmem_cache *s = make(test);
	struct codetag_id_use before, after;
	void *object;

	codetag_id_use(&before);
	object = tagged_object(s);
	KUNIT_ASSERT_NOT_NULL(test, object);
	*ref(test, s, object) = CODETAG_ID_MAX;
	kmem_cache_free(s, object);
	codetag_id_use(&after);
	KUNIT_EXPECT_EQ(test, after.damaged, before.damaged + 1);
	/* It stays with its site. */
	expect_objects(test, s, 1);
	KUNIT_EXPECT_TRUE(test, alloc_tag_uncharge(own_tag()->ct.id, s->size, 1));

	object = tagged_object(s);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_EQ(test, *ref(test, s, object), own_tag()->ct.id);
	kmem_cache_free(s, object);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/* A pool gives an object from one call site to another. */
static void reused(struct kunit *test)
{
	struct kmem_cache *s = make(test);
	void *object = kmem_cache_alloc(s, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	expect_objects(test, s, 0);
	alloc_hooks_tag(own_tag(), ({ codetag_object_reused(s, object); NULL; }));
	KUNIT_EXPECT_EQ(test, *ref(test, s, object), own_tag()->ct.id);
	expect_objects(test, s, 1);
	codetag_object_reused(s, object);
	expect_objects(test, s, 0);
	kmem_cache_free(s, object);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

/* Objects that wait for readers are charged until the readers are gone. */
static void by_kfree_rcu(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct { struct rcu_head rcu; } *object[80];
	struct kmem_cache *s;
	int i;

	if (shape->ctor || shape->size < sizeof(**object))
		kunit_skip(test, "no room for what kfree_rcu() writes");

	s = make(test);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = tagged_object(s);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kfree_rcu(object[i], rcu);
	kvfree_rcu_barrier();
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}

#ifdef kmem_cache_alloc_from_sheaf
static void *tagged_from(struct kmem_cache *s, struct slab_sheaf *sheaf)
{
	return alloc_hooks_tag(own_tag(),
			       kmem_cache_alloc_from_sheaf_noprof(s, GFP_KERNEL, sheaf));
}

/* Objects in a sheaf are not charged; an object taken out is its caller's. */
static void from_sheaf(struct kunit *test)
{
	struct kmem_cache *s = make(test);
	u16 id = own_tag()->ct.id;
	struct slab_sheaf *sheaf;
	void *object[40];
	int i;

	/* More than are taken out of it. */
	sheaf = alloc_hooks_tag(own_tag(), kmem_cache_prefill_sheaf(s, GFP_KERNEL,
								    2 * ARRAY_SIZE(object)));
	KUNIT_ASSERT_NOT_NULL(test, sheaf);
	expect_objects(test, s, 0);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = tagged_from(s, sheaf);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		KUNIT_EXPECT_EQ(test, *ref(test, s, object[i]), id);
	}
	expect_objects(test, s, ARRAY_SIZE(object));
	kmem_cache_return_sheaf(s, GFP_KERNEL, sheaf);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		kmem_cache_free(s, object[i]);
	expect_objects(test, s, 0);
	kmem_cache_destroy(s);
}
#endif

#ifdef kmalloc_nolock
/* From any context, one that looks like an NMI too: these may fail. */
static void nolock(struct kunit *test)
{
	int nmi, i, nr, bytes;
	void *object[40];
	bool can = false;

#ifdef system_has_freelist_aba
	can = system_has_freelist_aba();
#endif
	for (nmi = 0; nmi <= NMI_OFFSET; nmi += NMI_OFFSET) {
		nr = 0;
		bytes = 0;
		for (i = 0; i < ARRAY_SIZE(object); i++) {
			__preempt_count_add(nmi);
			object[i] = alloc_hooks_tag(own_tag(),
						    kmalloc_nolock_noprof(200, 0, NUMA_NO_NODE));
			__preempt_count_sub(nmi);
			if (object[i]) {
				nr++;
				bytes += virt_to_slab(object[i])->slab_cache->size;
			}
		}
		/* Without SMP no lock is tried in an NMI. */
		if (can && (!nmi || IS_ENABLED(CONFIG_SMP)))
			KUNIT_EXPECT_GT(test, nr, 0);
		KUNIT_EXPECT_EQ(test, alloc_tag_read(own_tag()->ct.id).calls, nr);
		KUNIT_EXPECT_EQ(test, alloc_tag_read(own_tag()->ct.id).bytes, bytes);
		for (i = 0; i < ARRAY_SIZE(object); i++) {
			__preempt_count_add(nmi);
			kfree_nolock(object[i]);
			__preempt_count_sub(nmi);
		}
		KUNIT_EXPECT_EQ(test, alloc_tag_read(own_tag()->ct.id).calls, 0);
		KUNIT_EXPECT_EQ(test, alloc_tag_read(own_tag()->ct.id).bytes, 0);
	}
}
#endif

static struct kunit_case slab_ref_cases[] = {
	KUNIT_CASE(layout),
	KUNIT_CASE(cost),
	KUNIT_CASE(single_pages),
	KUNIT_CASE(laid_out_again),
	KUNIT_CASE(refused),
	KUNIT_CASE(bulk_of_sites),
	KUNIT_CASE_PARAM(objects, shape_gen_params),
	KUNIT_CASE_PARAM(no_id_is_inherited, shape_gen_params),
	KUNIT_CASE_PARAM(zeroed, shape_gen_params),
	KUNIT_CASE_PARAM(bulk, shape_gen_params),
	KUNIT_CASE_PARAM(lowest_order, shape_gen_params),
	KUNIT_CASE_PARAM(others_come_and_go, few_shapes_gen_params),
	KUNIT_CASE(far_locked),
	KUNIT_CASE_PARAM(destroyed_in_use, few_shapes_gen_params),
	KUNIT_CASE_PARAM(invalid_free, few_shapes_gen_params),
	KUNIT_CASE_PARAM(damaged, shape_gen_params),
	KUNIT_CASE_PARAM(reused, shape_gen_params),
	KUNIT_CASE_PARAM(by_kfree_rcu, shape_gen_params),
#ifdef kmem_cache_alloc_from_sheaf
	KUNIT_CASE_PARAM(from_sheaf, shape_gen_params),
#endif
#ifdef kmalloc_nolock
	KUNIT_CASE(nolock),
#endif
	{}
};

static struct kunit_suite slab_ref_suite = {
	.name = "codetag_slab_ref",
	.test_cases = slab_ref_cases,
};

kunit_test_suite(slab_ref_suite);

MODULE_DESCRIPTION("Tests of the slab references of code tags");
MODULE_LICENSE("GPL");
