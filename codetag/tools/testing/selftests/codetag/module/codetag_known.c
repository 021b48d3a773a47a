// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_known: has one of everything, and says in the kernel log where it is and at
 * which line of this file it was allocated:
 *
 *	known: KIND ADDRESS LINE
 *
 * For programs that find out what an address is. With dump=1 the kernel reports about
 * these, too, each report after its line. With oops=1 it is not loaded, but makes an oops
 * with the first object and the pages in registers. Where KFENCE takes an object a
 * millisecond, one of its objects is known, too.
 */
#include <linux/delay.h>
#include <linux/kfence.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static void *near, *far, *large, *area, *kept, *freed, *guarded;
static struct kmem_cache *cache;
static struct page *pages;
static int __percpu *percpu;
static void __percpu *chunks[16];
static struct task_struct *task;
static int data = 1;

static bool dump;
module_param(dump, bool, 0400);
MODULE_PARM_DESC(dump, "have the kernel report about objects and pages");

static bool oops;
module_param(oops, bool, 0400);
MODULE_PARM_DESC(oops, "read from a bad address, with others in registers");

/* Not in a register, and not on the stack of whoever loads the module. */
static int known_thread(void *unused)
{
	while (!kthread_should_stop())
		msleep_interruptible(1000);
	return 0;
}

static void say(const char *kind, const void *address, unsigned int line)
{
	pr_info("known: %s %px %u\n", kind, address, line);
	if (!dump || !(virt_addr_valid(address) || is_vmalloc_addr(address)))
		return;
	/* By its start: by an address in it, the kernel does not find each area. */
	if (!strcmp(kind, "vmalloc"))
		mem_dump_obj(area);
	else if (!strcmp(kind, "object") || !strcmp(kind, "freed"))
		mem_dump_obj((void *)address);
	else if (!strcmp(kind, "pages"))
		dump_page(virt_to_page(address), "codetag_known");
}

/* In RBX an object, in RCX pages, in RDX the bad address. */
static noinline void read_bad_address(void)
{
#ifdef CONFIG_X86_64
	asm volatile("movl (%%rdx), %%eax" : :
		     "b" (near + 16), "c" (page_address(pages) + PAGE_SIZE + 8), "d" (8UL) : "eax");
#endif
}

#ifdef CONFIG_KFENCE
/* An object of KFENCE's that does not begin where its page does */
static void know_guarded(void)
{
	unsigned long end = jiffies + 10 * HZ;

	do {
		if (guarded)
			kmem_cache_free(cache, guarded);
		guarded = kmem_cache_alloc(cache, GFP_KERNEL);
	} while (guarded && !(is_kfence_address(guarded) && offset_in_page(guarded)) &&
		 time_before(jiffies, end));
	if (is_kfence_address(guarded))
		say("guarded", guarded + 24, __LINE__ - 4);
}
#endif

/* Percpu memory that the first chunk has no room for is in an area of vmalloc space. */
static void know_chunk(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(chunks); i++) {
		chunks[i] = __alloc_percpu(PCPU_MIN_UNIT_SIZE, sizeof(long));
		if (!chunks[i] || !is_vmalloc_addr(per_cpu_ptr(chunks[i], 0)))
			continue;
		say("chunk", per_cpu_ptr(chunks[i], 0) + 5000, __LINE__ - 3);
		break;
	}
}

static int know(void)
{
	near = kmalloc(100, GFP_KERNEL);
	say("object", near + 40, __LINE__ - 1);
	far = kmalloc(2000, GFP_KERNEL);
	say("object", far + 1000, __LINE__ - 1);
	large = kmalloc(50000, GFP_KERNEL);
	say("pages", large + 40000, __LINE__ - 1);
	pages = alloc_pages(GFP_KERNEL, 3);
	say("pages", pages ? page_address(pages) + 5 * PAGE_SIZE + 8 : NULL, __LINE__ - 1);
	area = vmalloc(20000);
	say("vmalloc", area + 15000, __LINE__ - 1);
	percpu = alloc_percpu(int);
	say("percpu", per_cpu_ptr(percpu, 0), __LINE__ - 1);
	know_chunk();
	if (!near || !far || !large || !pages || !area || !percpu)
		return -ENOMEM;

	/* The cache has no other users. */
	cache = kmem_cache_create("codetag_known", 600, 0, SLAB_NO_MERGE, NULL);
	if (!cache)
		return -ENOMEM;
	kept = kmem_cache_alloc(cache, GFP_KERNEL);
	freed = kmem_cache_alloc(cache, GFP_KERNEL);
	if (!kept || !freed)
		return -ENOMEM;
	kmem_cache_free(cache, freed);
	say("freed", freed + 16, 0);
#ifdef CONFIG_KFENCE
	if (kfence_sample_interval == 1)
		know_guarded();
#endif
	say("module", &data, 0);
	task = kthread_run(known_thread, NULL, "known");
	if (IS_ERR(task))
		return PTR_ERR(task);
	say("stack", task_stack_page(task) + THREAD_SIZE - 512, 0);
	return 0;
}

static void forget(void)
{
	unsigned int i;

	if (!IS_ERR_OR_NULL(task))
		kthread_stop(task);
	if (guarded)
		kmem_cache_free(cache, guarded);
	if (kept)
		kmem_cache_free(cache, kept);
	kmem_cache_destroy(cache);
	for (i = 0; i < ARRAY_SIZE(chunks); i++)
		free_percpu(chunks[i]);
	free_percpu(percpu);
	vfree(area);
	if (pages)
		__free_pages(pages, 3);
	kfree(large);
	kfree(far);
	kfree(near);
}

static int __init known_init(void)
{
	int ret = know();

	if (!ret && oops)
		read_bad_address();
	if (ret)
		forget();
	return ret;
}

static void __exit known_exit(void)
{
	forget();
}

module_init(known_init);
module_exit(known_exit);
MODULE_DESCRIPTION("One of everything, at known addresses");
MODULE_LICENSE("GPL");
