// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages from the buddy allocator.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include "alloc_bench.h"

/* Before 6.15 the function that fills an array of pages had a longer name. */
#ifndef alloc_pages_bulk_array
#define alloc_pages_bulk_array alloc_pages_bulk
#endif

#define PAGE_PAIR(_order)							\
static int page_pair_##_order(struct bench_sample *s, unsigned int rounds)	\
{										\
	return BENCH_PAIRS(s, rounds, alloc_pages(GFP_KERNEL, _order),		\
			   __free_pages(obj, _order));				\
}

PAGE_PAIR(0)
PAGE_PAIR(3)
PAGE_PAIR(9)

static int page_batch_0(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_BATCHES(s, rounds, alloc_page(GFP_KERNEL), __free_page(obj));
}

static int page_batch_3(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_BATCHES(s, rounds, alloc_pages(GFP_KERNEL, 3), __free_pages(obj, 3));
}

static int get_free_page(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, __get_free_page(GFP_KERNEL),
			   free_page((unsigned long)obj));
}

static int folio_pair_2(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, folio_alloc(GFP_KERNEL, 2), folio_put(obj));
}

static int page_bulk(struct bench_sample *s, unsigned int rounds)
{
	unsigned int n, i, got;

	for (n = 0; n < rounds; n++) {
		u64 from, half;

		memset(bench_objects, 0, sizeof(bench_objects));
		from = bench_now();
		got = alloc_pages_bulk_array(GFP_KERNEL, BENCH_BATCH,
					     (struct page **)bench_objects);
		half = bench_now();
		for (i = 0; i < got; i++)
			__free_page(bench_objects[i]);
		s->total += bench_now() - from;
		s->alloc += half - from;
		s->ops += got;
		if (!got)
			return -ENOMEM;
	}
	return 0;
}

static int pages_exact(struct bench_sample *s, unsigned int rounds)
{
	return BENCH_PAIRS(s, rounds, alloc_pages_exact(3 * PAGE_SIZE, GFP_KERNEL),
			   free_pages_exact(obj, 3 * PAGE_SIZE));
}

const struct bench_case bench_page_cases[] = {
	{ "page-0",		500,	page_pair_0 },
	{ "page-3",		500,	page_pair_3 },
	{ "page-9",		200,	page_pair_9 },
	{ "page-0-batch",	2,	page_batch_0 },
	{ "page-3-batch",	2,	page_batch_3 },
	{ "page-bulk",		2,	page_bulk },
	{ "get_free_page",	500,	get_free_page },
	{ "folio-2",		500,	folio_pair_2 },
	{ "pages_exact-3",	200,	pages_exact },
	{ }
};
