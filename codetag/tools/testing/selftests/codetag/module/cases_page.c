// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cases of the page allocator. Every allocation has its own line.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/skbuff.h>

#include "codetag_test.h"

/* Functions that have other names in other kernels, or that some kernels lack. */
#ifndef alloc_pages_bulk_array
#define alloc_pages_bulk_array		alloc_pages_bulk
#endif
#ifdef ACR_FLAGS_NONE
#define CONTIG_FLAGS			ACR_FLAGS_NONE
#else
#define CONTIG_FLAGS			MIGRATE_MOVABLE
#endif
#ifdef alloc_contig_frozen_range
#define alloc_contig_compound(...)	alloc_contig_frozen_range(__VA_ARGS__)
#define free_contig_compound		ct_free_contig_frozen
#else
#define alloc_contig_compound(...)	alloc_contig_range(__VA_ARGS__)
#define free_contig_compound		ct_free_contig
#endif

/* How many pieces the cases hold that allocate in a loop. */
#define PIECES	6

/* A high order that is not there is no error of the tagger, but no test. */
#define GFP_BIG	(GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

static int keep_pages(struct ct_case *c, struct page *page, unsigned int order)
{
	return ct_keep(c->row, ct_free_pages, page, order, PAGE_SIZE << order,
		       1) ? 0 : -ENOMEM;
}

static int keep_address(struct ct_case *c, unsigned long address,
			unsigned int order)
{
	return ct_keep(c->row, ct_free_address, (void *)address, order,
		       PAGE_SIZE << order, 1) ? 0 : -ENOMEM;
}

static int hold_orders(struct ct_case *c)
{
	int err = 0;

	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 0)), 0);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 1)), 1);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 2)), 2);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 3)), 3);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 4)), 4);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 5)), 5);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 6)), 6);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL, 7)), 7);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_BIG, 8)), 8);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_BIG, 9)), 9);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_BIG, 10)), 10);
	return err;
}

static int hold_compound(struct ct_case *c)
{
	const gfp_t gfp = GFP_KERNEL | __GFP_COMP;
	const gfp_t big = GFP_BIG | __GFP_COMP;
	int err = 0;

	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 0)), 0);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 1)), 1);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 2)), 2);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 3)), 3);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 4)), 4);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 5)), 5);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 6)), 6);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(gfp, 7)), 7);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(big, 8)), 8);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(big, 9)), 9);
	err = err ?: keep_pages(c, ct_site(c, alloc_pages(big, 10)), 10);
	return err;
}

static int hold_get_free_pages(struct ct_case *c)
{
	int err = 0;
	int i;

	for (i = 0; i < PIECES; i++)
		err = err ?: keep_address(c, ct_site(c, __get_free_pages(GFP_KERNEL, 2)), 2);
	for (i = 0; i < PIECES; i++)
		err = err ?: keep_address(c, ct_site(c, get_zeroed_page(GFP_KERNEL)), 0);
	return err;
}

static int hold_node(struct ct_case *c)
{
	const int nid = numa_node_id();
	int err = 0;
	int i;

	for (i = 0; i < PIECES; i++)
		err = err ?: keep_pages(c, ct_site(c, alloc_pages_node(nid, GFP_KERNEL, 1)), 1);
#ifdef __alloc_pages
	for (i = 0; i < PIECES; i++)
		err = err ?: keep_pages(c, ct_site(c, __alloc_pages(GFP_KERNEL, 1, nid, NULL)), 1);
#endif
	return err;
}

static int hold_account(struct ct_case *c)
{
	int err = 0;
	int i;

	for (i = 0; i < PIECES; i++)
		err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL_ACCOUNT, 0)), 0);
	for (i = 0; i < PIECES; i++)
		err = err ?: keep_pages(c, ct_site(c, alloc_pages(GFP_KERNEL_ACCOUNT, 3)), 3);
	return err;
}

static int hold_helpers(struct ct_case *c)
{
	struct ptdesc *ptdesc;
	int i;

	for (i = 0; i < PIECES; i++)
		if (keep_pages(c, ct_site(c, dev_alloc_pages(1)), 1))
			return -ENOMEM;
	for (i = 0; i < PIECES; i++) {
		ptdesc = ct_site(c, pagetable_alloc(GFP_KERNEL, 0));
		if (!ptdesc || keep_pages(c, ptdesc_page(ptdesc), 0))
			return -ENOMEM;
	}
	return 0;
}

static int hold_folio(struct ct_case *c)
{
	struct folio *folio;
	unsigned int order;

	for (order = 0; order < PIECES; order++) {
		folio = ct_site(c, folio_alloc(GFP_KERNEL, order));
		if (!folio)
			return -ENOMEM;
		ct_keep(c->row, ct_free_put_page, folio_page(folio, 0), 0,
			PAGE_SIZE << order, 1);
	}
	return 0;
}

static int hold_bulk(struct ct_case *c)
{
	struct page *pages[2 * PIECES] = {};
#ifdef alloc_pages_bulk_list
	struct page *page, *next;
	LIST_HEAD(list);
#endif
	unsigned int i;
	int err = 0;

	/* The allocator may stop early, and is called again for the rest. */
	for (i = 0; i < 1000; i++)
		if (ct_site(c, alloc_pages_bulk_array(GFP_KERNEL, 2 * PIECES, pages)) == 2 * PIECES)
			break;
	for (i = 0; i < 2 * PIECES; i++)
		err = keep_pages(c, pages[i], 0) ?: err;

#ifdef alloc_pages_bulk_list
	ct_site(c, alloc_pages_bulk_list(GFP_KERNEL, 2 * PIECES, &list));
	if (list_empty(&list))
		err = -ENOMEM;
	list_for_each_entry_safe(page, next, &list, lru) {
		list_del(&page->lru);
		keep_pages(c, page, 0);
	}
#endif
	return err;
}

static int hold_exact(struct ct_case *c)
{
	void *address;

	/* Five pages of an order of eight: three go back at once. */
	address = ct_site(c, alloc_pages_exact(5 * PAGE_SIZE - 100, GFP_KERNEL));
	if (!ct_keep(c->row, ct_free_exact, address, 5 * PAGE_SIZE - 100, 5 * PAGE_SIZE, 5))
		return -ENOMEM;

	/* A power of two: nothing goes back, but the pages are single ones. */
	address = ct_site(c, alloc_pages_exact(4 * PAGE_SIZE, GFP_KERNEL));
	if (!ct_keep(c->row, ct_free_exact, address, 4 * PAGE_SIZE, 4 * PAGE_SIZE, 4))
		return -ENOMEM;

	/* One page, and a free in pieces. */
	address = ct_site(c, alloc_pages_exact(33 * PAGE_SIZE, GFP_KERNEL));
	if (!address)
		return -ENOMEM;
	ct_keep(c->row, ct_free_exact, address, PAGE_SIZE, PAGE_SIZE, 1);
	ct_keep(c->row, ct_free_exact, address + PAGE_SIZE, 20 * PAGE_SIZE, 20 * PAGE_SIZE, 20);
	ct_keep(c->row, ct_free_exact, address + 21 * PAGE_SIZE, 12 * PAGE_SIZE,
		12 * PAGE_SIZE, 12);
	return 0;
}

static int hold_split(struct ct_case *c)
{
	struct page *page = ct_site(c, alloc_pages(GFP_KERNEL, 4));
	int i;

	if (!page)
		return -ENOMEM;
	split_page(page, 4);
	for (i = 0; i < 1 << 4; i++)
		keep_pages(c, page + i, 0);
	return 0;
}

/*
 * Somebody else holds the first page of a high-order page that is not
 * compound: __free_pages() then frees the other pages one by one and leaves
 * the first to its holder.
 */
static int hold_speculative(struct ct_case *c)
{
	struct page *page;
	unsigned int order;

	for (order = 1; order <= 5; order++) {
		page = ct_site(c, alloc_pages(GFP_KERNEL, order));
		if (!page)
			return -ENOMEM;
		get_page(page);
		__free_pages(page, order);
		ct_keep(c->row, ct_free_put_page, page, 0, PAGE_SIZE, 1);
	}

	/* A compound page stays whole until the last reference goes. */
	page = ct_site(c, alloc_pages(GFP_KERNEL | __GFP_COMP, 3));
	if (!page)
		return -ENOMEM;
	get_page(page);
	__free_pages(page, 3);
	ct_keep(c->row, ct_free_put_page, page, 0, PAGE_SIZE << 3, 1);
	return 0;
}

#ifdef CONFIG_CONTIG_ALLOC
/* A range of free pages, found by allocating and freeing the largest order. */
static unsigned long free_range(struct ct_case *c)
{
	struct page *page;
	unsigned long pfn;

	page = ct_site(c, alloc_pages(GFP_BIG | __GFP_MOVABLE, MAX_PAGE_ORDER));
	if (!page)
		return 0;
	pfn = page_to_pfn(page);
	__free_pages(page, MAX_PAGE_ORDER);
	return pfn;
}

static int hold_contig(struct ct_case *c)
{
	const unsigned long all = MAX_ORDER_NR_PAGES;
	unsigned long pfn;
	int err;
	int i;

	/* Somebody may take pages of the range first: try some times. */
	for (i = 0; i < 10; i++) {
		pfn = free_range(c);
		if (!pfn)
			return -ENOMEM;
		/* Not aligned: what is around it goes back. */
		pfn += 3;
		err = ct_site(c, alloc_contig_range(pfn, pfn + 100, CONTIG_FLAGS, GFP_KERNEL));
		if (!err)
			break;
	}
	if (err)
		return err;
	ct_keep(c->row, ct_free_contig, pfn_to_page(pfn), 60, 60 * PAGE_SIZE, 60);
	ct_keep(c->row, ct_free_contig, pfn_to_page(pfn + 60), 40, 40 * PAGE_SIZE, 40);

	for (i = 0; i < 10; i++) {
		const gfp_t gfp = GFP_KERNEL | __GFP_COMP;

		pfn = free_range(c);
		if (!pfn)
			return -ENOMEM;
		err = ct_site(c, alloc_contig_compound(pfn, pfn + all, CONTIG_FLAGS, gfp));
		if (!err)
			break;
	}
	if (err)
		return err;
	ct_keep(c->row, free_contig_compound, pfn_to_page(pfn), all, all * PAGE_SIZE, 1);
	return 0;
}
#else
static int hold_contig(struct ct_case *c)
{
	c->why = "no CONFIG_CONTIG_ALLOC";
	return -EOPNOTSUPP;
}
#endif

struct ct_case ct_page_cases[] = {
	{ "alloc_pages", hold_orders },
	{ "alloc_pages_compound", hold_compound },
	{ "get_free_pages", hold_get_free_pages },
	{ "alloc_pages_node", hold_node },
	{ "alloc_pages_account", hold_account },
	{ "page_helpers", hold_helpers },
	{ "folio_alloc", hold_folio },
	{ "alloc_pages_bulk", hold_bulk },
	{ "alloc_pages_exact", hold_exact },
	{ "split_page", hold_split },
	{ "speculative_reference", hold_speculative },
	{ "alloc_contig_range", hold_contig },
	{}
};
