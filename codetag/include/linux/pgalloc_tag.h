/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hooks of the page allocator: they charge pages to the code that allocates
 * them, and uncharge them. page_tag.h tells where a page keeps the id.
 */
#ifndef _LINUX_PGALLOC_TAG_H
#define _LINUX_PGALLOC_TAG_H

#include <linux/alloc_tag.h>
#include <linux/gfp_types.h>
#include <linux/page_tag.h>
#include <linux/types.h>

struct folio;
struct page;

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/sched.h>

/*
 * The pages of an allocation that hold something. It is the first one alone if the second
 * is not part of the allocation or is part of a compound page. Otherwise the second page
 * holds the id while the pages are allocated, and the mark after pgalloc_tag_first().
 */
enum pgalloc_tag_pages {
	PGALLOC_TAG_ONE_PAGE,
	PGALLOC_TAG_TWO_PAGES,
};

static __always_inline enum pgalloc_tag_pages
pgalloc_tag_pages_of(unsigned int order, gfp_t gfp)
{
	return !order || gfp & __GFP_COMP ? PGALLOC_TAG_ONE_PAGE : PGALLOC_TAG_TWO_PAGES;
}

/*
 * Store an id that is not 0 in an allocation. False: the store is neither wide flags nor slots.
 */
static __always_inline bool pgalloc_tag_set_fast(struct page *page, unsigned int order,
						 gfp_t gfp, unsigned long id)
{
	u16 *slot;

	if (page_tag_in_wide_flags()) {
		if (pgalloc_tag_pages_of(order, gfp) == PGALLOC_TAG_TWO_PAGES)
			page_tag_flags_set(page++, CODETAG_ID_TAIL + order);
		page_tag_flags_set(page, id);
	} else if (page_tag_in_slots()) {
		slot = page_tag_slot(page);
		if (likely(pgalloc_tag_pages_of(order, gfp) == PGALLOC_TAG_ONE_PAGE)) {
			page_tag_slot_write(slot, id);
		} else {
			page_tag_slot_write(slot, CODETAG_ID_TAIL + order);
			page_tag_slot_write(slot + 1, id);
		}
	} else {
		return false;
	}
	return true;
}

/*
 * The store that single pages are uncharged in without a call. Both keys are off while guards
 * have to see these pages, and with page_ext.
 */
DECLARE_STATIC_KEY_FALSE(pgalloc_tag_singles_flags_key);
DECLARE_STATIC_KEY_FALSE(pgalloc_tag_singles_slot_key);

static __always_inline bool pgalloc_tag_sub_in_flags(unsigned int order)
{
	if (order)
		return page_tag_in_wide_flags();
	return PAGE_TAG_BITS == 16 && static_branch_likely(&pgalloc_tag_singles_flags_key);
}

static __always_inline bool pgalloc_tag_sub_in_slots(unsigned int order)
{
	return order ? page_tag_in_slots() : static_branch_likely(&pgalloc_tag_singles_slot_key);
}

/*
 * alloc_tag_uncharge() for a single page. One comparison finds nearly all ids: those of built-in
 * call sites. True for id 0, which has no charge. False for other reserved ids, for marks, and for
 * ids that no tag has.
 */
static __always_inline bool pgalloc_tag_uncharge_single(unsigned long id)
{
	unsigned long offset = alloc_tag_offset(id - CODETAG_ID_FIRST);

	if (likely(offset < builtin_alloc_tag_sites_size)) {
		alloc_tag_count_builtin(CODETAG_ID_FIRST, offset, -(u64)PAGE_SIZE, 1, true);
		return true;
	}
	offset += CODETAG_ID_FIRST * sizeof(struct alloc_tag_counters);
	if (!offset)
		return true;
	if (!alloc_tag_has_module_counters(offset))
		return false;
	alloc_tag_count(alloc_tag_module_counters(offset), -(u64)PAGE_SIZE, 1, true);
	return true;
}

/*
 * Uncharge an allocation. False: pgalloc_tag_sub_slow() has to do it, because the store is another
 * one, or guards have to see the page, or the id is reserved or unknown.
 */
static __always_inline bool pgalloc_tag_sub_fast(struct page *page, unsigned int order)
{
	/* alloc_tag_uncharge() adds -bytes. Written like this, nothing is negated at run time. */
	size_t bytes = -(-PAGE_SIZE << order);
	unsigned long id;
	u16 *slot;

	if (pgalloc_tag_sub_in_flags(order)) {
		id = alloc_tag_wide_id(page_tag_flags_get(page));
		if (!order)
			return pgalloc_tag_uncharge_single(id);
		if (unlikely(id < CODETAG_ID_FIRST)) {
			if (!id)
				return true;
			/* After a mark the second page has the id. Otherwise it has none. */
			id = alloc_tag_wide_id(page_tag_flags_get(page + 1));
			if (unlikely(id < CODETAG_ID_FIRST))
				return false;
		}
		return alloc_tag_uncharge(id, bytes, 1);
	}
	if (pgalloc_tag_sub_in_slots(order)) {
		slot = page_tag_slot(page);
		id = alloc_tag_wide_id(page_tag_slot_read(slot));
		if (!order) {
			if (unlikely(!pgalloc_tag_uncharge_single(id)))
				return false;
			page_tag_slot_write(slot, CODETAG_ID_NONE);
			return true;
		}
		if (unlikely(id < CODETAG_ID_FIRST)) {
			if (!id)
				return true;
			/* After a mark the second slot has the id. Otherwise it has none. */
			id = alloc_tag_wide_id(page_tag_slot_read(slot + 1));
			if (unlikely(id < CODETAG_ID_FIRST))
				return false;
		}
		if (unlikely(!alloc_tag_uncharge(id, bytes, 1)))
			return false;
		page_tag_slot_clear_pair(slot);
		return true;
	}
	return false;
}

void pgalloc_tag_add_slow(struct page *page, unsigned int order, gfp_t gfp,
			  unsigned int id);
void pgalloc_tag_add_split(struct page *page, unsigned int order, gfp_t gfp);
void pgalloc_tag_add_each(struct page *page, gfp_t gfp);
void pgalloc_tag_sub_slow(struct page *page, unsigned int order);
void pgalloc_tag_singles_inline(bool on);

static __always_inline void pgalloc_tag_check_new(const struct page *page, unsigned int order)
{
	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG))
		WARN_ONCE(page_tag_get(page) || (order && page_tag_get(page + 1)),
			  "codetag: page %lx is charged to id %u already\n",
			  page_to_pfn(page), page_tag_get(page) ?: page_tag_get(page + 1));
}

/**
 * pgalloc_tag_add - charge an allocation to the current call site
 * @page:	first page
 * @order:	order of the allocation
 * @gfp:	flags of the allocation; with __GFP_COMP the pages are a compound page,
 *		which has its order
 *
 * Context: Any; before the pages have another user.
 */
static __always_inline void pgalloc_tag_add(struct page *page, unsigned int order, gfp_t gfp)
{
	struct alloc_tag *tag;
	unsigned long id;

	if (!mem_alloc_profiling_enabled())
		return;

	pgalloc_tag_check_new(page, order);
	tag = alloc_tag_current();
	id = alloc_tag_id(tag);
	if (unlikely(!id)) {
		if (alloc_tag_split(tag))
			pgalloc_tag_add_split(page, order, gfp);
		return;
	}

	/* Single pages first. Only tail calls: this is inlined into the page allocator. */
	if (likely(!order)) {
		if (likely(pgalloc_tag_set_fast(page, 0, gfp, id))) {
			alloc_tag_charge_site(tag, PAGE_SIZE, 1);
			return;
		}
	} else if (likely(pgalloc_tag_set_fast(page, order, gfp, id))) {
		alloc_tag_charge_site(tag, PAGE_SIZE << order, 1);
		return;
	}
	pgalloc_tag_add_slow(page, order, gfp, id);
}

/* Not an id: each page is charged by itself. Ids whose pages are charged at once are higher. */
#define PGALLOC_TAG_EACH	CODETAG_ID_TAIL

/**
 * pgalloc_tag_bulk_begin - get ready to charge single pages, many of them at once
 *
 * Store the id in each page with pgalloc_tag_bulk_add(), then charge all of them with
 * pgalloc_tag_bulk_end(), before any of them has another user.
 *
 * Context: Any.
 * Return: The id of the current call site, for these two. CODETAG_ID_NONE if it is not to be
 *	   charged. PGALLOC_TAG_EACH or a reserved id if its pages are charged one by one.
 */
static __always_inline unsigned long pgalloc_tag_bulk_begin(void)
{
	struct alloc_tag *tag;
	unsigned long id;

	if (!mem_alloc_profiling_enabled())
		return CODETAG_ID_NONE;

	tag = alloc_tag_current();
	id = alloc_tag_id(tag);
	if (unlikely(!id))
		return alloc_tag_split(tag) ? PGALLOC_TAG_EACH : CODETAG_ID_NONE;
	return page_tag_in_wide_flags() || page_tag_in_slots() ? id : PGALLOC_TAG_EACH;
}

/**
 * pgalloc_tag_bulk_add - pgalloc_tag_add() for one of many single pages
 * @page:	the page
 * @gfp:	flags of the allocation
 * @id:		the value that pgalloc_tag_bulk_begin() returned
 *
 * Context: Any; before the page has another user.
 */
static __always_inline void pgalloc_tag_bulk_add(struct page *page, gfp_t gfp, unsigned long id)
{
	if (!alloc_tag_refs_exist())
		return;

	if (likely(id >= CODETAG_ID_FIRST)) {
		pgalloc_tag_check_new(page, 0);
		pgalloc_tag_set_fast(page, 0, gfp, id);
	} else if (id) {
		pgalloc_tag_add_each(page, gfp);
	}
}

/**
 * pgalloc_tag_bulk_end - charge the pages that pgalloc_tag_bulk_add() was called for
 * @id:	the value that pgalloc_tag_bulk_begin() returned
 * @nr:	how many pages there are
 *
 * Context: Any.
 */
static __always_inline void pgalloc_tag_bulk_end(unsigned long id, unsigned int nr)
{
	if (alloc_tag_refs_exist() && likely(id >= CODETAG_ID_FIRST))
		alloc_tag_charge(id, nr * PAGE_SIZE, nr);
}

/**
 * pgalloc_tag_sub - uncharge an allocation
 * @page:	first page
 * @order:	order of the pages to be freed
 *
 * An id in page->flags stays there. The caller clears it together with all other flags
 * that a free page does not have.
 *
 * Context: Any; the last reference to the pages is gone.
 */
static __always_inline void pgalloc_tag_sub(struct page *page, unsigned int order)
{
	if (!alloc_tag_refs_exist())
		return;

	if (unlikely(!(likely(!order) ? pgalloc_tag_sub_fast(page, 0) :
					pgalloc_tag_sub_fast(page, order))))
		pgalloc_tag_sub_slow(page, order);
}

/**
 * pgalloc_tag_clear - remove the id of a page that is not freed after all
 * @page:	the page, which pgalloc_tag_sub() has uncharged
 */
static inline void pgalloc_tag_clear(struct page *page)
{
	if (alloc_tag_refs_exist())
		page_tag_set(page, CODETAG_ID_NONE);
}

u16 __pgalloc_tag_first(struct page *page);

/**
 * pgalloc_tag_first - move the id to the first page, which somebody else may free alone
 * @page: first page of an allocation of several pages, not compound
 *
 * Call it before dropping one of several references: another one can be the last, and its
 * owner then frees the first page alone. If a page that still holds a mark is freed alone,
 * its allocator has lost the other pages.
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the pages are not charged to any.
 */
static inline u16 pgalloc_tag_first(struct page *page)
{
	return alloc_tag_refs_exist() ? __pgalloc_tag_first(page) : CODETAG_ID_NONE;
}

unsigned int pgalloc_tag_order(const struct page *page);
void __pgalloc_tag_offline(struct page *page);
void __pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id);
void __pgalloc_tag_split(struct page *page, unsigned int old_order, unsigned int new_order);
void __pgalloc_tag_swap(struct folio *new, struct folio *old);

/**
 * pgalloc_tag_sub_tail - uncharge all but the first page of an allocation
 * @page:	first page, not compound; never read, as it may be freed at any moment
 * @order:	order of the allocation
 * @id:		what pgalloc_tag_first(@page) said, before @page could be freed
 */
static inline void pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id)
{
	if (id)
		__pgalloc_tag_sub_tail(page, order, id);
}

/**
 * pgalloc_tag_offline - uncharge a page that goes offline
 * @page: a page that is not free, of memory that goes offline
 *
 * Allocated memory can go offline: pages that virtio-mem takes from the page allocator and
 * gives to the host, and broken pages. They are never freed.
 *
 * Context: Any.
 */
static inline void pgalloc_tag_offline(struct page *page)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_offline(page);
}

/**
 * pgalloc_tag_split - split the charge of an allocation into parts
 * @page:	first page
 * @old_order:	order of the allocation
 * @new_order:	order of each of the allocations it is split into
 *
 * Context: Any; the caller holds a reference to each of the parts.
 */
static inline void pgalloc_tag_split(struct page *page, unsigned int old_order,
				     unsigned int new_order)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_split(page, old_order, new_order);
}

/**
 * pgalloc_tag_swap - move a folio's charge along with its content
 * @new:	folio that gets the content, of the same size
 * @old:	folio that is about to be freed
 *
 * The call site of the content stays charged for it. The call site that allocated @new is
 * charged for @old until that is freed.
 */
static inline void pgalloc_tag_swap(struct folio *new, struct folio *old)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_swap(new, old);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline void pgalloc_tag_add(struct page *page, unsigned int order, gfp_t gfp) {}
static inline unsigned long pgalloc_tag_bulk_begin(void) { return CODETAG_ID_NONE; }
static inline void pgalloc_tag_bulk_add(struct page *page, gfp_t gfp, unsigned long id) {}
static inline void pgalloc_tag_bulk_end(unsigned long id, unsigned int nr) {}
static inline void pgalloc_tag_sub(struct page *page, unsigned int order) {}
static inline void pgalloc_tag_clear(struct page *page) {}
static inline u16 pgalloc_tag_first(struct page *page) { return CODETAG_ID_NONE; }
static inline void pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id) {}
static inline void pgalloc_tag_offline(struct page *page) {}
static inline void pgalloc_tag_split(struct page *page, unsigned int old_order,
				     unsigned int new_order) {}
static inline void pgalloc_tag_swap(struct folio *new, struct folio *old) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_PGALLOC_TAG_H */
