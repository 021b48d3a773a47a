// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_victim: allocates when it loads, gives everything to the ledger of
 * codetag_test and has nothing to do with it any more when it unloads.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "codetag_test.h"

static char *group = "victim";
module_param(group, charp, 0400);
MODULE_PARM_DESC(group, "name under which the ledger keeps the memory");

static unsigned int pieces = 10;
module_param(pieces, uint, 0400);
MODULE_PARM_DESC(pieces, "how many of everything to allocate, 0 for nothing");

static bool keep = true;
module_param(keep, bool, 0400);
MODULE_PARM_DESC(keep, "leave the memory allocated when unloading");

/* A large area, to see whether the memory of the module really goes. */
static char ballast[256 * 1024];

static unsigned int gen;

#define site(call)							\
({									\
	row = ct_row(CT_WHERE(group, gen));				\
	(call);								\
})

static struct ct_item *keep_kmalloc(struct ct_row *row, void *p, size_t size)
{
	return ct_keep_slab(row, ct_free_kfree, p, 0, ct_kmalloc_cache(size));
}

static noinline int victim_alloc(void)
{
	struct ct_row *row;
	struct ct_item *item;
	void *p;

	p = site(kmalloc(200, GFP_KERNEL));
	if (!keep_kmalloc(row, p, 200))
		return -ENOMEM;
	p = site(kzalloc(3000, GFP_KERNEL));
	if (!keep_kmalloc(row, p, 3000))
		return -ENOMEM;
	p = site(kmalloc(50000, GFP_KERNEL));
	if (!ct_keep(row, ct_free_kfree, p, 0, 65536, 1))
		return -ENOMEM;
	p = site(alloc_pages(GFP_KERNEL, 0));
	if (!ct_keep(row, ct_free_pages, p, 0, PAGE_SIZE, 1))
		return -ENOMEM;
	p = site(alloc_pages(GFP_KERNEL | __GFP_COMP, 3));
	if (!ct_keep(row, ct_free_pages, p, 3, PAGE_SIZE << 3, 1))
		return -ENOMEM;
	p = site(vmalloc(3 * PAGE_SIZE));
	item = ct_keep(row, ct_free_vfree, p, 0, 3 * PAGE_SIZE, 3);
	if (!item)
		return -ENOMEM;
	ct_charge(item, 0, 1, ct_kmalloc_cache(3 * sizeof(void *)), 1);
	p = (void __force *)site(__alloc_percpu(40, 8));
	if (!ct_keep(row, ct_free_percpu, p, 0, ct_percpu_bytes(40), 1))
		return -ENOMEM;
	return 0;
}

static int __init codetag_victim_init(void)
{
	unsigned int i;
	int err = 0;

	memset(ballast, 1, sizeof(ballast));
	gen = ct_generation(KBUILD_MODNAME);
	for (i = 0; i < pieces && !err; i++)
		err = victim_alloc();
	if (err) {
		ct_drop(group);
		ct_unloaded(KBUILD_MODNAME, gen);
	}
	return err;
}

static void __exit codetag_victim_exit(void)
{
	if (!keep)
		ct_drop(group);
	ct_unloaded(KBUILD_MODNAME, gen);
}

module_init(codetag_victim_init);
module_exit(codetag_victim_exit);

MODULE_DESCRIPTION("Unloads while its allocations live");
MODULE_LICENSE("GPL");
