// SPDX-License-Identifier: GPL-2.0
/* A module that holds memory as long as it is loaded, or longer, for DKMS to build. */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/slab.h>

static void *held;
static bool keep;
module_param(keep, bool, 0);
MODULE_PARM_DESC(keep, "the memory stays when the module goes");

static LIST_HEAD(held_pages);
static unsigned int pages;
module_param(pages, uint, 0);
MODULE_PARM_DESC(pages, "hold that many pages, too");

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
	held = kmalloc(12345, GFP_KERNEL);
	if (held && !hold_pages(pages))
		return 0;
	hold_exit();
	return -ENOMEM;
}

module_init(hold_init);
module_exit(hold_exit);
MODULE_DESCRIPTION("Holds memory");
MODULE_LICENSE("GPL");
