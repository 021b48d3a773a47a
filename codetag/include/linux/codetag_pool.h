/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that a pool keeps, and gives to one user after another.
 */
#ifndef _LINUX_CODETAG_POOL_H
#define _LINUX_CODETAG_POOL_H

#include <linux/alloc_tag.h>

struct kmem_cache;

#ifdef CONFIG_MEM_ALLOC_PROFILING

void __codetag_object_reused(struct kmem_cache *s, void *object);

/**
 * codetag_object_reused - charge an object to its new user
 * @s:		cache of the object
 * @object:	an object that was not freed after its last use
 *
 * The object is charged to the current call site, as if it were freed and allocated again.
 *
 * Context: Any; nobody else uses the object.
 */
static __always_inline void codetag_object_reused(struct kmem_cache *s, void *object)
{
	if (alloc_tag_refs_exist())
		__codetag_object_reused(s, object);
}

#else

static inline void codetag_object_reused(struct kmem_cache *s, void *object) {}

#endif

#endif /* _LINUX_CODETAG_POOL_H */
