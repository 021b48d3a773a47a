/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports about an object or a page name the line that allocated it.
 */
#ifndef _LINUX_CODETAG_OWNER_H
#define _LINUX_CODETAG_OWNER_H

struct page;

#ifdef CONFIG_MEM_ALLOC_PROFILING
void codetag_show_object(const void *addr);
void codetag_show_page(const struct page *page);
#else
static inline void codetag_show_object(const void *addr) {}
static inline void codetag_show_page(const struct page *page) {}
#endif

#endif /* _LINUX_CODETAG_OWNER_H */
