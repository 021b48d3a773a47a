/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The slab reference: where a slab object keeps the id of the tag it is
 * charged to. For mm/slub.c alone.
 *
 * The ids of a slab's objects are an array of u16 at the very end of the slab.
 * An object's element is its offset in the slab shifted right by
 * floor(log2(object size)): no division, no two objects with the same element,
 * and at most twice as many elements as objects. Where
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
u16 *codetag_slab_ref_any(const struct kmem_cache *s, const void *object);
u16 *codetag_slab_ref_slow(const struct kmem_cache *s, const void *object);
void codetag_slab_alloc_slow(struct kmem_cache *s, void *object, unsigned int id);
void codetag_slab_free_slow(struct kmem_cache *s, void *object);
void codetag_slab_alloc_kfence(struct kmem_cache *s, void *object);
void codetag_slab_free_kfence(struct kmem_cache *s, void *object);

/*
 * What kmem_cache.codetag_shift has above the shift itself: whether the ids are
 * in vectors, and how many slabs have them elsewhere than the cache prefers. The
 * number can change at any moment, so all is read once, but not from or to none
 * while such a slab is in use.
 */
#define CODETAG_SLAB_VECTOR	0x100
#define CODETAG_SLAB_OTHER	0x200

#define codetag_slab_shift(s)	((unsigned long)atomic_long_read(&(s)->codetag_shift))

/* Where the id of an object is that is not KFENCE's, if @shift is no more than that. */
static __always_inline u16 *codetag_slab_ref(const struct kmem_cache *s, const void *object,
					     unsigned long shift)
{
	unsigned long addr = (unsigned long)kasan_reset_tag(object);
	unsigned long start = addr & s->codetag_mask;

	return (u16 *)(start + s->codetag_start) + ((addr - start) >> shift);
}

/* Charge a new object to the current call site. */
static __always_inline void codetag_slab_alloc(struct kmem_cache *s, void *object)
{
	unsigned long id, shift;
	u16 *ref;

	if (!mem_alloc_profiling_enabled())
		return;

	id = alloc_tag_current_id();
	if (unlikely(!id))
		return;

	shift = codetag_slab_shift(s);
	if (unlikely(shift >= CODETAG_SLAB_VECTOR)) {
		codetag_slab_alloc_slow(s, object, id);
		return;
	}

	ref = codetag_slab_ref(s, object, shift);
	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG))
		WARN_ONCE(*ref, "codetag: object of %s is charged to id %u already\n",
			  s->name, *ref);
	*ref = id;
	alloc_tag_charge(id, s->size, 1);
}

/* Charge new objects, some of which may be KFENCE's, to the current call site. */
static __always_inline void codetag_slab_alloc_bulk(struct kmem_cache *s, size_t size, void **p)
{
	unsigned long id, shift;
	size_t i;

	if (!mem_alloc_profiling_enabled())
		return;

	id = alloc_tag_current_id();
	if (unlikely(!id))
		return;

	for (i = 0; i < size; i++) {
		shift = codetag_slab_shift(s);
		if (unlikely(is_kfence_address(p[i])))
			*codetag_slab_ref_any(s, p[i]) = id;
		else if (unlikely(shift >= CODETAG_SLAB_VECTOR))
			*codetag_slab_ref_slow(s, p[i]) = id;
		else
			*codetag_slab_ref(s, p[i], shift) = id;
	}
	alloc_tag_charge(id, size * s->size, size);
}

/* Take back what is charged for an object that is about to be freed. */
static __always_inline void codetag_slab_free(struct kmem_cache *s, void *object)
{
	unsigned long id, shift;
	u16 *ref;

	if (!alloc_tag_refs_exist())
		return;

	shift = codetag_slab_shift(s);
	if (unlikely(shift >= CODETAG_SLAB_VECTOR)) {
		codetag_slab_free_slow(s, object);
		return;
	}

	ref = codetag_slab_ref(s, object, shift);
	id = *ref;
	if (!id)
		return;
	*ref = CODETAG_ID_NONE;
	alloc_tag_uncharge(id, s->size, 1);
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

static inline void codetag_slab_alloc(struct kmem_cache *s, void *object) {}
static inline void codetag_slab_alloc_bulk(struct kmem_cache *s, size_t size, void **p) {}
static inline void codetag_slab_alloc_kfence(struct kmem_cache *s, void *object) {}
static inline void codetag_slab_free(struct kmem_cache *s, void *object) {}
static inline void codetag_slab_free_kfence(struct kmem_cache *s, void *object) {}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_CODETAG_SLAB_REF_H */
