/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page id store: where a page keeps the id of the code tag it is charged to.
 *
 * The first page of an allocation holds the id, all other pages hold none. An allocation
 * of several pages that is not compound does not know its order: there the first page
 * holds a mark of the order, and the second page the id. A free exchanges the two first if
 * somebody else has a reference, see pgalloc_tag_first().
 *
 * Boot chooses one of three places for the id, see mm/codetag/page_tag.c:
 *
 * flags	bits of page->flags that this configuration leaves unused
 * slot		an array of u16 with an element for each page
 * page_ext	a u16 in the page's page_ext
 *
 * A free page never holds an id. pgalloc_tag.h charges pages.
 */
#ifndef _LINUX_PAGE_TAG_H
#define _LINUX_PAGE_TAG_H

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/bitops.h>
#include <linux/codetag.h>
#include <linux/jump_label.h>
#include <linux/math.h>
#include <linux/mm.h>

/*
 * In the flags store the id has the bits below those of the multi-gen LRU.
 * The id has a whole aligned u16 if there is a free one: reading and writing it does not
 * touch the neighbouring flags.
 */
#define PAGE_TAG_FREE_BITS	(LRU_REFS_PGOFF - NR_PAGEFLAGS)
#define PAGE_TAG_BITS		(PAGE_TAG_FREE_BITS < 16 ? PAGE_TAG_FREE_BITS : 16)
#define PAGE_TAG_LANE_SHIFT	(round_down(LRU_REFS_PGOFF, 16) - 16)
#define PAGE_TAG_HAS_LANE	(BITS_PER_LONG == 64 && \
				 PAGE_TAG_LANE_SHIFT >= NR_PAGEFLAGS)
#define PAGE_TAG_SHIFT		(PAGE_TAG_HAS_LANE ? PAGE_TAG_LANE_SHIFT : \
				 LRU_REFS_PGOFF - PAGE_TAG_BITS)
#define PAGE_TAG_ID_MASK	((1UL << PAGE_TAG_BITS) - 1)
#define PAGE_TAG_FLAGS_MASK	(PAGE_TAG_ID_MASK << PAGE_TAG_SHIFT)

/* Fewer bits than this are too few even for the tags of a small kernel. */
#define PAGE_TAG_FLAGS_POSSIBLE	(PAGE_TAG_BITS >= 10)

DECLARE_STATIC_KEY_TRUE(page_tag_flags_key);
DECLARE_STATIC_KEY_FALSE(page_tag_slot_key);

/* The slot of a page is at (address of page / 32) plus this offset. */
extern unsigned long page_tag_slot_offset;
extern u16 *page_tag_slots;

u16 page_tag_ext_get(const struct page *page);
void page_tag_ext_set(struct page *page, u16 id);

static __always_inline bool page_tag_in_flags(void)
{
	return PAGE_TAG_FLAGS_POSSIBLE && static_branch_likely(&page_tag_flags_key);
}

static __always_inline bool page_tag_in_slots(void)
{
	return static_branch_likely(&page_tag_slot_key);
}

/* The flags have 16 bits: every id fits without a test. */
static __always_inline bool page_tag_in_wide_flags(void)
{
	return PAGE_TAG_BITS == 16 && page_tag_in_flags();
}

/* The word of the flags, which has another type in newer kernels. */
static __always_inline unsigned long *page_tag_flags(const struct page *page)
{
	static_assert(sizeof(page->flags) == sizeof(unsigned long));
	return (unsigned long *)&page->flags;
}

static __always_inline u16 *page_tag_lane(const struct page *page)
{
	unsigned int lane = PAGE_TAG_SHIFT / 16;

	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		lane = sizeof(unsigned long) / sizeof(u16) - 1 - lane;

	return (u16 *)page_tag_flags(page) + lane;
}

static __always_inline u16 *page_tag_slot(const struct page *page)
{
	if (sizeof(struct page) == 64)
		return (u16 *)(((unsigned long)page >> 5) + page_tag_slot_offset);

	return page_tag_slots + page_to_pfn(page);
}

#if defined(CONFIG_KASAN) || defined(CONFIG_KMSAN)
#define PAGE_TAG_SLOT_OUT_OF_LINE
u16 page_tag_slot_read(const u16 *slot);
void page_tag_slot_write(u16 *slot, u16 id);
void page_tag_slot_clear_pair(u16 *slot);
#else
static __always_inline u16 page_tag_slot_read(const u16 *slot)
{
	return READ_ONCE(*slot);
}

static __always_inline void page_tag_slot_write(u16 *slot, u16 id)
{
	WRITE_ONCE(*slot, id);
}

/* The slots of an even page and the next one, which an aligned u32 holds */
static __always_inline void page_tag_slot_clear_pair(u16 *slot)
{
	WRITE_ONCE(*(u32 *)slot, 0);
}
#endif

static __always_inline u16 page_tag_slot_get(const struct page *page)
{
	return page_tag_slot_read(page_tag_slot(page));
}

static __always_inline void page_tag_slot_set(struct page *page, u16 id)
{
	page_tag_slot_write(page_tag_slot(page), id);
}

static __always_inline u16 page_tag_flags_get(const struct page *page)
{
	if (PAGE_TAG_HAS_LANE)
		return READ_ONCE(*page_tag_lane(page));

	return (READ_ONCE(*page_tag_flags(page)) >> PAGE_TAG_SHIFT) & PAGE_TAG_ID_MASK;
}

static __always_inline void page_tag_flags_set(struct page *page, u16 id)
{
	if (PAGE_TAG_HAS_LANE)
		WRITE_ONCE(*page_tag_lane(page), id);
	else
		set_mask_bits(page_tag_flags(page), PAGE_TAG_FLAGS_MASK,
			      (unsigned long)id << PAGE_TAG_SHIFT);
}

/**
 * page_tag_get - the id that a page holds
 * @page: the page
 *
 * Context: Any.
 * Return: The id, CODETAG_ID_NONE if the page holds none.
 */
static __always_inline u16 page_tag_get(const struct page *page)
{
	if (page_tag_in_flags())
		return page_tag_flags_get(page);
	if (page_tag_in_slots())
		return page_tag_slot_get(page);

	return page_tag_ext_get(page);
}

/**
 * page_tag_set - make a page hold an id
 * @page: the page; no other task may set its id, but its flags may change at the same
 *	  time
 * @id:	  an id that the store can hold
 *
 * Context: Any.
 */
static __always_inline void page_tag_set(struct page *page, u16 id)
{
	if (page_tag_in_flags())
		page_tag_flags_set(page, id);
	else if (page_tag_in_slots())
		page_tag_slot_set(page, id);
	else
		page_tag_ext_set(page, id);
}

/* Is it a mark of the order, and no id? */
static inline bool page_tag_is_mark(u16 id)
{
	return id >= CODETAG_ID_TAIL && id < CODETAG_ID_FIRST;
}

struct page *page_tag_holder(struct page *page);

#else /* CONFIG_MEM_ALLOC_PROFILING */

#define PAGE_TAG_FLAGS_MASK	0UL

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_PAGE_TAG_H */
