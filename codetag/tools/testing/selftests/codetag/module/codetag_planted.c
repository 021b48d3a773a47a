// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_planted: holds as much memory of each kind as it is told, for tests of reports
 * that say where all memory is:
 *
 *	insmod codetag_planted.ko [pages=16] [vmalloc=16] [percpu=16] [slab=16]
 *
 * in MiB each, on all CPUs together. Unloading frees everything.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static unsigned int mib_pages;
module_param_named(pages, mib_pages, uint, 0400);
MODULE_PARM_DESC(pages, "MiB of single pages");

static unsigned int mib_vmalloc;
module_param_named(vmalloc, mib_vmalloc, uint, 0400);
MODULE_PARM_DESC(vmalloc, "MiB in vmalloc areas");

static unsigned int mib_percpu;
module_param_named(percpu, mib_percpu, uint, 0400);
MODULE_PARM_DESC(percpu, "MiB of percpu memory");

static unsigned int mib_slab;
module_param_named(slab, mib_slab, uint, 0400);
MODULE_PARM_DESC(slab, "MiB of objects of a cache of its own");

#define PERCPU_SIZE	SZ_16K

struct object {
	struct object *next;
	char rest[SZ_1K - sizeof(void *)];
};

static LIST_HEAD(held_pages);
static void *held_area;
static void __percpu **held_percpu;
static unsigned int nr_percpu;
static struct kmem_cache *cache;
static struct object *held_objects;

static int plant_pages(void)
{
	unsigned long left = (unsigned long)mib_pages * SZ_1M / PAGE_SIZE;
	struct page *page;

	while (left--) {
		page = alloc_page(GFP_KERNEL);
		if (!page)
			return -ENOMEM;
		list_add(&page->lru, &held_pages);
	}
	return 0;
}

static int plant_vmalloc(void)
{
	if (!mib_vmalloc)
		return 0;
	held_area = vmalloc((unsigned long)mib_vmalloc * SZ_1M);
	return held_area ? 0 : -ENOMEM;
}

static int plant_percpu(void)
{
	unsigned int most = mib_percpu * (SZ_1M / PERCPU_SIZE) / num_possible_cpus();

	if (!most)
		return 0;
	held_percpu = kvcalloc(most, sizeof(*held_percpu), GFP_KERNEL);
	if (!held_percpu)
		return -ENOMEM;
	for (; nr_percpu < most; nr_percpu++) {
		held_percpu[nr_percpu] = __alloc_percpu(PERCPU_SIZE, PAGE_SIZE);
		if (!held_percpu[nr_percpu])
			return -ENOMEM;
	}
	return 0;
}

static int plant_slab(void)
{
	unsigned long left = (unsigned long)mib_slab * SZ_1M / sizeof(struct object);
	struct object *object;

	if (!left)
		return 0;
	cache = kmem_cache_create("ct_planted", sizeof(struct object), 0, SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	while (left--) {
		object = kmem_cache_alloc(cache, GFP_KERNEL);
		if (!object)
			return -ENOMEM;
		object->next = held_objects;
		held_objects = object;
	}
	return 0;
}

static void free_all(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &held_pages, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
	vfree(held_area);
	while (nr_percpu)
		free_percpu(held_percpu[--nr_percpu]);
	kvfree(held_percpu);
	while (held_objects) {
		struct object *object = held_objects;

		held_objects = object->next;
		kmem_cache_free(cache, object);
	}
	kmem_cache_destroy(cache);
}

static int __init planted_init(void)
{
	int ret = plant_pages() ?: plant_vmalloc() ?: plant_percpu() ?: plant_slab();

	if (ret)
		free_all();
	return ret;
}
module_init(planted_init);

static void __exit planted_exit(void)
{
	free_all();
}
module_exit(planted_exit);

MODULE_DESCRIPTION("Memory of each kind, for tests of code tagging");
MODULE_LICENSE("GPL");
