/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page reference: where a page keeps the id of the tag it is charged to.
 *
 * The first page of an allocation holds the id, all other pages hold none.
 * There are three places for it, of which one is chosen at boot, see
 * mm/codetag/page_ref.c:
 *
 * flags	bits of page->flags that this configuration leaves unused
 * slot		an array of u16 with an element for each page
 * page_ext	a u16 in the page's page_ext
 *
 * A free page never holds an id.
 */
#ifndef _LINUX_PGALLOC_TAG_H
#define _LINUX_PGALLOC_TAG_H

#include <linux/alloc_tag.h>

struct folio;

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/log2.h>
#include <linux/mm_types.h>
#include <linux/mmzone.h>
#include <linux/sched.h>

/*
 * In the flags store the id has the bits below those of the multi-gen LRU.
 * Where a whole aligned u16 is free it is used, because that is read and
 * written without a look at its neighbours.
 */
#define PAGE_REF_FREE_BITS	(LRU_REFS_PGOFF - NR_PAGEFLAGS)
#define PAGE_REF_BITS		(PAGE_REF_FREE_BITS < 16 ? PAGE_REF_FREE_BITS : 16)
#define PAGE_REF_LANE_SHIFT	(round_down(LRU_REFS_PGOFF, 16) - 16)
#define PAGE_REF_HAS_LANE	(BITS_PER_LONG == 64 && \
				 PAGE_REF_LANE_SHIFT >= NR_PAGEFLAGS)
#define PAGE_REF_SHIFT		(PAGE_REF_HAS_LANE ? PAGE_REF_LANE_SHIFT : \
				 LRU_REFS_PGOFF - PAGE_REF_BITS)
#define PAGE_REF_ID_MASK	((1UL << PAGE_REF_BITS) - 1)
#define PAGE_REF_FLAGS_MASK	(PAGE_REF_ID_MASK << PAGE_REF_SHIFT)

/* Fewer bits than this do not hold even a small kernel's tags. */
#define PAGE_REF_FLAGS_POSSIBLE	(PAGE_REF_BITS >= 10)

DECLARE_STATIC_KEY_TRUE(page_ref_flags_key);
DECLARE_STATIC_KEY_FALSE(page_ref_slot_key);

/* What to add to (address of page / 32) to get the address of its slot. */
extern unsigned long page_ref_slot_offset;
extern u16 *page_ref_slots;

u16 page_ref_ext_get(const struct page *page);
void page_ref_ext_set(struct page *page, u16 id);

static __always_inline bool page_ref_in_flags(void)
{
	return PAGE_REF_FLAGS_POSSIBLE && static_branch_likely(&page_ref_flags_key);
}

static __always_inline bool page_ref_in_slots(void)
{
	return static_branch_likely(&page_ref_slot_key);
}

/* Flags that hold every id, so that it need not be looked at first. */
static __always_inline bool page_ref_in_wide_flags(void)
{
	return PAGE_REF_BITS == 16 && page_ref_in_flags();
}

static __always_inline u16 *page_ref_lane(const struct page *page)
{
	unsigned int lane = PAGE_REF_SHIFT / 16;

	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		lane = sizeof(page->flags) / sizeof(u16) - 1 - lane;

	return (u16 *)&page->flags + lane;
}

static __always_inline u16 *page_ref_slot(const struct page *page)
{
	if (sizeof(struct page) == 64)
		return (u16 *)(((unsigned long)page >> 5) + page_ref_slot_offset);

	return page_ref_slots + page_to_pfn(page);
}

#if defined(CONFIG_KASAN) || defined(CONFIG_KMSAN)
#define PAGE_REF_SLOT_OUT_OF_LINE
u16 page_ref_slot_get(const struct page *page);
void page_ref_slot_set(struct page *page, u16 id);
#else
static __always_inline u16 page_ref_slot_get(const struct page *page)
{
	return READ_ONCE(*page_ref_slot(page));
}

static __always_inline void page_ref_slot_set(struct page *page, u16 id)
{
	WRITE_ONCE(*page_ref_slot(page), id);
}
#endif

static __always_inline u16 page_ref_flags_get(const struct page *page)
{
	if (PAGE_REF_HAS_LANE)
		return READ_ONCE(*page_ref_lane(page));

	return (READ_ONCE(page->flags) >> PAGE_REF_SHIFT) & PAGE_REF_ID_MASK;
}

static __always_inline void page_ref_flags_set(struct page *page, u16 id)
{
	if (PAGE_REF_HAS_LANE)
		WRITE_ONCE(*page_ref_lane(page), id);
	else
		set_mask_bits(&page->flags, PAGE_REF_FLAGS_MASK,
			      (unsigned long)id << PAGE_REF_SHIFT);
}

/**
 * page_ref_get - the id that a page holds
 * @page: the page
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the page holds none.
 */
static __always_inline u16 page_ref_get(const struct page *page)
{
	if (page_ref_in_flags())
		return page_ref_flags_get(page);
	if (page_ref_in_slots())
		return page_ref_slot_get(page);

	return page_ref_ext_get(page);
}

/**
 * page_ref_set - make a page hold an id
 * @page: the page, to which the caller has the only claim as far as ids go;
 *	  its other flags may change at the same time
 * @id:	  an id that the store can hold
 *
 * Context: Any.
 */
static __always_inline void page_ref_set(struct page *page, u16 id)
{
	if (page_ref_in_flags())
		page_ref_flags_set(page, id);
	else if (page_ref_in_slots())
		page_ref_slot_set(page, id);
	else
		page_ref_ext_set(page, id);
}

/*
 * Charge an allocation to an id that is not 0, or take that back, if the store is
 * wide flags or slots: false means that it is neither. @first_only: the second
 * page holds nothing, for it is not part of the allocation or of a compound page.
 */
static __always_inline bool pgalloc_tag_try_add(struct page *page, unsigned int order,
						bool first_only, unsigned int id)
{
	if (page_ref_in_wide_flags()) {
		page_ref_flags_set(page, id);
		if (!first_only)
			page_ref_flags_set(page + 1, CODETAG_ID_TAIL + order);
	} else if (page_ref_in_slots()) {
		page_ref_slot_set(page, id);
		if (!first_only)
			page_ref_slot_set(page + 1, CODETAG_ID_TAIL + order);
	} else {
		return false;
	}
	alloc_tag_charge(id, PAGE_SIZE << order, 1);
	return true;
}

static __always_inline bool pgalloc_tag_try_sub(struct page *page, unsigned int order,
						bool first_only)
{
	unsigned int id;

	if (page_ref_in_wide_flags()) {
		id = page_ref_flags_get(page);
		if (!id)
			return true;
	} else if (page_ref_in_slots()) {
		id = page_ref_slot_get(page);
		if (!id)
			return true;
		page_ref_slot_set(page, CODETAG_ID_NONE);
		if (!first_only)
			page_ref_slot_set(page + 1, CODETAG_ID_NONE);
	} else {
		return false;
	}
	alloc_tag_uncharge(id, PAGE_SIZE << order, 1);
	return true;
}

void pgalloc_tag_add_slow(struct page *page, unsigned int order, bool compound,
			  unsigned int id);
void pgalloc_tag_sub_slow(struct page *page, unsigned int order);

/**
 * pgalloc_tag_add - charge an allocation to the current call site
 * @page:	first page
 * @order:	order of the allocation
 * @compound:	the pages are a compound page, which knows its order
 *
 * Context: Any but NMI; nobody else may know the pages yet.
 */
static __always_inline void pgalloc_tag_add(struct page *page, unsigned int order,
					    bool compound)
{
	unsigned int id;

	if (!mem_alloc_profiling_enabled())
		return;

	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG))
		WARN_ONCE(page_ref_get(page), "codetag: page %lx is charged to id %u already\n",
			  page_to_pfn(page), page_ref_get(page));

	id = alloc_tag_current_id();
	if (unlikely(!id))
		return;

	/* No calls but at the very end: this goes into the page allocator. */
	if (unlikely(order) || !pgalloc_tag_try_add(page, 0, true, id))
		pgalloc_tag_add_slow(page, order, compound, id);
}

/**
 * pgalloc_tag_sub - take back what pgalloc_tag_add() did
 * @page:	first page
 * @order:	order of the pages to be freed
 *
 * Ids in page->flags are left for the caller to clear together with all the
 * other flags that a free page does not have (PAGE_FLAGS_CHECK_AT_PREP).
 *
 * Context: Any but NMI; the last reference to the pages is gone.
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
		page_ref_set(page, CODETAG_ID_NONE);
}

/**
 * pgalloc_tag_id - the id that a page is charged to
 * @page: first page of an allocation
 *
 * Return: The id, CODETAG_ID_NONE if the page is not charged to any.
 */
static inline u16 pgalloc_tag_id(const struct page *page)
{
	return alloc_tag_refs_exist() ? page_ref_get(page) : CODETAG_ID_NONE;
}

void __pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id);
void __pgalloc_tag_split(struct page *page, unsigned int old_order, unsigned int new_order);
void __pgalloc_tag_swap(struct folio *new, struct folio *old);

/**
 * pgalloc_tag_sub_tail - uncharge all but the first page of an allocation
 * @page:	first page, not compound; it may be freed at any moment, so it
 *		is not looked at
 * @order:	order of the allocation
 * @id:		what pgalloc_tag_id(@page) was while it could not be freed
 */
static inline void pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id)
{
	if (id)
		__pgalloc_tag_sub_tail(page, order, id);
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

#define PAGE_REF_FLAGS_MASK	0UL

static inline void pgalloc_tag_add(struct page *page, unsigned int order, bool compound) {}
static inline void pgalloc_tag_sub(struct page *page, unsigned int order) {}
static inline void pgalloc_tag_clear(struct page *page) {}
static inline u16 pgalloc_tag_id(const struct page *page) { return CODETAG_ID_NONE; }
static inline void pgalloc_tag_sub_tail(struct page *page, unsigned int order, u16 id) {}
static inline void pgalloc_tag_split(struct page *page, unsigned int old_order,
				     unsigned int new_order) {}
static inline void pgalloc_tag_swap(struct folio *new, struct folio *old) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_PGALLOC_TAG_H */
