/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slab reference: where a slab object keeps the id of the tag it is
 * charged to. For mm/slub.c alone.
 *
 * The ids of a slab's objects are an array of u16 at the very end of the slab,
 * counted from the end backwards. An object's element is its offset in the
 * slab shifted right by floor(log2(object size)): no division, no two objects
 * with the same element, and at most twice as many elements as objects. Where
 * such an array would cost too much (large objects that fill the slab) the ids
 * are elsewhere, see mm/codetag/slab_ref.c.
 *
 * A free object never has an id.
 */
#ifndef _MM_CODETAG_SLAB_REF_H
#define _MM_CODETAG_SLAB_REF_H

#include <linux/alloc_tag.h>
#include <linux/kfence.h>
#include <linux/sched.h>

#include "../slab.h"

#ifdef CONFIG_MEM_ALLOC_PROFILING

unsigned int codetag_slab_layout(struct kmem_cache *s, unsigned int order,
				 unsigned int max_order);
unsigned int codetag_slab_objects(const struct kmem_cache *s, unsigned int order);
void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp);
void codetag_slab_exit(struct kmem_cache *s, struct slab *slab);
unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab);
u16 *codetag_slab_ref_slow(const struct kmem_cache *s, const void *object);

/* Where the object's id is. */
static __always_inline u16 *codetag_slab_ref(const struct kmem_cache *s, const void *object)
{
	unsigned long addr = (unsigned long)kasan_reset_tag(object);

	if (unlikely(atomic_read(&s->codetag_slow)) || is_kfence_address((void *)addr))
		return codetag_slab_ref_slow(s, (void *)addr);

	return (u16 *)((addr | s->codetag_mask) - 1) -
	       ((addr & s->codetag_mask) >> s->codetag_shift);
}

/* Charge @size objects, of which some may be NULL, to the current call site. */
static __always_inline void
alloc_tagging_slab_alloc_hook(struct kmem_cache *s, size_t size, void **p)
{
	size_t i, nr = 0;
	u16 id;

	if (!mem_alloc_profiling_enabled())
		return;

	id = alloc_tag_current_id();
	if (unlikely(!id))
		return;

	for (i = 0; i < size; i++) {
		if (unlikely(!p[i]))
			continue;
		*codetag_slab_ref(s, p[i]) = id;
		nr++;
	}
	if (likely(nr))
		alloc_tag_charge(id, nr * s->size, nr);
}

/* Take back what is charged for @objects objects that are about to be freed. */
static __always_inline void
alloc_tagging_slab_free_hook(struct kmem_cache *s, void **p, int objects)
{
	u16 *ref, id, run_id = CODETAG_ID_NONE;
	size_t run = 0;
	int i;

	if (!alloc_tag_refs_exist())
		return;

	/* Objects that are freed together are often charged to the same id. */
	for (i = 0; i < objects; i++) {
		ref = codetag_slab_ref(s, p[i]);
		id = *ref;
		if (!id)
			continue;
		*ref = CODETAG_ID_NONE;
		if (id != run_id && run) {
			alloc_tag_uncharge(run_id, run * s->size, run);
			run = 0;
		}
		run_id = id;
		run++;
	}
	if (run)
		alloc_tag_uncharge(run_id, run * s->size, run);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline unsigned int codetag_slab_layout(struct kmem_cache *s, unsigned int order,
					       unsigned int max_order)
{
	return order;
}

static inline unsigned int codetag_slab_objects(const struct kmem_cache *s, unsigned int order)
{
	return ((unsigned int)PAGE_SIZE << order) / s->size;
}

static inline void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp) {}
static inline void codetag_slab_exit(struct kmem_cache *s, struct slab *slab) {}
static inline unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab)
{
	return 0;
}

static inline void
alloc_tagging_slab_alloc_hook(struct kmem_cache *s, size_t size, void **p) {}
static inline void
alloc_tagging_slab_free_hook(struct kmem_cache *s, void **p, int objects) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_CODETAG_SLAB_REF_H */
