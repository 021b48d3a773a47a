// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_forgetful: leaks of all kinds, for alarms.sh to see which of them are found:
 *
 *	insmod codetag_forgetful.ko kind=pages2 [every=200]
 *
 * A thread forgets one allocation of that kind every so many milliseconds. Beside it, it
 * allocates and frees as much again, as real code does. Unloading frees everything.
 */
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define NR_FORGOTTEN	8192

static char *kind = "kmalloc64";
module_param(kind, charp, 0400);
MODULE_PARM_DESC(kind, "kmalloc64, kmalloc5000, cache, pages0, pages2, pages4, vmalloc, percpu");

static unsigned int every = 200;
module_param(every, uint, 0400);
MODULE_PARM_DESC(every, "milliseconds from one forgotten allocation to the next");

static struct kmem_cache *planted_cache;

static void *take_kmalloc64(void)
{
	return kmalloc(64, GFP_KERNEL);
}

static void *take_kmalloc5000(void)
{
	return kmalloc(5000, GFP_KERNEL);
}

static void give_kmalloc(void *p)
{
	kfree(p);
}

static void *take_cache(void)
{
	return kmem_cache_alloc(planted_cache, GFP_KERNEL);
}

static void give_cache(void *p)
{
	kmem_cache_free(planted_cache, p);
}

static void *take_pages0(void)
{
	return (void *)__get_free_pages(GFP_KERNEL, 0);
}

static void give_pages0(void *p)
{
	free_pages((unsigned long)p, 0);
}

static void *take_pages2(void)
{
	return (void *)__get_free_pages(GFP_KERNEL, 2);
}

static void give_pages2(void *p)
{
	free_pages((unsigned long)p, 2);
}

static void *take_pages4(void)
{
	return (void *)__get_free_pages(GFP_KERNEL, 4);
}

static void give_pages4(void *p)
{
	free_pages((unsigned long)p, 4);
}

static void *take_vmalloc(void)
{
	return vmalloc(12000);
}

static void give_vmalloc(void *p)
{
	vfree(p);
}

static void *take_percpu(void)
{
	return (void __force *)__alloc_percpu(48, 8);
}

static void give_percpu(void *p)
{
	free_percpu((void __percpu __force *)p);
}

static const struct planted {
	const char *name;
	void *(*take)(void);
	void (*give)(void *p);
} planted[] = {
	{ "kmalloc64", take_kmalloc64, give_kmalloc },
	{ "kmalloc5000", take_kmalloc5000, give_kmalloc },
	{ "cache", take_cache, give_cache },
	{ "pages0", take_pages0, give_pages0 },
	{ "pages2", take_pages2, give_pages2 },
	{ "pages4", take_pages4, give_pages4 },
	{ "vmalloc", take_vmalloc, give_vmalloc },
	{ "percpu", take_percpu, give_percpu },
};

static const struct planted *chosen;
static void *forgotten[NR_FORGOTTEN];
static unsigned int nr_forgotten;

static int work(void *unused)
{
	while (!kthread_should_stop()) {
		void *used = chosen->take();

		if (used)
			chosen->give(used);
		if (nr_forgotten < NR_FORGOTTEN) {
			forgotten[nr_forgotten] = chosen->take();
			if (forgotten[nr_forgotten])
				nr_forgotten++;
		}
		schedule_timeout_interruptible(msecs_to_jiffies(every));
	}
	return 0;
}

static struct task_struct *worker;

static int __init codetag_forgetful_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(planted); i++)
		if (!strcmp(kind, planted[i].name))
			chosen = &planted[i];
	if (!chosen || !every)
		return -EINVAL;
	planted_cache = kmem_cache_create("codetag_forgetful", 136, 0, 0, NULL);
	if (!planted_cache)
		return -ENOMEM;
	worker = kthread_run(work, NULL, KBUILD_MODNAME);
	if (IS_ERR(worker)) {
		kmem_cache_destroy(planted_cache);
		return PTR_ERR(worker);
	}
	return 0;
}

static void __exit codetag_forgetful_exit(void)
{
	kthread_stop(worker);
	while (nr_forgotten)
		chosen->give(forgotten[--nr_forgotten]);
	kmem_cache_destroy(planted_cache);
}

module_init(codetag_forgetful_init);
module_exit(codetag_forgetful_exit);

MODULE_DESCRIPTION("Leaks of all kinds, for tests of code tagging");
MODULE_LICENSE("GPL");
