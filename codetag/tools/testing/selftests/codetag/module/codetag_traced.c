// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_traced: a line for each kind of memory, and the same again for lines that stay
 * untraced.
 *
 *	echo "hold slab 100" > /sys/module/codetag_traced/parameters/run
 *	echo "drop slab 40" > /sys/module/codetag_traced/parameters/run
 *
 * "hold" makes so many allocations at the line of that kind and keeps them, "drop" frees the
 * last ones. "other" allocates and frees one of each kind, so many times, at lines of its own.
 * "split" is a page of order 3 that is split once it is there: each of its eight parts is freed
 * by itself. "alone" is one whose first page is freed while somebody else has a reference.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define NR_HELD		200
#define NR_BULK		16
#define SIZE		100
#define ORDER		3

static struct kmem_cache *cache;

struct bulk {
	void *objects[NR_BULK];
};

/* ---- the lines ------------------------------------------------------------------- */

static noinline void *alloc_slab(void)
{
	return kmalloc(SIZE, GFP_KERNEL);
}

static noinline void *alloc_cache(void)
{
	return kmem_cache_alloc(cache, GFP_KERNEL);
}

static noinline bool alloc_bulk(struct bulk *bulk)
{
	return kmem_cache_alloc_bulk(cache, GFP_KERNEL, NR_BULK, bulk->objects);
}

static noinline void *alloc_large(void)
{
	return kmalloc(5 * PAGE_SIZE, GFP_KERNEL);
}

static noinline void *alloc_page0(void)
{
	return alloc_page(GFP_KERNEL);
}

static noinline void *alloc_order(void)
{
	return alloc_pages(GFP_KERNEL, ORDER);
}

static noinline void *alloc_comp(void)
{
	return alloc_pages(GFP_KERNEL | __GFP_COMP, ORDER);
}

static noinline void *alloc_split(void)
{
	return alloc_pages(GFP_KERNEL, ORDER);
}

static noinline void *alloc_alone(void)
{
	return alloc_pages(GFP_KERNEL, ORDER);
}

static noinline void *alloc_vmalloc(void)
{
	return vmalloc(4 * PAGE_SIZE);
}

static noinline void *alloc_pcpu(void)
{
	return (__force void *)__alloc_percpu(SIZE, 8);
}

/* ---- kinds ----------------------------------------------------------------------- */

static void *new_bulk(void)
{
	struct bulk *bulk = kmalloc(sizeof(*bulk), GFP_KERNEL);

	if (bulk && !alloc_bulk(bulk)) {
		kfree(bulk);
		bulk = NULL;
	}
	return bulk;
}

static void free_bulk(void *p)
{
	struct bulk *bulk = p;

	kmem_cache_free_bulk(cache, NR_BULK, bulk->objects);
	kfree(bulk);
}

static void *new_split(void)
{
	struct page *page = alloc_split();

	if (page)
		split_page(page, ORDER);
	return page;
}

static void free_object(void *p)
{
	kfree(p);
}

static void free_cached(void *p)
{
	kmem_cache_free(cache, p);
}

static void free_page0(void *p)
{
	__free_page(p);
}

static void free_order(void *p)
{
	__free_pages(p, ORDER);
}

static void free_split(void *p)
{
	for (unsigned int i = 0; i < 1 << ORDER; i++)
		__free_page((struct page *)p + i);
}

/* The last put_page() frees the first page, and __free_pages() only the others. */
static void free_alone(void *p)
{
	get_page(p);
	__free_pages(p, ORDER);
	put_page(p);
}

static void free_vmalloc(void *p)
{
	vfree(p);
}

static void free_pcpu(void *p)
{
	free_percpu((__force void __percpu *)p);
}

static struct kind {
	const char *name;
	void *(*alloc)(void);
	void (*free)(void *p);
	unsigned int nr;
	void *held[NR_HELD];
} kinds[] = {
	{ "slab", alloc_slab, free_object },
	{ "cache", alloc_cache, free_cached },
	{ "bulk", new_bulk, free_bulk },
	{ "large", alloc_large, free_object },
	{ "page", alloc_page0, free_page0 },
	{ "order", alloc_order, free_order },
	{ "comp", alloc_comp, free_order },
	{ "split", new_split, free_split },
	{ "alone", alloc_alone, free_alone },
	{ "vmalloc", alloc_vmalloc, free_vmalloc },
	{ "percpu", alloc_pcpu, free_pcpu },
};

/* ---- commands -------------------------------------------------------------------- */

static int hold(struct kind *kind)
{
	void *p;

	if (kind->nr == NR_HELD)
		return -ENOSPC;
	p = kind->alloc();
	if (!p)
		return -ENOMEM;
	kind->held[kind->nr++] = p;
	return 0;
}

static int drop(struct kind *kind)
{
	if (!kind->nr)
		return -ENOENT;
	kind->free(kind->held[--kind->nr]);
	return 0;
}

static noinline int other(void)
{
	struct bulk bulk;

	kfree(kmalloc(SIZE, GFP_KERNEL));
	if (kmem_cache_alloc_bulk(cache, GFP_KERNEL, NR_BULK, bulk.objects))
		kmem_cache_free_bulk(cache, NR_BULK, bulk.objects);
	kfree(kmalloc(5 * PAGE_SIZE, GFP_KERNEL));
	__free_pages(alloc_pages(GFP_KERNEL | __GFP_NOFAIL, 1), 1);
	free_percpu(__alloc_percpu(SIZE, 8));
	vfree(vmalloc(PAGE_SIZE));
	return 0;
}

static int set_run(const char *val, const struct kernel_param *kp)
{
	char command[8], name[16];
	unsigned int number;
	int ret = 0;

	if (sscanf(val, "other %u", &number) == 1) {
		while (number--)
			other();
		return 0;
	}
	if (sscanf(val, "%7s %15s %u", command, name, &number) != 3)
		return -EINVAL;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		while (!ret && number--)
			ret = strcmp(command, "hold") ? drop(&kinds[i]) : hold(&kinds[i]);
		return ret;
	}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "hold KIND NUMBER, drop KIND NUMBER or other NUMBER");

static int __init traced_init(void)
{
	cache = kmem_cache_create("codetag_traced", SIZE, 0, SLAB_NO_MERGE, NULL);
	return cache ? 0 : -ENOMEM;
}

static void __exit traced_exit(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		while (kinds[i].nr)
			drop(&kinds[i]);
	kmem_cache_destroy(cache);
}

module_init(traced_init);
module_exit(traced_exit);
MODULE_DESCRIPTION("Allocations of each kind that can be traced");
MODULE_LICENSE("GPL");
