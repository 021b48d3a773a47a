// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that allocate and free at random on every CPU, until they are told
 * to stop. Other threads free the memory, mostly on another CPU.
 * On x86 one more sends NMIs to all CPUs, which allocate and free as well if
 * the kernel has allocators for that. When all is over the lines of this file
 * have to show zero.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "codetag_test.h"

#if defined(kmalloc_nolock) && defined(CONFIG_X86_LOCAL_APIC)
#include <asm/apic.h>
#include <asm/nmi.h>
#define HAVE_NMI_CHURN
#endif

#define THREADS	4
#define SLOTS	512

enum kind {
	KMALLOC, KMALLOC_RCU, CACHE, PAGES, PARTS, SHARED, EXACT, VMALLOC,
	PERCPU, BULK, REALLOC, KINDS
};

/* The content of a slot. Slots are allocated here, too. */
struct thing {
	enum kind kind;
	unsigned int order;
	size_t size;
	void *ptr;
	void __percpu *percpu;
	void *bulk[8];
	struct rcu_head rcu;
};

static struct thing *slots[SLOTS];
static struct task_struct *threads[THREADS];
static struct kmem_cache *cache;
static atomic_long_t rounds;
/* Protects starting and stopping. */
static DEFINE_MUTEX(churn_lock);

static void thing_free(struct thing *t)
{
	int i;

	if (!t)
		return;
	switch (t->kind) {
	case KMALLOC:
	case REALLOC:
		kfree(t->ptr);
		break;
	case KMALLOC_RCU:
		kfree_rcu_mightsleep(t->ptr);
		break;
	case CACHE:
		if (t->ptr)
			kmem_cache_free(cache, t->ptr);
		break;
	case PAGES:
		if (t->ptr)
			__free_pages(t->ptr, t->order);
		break;
	case PARTS:
		for (i = 0; t->ptr && i < 1 << t->order; i++)
			__free_page((struct page *)t->ptr + i);
		break;
	case SHARED:
		if (t->ptr)
			put_page(t->ptr);
		break;
	case EXACT:
		if (t->ptr)
			free_pages_exact(t->ptr, t->size);
		break;
	case VMALLOC:
		vfree(t->ptr);
		break;
	case PERCPU:
		free_percpu(t->percpu);
		break;
	case BULK:
		if (t->order)
			kmem_cache_free_bulk(cache, t->order, t->bulk);
		break;
	case KINDS:
		break;
	}
	kfree_rcu(t, rcu);
}

static struct thing *thing_new(struct rnd_state *rnd)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY;
	const u32 r = prandom_u32_state(rnd);
	struct thing *t = kzalloc(sizeof(*t), gfp);
	struct page *page;

	if (!t)
		return NULL;
	t->kind = r % KINDS;
	t->order = r >> 8 & 3;
	t->size = 1 + (r >> 16) % 5000;
	switch (t->kind) {
	case KMALLOC:
		t->ptr = kmalloc(t->size * (r & 0x80 ? 4 : 1), gfp);
		break;
	case KMALLOC_RCU:
		t->ptr = kmalloc(t->size, gfp);
		break;
	case CACHE:
		t->ptr = kmem_cache_alloc(cache, gfp);
		break;
	case PAGES:
		t->ptr = alloc_pages(gfp | (r & 0x80 ? __GFP_COMP : 0), t->order);
		break;
	case PARTS:
		page = alloc_pages(gfp, t->order);
		if (page)
			split_page(page, t->order);
		t->ptr = page;
		break;
	case SHARED:
		page = alloc_pages(gfp, t->order);
		if (page) {
			get_page(page);
			__free_pages(page, t->order);
		}
		t->ptr = page;
		break;
	case EXACT:
		t->size *= 5;
		t->ptr = alloc_pages_exact(t->size, gfp);
		break;
	case VMALLOC:
		t->ptr = __vmalloc(t->size * 5, gfp);
		break;
	case PERCPU:
		t->percpu = __alloc_percpu_gfp(1 + t->size % 200, 8, gfp);
		break;
	case BULK:
		t->order = ct_alloc_bulk(cache, gfp, ARRAY_SIZE(t->bulk), t->bulk);
		break;
	case REALLOC:
		t->ptr = kmalloc(t->size % 300 + 1, gfp);
		if (t->ptr) {
			void *p = krealloc(t->ptr, t->size, gfp);

			t->ptr = p ?: t->ptr;
		}
		break;
	case KINDS:
		break;
	}
	return t;
}

static int churn(void *data)
{
	struct rnd_state rnd;
	struct thing *t;
	u32 r;

	prandom_seed_state(&rnd, get_random_u64());
	while (!kthread_should_stop()) {
		r = prandom_u32_state(&rnd);
		t = r & 1 ? thing_new(&rnd) : NULL;
		thing_free(xchg(&slots[(r >> 1) % SLOTS], t));
		/* Move to wherever there is room, so that CPUs mix. */
		if (!(r >> 24 & 63))
			schedule_timeout_interruptible(1);
		cond_resched();
		atomic_long_inc(&rounds);
	}
	return 0;
}

#ifdef HAVE_NMI_CHURN

#define NMI_SLOTS	64

static void *nmi_slots[NMI_SLOTS];
/* Pages that an NMI cannot free because that takes a lock, linked by their first word. */
static LLIST_HEAD(nmi_pages);
static struct task_struct *nmi_thread;
static atomic_t nmis;

/* Whatever it interrupts, it takes an object, frees another one, and takes a page. */
static int churn_in_nmi(unsigned int type, struct pt_regs *regs)
{
	const unsigned int i = atomic_inc_return(&nmis);
	struct page *page = alloc_pages_nolock(0, NUMA_NO_NODE, 0);
	void *p = kmalloc_nolock(8 << i % 8, 0, NUMA_NO_NODE);

	p = xchg(&nmi_slots[i % NMI_SLOTS], p);
	if (p)
		kfree_nolock(p);
	if (page)
		llist_add(page_address(page), &nmi_pages);
	return NMI_HANDLED;
}

static void free_nmi_pages(void)
{
	struct llist_node *node, *next;

	llist_for_each_safe(node, next, llist_del_all(&nmi_pages))
		__free_page(virt_to_page(node));
}

static int send_nmis(void *data)
{
	while (!kthread_should_stop()) {
		cpus_read_lock();
		__apic_send_IPI_mask(cpu_online_mask, NMI_VECTOR);
		/* No NMI is left when its handler goes: it comes before other interrupts. */
		kick_all_cpus_sync();
		cpus_read_unlock();
		free_nmi_pages();
		schedule_timeout_interruptible(1);
	}
	return 0;
}

static int start_nmis(void)
{
	int err;

	atomic_set(&nmis, 0);
	err = register_nmi_handler(NMI_LOCAL, churn_in_nmi, 0, "ct_churn");
	if (err)
		return err;
	nmi_thread = kthread_run(send_nmis, NULL, "ct_churn/nmi");
	if (!IS_ERR(nmi_thread))
		return 0;
	err = PTR_ERR(nmi_thread);
	nmi_thread = NULL;
	unregister_nmi_handler(NMI_LOCAL, "ct_churn");
	return err;
}

static void stop_nmis(void)
{
	int i;

	if (!nmi_thread)
		return;
	kthread_stop(nmi_thread);
	nmi_thread = NULL;
	unregister_nmi_handler(NMI_LOCAL, "ct_churn");
	free_nmi_pages();
	for (i = 0; i < NMI_SLOTS; i++)
		kfree(xchg(&nmi_slots[i], NULL));
}

static void show_nmis(struct seq_file *m)
{
	seq_printf(m, "nmis: %d\n", atomic_read(&nmis));
}

#else

static int start_nmis(void)
{
	return 0;
}

static void stop_nmis(void) { }
static void show_nmis(struct seq_file *m) { }

#endif /* HAVE_NMI_CHURN */

static void stop(void)
{
	int i;

	stop_nmis();
	for (i = 0; i < THREADS; i++) {
		if (!threads[i])
			continue;
		kthread_stop(threads[i]);
		threads[i] = NULL;
	}
	for (i = 0; i < SLOTS; i++)
		thing_free(xchg(&slots[i], NULL));
	kvfree_rcu_barrier();
	rcu_barrier();
	kmem_cache_destroy(cache);
	cache = NULL;
}

/**
 * ct_churn_start - start the threads
 *
 * Return: 0, -EBUSY when they run, or a negative error.
 */
int ct_churn_start(void)
{
	struct task_struct *task;
	int err = 0;
	int i;

	mutex_lock(&churn_lock);
	if (cache) {
		err = -EBUSY;
		goto out;
	}
	cache = kmem_cache_create("ct_churn", 152, 0, SLAB_NO_MERGE, NULL);
	if (!cache) {
		err = -ENOMEM;
		goto out;
	}
	atomic_long_set(&rounds, 0);
	for (i = 0; i < THREADS; i++) {
		task = kthread_run(churn, NULL, "ct_churn/%d", i);
		if (IS_ERR(task)) {
			err = PTR_ERR(task);
			stop();
			goto out;
		}
		threads[i] = task;
	}
	err = start_nmis();
	if (err)
		stop();
out:
	mutex_unlock(&churn_lock);
	return err;
}

/**
 * ct_churn_stop - stop the threads and free all that they left
 *
 * Return: 0, or -EINVAL when they do not run.
 */
int ct_churn_stop(void)
{
	int err = -EINVAL;

	mutex_lock(&churn_lock);
	if (cache) {
		stop();
		err = 0;
	}
	mutex_unlock(&churn_lock);
	return err;
}

/**
 * ct_churn_show - print the work of the threads
 * @m: where to
 */
void ct_churn_show(struct seq_file *m)
{
	seq_printf(m, "running: %d\nrounds: %ld\n", !!READ_ONCE(cache),
		   atomic_long_read(&rounds));
	show_nmis(m);
}
