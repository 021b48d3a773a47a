// SPDX-License-Identifier: GPL-2.0-only
/*
 * codetag_lost: forgets memory of each kind, and keeps other memory by one pointer each,
 * in every way that a pointer can be written. It says in the kernel log how many it
 * allocated at which line of this file:
 *
 *	lost: KIND COUNT LINE
 *	kept: KIND COUNT LINE
 *	number: PHYSICAL ADDRESS
 *
 * For programs that find memory that no pointer leads to. Lost memory is never freed.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rculist_nulls.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#ifdef CONFIG_BLOCK
#include <../block/blk-mq.h>
#endif

#define NR_SLAB		1000
#define NR_PAGES	50
#define NR_PERCPU	20
#define NR_VMALLOC	20
#define NR_KEPT		40

/*
 * Each is counted as _each allocations: an area has five pages and their list. Not inlined,
 * so that no register keeps any.
 */
#define FORGET(_kind, _count, _each, _allocation)				\
static noinline bool forget_##_kind(void)					\
{										\
	const unsigned int count = (_count);					\
										\
	for (unsigned int i = 0; i < count; i++) {				\
		if (!(_allocation))						\
			return false;						\
	}									\
	pr_info("lost: " #_kind " %u %u\n", count * (_each), __LINE__);		\
	return true;								\
}

static struct kmem_cache *cache;

FORGET(small, NR_SLAB, 1, kmalloc(40, GFP_KERNEL))
FORGET(large, NR_SLAB / 4, 1, kzalloc(1500, GFP_KERNEL))
FORGET(object, NR_SLAB / 4, 1, kmem_cache_alloc(cache, GFP_KERNEL))

/* Zeroed: an old word on a stack can keep one of them, and old words in that one many others. */
FORGET(page, NR_PAGES, 1, alloc_page(GFP_KERNEL | __GFP_ZERO))
FORGET(pages, NR_PAGES, 1, alloc_pages(GFP_KERNEL | __GFP_ZERO, 2))
FORGET(compound, NR_PAGES, 1, alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 1))
FORGET(exact, NR_PAGES, 3, alloc_pages_exact(3 * PAGE_SIZE, GFP_KERNEL | __GFP_ZERO))
FORGET(percpu, NR_PERCPU, 1, __alloc_percpu(24, 8))
FORGET(vmalloc, NR_VMALLOC, 6, vzalloc(5 * PAGE_SIZE))

/* A ring that nothing outside leads to. */
static noinline bool forget_ring(void)
{
	struct list_head *head = NULL, *one;

	for (unsigned int i = 0; i < NR_PAGES; i++) {
		one = kmalloc(sizeof(*one) + 80, GFP_KERNEL);
		if (!one)
			return false;
		INIT_LIST_HEAD(one);
		if (head)
			list_add(one, head);
		head = one;
	}
	pr_info("lost: ring %u %u\n", NR_PAGES, __LINE__ - 8);
	return true;
}

/* A script writes this physical address to a number in the kernel's data. */
static noinline bool forget_number(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	if (!page)
		return false;
	pr_info("number: %llu\n", (u64)page_to_phys(page));
	pr_info("lost: number 1 %u\n", __LINE__ - 5);
	return true;
}

/* ---- kept --------------------------------------------------------------------------- */

/* Held by one word of each: the content of these is all that leads to the rest. */
struct kept {
	unsigned long pad[3];
	struct list_head list;
	struct hlist_nulls_node nulls;
	struct rhash_head hash;
	unsigned long key;
};

static LIST_HEAD(list);
static struct hlist_nulls_head nulls = { (struct hlist_nulls_node *)NULLS_MARKER(3) };
static DEFINE_XARRAY(array);
static DEFINE_MTREE(tree);
static struct rhashtable table;
static const struct rhashtable_params table_params = {
	.key_len = sizeof(unsigned long),
	.key_offset = offsetof(struct kept, key),
	.head_offset = offsetof(struct kept, hash),
};

/* __used: the compiler would drop variables that are only written. */
static unsigned long tagged[NR_KEPT] __used, numbers[NR_KEPT] __used;
static unsigned long *of_exact[NR_KEPT] __used;
static phys_addr_t addresses[NR_KEPT] __used;
static struct page *private[NR_KEPT] __used;
static unsigned long **area __used;
static void *mapped __used;
static unsigned long __percpu **each_cpu __used;
static struct task_struct *task;

#define KEEP(_kind, _type, _allocation, _keep)					\
static noinline bool keep_##_kind(void)						\
{										\
	for (unsigned long i = 0; i < NR_KEPT; i++) {				\
		_type p = (_allocation);					\
										\
		if (!p || !(_keep))						\
			return false;						\
	}									\
	pr_info("kept: " #_kind " %u %u\n", NR_KEPT, __LINE__);			\
	return true;								\
}

static bool add_list(struct kept *p)
{
	list_add(&p->list, &list);
	return true;
}

static bool add_nulls(struct kept *p)
{
	hlist_nulls_add_head_rcu(&p->nulls, &nulls);
	return true;
}

static bool add_hash(struct kept *p, unsigned long i)
{
	p->key = i;
	return !rhashtable_insert_fast(&table, &p->hash, table_params);
}

static bool add_maple(void *p, unsigned long i)
{
	return !mtree_store_range(&tree, i * 10, i * 10 + 5, p, GFP_KERNEL);
}

static bool add_private(struct page *page, unsigned long i)
{
	private[i] = page;
	set_page_private(page, (unsigned long)kmalloc(56, GFP_KERNEL));
	return page_private(page);
}

/* Only the first page is known, and the last one leads to an object. */
static bool add_exact(unsigned long *p, unsigned long i)
{
	of_exact[i] = p;
	p[2 * PAGE_SIZE / sizeof(*p) + 5] = (unsigned long)kmalloc(24, GFP_KERNEL);
	return p[2 * PAGE_SIZE / sizeof(*p) + 5];
}

/* Of the last CPU alone */
static bool add_percpu(unsigned long __percpu *p, unsigned long i)
{
	unsigned long *last = per_cpu_ptr(p, cpumask_last(cpu_possible_mask));

	each_cpu[i] = p;
	*last = (unsigned long)kmalloc(88, GFP_KERNEL);
	return *last;
}

KEEP(list, struct kept *, kmalloc(sizeof(struct kept), GFP_KERNEL), add_list(p))
KEEP(nulls, struct kept *, kmalloc(sizeof(struct kept), GFP_KERNEL), add_nulls(p))
KEEP(xarray, void *, kmalloc(32, GFP_KERNEL), !xa_err(xa_store(&array, i * i * i, p, GFP_KERNEL)))
KEEP(maple, void *, kmalloc(72, GFP_KERNEL), add_maple(p, i))
KEEP(rhashtable, struct kept *, kmalloc(sizeof(struct kept), GFP_KERNEL), add_hash(p, i))
KEEP(tagged, void *, kmalloc(48, GFP_KERNEL), tagged[i] = (unsigned long)p | (i & 7))
KEEP(physical, void *, kmalloc(PAGE_SIZE, GFP_KERNEL), addresses[i] = virt_to_phys(p))
KEEP(number, struct page *, alloc_page(GFP_KERNEL), numbers[i] = page_to_pfn(p))
KEEP(private, struct page *, alloc_page(GFP_KERNEL), add_private(p, i))
KEEP(exact, unsigned long *, alloc_pages_exact(3 * PAGE_SIZE, GFP_KERNEL), add_exact(p, i))
KEEP(area, void *, kmalloc(200, GFP_KERNEL), area[i * 100] = p)
KEEP(percpu, unsigned long __percpu *, alloc_percpu(unsigned long), add_percpu(p, i))

/* Its address alone leads to the pages. */
static noinline bool keep_mapped(void)
{
	struct page *pages[4];

	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i])
			return false;
	}
	mapped = vmap(pages, ARRAY_SIZE(pages), VM_MAP, PAGE_KERNEL);
	memset(pages, 0, sizeof(pages));
	barrier_data(pages);
	pr_info("kept: mapped 4 %u\n", __LINE__ - 7);
	return mapped;
}

/* The stack of a thread that sleeps, except behind its stack pointer, holds memory. */
static noinline void lose_on_stack(void)
{
	void *p[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = kmalloc(120, GFP_KERNEL);
	barrier_data(p);
	pr_info("lost: returned %zu %u\n", ARRAY_SIZE(p), __LINE__ - 2);
}

static int kept_thread(void *unused)
{
	void *p[NR_KEPT];

	lose_on_stack();
	for (unsigned int i = 0; i < NR_KEPT; i++)
		p[i] = kmalloc(24, GFP_KERNEL);
	barrier_data(p);
	pr_info("kept: stack %u %u\n", NR_KEPT, __LINE__ - 2);
	while (!kthread_should_stop())
		msleep_interruptible(100000);
	barrier_data(p);
	return 0;
}

/* The last reader of a rw_semaphore stays its owner, even if the task is gone. */
#ifndef CONFIG_PREEMPT_RT
static struct rw_semaphore unused[NR_KEPT] __used, read[NR_KEPT] __used;

static void *set_owner(struct rw_semaphore *sem, void *owner, long count)
{
	init_rwsem(sem);
	atomic_long_set(&sem->owner, (long)owner | 1);
	atomic_long_set(&sem->count, count);
	return owner;
}

KEEP(owner, void *, kmalloc(80, GFP_KERNEL), set_owner(&read[i], p, 256))
FORGET(owner, NR_KEPT, 1, set_owner(&unused[i], kmalloc(80, GFP_KERNEL), 0))
#else
static bool keep_owner(void)
{
	return true;
}

static bool forget_owner(void)
{
	return true;
}
#endif

/*
 * Pools of block requests. All requests of a pool were used, or two of them. They are free, or
 * wait to be sent, or are in flight. The driver keeps a buffer for each request.
 */
#ifdef CONFIG_BLOCK
struct driver_request {
	struct request request;
	void *file, *buffer;
} ____cacheline_aligned;

#define POOL_ORDER get_order(NR_KEPT * sizeof(struct driver_request))

static struct driver_request *idle __used, *few __used, *queued __used, *busy __used;
static struct request_queue *queue __used;

static struct driver_request *get_pool(struct blk_mq_ctx *ctx, enum mq_rq_state state, int ref,
				       unsigned long step)
{
	struct driver_request *pool;

	pool = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, POOL_ORDER);
	for (unsigned long i = 3; pool && i < NR_KEPT; i += step) {
		pool[i].request.q = queue;
		pool[i].request.mq_ctx = ctx;
		pool[i].request.state = state;
		atomic_set(&pool[i].request.ref, ref);
	}
	return pool;
}

KEEP(idle_buffer, void *, kmalloc(72, GFP_KERNEL), idle[i].buffer = p)
KEEP(few_buffer, void *, kmalloc(72, GFP_KERNEL), few[i].buffer = p)
KEEP(busy_buffer, void *, kmalloc(72, GFP_KERNEL), busy[i].buffer = p)
KEEP(queued_bio, void *, kmalloc(250, GFP_KERNEL), queued[i].request.bio = p)
KEEP(busy_bio, void *, kmalloc(250, GFP_KERNEL), busy[i].request.bio = p)
FORGET(idle_bio, NR_KEPT - 3, 1, idle[i + 3].request.biotail = kmalloc(250, GFP_KERNEL))

static noinline bool forget_idle_file(void)
{
	void *file = kmalloc(200, GFP_KERNEL);

	for (unsigned long i = 0; i < NR_KEPT; i++)
		idle[i].file = file;
	pr_info("lost: file 1 %u\n", __LINE__ - 4);
	return file;
}

static bool use_requests(void)
{
	struct blk_mq_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	struct blk_mq_tag_set *tags = kzalloc(sizeof(*tags), GFP_KERNEL);

	queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	if (!ctx || !tags || !queue)
		return false;
	tags->cmd_size = sizeof(struct driver_request) - sizeof(struct request);
	queue->tag_set = tags;
	ctx->queue = queue;
	idle = get_pool(ctx, MQ_RQ_IDLE, 0, 1);
	few = get_pool(ctx, MQ_RQ_IDLE, 0, 22);
	queued = get_pool(ctx, MQ_RQ_IDLE, 1, 1);
	busy = get_pool(ctx, MQ_RQ_IN_FLIGHT, 1, 1);
	return idle && few && queued && busy && keep_idle_buffer() && keep_few_buffer() &&
	       keep_busy_buffer() && keep_queued_bio() && keep_busy_bio() &&
	       forget_idle_bio() && forget_idle_file();
}
#else
static bool use_requests(void)
{
	return true;
}
#endif

static bool keep(void)
{
	area = vzalloc(NR_KEPT * 100 * sizeof(*area));
	each_cpu = kcalloc(NR_KEPT, sizeof(*each_cpu), GFP_KERNEL);
	if (!area || !each_cpu || rhashtable_init(&table, &table_params))
		return false;
	task = kthread_run(kept_thread, NULL, "kept");
	return !IS_ERR(task) && keep_list() && keep_nulls() && keep_xarray() && keep_maple() &&
	       keep_rhashtable() && keep_tagged() && keep_physical() && keep_number() &&
	       keep_private() && keep_exact() && keep_area() && keep_percpu() && keep_mapped() &&
	       keep_owner();
}

static int __init lost_init(void)
{
	cache = kmem_cache_create("codetag_lost", 600, 0, SLAB_NO_MERGE, NULL);
	return cache && keep() && use_requests() &&
	       forget_small() && forget_large() && forget_object() &&
	       forget_page() && forget_pages() && forget_compound() && forget_exact() &&
	       forget_percpu() && forget_vmalloc() && forget_ring() && forget_owner() &&
	       forget_number() ? 0 : -ENOMEM;
}

module_init(lost_init);
MODULE_DESCRIPTION("Memory that nothing points to any more, and some that something does");
MODULE_LICENSE("GPL");
