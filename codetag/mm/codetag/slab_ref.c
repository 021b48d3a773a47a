// SPDX-License-Identifier: GPL-2.0
/*
 * The slab references: layout of the ids in a slab.
 *
 * There are four places for the ids of a slab's objects:
 *
 * inline	at the end of the slab, in what the objects leave free or, where
 *		that is too little, in the place of the last objects
 * vector	memory of their own, that the second page of the slab points to
 * far vector	the same for a slab that has one page only, found by its address
 * single	for a slab with one object: a part of page->page_type
 *
 * A cache is laid out for inline unless that takes notably more memory than a
 * vector would; then its slabs have at least two pages. When memory is short such
 * a cache gets single pages too, and as many objects in them as without us: that
 * is what far vectors are for. Nothing can go wrong with inline and single, and
 * they stand in when a vector cannot be had: a slab is then a little smaller, and
 * no tag is lost.
 *
 * Both inline and vectors are found from the object's address and its slab, in
 * slab_ref.h, in slabs that are like the cache prefers them. Other slabs are marked,
 * and their objects go through codetag_slab_ref_any().
 */
#include <linux/hashtable.h>
#include <linux/kmsan-checks.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "../internal.h"
#include "internal.h"
#include "slab_ref.h"

/*
 * Objects smaller than this are always inline, and vectors are smaller than
 * this: so that no vector needs another one.
 */
#define VECTOR_MIN_OBJECT	256
#define VECTOR_MAX_BYTES	192

/* Bytes that vectors take, and that ids take from objects in the slabs. */
static DEFINE_PER_CPU(long, slab_vector_bytes);
static DEFINE_PER_CPU(long, slab_inline_bytes);

/* Slabs that had to do without a vector. */
static atomic_long_t slab_vectors_failed;

static unsigned int plain_objects(const struct kmem_cache *s, unsigned int order)
{
	return ((unsigned int)PAGE_SIZE << order) / s->size;
}

static unsigned int inline_shift(const struct kmem_cache *s)
{
	return codetag_slab_shift(s) & CODETAG_SLAB_SHIFT;
}

/* Bytes of a vector for @objects objects. */
static unsigned int vector_bytes(const struct kmem_cache *s, unsigned int objects)
{
	unsigned int last = (objects - 1) * s->size + s->red_left_pad;

	return ((last >> inline_shift(s)) + 1) * sizeof(u16);
}

/* Bytes of the inline ids of a slab. */
static unsigned int inline_bytes(const struct kmem_cache *s, unsigned int order)
{
	return ((unsigned int)PAGE_SIZE << order >> inline_shift(s)) * sizeof(u16);
}

/* Objects that fit a slab together with their ids; one always does. */
static unsigned int inline_objects(const struct kmem_cache *s, unsigned int order)
{
	unsigned int room = ((unsigned int)PAGE_SIZE << order) - inline_bytes(s, order);

	return max(room / s->size, 1U);
}

/**
 * codetag_slab_layout - decide where a cache has its ids
 * @s:		cache, its size known and its slabs not
 * @order:	order that its slabs would have without ids
 * @max_order:	highest order that may be chosen for it
 *
 * Context: Creation of the cache.
 * Return: The order that its slabs shall have.
 */
unsigned int codetag_slab_layout(struct kmem_cache *s, unsigned int order,
				 unsigned int max_order)
{
	unsigned int plain = plain_objects(s, order), lost, objects;

	if (mem_alloc_profiling_permanently_disabled())
		return order;

	atomic_long_set(&s->codetag_shift, ilog2(s->size));
	lost = (plain - inline_objects(s, order)) * s->size;
	s->codetag_vector = s->object_size >= VECTOR_MIN_OBJECT &&
			    vector_bytes(s, plain) <= VECTOR_MAX_BYTES &&
			    lost > vector_bytes(s, plain) + (PAGE_SIZE << order) / 64 &&
			    (order || max_order);
	if (s->codetag_vector && !order)
		order = 1;

	/* If it is one, all slabs are other ones. */
	objects = inline_objects(s, order);
	s->codetag_mask = -(PAGE_SIZE << order);
	s->codetag_uncharge = -(long)s->size;
	s->codetag_bytes = (plain_objects(s, order) - objects) * s->size;
	if (s->codetag_vector) {
		s->codetag_bytes = 0;	/* the first slab tells */
		atomic_long_or(CODETAG_SLAB_VECTOR, &s->codetag_shift);
	} else if (objects == 1) {
		atomic_long_add(CODETAG_SLAB_OTHER, &s->codetag_shift);
	} else {
		s->codetag_near_mask = s->codetag_mask;
	}
	return order;
}

/**
 * codetag_slab_objects - how many objects a slab of a cache has
 * @s:		cache
 * @order:	order of the slab
 *
 * Context: Any.
 * Return: The number; a slab may turn out to have fewer.
 */
unsigned int codetag_slab_objects(const struct kmem_cache *s, unsigned int order)
{
	if (mem_alloc_profiling_permanently_disabled() || s->codetag_vector)
		return plain_objects(s, order);

	return inline_objects(s, order);
}

/* ---- far vectors ---------------------------------------------------------- */

/**
 * struct far_vector - the ids of a slab that has one page and needs a vector
 * @node:	in far_vectors
 * @slab:	the slab
 * @rcu:	frees it after those who look for another one have passed
 * @ids:	the ids
 *
 * Only when memory is short are there any.
 */
struct far_vector {
	struct hlist_node node;
	const struct slab *slab;
	struct rcu_head rcu;
	u16 ids[];
};

/* Objects are freed in NMI too: far_lock is for changing far_vectors, RCU for looking. */
static DEFINE_RAW_SPINLOCK(far_lock);
static DEFINE_HASHTABLE(far_vectors, 9);

static struct far_vector *find_far_vector(const struct slab *slab)
{
	struct far_vector *far;

	hash_for_each_possible_rcu_notrace(far_vectors, far, node, (unsigned long)slab)
		if (far->slab == slab)
			return far;
	return NULL;
}

/* ---- slabs ---------------------------------------------------------------- */

static u16 *slab_single(const struct slab *slab)
{
	return (u16 *)&slab->__page_type + IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);
}

/* The address of the slab's memory, like all addresses here without a KASAN tag. */
static void *slab_start(const struct slab *slab)
{
	return kasan_reset_tag(slab_address(slab));
}

/* The ids of a slab if they are in a vector, which stays as long as the slab. */
static u16 *slab_vector(const struct kmem_cache *s, const struct slab *slab)
{
	struct far_vector *far;

	if (!s->codetag_vector)
		return NULL;
	if (slab_order(slab))
		return *codetag_slab_vector(slab);

	rcu_read_lock();
	far = find_far_vector(slab);
	rcu_read_unlock();
	return far ? far->ids : NULL;
}

/* Are a slab's ids where those of the cache's slabs usually are? */
static bool slab_is_usual(const struct kmem_cache *s, const struct slab *slab)
{
	return -slab_size(slab) == s->codetag_mask && slab->objects > 1 &&
	       (!s->codetag_vector || *codetag_slab_vector(slab));
}

/**
 * codetag_slab_objects_in - how many objects a slab must have
 * @s:		cache
 * @slab:	slab, from codetag_slab_init() to codetag_slab_exit()
 *
 * Context: Any.
 * Return: The number, whatever the slab itself says.
 */
unsigned int codetag_slab_objects_in(const struct kmem_cache *s, const struct slab *slab)
{
	if (mem_alloc_profiling_permanently_disabled() || slab_vector(s, slab))
		return plain_objects(s, slab_order(slab));

	return inline_objects(s, slab_order(slab));
}

/**
 * codetag_slab_ref_in - where the id of an object of a slab is
 * @s:		cache
 * @slab:	slab
 * @object:	object, not KFENCE's, without a KASAN tag
 *
 * Context: Any.
 * Return: The place.
 */
u16 *codetag_slab_ref_in(const struct kmem_cache *s, const struct slab *slab,
			 const void *object)
{
	/* A slab is aligned to its size. */
	unsigned int offset = (unsigned long)object & (slab_size(slab) - 1);
	u16 *ids;

	if (slab->objects == 1)
		return slab_single(slab);
	ids = slab_vector(s, slab);
	if (!ids)
		ids = (void *)object - offset + slab_size(slab) -
		      inline_bytes(s, slab_order(slab));
	return ids + (offset >> inline_shift(s));
}

/**
 * codetag_slab_ref_any - where the id of any object of any cache is
 * @s:		cache
 * @object:	object
 *
 * Context: Any.
 * Return: The place.
 */
u16 *codetag_slab_ref_any(const struct kmem_cache *s, const void *object)
{
	const void *addr = kasan_reset_tag(object);
	struct slab *slab = virt_to_slab(addr);

	if (is_kfence_address(addr))
		return slab_single(slab);
	return codetag_slab_ref_in(s, slab, addr);
}

/**
 * codetag_slab_alloc_any - charge any object of any cache to the current call site
 * @s:		cache
 * @gfp:	how it was allocated
 * @object:	new object
 * @size:	bytes that were asked for
 *
 * Context: Any.
 */
void codetag_slab_alloc_any(struct kmem_cache *s, gfp_t gfp, void *object, size_t size)
{
	struct slab *slab = virt_to_slab(kasan_reset_tag(object));
	unsigned int id;
	u16 *ref;

	if (!mem_alloc_profiling_enabled())
		return;
	/* It may be that only the slab was not known. */
	if (!is_kfence_address(object) &&
	    (codetag_slab_try_alloc(s, slab, object) ||
	     codetag_slab_try_alloc_split(s, slab, gfp, object, size)))
		return;

	preempt_disable();
	id = codetag_charged_id(slab_nid(slab), gfp, codetag_slab_accounted(s, gfp), size,
				CODETAG_ID_MAX);
	if (id) {
		if (is_kfence_address(object) ||
		    !codetag_slab_try_ref(s, slab, true, object, codetag_slab_shift(s), &ref))
			ref = codetag_slab_ref_any(s, object);
		*ref = id;
		alloc_tag_charge(id, s->size, 1);
	}
	preempt_enable();
}

/**
 * codetag_slab_free_any - take back what is charged for any object of any cache
 * @s:		cache
 * @object:	object that is about to be freed
 *
 * Context: Any.
 */
void codetag_slab_free_any(struct kmem_cache *s, void *object)
{
	u16 *ref = codetag_slab_ref_any(s, object), id = *ref;

	if (!id)
		return;

	*ref = CODETAG_ID_NONE;
	if (!alloc_tag_uncharge(id, s->size, 1))
		alloc_tag_damaged(id, "an object of", s->name);
}

/**
 * codetag_slab_tail - what the ids occupy at the end of a slab
 * @s:		cache
 * @slab:	slab, from codetag_slab_init() to codetag_slab_exit()
 *
 * Context: Any.
 * Return: Number of bytes.
 */
unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab)
{
	unsigned int objects;

	if (mem_alloc_profiling_permanently_disabled() || slab_vector(s, slab))
		return 0;

	objects = inline_objects(s, slab_order(slab));
	return objects == 1 ? 0 : inline_bytes(s, slab_order(slab));
}

/* Account for a new slab (@sign 1), or for one that goes away (-1). */
static void slab_account(const struct kmem_cache *s, const struct slab *slab, int sign)
{
	void *vector;
	long bytes;

	if (likely(slab_is_usual(s, slab))) {
		bytes = sign * (long)s->codetag_bytes;
		if (s->codetag_vector)
			this_cpu_add(slab_vector_bytes, bytes);
		else
			this_cpu_add(slab_inline_bytes, bytes);
		return;
	}
	vector = slab_vector(s, slab);
	if (vector) {
		if (!slab_order(slab))
			vector -= offsetof(struct far_vector, ids);
		this_cpu_add(slab_vector_bytes, sign * (long)ksize(vector));
		return;
	}
	bytes = (plain_objects(s, slab_order(slab)) - slab->objects) * s->size;
	this_cpu_add(slab_inline_bytes, sign * bytes);
}

static void add_far_vector(const struct slab *slab, size_t bytes, gfp_t gfp)
{
	struct far_vector *far = kzalloc_codetag_ids(sizeof(*far) + bytes, gfp, slab_nid(slab));
	unsigned long flags;

	if (!far)
		return;
	far->slab = slab;
	raw_spin_lock_irqsave(&far_lock, flags);
	hash_add_rcu(far_vectors, &far->node, (unsigned long)slab);
	raw_spin_unlock_irqrestore(&far_lock, flags);
}

static void slab_add_vector(const struct kmem_cache *s, struct slab *slab, gfp_t gfp,
			    bool allow_spin)
{
	size_t bytes = vector_bytes(s, slab->objects);

	if (slab_is_available() && allow_spin) {
		gfp = (gfp & GFP_RECLAIM_MASK & ~(__GFP_NOFAIL | __GFP_ACCOUNT)) | __GFP_NOWARN;
		if (slab_order(slab))
			*codetag_slab_vector(slab) =
				kzalloc_codetag_ids(bytes, gfp, slab_nid(slab));
		else
			add_far_vector(slab, bytes, gfp);
	}
	if (!slab_vector(s, slab)) {
		slab->objects = inline_objects(s, slab_order(slab));
		atomic_long_inc(&slab_vectors_failed);
	}
}

static void free_far_vector(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct far_vector, rcu));
}

/* The vector is nobody's before it is freed: the audit may come in between. */
static void slab_remove_vector(struct slab *slab)
{
	struct far_vector *far;
	unsigned long flags;
	u16 *ids;

	if (slab_order(slab)) {
		ids = *codetag_slab_vector(slab);
		WRITE_ONCE(*codetag_slab_vector(slab), NULL);
		kfree(ids);
		return;
	}
	rcu_read_lock();
	far = find_far_vector(slab);
	rcu_read_unlock();
	if (!far)
		return;
	raw_spin_lock_irqsave(&far_lock, flags);
	hash_del_rcu(&far->node);
	raw_spin_unlock_irqrestore(&far_lock, flags);
	call_rcu(&far->rcu, free_far_vector);
}

/* The cache has one more slab that is unlike what it prefers. */
static void mark_other(struct kmem_cache *s, struct slab *slab)
{
	slab->__page_type |= CODETAG_SLAB_TYPE_OTHER;
	atomic_long_add(CODETAG_SLAB_OTHER, &s->codetag_shift);
	if (s->codetag_near_mask)
		WRITE_ONCE(s->codetag_near_mask, 0);
}

static void unmark_other(struct kmem_cache *s, struct slab *slab)
{
	slab->__page_type &= ~CODETAG_SLAB_TYPE_OTHER;
	atomic_long_sub(CODETAG_SLAB_OTHER, &s->codetag_shift);
}

/**
 * codetag_slab_init - make room for the ids of a new slab
 * @s:		cache
 * @slab:	slab, whose number of objects is set and may be lowered
 * @gfp:	how the slab was allocated
 * @allow_spin:	false in the middle of anything, where no lock can be taken
 *
 * Context: As @gfp and @allow_spin tell. Does not fail.
 */
void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp, bool allow_spin)
{
	unsigned int tail = 0;
	void *ids;

	if (!s->codetag_mask)
		return;

	if (s->codetag_vector && slab->objects > 1)
		slab_add_vector(s, slab, gfp, allow_spin);

	if (likely(slab_is_usual(s, slab))) {
		if (!s->codetag_vector)
			tail = inline_bytes(s, slab_order(slab));
		else if (unlikely(!s->codetag_bytes))
			s->codetag_bytes = kmalloc_size_roundup(vector_bytes(s, slab->objects));
	} else {
		mark_other(s, slab);
		tail = codetag_slab_tail(s, slab);
	}
	if (tail) {
		ids = slab_start(slab) + slab_size(slab) - tail;
		memset(ids, 0, tail);
		/* This file is not instrumented, SLUB's hooks are. */
		kmsan_unpoison_memory(ids, tail);
	}
	slab_account(s, slab, 1);
}

/**
 * codetag_slab_exit - the end of what codetag_slab_init() did
 * @s:		cache
 * @slab:	slab, no object of which is allocated
 *
 * Context: Any; but for NMI if the slab was made where locks can be taken.
 */
void codetag_slab_exit(struct kmem_cache *s, struct slab *slab)
{
	if (!s->codetag_mask)
		return;

	slab_account(s, slab, -1);
	if (s->codetag_vector)
		slab_remove_vector(slab);
	if (unlikely(codetag_slab_is_other(slab)))
		unmark_other(s, slab);
}

/* ---- reports -------------------------------------------------------------- */

/**
 * codetag_slab_show_stats - the slab references' part of the stats file
 * @m: where to print to
 */
void codetag_slab_show_stats(struct seq_file *m)
{
	long vectors = 0, inlined = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		vectors += per_cpu(slab_vector_bytes, cpu);
		inlined += per_cpu(slab_inline_bytes, cpu);
	}
	seq_printf(m, "mem_slab_refs: %ld\n", vectors + inlined);
	seq_printf(m, "mem_slab_refs_inline: %ld\n", inlined);
	seq_printf(m, "mem_slab_refs_vectors: %ld\n", vectors);
	seq_printf(m, "slab_vectors_failed: %ld\n", atomic_long_read(&slab_vectors_failed));
}
