// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of the slab allocator. Every allocation has its own line.
 */
#include <linux/interrupt.h>
#include <linux/kfence.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "codetag_test.h"

/* How many objects the cases hold that allocate in a loop. */
#define OBJECTS	40

static int keep_kmalloc(struct ct_case *c, void *p, size_t size)
{
	return ct_keep_slab(c->row, ct_free_kfree, p, 0,
			    ct_kmalloc_cache(size)) ? 0 : -ENOMEM;
}

static int keep_large(struct ct_case *c, void *p, size_t size)
{
	return ct_keep(c->row, ct_free_kfree, p, 0,
		       PAGE_SIZE << get_order(size), 1) ? 0 : -ENOMEM;
}

/* Sizes that the compiler knows: kmalloc() picks the cache at build time. */
static int hold_kmalloc(struct ct_case *c)
{
	int err = 0;
	int i;

	for (i = 0; i < 5; i++) {
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(8, GFP_KERNEL)), 8);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(16, GFP_KERNEL)), 16);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(32, GFP_KERNEL)), 32);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(64, GFP_KERNEL)), 64);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(96, GFP_KERNEL)), 96);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(128, GFP_KERNEL)), 128);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(192, GFP_KERNEL)), 192);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(256, GFP_KERNEL)), 256);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(512, GFP_KERNEL)), 512);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(1024, GFP_KERNEL)), 1024);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(2048, GFP_KERNEL)), 2048);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(4096, GFP_KERNEL)), 4096);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(8192, GFP_KERNEL)), 8192);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(1, GFP_KERNEL)), 1);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(100, GFP_KERNEL)), 100);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(5000, GFP_KERNEL)), 5000);
	}
	return err;
}

/* Sizes that only the running kernel knows, two of them at one line. */
static int hold_kmalloc_variable(struct ct_case *c)
{
	static const size_t sizes[] = { 30, 700 };
	int err = 0;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		const size_t size = READ_ONCE(sizes[i % 2]);

		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(size, GFP_KERNEL)), size);
	}
	return err;
}

static int hold_kmalloc_family(struct ct_case *c)
{
	const int nid = numa_node_id();
	int err = 0;
	int i;

	for (i = 0; i < 4; i++) {
		err = err ?: keep_kmalloc(c, ct_site(c, kzalloc(72, GFP_KERNEL)), 72);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc_array(7, 40, GFP_KERNEL)), 280);
		err = err ?: keep_kmalloc(c, ct_site(c, kcalloc(9, 10, GFP_KERNEL)), 90);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc_node(300, GFP_KERNEL, nid)), 300);
		err = err ?: keep_kmalloc(c, ct_site(c, kzalloc_node(20, GFP_KERNEL, nid)), 20);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc_track_caller(50, GFP_KERNEL)), 50);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(60, GFP_ATOMIC)), 60);
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc(60, GFP_NOWAIT)), 60);
	}
	return err;
}

/* By type. */
static int hold_kmalloc_obj(struct ct_case *c)
{
#ifdef kmalloc_obj
	struct some { u64 words[9]; };
	int err = 0;
	int i;

	for (i = 0; i < 4; i++) {
		err = err ?: keep_kmalloc(c, ct_site(c, kmalloc_obj(struct some)), 72);
		err = err ?: keep_kmalloc(c, ct_site(c, kzalloc_objs(struct some, 4)), 288);
	}
	return err;
#else
	c->why = "not in this kernel";
	return -EOPNOTSUPP;
#endif
}

/* Where no lock can be taken: these may fail, and give more if only that is there. */
static int hold_nolock(struct ct_case *c)
{
#ifdef kmalloc_nolock
	struct page *page;
	void *p;
	int i;

	for (i = 0; i < 4; i++) {
		p = ct_site(c, kmalloc_nolock(200, 0, NUMA_NO_NODE));
		if (p)
			ct_keep(c->row, ct_free_kfree_nolock, p, 0, ksize(p), 1);
		page = ct_site(c, alloc_pages_nolock(0, NUMA_NO_NODE, 1));
		if (page)
			ct_keep(c->row, ct_free_pages, page, 1, PAGE_SIZE << 1, 1);
	}
	return 0;
#else
	c->why = "not in this kernel";
	return -EOPNOTSUPP;
#endif
}

static int hold_kmalloc_account(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT;
	void *p;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		p = ct_site(c, kmalloc(64, gfp));
		if (!ct_keep_slab(c->row, ct_free_kfree, p, 0, ct_kmalloc_cg_cache(64)))
			return -ENOMEM;
		p = ct_site(c, kmalloc(192, gfp));
		if (!ct_keep_slab(c->row, ct_free_kfree, p, 0, ct_kmalloc_cg_cache(192)))
			return -ENOMEM;
		p = ct_site(c, kzalloc(1000, gfp));
		if (!ct_keep_slab(c->row, ct_free_kfree, p, 0, ct_kmalloc_cg_cache(1000)))
			return -ENOMEM;
	}
	return 0;
}

/* Above the largest cache kmalloc() takes whole pages. */
static int hold_kmalloc_large(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	size_t size = KMALLOC_MAX_CACHE_SIZE + 800;
	const size_t above = KMALLOC_MAX_CACHE_SIZE + 1;
	const size_t some = 5 * PAGE_SIZE, more = 24 * PAGE_SIZE + 1700;
	int err = 0;

	OPTIMIZER_HIDE_VAR(size);
	err = err ?: keep_large(c, ct_site(c, kmalloc(above, gfp)), above);
	err = err ?: keep_large(c, ct_site(c, kmalloc(some, gfp)), some);
	err = err ?: keep_large(c, ct_site(c, kmalloc(16 * PAGE_SIZE, gfp)), 16 * PAGE_SIZE);
	err = err ?: keep_large(c, ct_site(c, kmalloc(size, gfp)), size);
	err = err ?: keep_large(c, ct_site(c, kzalloc(more, gfp)), more);
	err = err ?: keep_large(c, ct_site(c, kmalloc(some, GFP_KERNEL_ACCOUNT)), some);
	return err;
}

static int hold_krealloc(struct ct_case *c)
{
	struct ct_row *from;
	void *p, *q;

	/* From nothing: the line of krealloc() has it. */
	p = ct_site(c, krealloc(NULL, 100, GFP_KERNEL));
	if (keep_kmalloc(c, p, 100))
		return -ENOMEM;

	/*
	 * Within the object: the line that allocated it keeps it. Objects of
	 * KFENCE have no room to grow.
	 */
	p = ct_site(c, kmalloc(50, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	from = c->row;
	q = ct_site(c, krealloc(p, 60, GFP_KERNEL));
	if (q == p)
		c->row = from;
	else if (!is_kfence_address(p))
		return -EINVAL;
	if (keep_kmalloc(c, q, 64))
		return -ENOMEM;

	/* Growing: the new object belongs to the line of krealloc(). */
	p = ct_site(c, kmalloc(50, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, krealloc(p, 600, GFP_KERNEL));
	if (keep_kmalloc(c, q, 600))
		goto failed;

	/* Shrinking stays within the object. */
	p = ct_site(c, kmalloc(600, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	from = c->row;
	q = ct_site(c, krealloc(p, 100, GFP_KERNEL));
	c->row = from;
	if (q != p || keep_kmalloc(c, q, 600))
		return -EINVAL;

	/* From an object to pages, and to more pages. */
	p = ct_site(c, kmalloc(3000, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, krealloc(p, 5 * PAGE_SIZE, GFP_KERNEL));
	if (!q)
		goto failed;
	p = q;
	q = ct_site(c, krealloc(p, 10 * PAGE_SIZE, GFP_KERNEL));
	if (keep_large(c, q, 10 * PAGE_SIZE))
		goto failed;

	p = ct_site(c, kmalloc(3000, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, krealloc_array(p, 50, 100, GFP_KERNEL));
	if (keep_kmalloc(c, q, 5000))
		goto failed;

	/* To nothing. */
	p = ct_site(c, kmalloc(200, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, krealloc(p, 0, GFP_KERNEL));
	return ZERO_OR_NULL_PTR(q) ? 0 : -EINVAL;

	/* If krealloc() fails, the old object remains. */
failed:
	kfree(p);
	return -ENOMEM;
}

static void construct(void *object)
{
	memset(object, 0x5a, 16);
}

enum {
	CT_PLAIN, CT_HWALIGN, CT_CTOR, CT_RCU, CT_ACCOUNT, CT_ACCOUNT_RCU, CT_ACCOUNT_FULL,
	CT_24, CT_40, CT_72, CT_136, CT_1000, CT_3000, CT_5000, CT_8, CT_BULK,
	CT_CACHES
};

static struct {
	const char *name;
	unsigned int size;
	slab_flags_t flags;
	void (*ctor)(void *object);
	struct kmem_cache *cache;
} caches[CT_CACHES] = {
	[CT_PLAIN] = { "ct_plain", 200 },
	[CT_HWALIGN] = { "ct_hwalign", 200, SLAB_HWCACHE_ALIGN },
	[CT_CTOR] = { "ct_ctor", 200, 0, construct },
	[CT_RCU] = { "ct_rcu", 200, SLAB_TYPESAFE_BY_RCU },
	[CT_ACCOUNT] = { "ct_account", 200, SLAB_ACCOUNT },
	[CT_ACCOUNT_RCU] = {
		"ct_account_rcu", 56, SLAB_ACCOUNT | SLAB_TYPESAFE_BY_RCU
	},
	/* The rest of a slab has space for a pointer for each object, but not for ids as well. */
	[CT_ACCOUNT_FULL] = { "ct_account_full", 504, SLAB_ACCOUNT },
	[CT_24] = { "ct_24", 24 },
	[CT_40] = { "ct_40", 40 },
	[CT_72] = { "ct_72", 72 },
	[CT_136] = { "ct_136", 136 },
	[CT_1000] = { "ct_1000", 1000 },
	[CT_3000] = { "ct_3000", 3000 },
	[CT_5000] = { "ct_5000", 5000 },
	[CT_8] = { "ct_8", 8 },
	[CT_BULK] = { "ct_bulk", 120 },
};

/* All on one line, which is the line of the caller. */
#define hold_cache(c, id, gfp)						\
({									\
	const unsigned int _id = (id);					\
	struct ct_case *_case = (c);					\
	int _i, _err = 0;						\
	void *_p;							\
	for (_i = 0; _i < OBJECTS && !_err; _i++) {			\
		_p = ct_site(_case, kmem_cache_alloc(caches[_id].cache, gfp)); \
		_err = keep_cached(_case, _p, _id);			\
	}								\
	_err;								\
})

static int keep_cached(struct ct_case *c, void *p, unsigned int id)
{
	return ct_keep_slab(c->row, ct_free_cache, p,
			    (unsigned long)caches[id].cache,
			    caches[id].name) ? 0 : -ENOMEM;
}

static int hold_caches(struct ct_case *c)
{
	int err = 0;

	err = err ?: hold_cache(c, CT_PLAIN, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_HWALIGN, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_CTOR, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_RCU, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_ACCOUNT, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_ACCOUNT_RCU, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_ACCOUNT_FULL, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_PLAIN, GFP_KERNEL | __GFP_ZERO);
	err = err ?: hold_cache(c, CT_PLAIN, GFP_KERNEL_ACCOUNT);
	return err;
}

static int hold_cache_sizes(struct ct_case *c)
{
	int err = 0;

	err = err ?: hold_cache(c, CT_8, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_24, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_40, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_72, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_136, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_1000, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_3000, GFP_KERNEL);
	err = err ?: hold_cache(c, CT_5000, GFP_KERNEL);
	return err;
}

static int hold_cache_node(struct ct_case *c)
{
	struct kmem_cache *cache = caches[CT_PLAIN].cache;
	const int nid = numa_node_id();
	void *p;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		p = ct_site(c, kmem_cache_alloc_node(cache, GFP_KERNEL, nid));
		if (!ct_keep_slab(c->row, ct_free_cache, p, (unsigned long)cache, "ct_plain"))
			return -ENOMEM;
		p = ct_site(c, kmem_cache_zalloc(cache, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_cache, p, (unsigned long)cache, "ct_plain"))
			return -ENOMEM;
		p = ct_site(c, kmem_cache_alloc_lru(cache, NULL, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_cache, p, (unsigned long)cache, "ct_plain"))
			return -ENOMEM;
	}
	return 0;
}

/* Charged to a control group only after it is allocated, as accepted sockets are. */
static int hold_cache_charged(struct ct_case *c)
{
	struct kmem_cache *cache = caches[CT_PLAIN].cache;
	void *p;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		p = ct_site(c, kmem_cache_alloc(cache, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_cache, p, (unsigned long)cache, "ct_plain") ||
		    !kmem_cache_charge(p, GFP_KERNEL))
			return -ENOMEM;
	}
	return 0;
}

static int hold_cache_bulk(struct ct_case *c)
{
	struct kmem_cache *cache = caches[CT_BULK].cache;
	void *vec[CT_VEC];
	int round, nr, i;

	for (round = 0; round < 4; round++) {
		/* Bulk to bulk. */
		nr = ct_site(c, ct_alloc_bulk(cache, GFP_KERNEL, CT_VEC - round, vec));
		if (!ct_keep_vec(c->row, ct_free_cache_bulk, vec, nr,
				 (unsigned long)cache, "ct_bulk"))
			return -ENOMEM;
	}

	/* Bulk to single. */
	nr = ct_site(c, ct_alloc_bulk(cache, GFP_KERNEL_ACCOUNT, 33, vec));
	for (i = 0; i < nr; i++)
		ct_keep_slab(c->row, ct_free_cache, vec[i], (unsigned long)cache, "ct_bulk");
	if (!nr)
		return -ENOMEM;

	/* Single to bulk. */
	for (i = 0; i < CT_VEC; i++) {
		vec[i] = ct_site(c, kmem_cache_alloc(cache, GFP_KERNEL));
		if (!vec[i])
			break;
	}
	return ct_keep_vec(c->row, ct_free_cache_bulk, vec, i,
			   (unsigned long)cache, "ct_bulk") ? 0 : -ENOMEM;
}

static int hold_kfree_bulk(struct ct_case *c)
{
	void *vec[OBJECTS];
	int i;

	for (i = 0; i < OBJECTS; i++) {
		vec[i] = ct_site(c, kmalloc(80, GFP_KERNEL));
		if (!vec[i])
			break;
	}
	return ct_keep_vec(c->row, ct_free_kfree_bulk, vec, i, 0,
			   ct_kmalloc_cache(80)) ? 0 : -ENOMEM;
}

static int hold_kfree_rcu(struct ct_case *c)
{
	void *p;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		p = ct_site(c, kmalloc(250, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_kfree_rcu, p, 0, ct_kmalloc_cache(250)))
			return -ENOMEM;
		p = ct_site(c, kmalloc(500, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_kfree_rcu_sleep, p, 0, ct_kmalloc_cache(500)))
			return -ENOMEM;
	}
	p = ct_site(c, kmalloc(5 * PAGE_SIZE, GFP_KERNEL));
	if (!ct_keep(c->row, ct_free_kfree_rcu, p, 0, 8 * PAGE_SIZE, 1))
		return -ENOMEM;
	return 0;
}

static int hold_memdup(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	static const char text[] = "forty-one characters without the last one";
	int err = 0;
	int i;

	for (i = 0; i < OBJECTS; i++) {
		err = err ?: keep_kmalloc(c, ct_site(c, kmemdup(text, 42, gfp)), 42);
		err = err ?: keep_kmalloc(c, ct_site(c, kmemdup(text, 7, gfp)), 7);
	}
	return err;
}

static struct ct_row *inner_row(struct ct_case *c, const char *func)
{
	return ct_row(&(struct ct_where) {
		.group = c->name, .module = "-", .file = "-", .func = func,
	});
}

/* The functions that allocate for these: kernels with kmalloc_nolock() have one for all. */
#ifdef kmalloc_nolock
#define IN_KSTRDUP	"__kmemdup_nul"
#define IN_KSTRNDUP	"__kmemdup_nul"
#define IN_KMEMDUP_NUL	"__kmemdup_nul"
#else
#define IN_KSTRDUP	"kstrdup"
#define IN_KSTRNDUP	"kstrndup"
#define IN_KMEMDUP_NUL	"kmemdup_nul"
#endif

/*
 * These have their line inside, in mm/util.c. The shell looks at the
 * difference, for the kernel uses them as well.
 */
static int hold_strdup(struct ct_case *c)
{
	static const char text[] = "forty-one characters without the last one";
	int err = 0;
	int i;

	for (i = 0; i < OBJECTS && !err; i++) {
		c->row = inner_row(c, IN_KSTRDUP);
		err = err ?: keep_kmalloc(c, kstrdup(text, GFP_KERNEL), 42);
		c->row = inner_row(c, IN_KSTRNDUP);
		err = err ?: keep_kmalloc(c, kstrndup(text, 20, GFP_KERNEL), 21);
		c->row = inner_row(c, IN_KMEMDUP_NUL);
		err = err ?: keep_kmalloc(c, kmemdup_nul(text, 33, GFP_KERNEL), 34);
	}
	return err;
}

/* Allocate in a hardware interrupt, in the middle of somebody's allocation. */
struct interrupted {
	unsigned int line[3];
	void *object[OBJECTS];
	struct page *page[4];
	void *cached[4];
};

/* The row needs memory, and is made when the interrupt is over. */
#define note_line(x, i, call)						\
({									\
	(x)->line[i] = __LINE__;					\
	(call);								\
})

static void from_interrupt(void *arg)
{
	struct kmem_cache *cache = caches[CT_PLAIN].cache;
	const gfp_t gfp = GFP_ATOMIC;
	struct interrupted *x = arg;
	int i;

	/* A real-time kernel's locks sleep, and it leaves this out: see below. */
	lockdep_hardirq_threaded();
	for (i = 0; i < OBJECTS; i++)
		x->object[i] = note_line(x, 0, kmalloc(130, gfp));
	for (i = 0; i < 4; i++)
		x->page[i] = note_line(x, 1, alloc_pages(gfp | __GFP_COMP, 1));
	for (i = 0; i < 4; i++)
		x->cached[i] = note_line(x, 2, kmem_cache_alloc(cache, gfp));
}

static struct ct_row *interrupt_row(struct ct_case *c, unsigned int line)
{
	return ct_row(&(struct ct_where) {
		.group = c->name, .module = KBUILD_MODNAME, .file = __FILE__,
		.func = "from_interrupt", .line = line,
	});
}

static int hold_interrupt(struct ct_case *c)
{
	static struct interrupted x;
	bool complete = true;
	struct ct_row *row;
	int me, cpu, i;

	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		c->why = "no memory is to be had in hardware interrupts";
		return -EOPNOTSUPP;
	}

	memset(&x, 0, sizeof(x));
	/* A task that had moved to that CPU would call the function itself. */
	me = get_cpu();
	cpu = cpumask_any_but(cpu_online_mask, me);
	smp_call_function_single(cpu < nr_cpu_ids ? cpu : me, from_interrupt, &x, 1);
	put_cpu();

	row = interrupt_row(c, x.line[0]);
	for (i = 0; i < OBJECTS; i++)
		complete &= !!ct_keep_slab(row, ct_free_kfree, x.object[i], 0,
					   ct_kmalloc_cache(130));
	row = interrupt_row(c, x.line[1]);
	for (i = 0; i < 4; i++)
		complete &= !!ct_keep(row, ct_free_pages, x.page[i], 1,
				      PAGE_SIZE << 1, 1);
	row = interrupt_row(c, x.line[2]);
	for (i = 0; i < 4; i++)
		complete &= !!ct_keep_slab(row, ct_free_cache, x.cached[i],
					   (unsigned long)caches[CT_PLAIN].cache,
					   "ct_plain");
	return complete ? 0 : -ENOMEM;
}

/*
 * Allocate in a softirq that the task itself serves: it is still current, but
 * what is done there is not done for it.
 */
struct softirq {
	struct tasklet_struct tasklet;
	struct task_struct *task;
	bool served;
	unsigned int line[2];
	void *object;
	struct page *page;
};

static void from_softirq(struct tasklet_struct *t)
{
	struct softirq *x = from_tasklet(x, t, tasklet);

	/* Served by somebody else. */
	if (current != x->task)
		return;
	x->served = true;
	x->object = note_line(x, 0, kmalloc(130, GFP_ATOMIC));
	x->page = note_line(x, 1, alloc_pages(GFP_ATOMIC | __GFP_COMP, 1));
}

static struct ct_row *softirq_row(struct ct_case *c, unsigned int line)
{
	return ct_row(&(struct ct_where) {
		.group = c->name, .module = KBUILD_MODNAME, .file = __FILE__,
		.func = "from_softirq", .line = line,
	});
}

static int hold_softirq(struct ct_case *c)
{
	static struct softirq x;
	bool complete;
	int i;

	memset(&x, 0, sizeof(x));
	x.task = current;
	tasklet_setup(&x.tasklet, from_softirq);
	for (i = 0; i < 100 && !x.served; i++) {
		local_bh_disable();
		tasklet_schedule(&x.tasklet);
		local_bh_enable();
		tasklet_kill(&x.tasklet);
	}
	if (!x.served) {
		c->why = "somebody else serves the softirqs";
		return -EOPNOTSUPP;
	}

	complete = ct_keep_slab(softirq_row(c, x.line[0]), ct_free_kfree,
				x.object, 0, ct_kmalloc_cache(130));
	complete &= !!ct_keep(softirq_row(c, x.line[1]), ct_free_pages, x.page,
			      1, PAGE_SIZE << 1, 1);
	return complete ? 0 : -ENOMEM;
}

struct ct_case ct_slab_cases[] = {
	{ "kmalloc", hold_kmalloc },
	{ "kmalloc_variable", hold_kmalloc_variable },
	{ "kmalloc_family", hold_kmalloc_family },
	{ "kmalloc_obj", hold_kmalloc_obj },
	{ "nolock", hold_nolock },
	{ "kmalloc_account", hold_kmalloc_account },
	{ "kmalloc_large", hold_kmalloc_large },
	{ "krealloc", hold_krealloc },
	{ "kmem_cache", hold_caches },
	{ "kmem_cache_sizes", hold_cache_sizes },
	{ "kmem_cache_variants", hold_cache_node },
	{ "kmem_cache_charge", hold_cache_charged },
	{ "kmem_cache_bulk", hold_cache_bulk },
	{ "kfree_bulk", hold_kfree_bulk },
	{ "kfree_rcu", hold_kfree_rcu },
	{ "kmemdup", hold_memdup },
	{ "kstrdup", hold_strdup },
	{ "interrupt", hold_interrupt },
	{ "softirq", hold_softirq },
	{}
};

int ct_slab_cases_init(void)
{
	struct kmem_cache *cache;
	int i;

	for (i = 0; i < CT_CACHES; i++) {
		/* Merged caches would not be in /proc/slabinfo. */
		cache = kmem_cache_create(caches[i].name, caches[i].size, 0,
					  caches[i].flags | SLAB_NO_MERGE,
					  caches[i].ctor);
		if (!cache) {
			ct_slab_cases_exit();
			return -ENOMEM;
		}
		caches[i].cache = cache;
	}
	return 0;
}

void ct_slab_cases_exit(void)
{
	int i;

	rcu_barrier();
	for (i = 0; i < CT_CACHES; i++) {
		kmem_cache_destroy(caches[i].cache);
		caches[i].cache = NULL;
	}
}
