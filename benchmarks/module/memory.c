// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding many objects, for user space to see how much memory they take with
 * all that is kept about them.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "alloc_bench.h"

struct kind {
	const char *name;
	void *(*alloc)(size_t size);
	void (*release)(void *obj, size_t size);
};

static void *alloc_plain(size_t size)
{
	return kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
}

static void *alloc_accounted(size_t size)
{
	return kmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

static void free_object(void *obj, size_t size)
{
	kfree(obj);
}

static void *alloc_cache(size_t size)
{
	return kmem_cache_alloc(bench_cache_200, GFP_KERNEL | __GFP_NOWARN);
}

static void free_cache(void *obj, size_t size)
{
	kmem_cache_free(bench_cache_200, obj);
}

static void *alloc_buddy(size_t size)
{
	return (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, get_order(size));
}

static void free_buddy(void *obj, size_t size)
{
	free_pages((unsigned long)obj, get_order(size));
}

static void *alloc_per_cpu(size_t size)
{
	return (__force void *)__alloc_percpu(size, 8);
}

static void free_per_cpu(void *obj, size_t size)
{
	free_percpu((__force void __percpu *)obj);
}

static const struct kind kinds[] = {
	{ "kmalloc",		alloc_plain,	 free_object },
	{ "kmalloc-acct",	alloc_accounted, free_object },
	{ "cache",		alloc_cache,	 free_cache },
	{ "pages",		alloc_buddy,	 free_buddy },
	{ "percpu",		alloc_per_cpu,	 free_per_cpu },
};

static void **held;
static unsigned long nr_held;
static size_t held_size;
static const struct kind *held_kind;

/**
 * bench_hold_prepare - get the array that the objects are held in
 * @count: for how many objects
 *
 * The array is memory too: user space looks at the free memory after this and
 * after bench_hold().
 */
int bench_hold_prepare(unsigned long count)
{
	bench_release();
	held = vzalloc(array_size(count, sizeof(*held)));
	return held ? 0 : -ENOMEM;
}

/* Allocate and hold objects. Less than @count is an error, what there is stays. */
int bench_hold(const char *name, size_t size, unsigned long count)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			break;
	}
	if (i == ARRAY_SIZE(kinds) || !held)
		return -EINVAL;

	held_kind = &kinds[i];
	held_size = size;
	for (nr_held = 0; nr_held < count; nr_held++) {
		held[nr_held] = held_kind->alloc(size);
		if (!held[nr_held])
			return -ENOMEM;
		if (!(nr_held % 1024))
			cond_resched();
	}
	return 0;
}

/* Free what is held. */
void bench_release(void)
{
	while (nr_held)
		held_kind->release(held[--nr_held], held_size);
	vfree(held);
	held = NULL;
}
