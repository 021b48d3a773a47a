// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ways in which the self-tests free the memory in the ledger. They are here
 * and not in the module that allocated, because that one may be gone.
 */
#include <linux/gfp.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "codetag_test.h"

void ct_free_kfree(struct ct_item *item)
{
	kfree(item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_kfree);

#ifdef kmalloc_nolock
void ct_free_kfree_nolock(struct ct_item *item)
{
	kfree_nolock(item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_kfree_nolock);
#endif

void ct_free_kvfree(struct ct_item *item)
{
	kvfree(item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_kvfree);

void ct_free_vfree(struct ct_item *item)
{
	vfree(item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_vfree);

void ct_free_percpu(struct ct_item *item)
{
	free_percpu((void __percpu __force *)item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_percpu);

/* @arg is the order. */
void ct_free_pages(struct ct_item *item)
{
	__free_pages(item->ptr, item->arg);
}
EXPORT_SYMBOL_GPL(ct_free_pages);

/* @ptr is an address, @arg the order. */
void ct_free_address(struct ct_item *item)
{
	free_pages((unsigned long)item->ptr, item->arg);
}
EXPORT_SYMBOL_GPL(ct_free_address);

/* @arg is the size that was asked for. */
void ct_free_exact(struct ct_item *item)
{
	free_pages_exact(item->ptr, item->arg);
}

void ct_free_put_page(struct ct_item *item)
{
	put_page(item->ptr);
}

#ifdef alloc_contig_frozen_range
/* @arg is the number of pages, to none of which there is a reference. */
void ct_free_contig_frozen(struct ct_item *item)
{
	struct page *page = item->ptr;

	free_contig_frozen_range(page_to_pfn(page), item->arg);
}
EXPORT_SYMBOL_GPL(ct_free_contig_frozen);
#endif

#ifdef CONFIG_CONTIG_ALLOC
/* @arg is the number of pages. */
void ct_free_contig(struct ct_item *item)
{
	struct page *page = item->ptr;

	free_contig_range(page_to_pfn(page), item->arg);
}
#endif

/* @arg is the cache. */
void ct_free_cache(struct ct_item *item)
{
	kmem_cache_free((struct kmem_cache *)item->arg, item->ptr);
}
EXPORT_SYMBOL_GPL(ct_free_cache);

/* @arg is the cache. */
void ct_free_cache_bulk(struct ct_item *item)
{
	kmem_cache_free_bulk((struct kmem_cache *)item->arg, item->nr,
			     item->vec);
}

void ct_free_kfree_bulk(struct ct_item *item)
{
	kfree_bulk(item->nr, item->vec);
}

void ct_free_kfree_rcu(struct ct_item *item)
{
	/* Every object that is freed in this way has the head at its start. */
	struct { struct rcu_head rcu; } *object = item->ptr;

	kfree_rcu(object, rcu);
}

void ct_free_kfree_rcu_sleep(struct ct_item *item)
{
	kfree_rcu_mightsleep(item->ptr);
}

void ct_free_kvfree_rcu_sleep(struct ct_item *item)
{
	kvfree_rcu_mightsleep(item->ptr);
}

/* @arg is the pool. */
void ct_free_mempool_object(struct ct_item *item)
{
	mempool_free(item->ptr, (mempool_t *)item->arg);
}

void ct_free_mempool(struct ct_item *item)
{
	mempool_destroy(item->ptr);
}

/* Memory for a case that is not itself looked at: the lines here are not. */
void *ct_buffer(size_t size)
{
	return vzalloc(size);
}
