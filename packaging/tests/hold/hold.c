// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module for DKMS to build. It holds memory while it is loaded (keep=1: also after that), or
 * leaks memory. It can also measure how long it takes to allocate and free a page.
 *
 * Its allocator has no call site; the callers have them, see Documentation/usage.md.
 */
#include <linux/gfp.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define alloc_hooks(_do_alloc)	_do_alloc
#define kmalloc_noprof		kmalloc
#endif

static noinline void *hold_alloc_noprof(size_t size)
{
	return kmalloc_noprof(size, GFP_KERNEL);
}

#define hold_alloc(...)	alloc_hooks(hold_alloc_noprof(__VA_ARGS__))

static void *held;
static bool keep;
module_param(keep, bool, 0);
MODULE_PARM_DESC(keep, "the memory stays when the module goes");

static unsigned int forget;
module_param(forget, uint, 0);
MODULE_PARM_DESC(forget, "lose that many addresses of each kind of memory");

static LIST_HEAD(held_pages);
static unsigned int pages;
module_param(pages, uint, 0);
MODULE_PARM_DESC(pages, "hold that many pages, too");

static unsigned int pairs;
module_param(pairs, uint, 0);
MODULE_PARM_DESC(pairs, "allocate and free a page that many times, and print the mean time");

static noinline void measure_pairs(unsigned int count)
{
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct page *page = alloc_page(GFP_KERNEL);

		if (page)
			__free_page(page);
	}
	pr_info("hold: %llu ns a page\n", div_u64(ktime_get_ns() - start, count));
}

static noinline void lose(const void *address)
{
	OPTIMIZER_HIDE_VAR(address);
}

static noinline void forget_objects(void)
{
	lose(kmalloc(200, GFP_KERNEL));
}

static noinline void forget_pages(void)
{
	lose(alloc_page(GFP_KERNEL));
}

static noinline void forget_percpu(void)
{
	lose((__force void *)__alloc_percpu(48, 8));
}

static noinline void forget_areas(void)
{
	lose(vmalloc(3 * PAGE_SIZE));
}

static noinline int hold_pages(unsigned int count)
{
	while (count--) {
		struct page *page = alloc_page(GFP_KERNEL);

		if (!page)
			return -ENOMEM;
		list_add(&page->lru, &held_pages);
	}
	return 0;
}

static void hold_exit(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &held_pages, lru)
		__free_page(page);
	if (!keep)
		kfree(held);
}

static int __init hold_init(void)
{
	if (pairs)
		measure_pairs(pairs);
	for (; forget; forget--) {
		forget_objects();
		forget_pages();
		forget_percpu();
		forget_areas();
	}
	held = hold_alloc(12345);
	if (held && !hold_pages(pages))
		return 0;
	hold_exit();
	return -ENOMEM;
}

module_init(hold_init);
module_exit(hold_exit);
MODULE_DESCRIPTION("Holds memory");
MODULE_LICENSE("GPL");
