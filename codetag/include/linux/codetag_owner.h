/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports about an object or a page name the line that allocated it.
 */
#ifndef _LINUX_CODETAG_OWNER_H
#define _LINUX_CODETAG_OWNER_H

struct kmem_cache;
struct page;

#ifdef CONFIG_MEM_ALLOC_PROFILING
void codetag_show_object(const void *addr);
void codetag_show_page(const struct page *page);
void codetag_show_register(const char *name, unsigned long value);
void codetag_show_remaining(struct kmem_cache *s);
#else
static inline void codetag_show_object(const void *addr) {}
static inline void codetag_show_page(const struct page *page) {}
static inline void codetag_show_register(const char *name, unsigned long value) {}
static inline void codetag_show_remaining(struct kmem_cache *s) {}
#endif

#endif /* _LINUX_CODETAG_OWNER_H */
