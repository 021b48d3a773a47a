/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults at chosen call sites, as the allocators see them.
 */
#ifndef _MM_CODETAG_FAULT_H
#define _MM_CODETAG_FAULT_H

#include <linux/alloc_tag.h>
#include <linux/gfp_types.h>
#include <linux/sched.h>

/* Bit of codetag.fault: a fault may be armed for the site */
#define CODETAG_ARMED_FAULT	0x01

#ifdef CONFIG_CODETAG_FAULT_INJECTION

/* On while a fault is armed at any site. */
DECLARE_STATIC_KEY_FALSE(codetag_faults_key);

bool __codetag_should_fail(gfp_t gfp, size_t size);

static __always_inline bool codetag_faults_armed(void)
{
	return static_branch_unlikely(&codetag_faults_key);
}

/**
 * codetag_should_fail - must this allocation fail?
 * @gfp:	flags of the allocation
 * @size:	its size in bytes
 *
 * To be asked once for each allocation, before anything is done for it.
 *
 * Context: Any but NMI.
 * Return: Whether it must fail.
 */
static __always_inline bool codetag_should_fail(gfp_t gfp, size_t size)
{
	return codetag_faults_armed() &&
	       READ_ONCE(alloc_tag_current()->ct.fault) & CODETAG_ARMED_FAULT &&
	       __codetag_should_fail(gfp, size);
}

/**
 * codetag_fault_hold - the current allocation has been asked about
 *
 * Further allocations that the allocator makes for the same call site are part of it: they
 * neither count nor fail until codetag_fault_release().
 *
 * Context: Process.
 * Return: An argument for codetag_fault_release().
 */
static inline struct alloc_tag *codetag_fault_hold(void)
{
	struct alloc_tag *outer = current->alloc_tag_asked;

	current->alloc_tag_asked = alloc_tag_current();
	return outer;
}

/**
 * codetag_fault_release - the end of codetag_fault_hold()
 * @outer: what that returned
 *
 * Context: Process, the same task as for codetag_fault_hold().
 */
static inline void codetag_fault_release(struct alloc_tag *outer)
{
	current->alloc_tag_asked = outer;
}

#else /* CONFIG_CODETAG_FAULT_INJECTION */

static inline bool codetag_faults_armed(void) { return false; }
static inline bool codetag_should_fail(gfp_t gfp, size_t size) { return false; }
static inline struct alloc_tag *codetag_fault_hold(void) { return NULL; }
static inline void codetag_fault_release(struct alloc_tag *outer) {}

#endif /* CONFIG_CODETAG_FAULT_INJECTION */

#endif /* _MM_CODETAG_FAULT_H */
