/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * owner.c: the call site of the memory at an address, for reports.
 */
#ifndef _MM_CODETAG_OWNER_H
#define _MM_CODETAG_OWNER_H

#include <linux/types.h>

struct page;

/**
 * struct codetag_owner - the allocation at an address
 * @kind:	name of the slab cache, or the number of pages
 * @offset:	distance of the address from the begin of the object or pages
 * @id:		the id that it is charged to
 */
struct codetag_owner {
	char kind[32];
	long offset;
	u16 id;
};

bool codetag_owner_of(unsigned long addr, struct codetag_owner *owner);
bool codetag_page_has_owner(const struct page *page);

/* ../vmalloc.c */
#ifdef CONFIG_MMU
struct page *codetag_vmalloc_page(unsigned long addr);
#else
static inline struct page *codetag_vmalloc_page(unsigned long addr)
{
	return NULL;
}
#endif

#endif /* _MM_CODETAG_OWNER_H */
