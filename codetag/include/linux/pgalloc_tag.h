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
 * Store an id that is not 0 in an allocation, or uncharge the allocation, if the store is
 * wide flags or slots. False: the store is another one, or pgalloc_tag_sub_slow() has to
 * handle the id. @first_only: the second page, whose slot is the next one, holds nothing,
 * because it is not part of the allocation or is part of a compound page.
 * Otherwise it has the id while the pages are allocated, and the mark once
 * pgalloc_tag_first() was called to free them.
 */
static __always_inline bool pgalloc_tag_try_set(struct page *page, unsigned int order,
						bool first_only, unsigned long id)
{
	u16 *slot;

	if (page_tag_in_wide_flags()) {
		if (!first_only)
			page_tag_flags_set(page++, CODETAG_ID_TAIL + order);
		page_tag_flags_set(page, id);
	} else if (page_tag_in_slots()) {
		slot = page_tag_slot(page);
		if (!first_only)
			page_tag_slot_write(slot++, CODETAG_ID_TAIL + order);
		page_tag_slot_write(slot, id);
	} else {
		return false;
	}
	return true;
}

/* Left are reserved ids, some of which are marks, and those that no tag has. */
static __always_inline bool pgalloc_tag_try_sub(struct page *page, unsigned int order,
						bool first_only)
{
	unsigned long id;
	u16 *slot;

	if (page_tag_in_wide_flags()) {
		id = alloc_tag_wide_id(page_tag_flags_get(page));
		if (unlikely(id < CODETAG_ID_FIRST))
			return !id;
		return alloc_tag_uncharge(id, PAGE_SIZE << order, 1);
	}
	if (page_tag_in_slots()) {
		slot = page_tag_slot(page);
		id = alloc_tag_wide_id(page_tag_slot_read(slot));
		if (unlikely(id < CODETAG_ID_FIRST))
			return !id;
		if (unlikely(!alloc_tag_uncharge(id, PAGE_SIZE << order, 1)))
			return false;
		page_tag_slot_write(slot, CODETAG_ID_NONE);
		if (!first_only)
			page_tag_slot_write(slot + 1, CODETAG_ID_NONE);
		return true;
	}
	return false;
}

void pgalloc_tag_add_slow(struct page *page, unsigned int order, gfp_t gfp,
			  unsigned int id);
void pgalloc_tag_add_split(struct page *page, unsigned int order, gfp_t gfp);
void pgalloc_tag_sub_slow(struct page *page, unsigned int order);

/**
 * pgalloc_tag_add - charge an allocation to the current call site
 * @page:	first page
 * @order:	order of the allocation
 * @gfp:	how it was allocated; __GFP_COMP says that the pages are a compound
 *		page, which knows its order
 *
 * Context: Any; nobody else may know the pages yet.
 */
static __always_inline void pgalloc_tag_add(struct page *page, unsigned int order, gfp_t gfp)
{
	struct alloc_tag *tag;
	unsigned long id;

	if (!mem_alloc_profiling_enabled())
		return;

	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG))
		WARN_ONCE(page_tag_get(page), "codetag: page %lx is charged to id %u already\n",
			  page_to_pfn(page), page_tag_get(page));

	tag = alloc_tag_current();
	id = alloc_tag_id(tag);
	if (unlikely(!id)) {
		if (alloc_tag_split(tag))
			pgalloc_tag_add_split(page, order, gfp);
		return;
	}

	/* No calls but at the very end: this goes into the page allocator. */
	if (unlikely(order) || !pgalloc_tag_try_set(page, 0, true, id))
		pgalloc_tag_add_slow(page, order, gfp, id);
	else
		alloc_tag_charge_site(tag, PAGE_SIZE, 1);
}

/**
 * pgalloc_tag_sub - take back what pgalloc_tag_add() did
 * @page:	first page
 * @order:	order of the pages to be freed
 *
 * Ids in page->flags are left for the caller to clear together with all the
 * other flags that a free page does not have.
 *
 * Context: Any; the last reference to the pages is gone.
 */
static __always_inline void pgalloc_tag_sub(struct page *page, unsigned int order)
{
	if (!alloc_tag_refs_exist())
		return;

	if (unlikely(order) || !pgalloc_tag_try_sub(page, 0, true))
		pgalloc_tag_sub_slow(page, order);
}

/**
 * pgalloc_tag_clear - leave no id behind in a page that is not freed after all
 * @page:	the page, already taken back by pgalloc_tag_sub()
 */
static inline void pgalloc_tag_clear(struct page *page)
{
	if (alloc_tag_refs_exist())
		page_tag_set(page, CODETAG_ID_NONE);
}

/**
 * pgalloc_tag_id - the id that a page is charged to
 * @page: a single page, or the first one of a compound page
 *
 * Return: The id, CODETAG_ID_NONE if the page is not charged to any.
 */
static inline u16 pgalloc_tag_id(const struct page *page)
{
	return alloc_tag_refs_exist() ? page_tag_get(page) : CODETAG_ID_NONE;
}

u16 __pgalloc_tag_first(struct page *page);

/**
 * pgalloc_tag_first - have the first page hold the id, so that it can be freed
 * @page: first page of an allocation of several pages, not compound
 *
 * To be called before the caller gives up its reference: somebody else's can be the
 * last one, and then frees the first page alone. If a page is freed alone that still
 * holds a mark, its allocator has lost the other pages.
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the pages are not charged to any.
 */
static __always_inline u16 pgalloc_tag_first(struct page *page)
{
	u16 *slot, mark, id;

	if (!alloc_tag_refs_exist())
		return CODETAG_ID_NONE;
	if (!page_tag_in_slots())
		return __pgalloc_tag_first(page);

	slot = page_tag_slot(page);
	mark = page_tag_slot_read(slot);
	if (!page_tag_is_mark(mark))
		return mark;
	id = page_tag_slot_read(slot + 1);
	page_tag_slot_write(slot, id);
	page_tag_slot_write(slot + 1, mark);
	return id;
}

struct page *pgalloc_tag_holder(struct page *page);
unsigned int pgalloc_tag_order(const struct page *page);
void __pgalloc_tag_offline(struct page *page);
void __pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id);
void __pgalloc_tag_split(struct page *page, unsigned int old_order, unsigned int new_order);
void __pgalloc_tag_swap(struct folio *new, struct folio *old);

/**
 * pgalloc_tag_sub_tail - uncharge all but the first page of an allocation
 * @page:	first page, not compound; it may be freed at any moment, so it
 *		is not looked at
 * @order:	order of the allocation
 * @id:		what pgalloc_tag_first(@page) returned while it could not be freed
 */
static inline void pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id)
{
	if (id)
		__pgalloc_tag_sub_tail(page, order, id);
}

/**
 * pgalloc_tag_offline - take back what is charged for memory that goes away
 * @page: a page that is not free, of memory that goes offline
 *
 * Memory can go while somebody has it: what virtio-mem took from the page
 * allocator to give it back to the host, and pages that are broken. Nothing is
 * ever going to free these.
 *
 * Context: Any.
 */
static inline void pgalloc_tag_offline(struct page *page)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_offline(page);
}

/**
 * pgalloc_tag_split - an allocation becomes several
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
 * pgalloc_tag_swap - a folio's content moves to another folio of that size
 * @new:	folio that takes over
 * @old:	folio that goes away
 *
 * The call site that allocated the content keeps it; what allocated @new is
 * left with @old, which is about to be freed.
 */
static inline void pgalloc_tag_swap(struct folio *new, struct folio *old)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_swap(new, old);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline void pgalloc_tag_add(struct page *page, unsigned int order, gfp_t gfp) {}
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
