/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Guards at chosen call sites: KFENCE holds objects that the site allocates, and its pages are
 * kept for a while when they are freed.
 */
#ifndef _LINUX_CODETAG_GUARD_H
#define _LINUX_CODETAG_GUARD_H

#include <linux/alloc_tag.h>
#include <linux/jump_label.h>
#include <linux/pgalloc_tag.h>
#include <linux/sched.h>
#include <linux/types.h>

struct kmem_cache;
struct page;
struct pt_regs;

#ifdef CONFIG_CODETAG_GUARD

/* Bit of codetag.fault: a guard may be armed for the site */
#define CODETAG_ARMED_GUARD	0x02

/* On while a guard is armed at any site. */
DECLARE_STATIC_KEY_FALSE(codetag_guards_key);

void *codetag_guard_alloc(struct kmem_cache *s, size_t size, gfp_t flags);
bool codetag_guard_page_keep(struct page *page, unsigned int order);
bool codetag_guard_free_slow(struct page *page, bool may_keep);
bool codetag_guard_page_fault(unsigned long address, bool is_write, struct pt_regs *regs);

/* page_alloc.c */
void codetag_guard_check_pages(bool on);

/**
 * codetag_guard_keeps - does a guard keep pages that are about to be freed?
 * @page:	the first
 * @order:	their order
 *
 * For several pages it is asked only where pages are checked, which codetag_guard_check_pages()
 * switches on.
 *
 * Context: Any.
 * Return: Whether it does: they are not to be freed then.
 */
static __always_inline bool codetag_guard_keeps(struct page *page, unsigned int order)
{
	return static_branch_unlikely(&codetag_guards_key) && codetag_guard_page_keep(page, order);
}

/**
 * codetag_guard_free - uncharge a single page that is about to be freed, unless it is kept
 * @page:	the page
 * @may_keep:	a guard may keep it
 *
 * While guards are armed, no page is uncharged inline, and each free asks them.
 *
 * Context: Any.
 * Return: false if a guard keeps it: it is not to be freed then.
 */
static __always_inline bool codetag_guard_free(struct page *page, bool may_keep)
{
	if (!alloc_tag_refs_exist() || likely(pgalloc_tag_sub_fast(page, 0)))
		return true;
	if (static_branch_unlikely(&codetag_guards_key))
		return codetag_guard_free_slow(page, may_keep);
	pgalloc_tag_sub_slow(page, 0);
	return true;
}

/**
 * codetag_guard_due - has the current call site a guard?
 *
 * Context: Any.
 * Return: Whether codetag_guard_alloc() is to be asked for an object.
 */
static __always_inline bool codetag_guard_due(void)
{
	return static_branch_unlikely(&codetag_guards_key) &&
	       READ_ONCE(alloc_tag_current()->ct.fault) & CODETAG_ARMED_GUARD;
}

#else /* CONFIG_CODETAG_GUARD */

static inline bool codetag_guard_due(void) { return false; }
static inline bool codetag_guard_keeps(struct page *page, unsigned int order) { return false; }

static inline bool codetag_guard_free(struct page *page, bool may_keep)
{
	pgalloc_tag_sub(page, 0);
	return true;
}

static inline bool codetag_guard_page_fault(unsigned long address, bool is_write,
					    struct pt_regs *regs)
{
	return false;
}

static inline void *codetag_guard_alloc(struct kmem_cache *s, size_t size, gfp_t flags)
{
	return NULL;
}

#endif /* CONFIG_CODETAG_GUARD */

/* On arm64 only the user's side of a copy has entries in the exception table. */
#if defined(CONFIG_CODETAG_GUARD) && defined(CONFIG_X86)
bool codetag_guard_copy_fault(unsigned long address, bool is_write, struct pt_regs *regs);
#else
static inline bool codetag_guard_copy_fault(unsigned long address, bool is_write,
					    struct pt_regs *regs)
{
	return false;
}
#endif

#endif /* _LINUX_CODETAG_GUARD_H */
