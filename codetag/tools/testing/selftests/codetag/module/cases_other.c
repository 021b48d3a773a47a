// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of everything above pages and slab objects. Every allocation has its
 * own line.
 */
#include <linux/gfp.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptr_ring.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "codetag_test.h"

/* How many pieces the cases hold that allocate in a loop. */
#define PIECES	6

/*
 * More than kmalloc() can give, so that kvmalloc() takes single pages. With pages of
 * 64 KiB that is half a gigabyte, and not tried.
 */
#define TOO_LARGE	(KMALLOC_MAX_SIZE + 5 * PAGE_SIZE)
#if KMALLOC_MAX_SIZE <= SZ_64M
#define TRY_TOO_LARGE
#endif

/*
 * The pages behind an address of vmalloc(): more than asked for when it took
 * huge pages. After the last one there is nothing.
 */
static size_t vmalloc_extent(void *p, size_t size)
{
	size = PAGE_ALIGN(size);
	while (vmalloc_to_page(p + size))
		size += PAGE_SIZE;
	return size;
}

/*
 * vmalloc() charges its pages to its caller, each as a call of its own. It also charges the
 * array of pointers to them. A large array comes from vmalloc() again.
 */
static int keep_vmalloc(struct ct_case *c, ct_free_t free, void *p, size_t size)
{
	struct ct_item *item = ct_keep(c->row, free, p, 0, 0, 0);

	if (!item)
		return -ENOMEM;
	size = vmalloc_extent(p, size);
	for (;;) {
		const unsigned long pages = PFN_UP(size);

		ct_charge(item, pages * PAGE_SIZE, pages, "", 0);
		size = pages * sizeof(struct page *);
		if (size > PAGE_SIZE)
			continue;
		ct_charge(item, 0, 1, ct_kmalloc_cache(size), 1);
		return 0;
	}
}

/* Memory of kvmalloc(), wherever it came from. */
static int keep_kvmalloc(struct ct_case *c, void *p, size_t size)
{
	if (is_vmalloc_addr(p))
		return keep_vmalloc(c, ct_free_kvfree, p, size);
	if (size <= KMALLOC_MAX_CACHE_SIZE)
		return ct_keep_slab(c->row, ct_free_kvfree, p, 0,
				    ct_kmalloc_cache(size)) ? 0 : -ENOMEM;
	return ct_keep(c->row, ct_free_kvfree, p, 0,
		       PAGE_SIZE << get_order(size), 1) ? 0 : -ENOMEM;
}

static int hold_vmalloc(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_ZERO;
	int err = 0;
	int i;

	for (i = 0; i < PIECES; i++) {
		const ct_free_t f = ct_free_vfree;

		err = err ?: keep_vmalloc(c, f, ct_site(c, vmalloc(1)), 1);
		err = err ?: keep_vmalloc(c, f, ct_site(c, vmalloc(10000)), 10000);
		err = err ?: keep_vmalloc(c, f, ct_site(c, vzalloc(300000)), 300000);
		err = err ?: keep_vmalloc(c, f, ct_site(c, __vmalloc(9000, gfp)), 9000);
		err = err ?: keep_vmalloc(c, f, ct_site(c, vmalloc_node(5000, 0)), 5000);
		err = err ?: keep_vmalloc(c, f, ct_site(c, vmalloc_array(30, 300)), 9000);
		err = err ?: keep_vmalloc(c, f, ct_site(c, vmalloc_user(20000)), 20000);
	}
	/* So many pages that the array of pointers is more than one page. */
	err = err ?: keep_vmalloc(c, ct_free_vfree, ct_site(c, vmalloc(0x300000)), 0x300000);
	return err;
}

static int hold_kvmalloc(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	void *p;
	int i;

	for (i = 0; i < PIECES; i++) {
		p = ct_site(c, kvmalloc(600, gfp));
		if (is_vmalloc_addr(p) || keep_kvmalloc(c, p, 600))
			return -ENOMEM;
		p = ct_site(c, kvzalloc(6000, gfp));
		if (keep_kvmalloc(c, p, 6000))
			return -ENOMEM;
		p = ct_site(c, kvmalloc_array(15, PAGE_SIZE / 2, gfp));
		if (keep_kvmalloc(c, p, 15 * PAGE_SIZE / 2))
			return -ENOMEM;
		p = ct_site(c, kvcalloc(30, 10, gfp));
		if (keep_kvmalloc(c, p, 300))
			return -ENOMEM;
	}
#ifdef TRY_TOO_LARGE
	p = ct_site(c, kvmalloc(TOO_LARGE, gfp));
	if (!is_vmalloc_addr(p) || keep_kvmalloc(c, p, TOO_LARGE))
		return -ENOMEM;
#endif
	return 0;
}

static int hold_kvfree_rcu(struct ct_case *c)
{
	void *p;
	int i;

	for (i = 0; i < PIECES; i++) {
		p = ct_site(c, vmalloc(20000));
		if (keep_vmalloc(c, ct_free_kvfree_rcu_sleep, p, 20000))
			return -ENOMEM;
		p = ct_site(c, kvmalloc(40, GFP_KERNEL));
		if (!ct_keep_slab(c->row, ct_free_kvfree_rcu_sleep, p, 0, ct_kmalloc_cache(40)))
			return -ENOMEM;
	}
	return 0;
}

/* The page that is left over if nine of ten are requested. */
#ifdef vrealloc_node_align
#define SHRUNK	(9 * PAGE_SIZE)
#else
#define SHRUNK	(10 * PAGE_SIZE)
#endif

static int hold_kvrealloc(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	struct ct_row *from;
	void *p, *q;

	/* From nothing. */
	p = ct_site(c, kvrealloc(NULL, 300, gfp));
	if (keep_kvmalloc(c, p, 300))
		return -ENOMEM;

	/* An object that becomes pages: all of it belongs to kvrealloc(). */
#ifdef TRY_TOO_LARGE
	p = ct_site(c, kvmalloc(300, gfp));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, kvrealloc(p, TOO_LARGE, gfp));
	if (!is_vmalloc_addr(q) || keep_kvmalloc(c, q, TOO_LARGE))
		goto failed;
#endif

	/* Shrinking pages: they stay where they are, and some kernels keep them all. */
	p = ct_site(c, vmalloc(10 * PAGE_SIZE));
	if (!p)
		return -ENOMEM;
	from = c->row;
	q = ct_site(c, kvrealloc(p, 9 * PAGE_SIZE, gfp));
	c->row = from;
	if (q != p || keep_vmalloc(c, ct_free_kvfree, q, SHRUNK))
		return -EINVAL;

	/* Growing pages. */
	p = ct_site(c, vmalloc(10 * PAGE_SIZE));
	if (!p)
		return -ENOMEM;
	q = ct_site(c, kvrealloc(p, 13 * PAGE_SIZE, gfp));
	if (keep_vmalloc(c, ct_free_kvfree, q, 13 * PAGE_SIZE))
		goto failed;
	return 0;

	/* If kvrealloc() fails, the old memory remains. */
failed:
	kvfree(p);
	return -ENOMEM;
}

/* Allocations that may not fail. Of kvmalloc(), only the second attempt may not. */
static int hold_nofail(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_NOFAIL;
	void *p;

	p = ct_site(c, kmalloc(100, gfp));
	if (!ct_keep_slab(c->row, ct_free_kfree, p, 0, ct_kmalloc_cache(100)))
		return -ENOMEM;
	/* More than two pages must not be asked for like this: the kernel warns. */
	p = ct_site(c, alloc_pages(gfp, 1));
	if (!ct_keep(c->row, ct_free_pages, p, 1, PAGE_SIZE << 1, 1))
		return -ENOMEM;
	p = ct_site(c, __vmalloc(30000, gfp));
	if (keep_vmalloc(c, ct_free_vfree, p, 30000))
		return -ENOMEM;
	p = ct_site(c, kvmalloc(30000, gfp));
	return keep_kvmalloc(c, p, 30000);
}

struct odd_size {
	char bytes[22];
};

static int keep_percpu(struct ct_case *c, void __percpu *p, size_t size)
{
	return ct_keep(c->row, ct_free_percpu, (void __force *)p, 0,
		       ct_percpu_bytes(size), 1) ? 0 : -ENOMEM;
}

static int hold_percpu(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	const gfp_t account = GFP_KERNEL_ACCOUNT;
	const gfp_t atomic = GFP_NOWAIT;
	int err = 0;
	int i;

	for (i = 0; i < PIECES; i++) {
		err = err ?: keep_percpu(c, ct_site(c, alloc_percpu(char)), 1);
		err = err ?: keep_percpu(c, ct_site(c, alloc_percpu(int)), 4);
		err = err ?: keep_percpu(c, ct_site(c, alloc_percpu(u64)), 8);
		err = err ?: keep_percpu(c, ct_site(c, alloc_percpu(struct odd_size)), 22);
		err = err ?: keep_percpu(c, ct_site(c, __alloc_percpu(100, 4)), 100);
		err = err ?: keep_percpu(c, ct_site(c, __alloc_percpu(1000, 64)), 1000);
		err = err ?: keep_percpu(c, ct_site(c, __alloc_percpu(8192, 8)), 8192);
		err = err ?: keep_percpu(c, ct_site(c, alloc_percpu_gfp(u64, gfp)), 8);
		err = err ?: keep_percpu(c, ct_site(c, __alloc_percpu_gfp(64, 8, account)), 64);
	}
	/* One that may not sleep can fail when the chunks are full. */
	keep_percpu(c, ct_site(c, __alloc_percpu_gfp(16, 8, atomic)), 16);
	return err;
}

static void free_nothing(struct ct_item *item)
{
}

/* The memory of a pool itself, charged to the line that made the pool. */
static int keep_pool(struct ct_case *c, mempool_t *pool, int nr,
		     const char *cache)
{
	struct ct_item *item;

	item = ct_keep_slab(c->row, ct_free_mempool, pool, 0,
			    ct_kmalloc_cache(sizeof(mempool_t)));
	if (!item)
		return -ENOMEM;
	item->whole = true;
	item = ct_keep(c->row, free_nothing, pool, 0, 0, 0);
	ct_charge(item, 0, nr, cache, nr);
	item->whole = true;
	return 0;
}

/* The objects that a pool gives if its allocator fails. */
static bool pool_is_dry;

static void *dry_alloc(gfp_t gfp, void *data)
{
	return pool_is_dry ? NULL : mempool_kmalloc(gfp, data);
}

static int hold_mempool(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL;
	struct ct_item *item;
	mempool_t *pool;
	void *p;
	int i;

	/* The reserve belongs to the line of the pool... */
	pool = ct_site(c, mempool_create_kmalloc_pool(9, 100));
	if (!pool || keep_pool(c, pool, 9, ct_kmalloc_cache(100)))
		return -ENOMEM;
	/* ... and new memory to that of mempool_alloc(). */
	for (i = 0; i < PIECES; i++) {
		p = ct_site(c, mempool_alloc(pool, gfp));
		item = ct_keep_slab(c->row, ct_free_mempool_object, p,
				    (unsigned long)pool, ct_kmalloc_cache(100));
		if (!item)
			return -ENOMEM;
	}

	/* Objects of the reserve stay charged to the line of the pool. */
	pool = ct_site(c, mempool_create(5, dry_alloc, mempool_kfree, (void *)40));
	if (!pool || keep_pool(c, pool, 5, ct_kmalloc_cache(40)))
		return -ENOMEM;
	pool_is_dry = true;
	p = ct_site(c, mempool_alloc(pool, gfp));
	pool_is_dry = false;
	item = ct_keep(c->row, ct_free_mempool_object, p, (unsigned long)pool, 0, 0);
	return item ? 0 : -ENOMEM;
}

static void free_page_pool(struct ct_item *item)
{
	mempool_destroy(item->ptr);
}

static int hold_mempool_pages(struct ct_case *c)
{
	mempool_t *pool;
	struct ct_item *item;

	pool = ct_site(c, mempool_create_page_pool(3, 2));
	item = ct_keep_slab(c->row, free_page_pool, pool, 0,
			    ct_kmalloc_cache(sizeof(mempool_t)));
	ct_charge(item, 3 * (PAGE_SIZE << 2), 3, "", 0);
	return item ? 0 : -ENOMEM;
}

static int hold_ptr_ring(struct ct_case *c)
{
	static struct ptr_ring ring[PIECES];
	int i;

	for (i = 0; i < PIECES; i++) {
		if (ct_site(c, ptr_ring_init(&ring[i], 100, GFP_KERNEL)))
			return -ENOMEM;
		keep_kvmalloc(c, ring[i].queue, 100 * sizeof(void *));
	}
	return 0;
}

struct element {
	struct rhash_head node;
	u32 key;
};

#define ELEMENTS	3000

static const struct rhashtable_params table_params = {
	.key_len = sizeof(u32),
	.key_offset = offsetof(struct element, key),
	.head_offset = offsetof(struct element, node),
	.automatic_shrinking = false,
};

static struct rhashtable table;
static bool table_in_use;
static struct element *elements;

static void free_table(struct ct_item *item)
{
	rhashtable_destroy(&table);
	table_in_use = false;
}

/* Wait until the table has stopped to grow, and return its buckets. */
static unsigned int table_size(void)
{
	struct bucket_table *tbl, *next;
	unsigned int size;

	for (;;) {
		flush_work(&table.run_work);
		rcu_barrier();
		rcu_read_lock();
		tbl = rcu_dereference(table.tbl);
		next = rcu_dereference(tbl->future_tbl);
		size = tbl->size;
		rcu_read_unlock();
		if (!next && !rht_grow_above_75(&table, tbl))
			return size;
		schedule_work(&table.run_work);
	}
}

/*
 * The table remembers the line that made it: what it grows by later, in a
 * work queue and at lines inside of lib/rhashtable.c, belongs to that line.
 */
static int hold_rhashtable(struct ct_case *c)
{
	struct ct_item *item;
	struct ct_row *row;
	unsigned int size;
	size_t bytes;
	int err, i;

	if (table_in_use)
		return -EBUSY;
	err = ct_site(c, rhashtable_init(&table, &table_params));
	if (err)
		return err;
	table_in_use = true;
	row = c->row;
	for (i = 0; i < ELEMENTS; i++) {
		elements[i].key = i;
		err = rhashtable_insert_fast(&table, &elements[i].node, table_params);
		if (err)
			break;
		cond_resched();
	}
	size = table_size();
	if (size < ELEMENTS)
		err = err ?: -EINVAL;
	bytes = struct_size_t(struct bucket_table, buckets, size);

	item = ct_keep(row, free_table, &table, 0, 0, 0);
	if (is_vmalloc_addr(rcu_access_pointer(table.tbl))) {
		c->why = "the table came from vmalloc";
		ct_charge(item, PFN_UP(bytes) * PAGE_SIZE, PFN_UP(bytes), "", 0);
		ct_charge(item, 0, 1, ct_kmalloc_cache(PFN_UP(bytes) * sizeof(void *)), 1);
	} else if (bytes <= KMALLOC_MAX_CACHE_SIZE) {
		ct_charge(item, 0, 1, ct_kmalloc_cache(bytes), 1);
	} else {
		ct_charge(item, PAGE_SIZE << get_order(bytes), 1, "", 0);
	}
	return err;
}

struct ct_case ct_other_cases[] = {
	{ "vmalloc", hold_vmalloc },
	{ "kvmalloc", hold_kvmalloc },
	{ "kvfree_rcu", hold_kvfree_rcu },
	{ "kvrealloc", hold_kvrealloc },
	{ "nofail", hold_nofail },
	{ "percpu", hold_percpu },
	{ "mempool", hold_mempool },
	{ "mempool_pages", hold_mempool_pages },
	{ "ptr_ring", hold_ptr_ring },
	{ "rhashtable", hold_rhashtable },
	{}
};

int ct_other_cases_init(void)
{
	/* Not in the ledger: this line is not one that is looked at. */
	elements = ct_buffer(ELEMENTS * sizeof(*elements));
	return elements ? 0 : -ENOMEM;
}

void ct_other_cases_exit(void)
{
	vfree(elements);
	elements = NULL;
}
