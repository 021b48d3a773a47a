// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_guarded: two lines that allocate in the same way, one of which misuses its objects.
 *
 *	echo "suspect 100" > /sys/module/codetag_guarded/parameters/run
 *
 * COMMAND and a number of objects. "suspect" and "other" allocate and free at their line. "late"
 * is suspect's line, and reads an object that was freed; "beyond" writes behind an object.
 * "hold" keeps its allocations at a line of its own until "drop". "bulk" takes objects of a
 * cache, 16 at once. "large" and "pages" ask for more than KFENCE can hold. "pages_late" reads
 * pages some time after they were freed, and "compound_late" those of a compound page.
 * "pages_copy" copies freed pages to or from user space, by turns; "object_copy" copies an object
 * that was freed. "pages_probe" reads freed pages with copy_from_kernel_nofault(). "pages_soon"
 * writes to pages at once, and "pages_twice" frees them again: only with a guard that keeps them
 * all.
 *
 * The parameter "taken" says how many of the objects of the last command KFENCE held.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define NR_HELD		1000
#define NR_BULK		16
#define SIZE		100

static void *held[NR_HELD];
static unsigned int nr_held;
static struct kmem_cache *cache;

static unsigned int taken;
module_param(taken, uint, 0400);
MODULE_PARM_DESC(taken, "objects of the last command that KFENCE held");

static void *count(void *p)
{
	taken += p && is_kfence_address(p);
	return p;
}

static noinline char *suspect(void)
{
	return count(kmalloc(SIZE, GFP_KERNEL));
}

static noinline char *other(void)
{
	return count(kmalloc(SIZE, GFP_KERNEL));
}

static int run_suspect(void)
{
	kfree(suspect());
	return 0;
}

static int run_other(void)
{
	kfree(other());
	return 0;
}

static int run_late(void)
{
	char *p = suspect();

	kfree(p);
	/* Of an object that KFENCE does not hold, this reads nobody's memory. */
	OPTIMIZER_HIDE_VAR(p);
	return p ? READ_ONCE(p[SIZE / 2]) & 0 : -ENOMEM;
}

static int run_beyond(void)
{
	char *p = suspect();

	if (!p)
		return -ENOMEM;
	/* Within the size of its cache: nothing else is there. */
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[SIZE], 1);
	kfree(p);
	return 0;
}

static int run_hold(void)
{
	if (nr_held == NR_HELD)
		return -ENOSPC;
	held[nr_held] = count(kmalloc(SIZE, GFP_KERNEL));
	return held[nr_held] ? nr_held++, 0 : -ENOMEM;
}

static int run_drop(void)
{
	while (nr_held)
		kfree(held[--nr_held]);
	return 0;
}

static int run_bulk(void)
{
	void *objects[NR_BULK];

	if (!kmem_cache_alloc_bulk(cache, GFP_KERNEL, NR_BULK, objects))
		return -ENOMEM;
	for (unsigned int i = 0; i < NR_BULK; i++)
		count(objects[i]);
	kmem_cache_free_bulk(cache, NR_BULK, objects);
	return 0;
}

static int run_large(void)
{
	kfree(count(kmalloc(2 * PAGE_SIZE, GFP_KERNEL)));
	return 0;
}

static int run_pages(void)
{
	free_page((unsigned long)count((void *)__get_free_page(GFP_KERNEL)));
	return 0;
}

static noinline char *suspect_pages(void)
{
	return (char *)__get_free_pages(GFP_KERNEL, 1);
}

static int run_pages_late(void)
{
	char *p = suspect_pages();

	free_pages((unsigned long)p, 1);
	/* Until the pages are unmapped */
	msleep(20);
	OPTIMIZER_HIDE_VAR(p);
	return p ? READ_ONCE(p[PAGE_SIZE + SIZE]) & 0 : -ENOMEM;
}

static noinline struct page *suspect_compound(void)
{
	return alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
}

static int run_compound_late(void)
{
	struct page *page = suspect_compound();
	char *p;

	if (!page)
		return -ENOMEM;
	p = page_address(page);
	put_page(page);
	msleep(20);
	OPTIMIZER_HIDE_VAR(p);
	return READ_ONCE(p[3 * PAGE_SIZE + SIZE]) & 0;
}

/*
 * Copy to the memory of the running program, as a read() does, or from it. x86 copies few bytes
 * and many by different instructions.
 */
static noinline int copy_freed(char *p, size_t bytes, bool from_user)
{
	unsigned long user = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	int ret;

	if (IS_ERR_VALUE(user))
		return user;
	if (from_user)
		ret = copy_from_user(p, (void __user *)user, bytes) ? -EFAULT : 0;
	else
		ret = copy_to_user((void __user *)user, p, bytes) ? -EFAULT : 0;
	vm_munmap(user, PAGE_SIZE);
	return ret;
}

static int run_pages_copy(void)
{
	static bool from_user;
	char *p = suspect_pages();

	if (!p)
		return -ENOMEM;
	free_pages((unsigned long)p, 1);
	msleep(20);
	OPTIMIZER_HIDE_VAR(p);
	from_user = !from_user;
	return copy_freed(p + SIZE, 512, from_user);
}

/* Only with a guard that takes them all */
static int run_object_copy(void)
{
	char *p = suspect();

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	return p ? copy_freed(p + SIZE / 2, 16, false) : -ENOMEM;
}

/* Fails if the read does not. */
static int run_pages_probe(void)
{
	char *p = suspect_pages(), byte;

	if (!p)
		return -ENOMEM;
	free_pages((unsigned long)p, 1);
	OPTIMIZER_HIDE_VAR(p);
	for (unsigned int i = 0; i < 50; i++) {
		msleep(20);
		if (copy_from_kernel_nofault(&byte, p, 1))
			return 0;
	}
	return -ENXIO;
}

static int run_pages_soon(void)
{
	char *p = suspect_pages();

	if (!p)
		return -ENOMEM;
	free_pages((unsigned long)p, 1);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[SIZE], 1);
	return 0;
}

/* Only with a guard that keeps them all: it reports the second free and ignores it. */
static int run_pages_twice(void)
{
	char *p = suspect_pages();

	if (!p)
		return -ENOMEM;
	free_pages((unsigned long)p, 1);
	OPTIMIZER_HIDE_VAR(p);
	free_pages((unsigned long)p, 1);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(void);
} commands[] = {
	{ "suspect", run_suspect }, { "other", run_other }, { "late", run_late },
	{ "beyond", run_beyond }, { "hold", run_hold }, { "drop", run_drop },
	{ "bulk", run_bulk }, { "large", run_large }, { "pages", run_pages },
	{ "pages_late", run_pages_late }, { "compound_late", run_compound_late },
	{ "pages_copy", run_pages_copy }, { "object_copy", run_object_copy },
	{ "pages_probe", run_pages_probe },
	{ "pages_soon", run_pages_soon }, { "pages_twice", run_pages_twice },
};

static int set_run(const char *val, const struct kernel_param *kp)
{
	unsigned int number;
	char name[16];
	int ret = 0;

	if (sscanf(val, "%15s %u", name, &number) != 2)
		return -EINVAL;
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, name))
			continue;
		taken = 0;
		while (!ret && number--)
			ret = commands[i].run();
		return ret;
	}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "COMMAND NUMBER");

static int __init guarded_init(void)
{
	cache = kmem_cache_create("codetag_guarded", SIZE, 0, SLAB_NO_MERGE, NULL);
	return cache ? 0 : -ENOMEM;
}

static void __exit guarded_exit(void)
{
	run_drop();
	kmem_cache_destroy(cache);
}

module_init(guarded_init);
module_exit(guarded_exit);
MODULE_DESCRIPTION("Allocations that a guard can watch, some of which are misused");
MODULE_LICENSE("GPL");
