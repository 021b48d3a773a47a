/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slab ids: where a slab object keeps the id of the tag it is charged to. Only for
 * mm/slub.c and mm/slab_common.c.
 *
 * The ids of a slab's objects are an array of u16 at the end of the slab. The distance of an
 * object from that end, shifted right by floor(log2(object size)), is the distance of its
 * element. This needs no division, no two objects share an element, and there are at most
 * twice as many elements as objects. If the array would cost too much (large objects that
 * fill the slab), the ids are elsewhere, see mm/codetag/slab_ref.c.
 *
 * A free object never has an id.
 */
#ifndef _MM_CODETAG_SLAB_REF_H
#define _MM_CODETAG_SLAB_REF_H

#include <linux/alloc_tag.h>
#include <linux/kfence.h>
#include <linux/sched.h>

#include "../slab.h"

/* Does the caller know the slab of an object? */
enum codetag_slab_hint {
	CODETAG_SLAB_UNKNOWN,
	CODETAG_SLAB_KNOWN,
};

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include "context_stack.h"
#include "ids.h"

unsigned int codetag_slab_layout(struct kmem_cache *s, unsigned int order,
				 unsigned int max_order);
unsigned int codetag_slab_objects(const struct kmem_cache *s, unsigned int order);
unsigned int codetag_slab_objects_in(const struct kmem_cache *s, const struct slab *slab);
void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp, bool allow_spin);
void codetag_slab_exit(struct kmem_cache *s, struct slab *slab);
#ifdef CONFIG_DEBUG_FS
void codetag_slab_abandon(struct kmem_cache *s);
#else
static inline void codetag_slab_abandon(struct kmem_cache *s) {}
#endif
unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab);
u16 *codetag_slab_ref_in(const struct kmem_cache *s, const struct slab *slab,
			 const void *object);
u16 *codetag_slab_ref_slow(const struct kmem_cache *s, const void *object);
void codetag_slab_alloc_slow(struct kmem_cache *s, gfp_t gfp, void *object, size_t size);
void codetag_slab_free_slow(struct kmem_cache *s, void *object);
void codetag_slab_free_checked(struct kmem_cache *s, void *object);

/*
 * kmem_cache.codetag_shift:
 *
 * shift	bytes per element of the ids, as a power of two
 * VECTOR	the slabs that the cache prefers have their ids in vectors, which their
 *		second page points to; otherwise at their end
 *
 * OTHER slabs of the cache have their ids elsewhere, or their frees are checked. They are
 * marked, see codetag_slab_is_other(), and only their objects take the slow path. Their number
 * is kmem_cache.codetag_near.others. It can change at any time, also in NMI: up before the first
 * object of an OTHER slab is allocated, and down after the last one is freed.
 *
 * Nearly all caches only have slabs with ids at their ends. For these
 * kmem_cache.codetag_near.mask is the mask of such a slab, and the fast paths need no more than
 * that and the shift. The mask is 0 if slabs use vectors, and while there are OTHER slabs. On
 * 64-bit kernels both halves of codetag_near change in one step: the mask comes back with the
 * end of the last OTHER slab. The word is then 0 for caches with vectors and without OTHER
 * slabs. It is also 0 for those of a kernel without profiling, where no fast path reads it.
 *
 * A reader may see any mix of old and new values. An OTHER slab stays counted until its last
 * object is freed, so the owner of such an object reads a mask of 0. For objects of other slabs
 * every mix leads to the right place. The owner never reads a mask that is older than its object:
 * it received the object with an acquire, or finds the cache through the object's slab.
 */
#define CODETAG_SLAB_SHIFT	0x0ff
#define CODETAG_SLAB_VECTOR	0x100

static_assert(ilog2(KMALLOC_MAX_SIZE) <= CODETAG_SLAB_SHIFT);
static_assert(!(CODETAG_SLAB_SHIFT & CODETAG_SLAB_VECTOR));

/*
 * A slab's page type has unused bits, of which code tags use:
 *
 *	 31       24 23        17   16     15        0
 *	+-----------+------------+-------+------------+
 *	| PGTY_slab |            | OTHER |  id of the |
 *	|           |            |       | one object |
 *	+-----------+------------+-------+------------+
 */
#define CODETAG_SLAB_TYPE_OTHER	0x10000

static_assert(sizeof_field(struct slab, __page_type) == sizeof(u32));
static_assert(CODETAG_SLAB_TYPE_OTHER > U16_MAX);
static_assert(CODETAG_SLAB_TYPE_OTHER < 1U << 24);

/*
 * Does a slab have its ids elsewhere, or are its frees checked?
 */
static __always_inline bool codetag_slab_is_other(const struct slab *slab)
{
	/* Reload: otherwise kfree() keeps the value of its slab test live in a register. */
	return READ_ONCE(slab->__page_type) & CODETAG_SLAB_TYPE_OTHER;
}

/*
 * Test for an address, not 0. Where kernel addresses are negative, testing the sign reuses
 * the flags of the preceding subtraction; a test against zero would cost an extra compare.
 */
static __always_inline bool codetag_is_address(unsigned long addr)
{
	if (!IS_ENABLED(CONFIG_UML) &&
	    (IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_ARM64)))
		return (long)addr < 0;
	return addr;
}

/*
 * Find the id of an object, not KFENCE's, in a slab with ids at its end: the end of the ids,
 * and the negative index from there. False if @mask is 0.
 */
static __always_inline bool codetag_slab_find(const void *object, long mask, unsigned long shift,
					      u16 **ids, long *index)
{
	long addr = (long)kasan_reset_tag(object);
	/* The negative distance from the end of the slab */
	long offset = addr | mask;

	addr -= offset;
	if (unlikely(!codetag_is_address(addr)))
		return false;
	*ids = (u16 *)addr;
	*index = offset >> (shift % BITS_PER_LONG);
	return true;
}

/* The pointer to the vector of a slab is in its second page. */
static __always_inline u16 **codetag_page_vector(struct page *page)
{
	return (u16 **)&page[1].private;
}

static __always_inline u16 **codetag_slab_vector(const struct slab *slab)
{
	return codetag_page_vector((struct page *)slab_page(slab));
}

/* Does a cache without a near mask have vectors, and no OTHER slab? */
static __always_inline bool codetag_slab_all_vectors(const struct kmem_cache *s,
						     unsigned long shift)
{
#ifdef CONFIG_64BIT
	/* Stale is fine, see above. A plain load can be an operand of the compare. */
	return !data_race(s->codetag_near.both);
#else
	return (shift & CODETAG_SLAB_VECTOR) && !atomic_read(&s->codetag_near.others);
#endif
}

/*
 * The same for caches with vectors or OTHER slabs. False if the slab has its ids elsewhere, or
 * if it has to be known and is not. An unknown @slab is not used: as no slab is an OTHER one
 * then, the slab follows from the object's address.
 */
static __always_inline bool codetag_slab_find_far(const struct kmem_cache *s,
						  const struct slab *slab,
						  enum codetag_slab_hint hint,
						  const void *object, unsigned long shift,
						  u16 **ids, long *index)
{
	unsigned long addr = (unsigned long)kasan_reset_tag(object);
	unsigned int within = s->codetag_within;
	long offset;

	if (!codetag_slab_all_vectors(s, shift)) {
		if (hint == CODETAG_SLAB_KNOWN ? codetag_slab_is_other(slab) :
						 atomic_read(&s->codetag_near.others))
			return false;
		if (!(shift & CODETAG_SLAB_VECTOR)) {
			offset = addr | ~(unsigned long)within;
			*ids = (u16 *)(addr - offset);
			*index = offset >> (shift % BITS_PER_LONG);
			return true;
		}
	}
	if (hint == CODETAG_SLAB_KNOWN)
		*ids = *codetag_slab_vector(slab);
	else
		*ids = *codetag_page_vector(virt_to_page((void *)(addr & ~(unsigned long)within)));
	*index = ((unsigned int)addr & within) >> (shift % 32);
	return true;
}

/* Find the id of an object, not KFENCE's, in either way. */
static __always_inline bool codetag_slab_find_any(const struct kmem_cache *s,
						  const struct slab *slab,
						  enum codetag_slab_hint hint,
						  const void *object, u16 **ids, long *index)
{
	unsigned long shift = s->codetag_shift;

	return likely(codetag_slab_find(object, READ_ONCE(s->codetag_near.mask), shift, ids,
					index)) ||
	       codetag_slab_find_far(s, slab, hint, object, shift, ids, index);
}

/* Is a new object to be accounted to a memory control group? */
static __always_inline bool codetag_slab_accounted(const struct kmem_cache *s, gfp_t gfp)
{
	return (gfp & __GFP_ACCOUNT) || (s->flags & SLAB_ACCOUNT);
}

static __always_inline void codetag_slab_set(const struct kmem_cache *s, u16 *ref, u16 id)
{
	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG))
		WARN_ONCE(*ref, "codetag: object of %s is charged to id %u already\n",
			  s->name, *ref);
	*ref = id;
}

/* See codetag_slab_alloc_fast() and codetag_slab_find_far(). */
static __always_inline bool __codetag_slab_alloc_fast(struct kmem_cache *s, struct slab *slab,
						      enum codetag_slab_hint hint, void *object)
{
	struct alloc_tag *tag;
	unsigned long id;
	long index;
	u16 *ids;

	if (!mem_alloc_profiling_enabled())
		return true;

	tag = alloc_tag_current();
	id = alloc_tag_id(tag);
	if (unlikely(!id))
		return !alloc_tag_split(tag);

	if (unlikely(!codetag_slab_find_any(s, slab, hint, object, &ids, &index)))
		return false;
	codetag_slab_set(s, ids + index, id);
	alloc_tag_charge_site(tag, s->size, 1);
	return true;
}

/*
 * Charge a new object of this slab, not KFENCE's, to the current call site, if that needs
 * no call. On false codetag_slab_alloc_slow() has to do it.
 */
static __always_inline bool codetag_slab_alloc_fast(struct kmem_cache *s, struct slab *slab,
						    void *object)
{
	return __codetag_slab_alloc_fast(s, slab, CODETAG_SLAB_KNOWN, object);
}

#ifdef CONFIG_CODETAG_CONTEXTS

/*
 * Charge a new object, not KFENCE's, to a context of the current call site, if the site is
 * split and that needs no call. On false codetag_slab_alloc_slow() has to do it. @size 0
 * stands for the size of the cache's objects. @framed: the function that this is inlined into
 * has a frame, so that callers can be found, too.
 */
static __always_inline bool codetag_slab_alloc_split(struct kmem_cache *s, struct slab *slab,
						     gfp_t gfp, void *object, size_t size,
						     bool framed)
{
	struct codetag_context *ctx;
	struct codetag_site *site;
	unsigned int split_by;
	long index;
	u16 *ids;

	preempt_disable();
	split_by = codetag_split_now(&alloc_tag_current()->ct, &site);
	if (framed && split_by == CODETAG_SPLIT_BY_CALLER)
		ctx = codetag_context_of_caller(site);
	else
		ctx = codetag_context_lookup_fast(site, split_by, slab_nid(slab),
						  codetag_slab_accounted(s, gfp),
						  size ?: s->object_size);
	if (unlikely(!ctx))
		goto out;
	if (unlikely(!codetag_slab_find_any(s, slab, CODETAG_SLAB_KNOWN, object, &ids, &index))) {
		ctx = NULL;
		goto out;
	}
	codetag_slab_set(s, ids + index, ctx->id);
	codetag_context_charge(ctx, s->size);
out:
	preempt_enable();
	return ctx;
}

#else

static __always_inline bool codetag_slab_alloc_split(struct kmem_cache *s, struct slab *slab,
						     gfp_t gfp, void *object, size_t size,
						     bool framed)
{
	return false;
}

#endif

/*
 * Charge a new object, not KFENCE's, to the current call site. A macro: for a function gcc
 * evaluates the size before the static branch.
 */
#define codetag_slab_alloc(s, gfp, object, size)				\
({										\
	struct kmem_cache *_cache = (s);					\
	void *_object = (object);						\
										\
	if (unlikely(!__codetag_slab_alloc_fast(_cache, NULL,			\
						CODETAG_SLAB_UNKNOWN, _object))) \
		codetag_slab_alloc_slow(_cache, gfp, _object, size);		\
})

/* Charge new objects, some of which may be KFENCE's, to the current call site. */
static __always_inline void codetag_slab_alloc_bulk(struct kmem_cache *s, gfp_t gfp,
						    size_t size, void **p)
{
	struct alloc_tag *tag;
	unsigned long id;
	long mask, index;
	u16 *ids;
	size_t i;

	if (!mem_alloc_profiling_enabled())
		return;

	tag = alloc_tag_current();
	id = alloc_tag_id(tag);
	if (unlikely(!id)) {
		if (alloc_tag_split(tag))
			for (i = 0; i < size; i++)
				codetag_slab_alloc_slow(s, gfp, p[i], s->object_size);
		return;
	}

	mask = READ_ONCE(s->codetag_near.mask);
	for (i = 0; i < size; i++) {
		if (unlikely(is_kfence_address(p[i]) ||
			     !codetag_slab_find(p[i], mask, s->codetag_shift, &ids, &index)))
			*codetag_slab_ref_slow(s, p[i]) = id;
		else
			ids[index] = id;
	}
	alloc_tag_charge_site(tag, size * s->size, size);
}

/* Uncharge the object with this id. False if no tag has that id; true for id 0. */
static __always_inline bool codetag_slab_uncharge(const struct kmem_cache *s, u16 *ids, long index)
{
	unsigned long id = alloc_tag_wide_id(ids[index]);

	if (!CODETAG_COUNTS_NONE && !id)
		return true;
	if (unlikely(!alloc_tag_uncharge(id, -s->codetag_uncharge, 1)))
		return false;
	/* An addressing mode adds both: keep the compiler from computing the sum. */
	OPTIMIZER_HIDE_VAR(index);
	ids[index] = CODETAG_ID_NONE;
	return true;
}

/* See codetag_slab_free_fast() and codetag_slab_find_far(). */
static __always_inline bool __codetag_slab_free_fast(struct kmem_cache *s, struct slab *slab,
						     enum codetag_slab_hint hint, void *object)
{
	long index;
	u16 *ids;

	if (!alloc_tag_refs_exist())
		return true;

	return codetag_slab_find_any(s, slab, hint, object, &ids, &index) &&
	       codetag_slab_uncharge(s, ids, index);
}

/*
 * Uncharge an object of this slab, not KFENCE's, that is about to be freed, if that needs
 * no call. On false codetag_slab_free_slow() has to do it.
 */
static __always_inline bool codetag_slab_free_fast(struct kmem_cache *s, struct slab *slab,
						   void *object)
{
	return __codetag_slab_free_fast(s, slab, CODETAG_SLAB_KNOWN, object);
}

/* Uncharge an object of this slab, not KFENCE's, that is about to be freed. */
static __always_inline void codetag_slab_free_from(struct kmem_cache *s, struct slab *slab,
						   void *object)
{
	if (unlikely(!codetag_slab_free_fast(s, slab, object)))
		codetag_slab_free_slow(s, object);
}

/* The same if its slab is not known. */
static __always_inline void codetag_slab_free(struct kmem_cache *s, void *object)
{
	if (unlikely(!__codetag_slab_free_fast(s, NULL, CODETAG_SLAB_UNKNOWN, object)))
		codetag_slab_free_slow(s, object);
}

/**
 * struct codetag_slab_frees - objects of one id that are freed one after the other
 * @id:	their id, CODETAG_ID_NONE before the first
 * @nr:	how many of them have no id any more and are not uncharged yet
 *
 * A variable of a function that frees objects of one cache in a loop: objects with the same id
 * are uncharged together. Until that, their site holds more than its objects have ids, as in the
 * middle of any free.
 */
struct codetag_slab_frees {
	unsigned long id;
	unsigned long nr;
};

static __always_inline void codetag_slab_frees_end(const struct kmem_cache *s,
						   struct codetag_slab_frees *frees)
{
	/* Their site still holds them: the id cannot have lost its counters. */
	if (frees->nr)
		WARN_ON_ONCE(!alloc_tag_uncharge(frees->id, -s->codetag_uncharge * frees->nr,
						 frees->nr));
	*frees = (struct codetag_slab_frees){};
}

/*
 * As codetag_slab_free() or codetag_slab_free_from(), for the next object of several.
 * codetag_slab_frees_end() comes last.
 */
static __always_inline void codetag_slab_free_next(struct kmem_cache *s, struct slab *slab,
						   enum codetag_slab_hint hint, void *object,
						   struct codetag_slab_frees *frees)
{
	unsigned long id;
	long index;
	u16 *ids;

	if (!alloc_tag_refs_exist())
		return;
	if (unlikely(!codetag_slab_find_any(s, slab, hint, object, &ids, &index)))
		goto slow;
	id = alloc_tag_wide_id(ids[index]);
	if (!id)
		return;
	if (unlikely(id != frees->id)) {
		codetag_slab_frees_end(s, frees);
		if (unlikely(!alloc_tag_id_counted(id)))
			goto slow;
		frees->id = id;
	}
	frees->nr++;
	ids[index] = CODETAG_ID_NONE;
	return;
slow:
	codetag_slab_free_slow(s, object);
}

void __codetag_slab_charged(struct kmem_cache *s, void *object);

/* An object was charged to the control group of the current task after its allocation. */
static inline void codetag_slab_charged(struct kmem_cache *s, void *object)
{
#ifdef CONFIG_CODETAG_CONTEXTS
	if (static_branch_unlikely(&codetag_by_cgroup_key))
		__codetag_slab_charged(s, object);
#endif
}

/*
 * Does SLUB refuse frees of this cache that are not valid? Then a free is uncharged once it
 * is found to be valid. KASAN refuses them before SLUB does, and delays the others.
 */
static inline bool codetag_slab_checks_frees(const struct kmem_cache *s)
{
	return !IS_ENABLED(CONFIG_KASAN_GENERIC) && (s->flags & SLAB_CONSISTENCY_CHECKS);
}

/* Is codetag_slab_free_checked() to be called for the objects of a valid free? */
static inline bool codetag_slab_left_charged(const struct kmem_cache *s)
{
	return alloc_tag_refs_exist() && codetag_slab_checks_frees(s);
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

static inline unsigned int codetag_slab_objects_in(const struct kmem_cache *s,
						   const struct slab *slab)
{
	return slab_size(slab) / s->size;
}

static inline void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp,
				     bool allow_spin) {}
static inline void codetag_slab_exit(struct kmem_cache *s, struct slab *slab) {}
static inline void codetag_slab_abandon(struct kmem_cache *s) {}
static inline unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab)
{
	return 0;
}

static inline bool codetag_slab_alloc_fast(struct kmem_cache *s, struct slab *slab, void *object)
{
	return true;
}

static inline bool codetag_slab_alloc_split(struct kmem_cache *s, struct slab *slab, gfp_t gfp,
					    void *object, size_t size, bool framed)
{
	return true;
}

static inline bool codetag_slab_free_fast(struct kmem_cache *s, struct slab *slab, void *object)
{
	return true;
}

static inline void codetag_slab_alloc(struct kmem_cache *s, gfp_t gfp, void *object,
				      size_t size) {}
static inline void codetag_slab_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t size,
					   void **p) {}
static inline void codetag_slab_alloc_slow(struct kmem_cache *s, gfp_t gfp, void *object,
					   size_t size) {}
static inline void codetag_slab_free_from(struct kmem_cache *s, struct slab *slab,
					  void *object) {}
static inline void codetag_slab_free(struct kmem_cache *s, void *object) {}

struct codetag_slab_frees {};

static inline void codetag_slab_free_next(struct kmem_cache *s, struct slab *slab,
					  enum codetag_slab_hint hint, void *object,
					  struct codetag_slab_frees *frees) {}
static inline void codetag_slab_frees_end(const struct kmem_cache *s,
					  struct codetag_slab_frees *frees) {}
static inline void codetag_slab_free_slow(struct kmem_cache *s, void *object) {}
static inline void codetag_slab_free_checked(struct kmem_cache *s, void *object) {}
static inline void codetag_slab_charged(struct kmem_cache *s, void *object) {}
static inline bool codetag_slab_left_charged(const struct kmem_cache *s)
{
	return false;
}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_CODETAG_SLAB_REF_H */
