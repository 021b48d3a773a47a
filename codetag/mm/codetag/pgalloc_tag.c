// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charging pages and taking that back: all but the fastest paths, which are in
 * include/linux/pgalloc_tag.h.
 */
#include <linux/mm.h>
#include <linux/pgalloc_tag.h>
#include <linux/seq_file.h>
#include "context_stack.h"
#include "page_store.h"
#include "tags.h"
#include "stats.h"
#include "traced.h"

/*
 * Allocations whose id did not fit the store; first pages freed without the rest of their
 * allocation.
 */
atomic_long_t pgalloc_tag_nr_not_representable;
atomic_long_t pgalloc_tag_nr_freed_in_parts;

/**
 * pgalloc_tag_show_stats - the page allocator's part of the stats file
 * @m: where to print to
 *
 * Context: Process.
 */
void pgalloc_tag_show_stats(struct seq_file *m)
{
	seq_printf(m, "pages_not_representable: %ld\n",
		   atomic_long_read(&pgalloc_tag_nr_not_representable));
	seq_printf(m, "pages_freed_in_parts: %ld\n",
		   atomic_long_read(&pgalloc_tag_nr_freed_in_parts));
}

/* ---- allocation ------------------------------------------------------------ */

/* The id to charge instead of one that the store cannot hold. */
static u16 not_representable(struct codetag *ct)
{
	if (!(READ_ONCE(ct->state) & CODETAG_INACCURATE))
		codetag_set_state(ct, CODETAG_INACCURATE);
	atomic_long_inc(&pgalloc_tag_nr_not_representable);
	return CODETAG_ID_UNREPRESENTABLE;
}

/**
 * pgalloc_tag_add_slow - the part of pgalloc_tag_add() that is not inlined
 * @page:	first page
 * @order:	order of the allocation
 * @gfp:	how it was allocated
 * @id:		id to charge it to
 *
 * It is needed for page_ext, and for flags that do not hold every id.
 *
 * Context: Any.
 */
void pgalloc_tag_add_slow(struct page *page, unsigned int order, gfp_t gfp,
			  unsigned int id)
{
	if (unlikely(id > page_tag_max_id))
		id = not_representable(&alloc_tag_current()->ct);

	if (pgalloc_tag_pages_of(order, gfp) == PGALLOC_TAG_TWO_PAGES)
		page_tag_set(page++, CODETAG_ID_TAIL + order);
	page_tag_set(page, id);
	alloc_tag_charge(id, PAGE_SIZE << order, 1);
}

#ifdef CONFIG_CODETAG_CONTEXTS

/* pgalloc_tag_add_split() where something has to be called. */
static noinline void pgalloc_tag_add_context(struct page *page, unsigned int order, gfp_t gfp)
{
	const struct codetag_alloc alloc = {
		.size = codetag_page_size_asked(order), .nid = page_to_nid(page),
		.gfp = gfp, .accounted = gfp & __GFP_ACCOUNT,
	};
	unsigned int id;

	preempt_disable();
	id = codetag_context_id(&alloc, page_tag_max_id);
	if (id) {
		pgalloc_tag_add_slow(page, order, gfp, id);
		codetag_traced_alloc(id, page_to_virt(page), PAGE_SIZE << order, gfp, alloc.nid);
	}
	preempt_enable();
}

/* Charge to a context, if the store is wide flags or slots. */
static __always_inline bool pgalloc_tag_charge_context(struct page *page, unsigned int order,
						       gfp_t gfp, struct codetag_context *ctx)
{
	if (unlikely(!ctx || !pgalloc_tag_set_fast(page, order, gfp, ctx->id)))
		return false;
	codetag_context_charge(ctx, PAGE_SIZE << order);
	return true;
}

/*
 * pgalloc_tag_add_split() by caller alone: a function of its own, because the callers are found
 * from its frame. Enables preemption.
 */
static noinline void pgalloc_tag_add_caller(struct page *page, unsigned int order, gfp_t gfp,
					    const struct codetag_site *site)
{
	bool done = pgalloc_tag_charge_context(page, order, gfp, codetag_context_of_caller(site));

	preempt_enable();
	if (unlikely(!done))
		pgalloc_tag_add_context(page, order, gfp);
}

/**
 * pgalloc_tag_add_split - pgalloc_tag_add() for a site that is split
 * @page:	first page
 * @order:	order of the allocation
 * @gfp:	how it was allocated
 *
 * All calls come last, so that no register has to be saved.
 *
 * Context: Any.
 */
void pgalloc_tag_add_split(struct page *page, unsigned int order, gfp_t gfp)
{
	struct codetag_context *ctx;
	struct codetag_site *site;
	unsigned int split_by;
	bool done;

	preempt_disable();
	split_by = codetag_split_now(&alloc_tag_current()->ct, &site);
	if (split_by == CODETAG_SPLIT_BY_CALLER) {
		pgalloc_tag_add_caller(page, order, gfp, site);
		return;
	}
	ctx = codetag_context_lookup_fast(site, split_by, page_to_nid(page), gfp & __GFP_ACCOUNT,
					  codetag_page_size_asked(order));
	done = pgalloc_tag_charge_context(page, order, gfp, ctx);
	preempt_enable();
	if (unlikely(!done))
		pgalloc_tag_add_context(page, order, gfp);
}

#endif

/**
 * pgalloc_tag_add_each - the part of pgalloc_tag_bulk_add() that is not inlined
 * @page:	the page
 * @gfp:	flags of the allocation
 *
 * It is needed for sites that are split, for reserved ids, and for page_ext and flags that do not
 * hold every id.
 *
 * Context: Any.
 */
void pgalloc_tag_add_each(struct page *page, gfp_t gfp)
{
	pgalloc_tag_add(page, 0, gfp);
}

/* ---- free ------------------------------------------------------------------ */

static noinline void damaged(const struct page *page, u16 id)
{
	char pfn[20];

	snprintf(pfn, sizeof(pfn), "0x%lx", page_to_pfn(page));
	alloc_tag_damaged(id, "page", pfn);
}

static void freed_alone(const struct page *page, u16 mark)
{
	atomic_long_inc(&pgalloc_tag_nr_freed_in_parts);
	printk_deferred_once(KERN_WARNING "codetag: page 0x%lx is freed alone, but belongs to an allocation of %u pages\n",
			     page_to_pfn(page), 1 << (mark - CODETAG_ID_TAIL));
}

/* Uncharge, unless the id is a mark or corrupt */
static void sub_id(const struct page *page, size_t bytes, u16 id)
{
	if (page_tag_is_mark(id))
		freed_alone(page, id); /* what is not known stays with its site */
	else if (!alloc_tag_uncharge(id, bytes, 1) &&
		 !codetag_traced_uncharge(id, page_to_virt(page), bytes, page_to_nid(page)))
		damaged(page, id);
}

/**
 * __pgalloc_tag_first - see pgalloc_tag_first()
 * @page: first page, which is even
 *
 * Context: Any.
 * Return: The id.
 */
u16 __pgalloc_tag_first(struct page *page)
{
	u16 mark = page_tag_get(page), id;

	if (!page_tag_is_mark(mark))
		return mark;
	id = page_tag_get(page + 1);
	page_tag_set(page, id);
	page_tag_set(page + 1, mark);
	return id;
}

/*
 * Whether @page is still the second page of an allocation that is not compound: it has an id,
 * but no reference and nothing else of its own. An owner that sets references may have freed it.
 */
static bool is_second(const struct page *page)
{
	return page_tag_get(page) && !page_count(page) && !PageCompound(page) &&
	       !page_has_type(page) && !page->mapping;
}

/*
 * put_page() frees the first of several pages alone and leaves the others to nobody. Each
 * of these is an allocation of its own then, of the same site. Returns what @page holds.
 */
static u16 first_alone(struct page *page, u16 mark)
{
	u16 id = mark;

	if (is_second(page + 1)) {
		__pgalloc_tag_split(page, mark - CODETAG_ID_TAIL, 0);
		id = page_tag_get(page);
	}
	if (id != mark)
		freed_alone(page, mark);
	return id;
}

/**
 * pgalloc_tag_sub_slow - the part of pgalloc_tag_sub() that is not inlined
 * @page:	first page
 * @order:	order of the pages to be freed
 *
 * It handles all stores and all rare cases.
 *
 * Context: Any.
 */
void pgalloc_tag_sub_slow(struct page *page, unsigned int order)
{
	unsigned int id = page_tag_get(page);

	if (!id)
		return;

	if (page_tag_is_mark(id) && !(page_to_pfn(page) & 1))
		id = order ? __pgalloc_tag_first(page) : first_alone(page, id);

	if (!page_tag_in_flags()) {
		page_tag_set(page, CODETAG_ID_NONE);
		if (order)
			page_tag_set(page + 1, CODETAG_ID_NONE);
	}
	if (id)
		sub_id(page, PAGE_SIZE << order, id);
}

DEFINE_STATIC_KEY_FALSE(pgalloc_tag_singles_flags_key);
DEFINE_STATIC_KEY_FALSE(pgalloc_tag_singles_slot_key);

/**
 * pgalloc_tag_singles_inline - uncharge single pages without a call, or not
 * @on: whether; pgalloc_tag_sub_slow() sees all of them otherwise
 *
 * Context: Boot, after the store was chosen; then process. The caller serializes.
 */
void pgalloc_tag_singles_inline(bool on)
{
	struct static_key *key;

	if (page_tag_in_flags())
		key = &pgalloc_tag_singles_flags_key.key;
	else if (page_tag_in_slots())
		key = &pgalloc_tag_singles_slot_key.key;
	else
		return;
	if (on)
		static_key_enable(key);
	else
		static_key_disable(key);
}

/**
 * __pgalloc_tag_sub_tail - see pgalloc_tag_sub_tail()
 * @page:	first page
 * @order:	order of the allocation
 * @id:		id that the first page held
 *
 * Context: Any.
 */
void __pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id)
{
	page_tag_set(page + 1, CODETAG_ID_NONE);
	/*
	 * The first page is a part of its own, which may be freed at any moment. Until the
	 * bytes of the others are uncharged, both are held, see alloc_tag_uncharge().
	 */
	if (!page_tag_is_mark(id) && codetag_id_known(id))
		alloc_tag_add_parts(id, 1);
	sub_id(page + 1, (PAGE_SIZE << order) - PAGE_SIZE, id);
}

/**
 * pgalloc_tag_order - order of the allocation that a page is the first one of
 * @page: a page that holds an id or a mark, of online memory
 *
 * Do not trust the fields of a page that another CPU is preparing: a compound
 * page gets its order after its mark.
 *
 * Context: Any.
 * Return: The order, 0 if nothing says otherwise.
 */
unsigned int pgalloc_tag_order(const struct page *page)
{
	unsigned long pfn = page_to_pfn(page);
	unsigned int order = 0;
	u16 mark;

	if (PageHead(page))
		order = compound_order((struct page *)page);
	if (!order && !(pfn & 1)) {
		/* It is in the second page after pgalloc_tag_first(). */
		mark = page_tag_get(page);
		if (!page_tag_is_mark(mark))
			mark = page_tag_get(page + 1);
		if (page_tag_is_mark(mark))
			order = mark - CODETAG_ID_TAIL;
	}
	return order < BITS_PER_LONG && IS_ALIGNED(pfn, 1UL << order) ? order : 0;
}

/**
 * __pgalloc_tag_offline - see pgalloc_tag_offline()
 * @page: the page
 *
 * Context: Any.
 */
void __pgalloc_tag_offline(struct page *page)
{
	u16 id = page_tag_has_place(page) ? page_tag_get(page) : CODETAG_ID_NONE;
	unsigned int order;

	if (!id)
		return;

	if (page_tag_is_mark(id) && !(page_to_pfn(page) & 1))
		id = __pgalloc_tag_first(page);
	order = pgalloc_tag_order(page);
	page_tag_set(page, CODETAG_ID_NONE);
	if (page_tag_is_mark(id))
		return;
	sub_id(page, PAGE_SIZE << order, id);
}

/* ---- changes in between ---------------------------------------------------- */

/**
 * __pgalloc_tag_split - see pgalloc_tag_split()
 * @page:	first page
 * @old_order:	order of the allocation
 * @new_order:	order of the parts
 *
 * Context: Any; nobody else may free the pages.
 */
void __pgalloc_tag_split(struct page *page, unsigned int old_order, unsigned int new_order)
{
	unsigned long i, nr = 1UL << old_order, step = 1UL << new_order;
	u16 id = page_tag_has_place(page) ? page_tag_get(page) : CODETAG_ID_NONE;
	u16 id_of_parts;

	if (!id || old_order == new_order)
		return;

	if (page_tag_is_mark(id)) {
		id = page_tag_get(page + 1);
		page_tag_set(page, id);
		page_tag_set(page + 1, CODETAG_ID_NONE);
	}
	if (unlikely(!codetag_id_known(id))) {
		damaged(page, id);
		return;
	}
	id_of_parts = codetag_context_split(id, PAGE_SIZE << old_order, nr >> new_order);
	for (i = id == id_of_parts ? step : 0; i < nr; i += step)
		page_tag_set(page + i, id_of_parts);
}

/**
 * __pgalloc_tag_swap - see pgalloc_tag_swap()
 * @new: folio that takes over
 * @old: folio that goes away
 *
 * Context: Any but NMI; nobody else may free the folios.
 */
void __pgalloc_tag_swap(struct folio *new, struct folio *old)
{
	u16 id, moved;

	/* Device memory is not charged; memory that comes back from it is a new allocation. */
	if (!page_tag_has_place(&new->page) || !page_tag_has_place(&old->page))
		return;

	id = page_tag_get(&new->page);
	moved = page_tag_get(&old->page);
	/* HugeTLB keeps the old folio, in the pool of its node. */
	if (folio_nid(new) != folio_nid(old)) {
		if (moved)
			moved = codetag_context_moved(moved, folio_size(old), folio_nid(new));
		if (id)
			id = codetag_context_moved(id, folio_size(new), folio_nid(old));
	}
	page_tag_set(&new->page, moved);
	page_tag_set(&old->page, id);
}
