// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory an object takes, all that is kept about it included: the free
 * memory before and after many of them have been allocated.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "alloc_bench.h"

#define TOTAL	SZ_32M
#define NR_PERCPU 50000

static unsigned long free_bytes(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return info.freeram * info.mem_unit;
}

/* Objects hold each other in a list: an array of them would be memory too. */
static void hold(struct seq_file *m, const char *name, size_t size,
		 void *(*alloc)(size_t size), void (*release)(void *obj, size_t size))
{
	unsigned long from, taken, n;
	void *list = NULL, *obj;

	from = free_bytes();
	for (n = 0; n < TOTAL / size; n++) {
		obj = alloc(size);
		if (!obj)
			break;
		*(void **)obj = list;
		list = obj;
		if (!(n % 1024))
			cond_resched();
	}
	taken = from - free_bytes();
	while (list) {
		obj = list;
		list = *(void **)obj;
		release(obj, size);
	}
	seq_printf(m, "%s %zu %lu %lu\n", name, size, n, taken);
	cond_resched();
}

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

static void *alloc_buddy(size_t size)
{
	return (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, get_order(size));
}

static void free_buddy(void *obj, size_t size)
{
	free_pages((unsigned long)obj, get_order(size));
}

static void *of_cache(size_t size)
{
	return kmem_cache_alloc(bench_cache_200, GFP_KERNEL | __GFP_NOWARN);
}

static void to_cache(void *obj, size_t size)
{
	kmem_cache_free(bench_cache_200, obj);
}

static void hold_percpu(struct seq_file *m)
{
	u64 __percpu **array = vmalloc(NR_PERCPU * sizeof(*array));
	unsigned long from, taken;
	unsigned int i, n;

	if (!array)
		return;
	from = free_bytes();
	for (n = 0; n < NR_PERCPU; n++) {
		array[n] = alloc_percpu(u64);
		if (!array[n])
			break;
	}
	taken = from - free_bytes();
	for (i = 0; i < n; i++)
		free_percpu(array[i]);
	vfree(array);
	seq_printf(m, "percpu %zu %u %lu\n", sizeof(u64), n, taken);
}

/* A line for each kind: name, size, number of objects, bytes that were taken. */
int bench_memory_show(struct seq_file *m)
{
	size_t size;

	for (size = 8; size <= 8192; size *= 2)
		hold(m, "kmalloc", size, alloc_plain, free_object);
	for (size = 8; size <= 8192; size *= 8)
		hold(m, "kmalloc-acct", size, alloc_accounted, free_object);
	hold(m, "kmalloc", 96, alloc_plain, free_object);
	hold(m, "kmalloc", 192, alloc_plain, free_object);
	hold(m, "cache", 200, of_cache, to_cache);
	hold(m, "pages", PAGE_SIZE, alloc_buddy, free_buddy);
	hold_percpu(m);
	return 0;
}
