/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page_tag.c, pgalloc_tag.c: where pages keep their ids.
 */
#ifndef _MM_CODETAG_PAGE_STORE_H
#define _MM_CODETAG_PAGE_STORE_H

#include <linux/mm.h>
#include <linux/page_tag.h>

struct page;
struct seq_file;

/* The next pfn to look at behind a page that is not there: skip the whole absent section. */
static inline unsigned long codetag_next_pfn(unsigned long pfn)
{
#ifdef CONFIG_SPARSEMEM
	if (!pfn_in_present_section(pfn))
		return SECTION_ALIGN_UP(pfn + 1);
#endif
	return pfn + 1;
}

enum page_tag_store {
	PAGE_TAG_AUTO,
	PAGE_TAG_FLAGS,
	PAGE_TAG_SLOT,
	PAGE_TAG_EXT,
};

extern enum page_tag_store page_tag_store;
extern u16 page_tag_max_id;
bool page_tag_slots_fit(u64 nr);
void page_tag_init(void);
void page_tag_show_stats(struct seq_file *m);

/*
 * Does a page have a place for an id? All pages of the page allocator do, because the store
 * covers all memory that is or was online. Device memory (ZONE_DEVICE) never comes from the
 * page allocator, is not charged, and has no slot.
 *
 * Functions that the page allocator calls need no test, nor does the audit, which looks at
 * online memory only. Functions that get a page from its owner need one: pages of a device
 * are split and migrated like others.
 */
static inline bool page_tag_has_place(const struct page *page)
{
	return !is_zone_device_page(page);
}

void pgalloc_tag_show_stats(struct seq_file *m);

#endif /* _MM_CODETAG_PAGE_STORE_H */
