// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slab objects: kmalloc of some sizes, and caches of this module.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
/* A header of mm/, by way of include/. */
#include <../mm/slab.h>
#include "alloc_bench.h"

struct kmem_cache *bench_cache_200;

/* Two equal caches; the second one has a slab of a smaller order, as if memory had been short. */
static struct kmem_cache *cache_1024, *cache_1024_short;
static void *short_objects[PAGE_SIZE / 1024];

#define KMALLOC_CASES(_size, _name, _gfp)					\
static int kmalloc_pair_##_name(struct bench_sample *s, unsigned int rounds)	\
{										\
	return BENCH_PAIRS(s, rounds, kmalloc(_size, _gfp), kfree(obj));	\
}										\
										\
static int kmalloc_batch_##_name(struct bench_sample *s, unsigned int rounds)	\
{										\
	return BENCH_BATCHES(s, rounds, kmalloc(_size, _gfp), kfree(obj));	\
}

KMALLOC_CASES(8, 8, GFP_KERNEL)
KMALLOC_CASES(64, 64, GFP_KERNEL)
KMALLOC_CASES(1024, 1024, GFP_KERNEL)
KMALLOC_CASES(8192, 8192, GFP_KERNEL)
KMALLOC_CASES(16384, 16384, GFP_KERNEL)
KMALLOC_CASES(64, 64_acct, GFP_KERNEL_ACCOUNT)

/* Objects are allocated one by one: only caches have a function that allocates many. */
static int kmalloc_bulk(struct bench_sample *s, unsigned int rounds)
{
	unsigned int n, i;

	for (n = 0; n < rounds; n++) {
		u64 from = bench_now(), half;

		for (i = 0; i < BENCH_BATCH; i++) {
			bench_objects[i] = kmalloc(64, GFP_KERNEL);
			if (!bench_objects[i])
				break;
		}
		half = bench_now();
		kfree_bulk(i, bench_objects);
		s->total += bench_now() - from;
		s->alloc += half - from;
		s->ops += i;
		if (i < BENCH_BATCH)
			return -ENOMEM;
	}
	return 0;
}

static int cache_bulk(struct bench_sample *s, unsigned int rounds)
{
	struct kmem_cache *cache = bench_cache_200;
	unsigned int n;

	for (n = 0; n < rounds; n++) {
		u64 from = bench_now(), half;

		if (!kmem_cache_alloc_bulk(cache, GFP_KERNEL, BENCH_BATCH, bench_objects))
			return -ENOMEM;
		half = bench_now();
		kmem_cache_free_bulk(cache, BENCH_BATCH, bench_objects);
		s->total += bench_now() - from;
		s->alloc += half - from;
		s->ops += BENCH_BATCH;
	}
	return 0;
}

#define CACHE_PAIR(_name, _cache)						\
static int _name(struct bench_sample *s, unsigned int rounds)			\
{										\
	struct kmem_cache *cache = _cache;					\
										\
	return BENCH_PAIRS(s, rounds, kmem_cache_alloc(cache, GFP_KERNEL),	\
			   kmem_cache_free(cache, obj));			\
}

CACHE_PAIR(cache_pair, bench_cache_200)
CACHE_PAIR(cache_1024_pair, cache_1024)
/* The objects are not from the smaller slab, but from another one of the same cache. */
CACHE_PAIR(cache_1024_short_pair, cache_1024_short)

static int cache_batch(struct bench_sample *s, unsigned int rounds)
{
	struct kmem_cache *cache = bench_cache_200;

	return BENCH_BATCHES(s, rounds, kmem_cache_alloc(cache, GFP_KERNEL),
			     kmem_cache_free(cache, obj));
}

static long fill_batch(void *unused)
{
	unsigned int i;

	for (i = 0; i < BENCH_BATCH; i++) {
		bench_objects[i] = kmalloc(64, GFP_KERNEL);
		if (!bench_objects[i])
			break;
	}
	return i;
}

/* Only the frees are timed: the allocations are another CPU's. */
static int kfree_remote(struct bench_sample *s, unsigned int rounds)
{
	unsigned int n, i, got;
	int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		return -ENODEV;

	for (n = 0; n < rounds; n++) {
		u64 from;

		got = work_on_cpu(cpu, fill_batch, NULL);
		from = bench_now();
		for (i = 0; i < got; i++)
			kfree(bench_objects[i]);
		s->total += bench_now() - from;
		s->ops += got;
		if (got < BENCH_BATCH)
			return -ENOMEM;
	}
	return 0;
}

static int krealloc_grow(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds,
			   krealloc(kmalloc(64, GFP_KERNEL), 128, GFP_KERNEL), kfree(obj));
}

const struct bench_case bench_slab_cases[] = {
	{ "kmalloc-8",		1000,	kmalloc_pair_8 },
	{ "kmalloc-64",		1000,	kmalloc_pair_64 },
	{ "kmalloc-1024",	1000,	kmalloc_pair_1024 },
	{ "kmalloc-8192",	1000,	kmalloc_pair_8192 },
	{ "kmalloc-16384",	500,	kmalloc_pair_16384 },
	{ "kmalloc-64-acct",	1000,	kmalloc_pair_64_acct },
	{ "cache-200",		1000,	cache_pair },
	{ "cache-1024",		1000,	cache_1024_pair },
	{ "cache-1024-short",	1000,	cache_1024_short_pair },
	{ "kmalloc-8-batch",	4,	kmalloc_batch_8 },
	{ "kmalloc-64-batch",	4,	kmalloc_batch_64 },
	{ "kmalloc-1024-batch",	4,	kmalloc_batch_1024 },
	{ "kmalloc-8192-batch",	2,	kmalloc_batch_8192 },
	{ "kmalloc-16384-batch", 2,	kmalloc_batch_16384 },
	{ "kmalloc-64-acct-batch", 4,	kmalloc_batch_64_acct },
	{ "kmalloc-64-bulk",	4,	kmalloc_bulk },
	{ "cache-200-batch",	4,	cache_batch },
	{ "cache-200-bulk",	4,	cache_bulk },
	{ "kfree-remote",	4,	kfree_remote },
	{ "krealloc-grow",	500,	krealloc_grow },
	{ }
};

static void construct(void *obj)
{
}

/* Set the order of objects in new slabs, return what it was. NULL is none. */
static unsigned int *set_random_seq(struct kmem_cache *s, unsigned int *seq)
{
#ifdef CONFIG_SLAB_FREELIST_RANDOM
	return xchg(&s->random_seq, seq);
#else
	return NULL;
#endif
}

/* Have a slab of the lowest order, all of whose objects are in use. */
static void be_short_of_memory(struct kmem_cache *s)
{
	/* The sequence is for as many objects as a slab of the usual order has. */
	unsigned int *usual_seq = set_random_seq(s, NULL);
	struct kmem_cache_order_objects usual = s->oo;
	unsigned int i;

	s->oo = s->min;
	short_objects[0] = kmem_cache_alloc(s, GFP_KERNEL);
	for (i = 1; short_objects[0] && i < virt_to_slab(short_objects[0])->objects; i++)
		short_objects[i] = kmem_cache_alloc(s, GFP_KERNEL);
	s->oo = usual;
	set_random_seq(s, usual_seq);
}

int bench_slab_init(void)
{
	/* A cache with a constructor is not merged with another one. */
	bench_cache_200 = kmem_cache_create(KBUILD_MODNAME, 200, 0, 0, construct);
	cache_1024 = kmem_cache_create(KBUILD_MODNAME "_1024", 1024, 0, 0, construct);
	cache_1024_short = kmem_cache_create(KBUILD_MODNAME "_short", 1024, 0, 0, construct);
	if (!bench_cache_200 || !cache_1024 || !cache_1024_short)
		return -ENOMEM;
	be_short_of_memory(cache_1024_short);
	return 0;
}

void bench_slab_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(short_objects); i++)
		if (short_objects[i])
			kmem_cache_free(cache_1024_short, short_objects[i]);
	kmem_cache_destroy(cache_1024_short);
	kmem_cache_destroy(cache_1024);
	kmem_cache_destroy(bench_cache_200);
}
