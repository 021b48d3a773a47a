// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slab ids: their layout in a slab.
 *
 * There are four places for the ids of a slab's objects:
 *
 * inline	at the end of the slab, in the space that the objects leave free; if that
 *		is too small, in place of the last objects
 * vector	memory of their own, that the second page of the slab points to
 * far vector	the same for a slab that has one page only, found by its address
 * single	for a slab with one object: a part of page->page_type
 *
 * A cache is laid out for inline unless that takes notably more memory than a vector. In
 * that case its slabs have at least two pages, if slabs may have that. If they may not
 * (slab_max_order=0), or when memory is short, the cache gets single pages with as many
 * objects as without codetag, and far vectors. Inline and single cannot fail. They replace a
 * vector that could not be allocated: the slab then has fewer objects, and no tag is lost.
 *
 * slab_ref.h finds inline ids and vectors from the address of the object and its slab, for
 * slabs of the preferred kind. All other slabs are marked, and their objects go through
 * codetag_slab_ref_slow().
 */
#include <linux/codetag_pool.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/kmemleak.h>
#include <linux/kmsan-checks.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "../internal.h"
#include "slab_far.h"
#include "slab_ref.h"
#include "stats.h"
#include "traced.h"

/*
 * Ids of objects smaller than this are always inline, and vectors are smaller than this,
 * so that no vector needs another one. The same holds for far vectors, which have a head;
 * kmalloc() may have no cache between 128 and 256.
 */
#define VECTOR_MIN_OBJECT	256
#define VECTOR_MAX_BYTES	192
#define FAR_VECTOR_MAX_BYTES	128

/* Bytes that vectors take, and that ids take from objects in the slabs. */
DEFINE_PER_CPU(long, codetag_slab_vector_bytes);
DEFINE_PER_CPU(long, codetag_slab_inline_bytes);

/* Slabs that had to do without a vector. */
atomic_long_t codetag_slab_vectors_failed;

/* Some caches have single pages and far vectors at all times, the first ones too. */
static bool far_vectors_are_usual;

static unsigned int plain_objects(const struct kmem_cache *s, unsigned int order)
{
	return ((unsigned int)PAGE_SIZE << order) / s->size;
}

static unsigned int inline_shift(const struct kmem_cache *s)
{
	return ilog2(s->size);
}

/* Bytes of a vector for @objects objects. */
static unsigned int vector_bytes(const struct kmem_cache *s, unsigned int objects)
{
	/* SLUB leaves the pad as it was when a cache has its red zones no more. */
	unsigned int pad = s->flags & SLAB_RED_ZONE ? s->red_left_pad : 0;
	unsigned int last = (objects - 1) * s->size + pad;

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

/* Is a vector worth it for slabs that would have this order without one? */
static bool vector_pays(const struct kmem_cache *s, unsigned int order, bool far)
{
	unsigned int plain = plain_objects(s, order);
	unsigned int lost = (plain - inline_objects(s, order)) * s->size;
	unsigned int bytes = vector_bytes(s, plain), max_bytes = VECTOR_MAX_BYTES;

	if (far) {
		bytes += sizeof(struct far_vector);
		max_bytes = FAR_VECTOR_MAX_BYTES;
	}
	/* Objects of kmemleak's: it would want one for the vector. */
	if (s->flags & SLAB_NOLEAKTRACE)
		return false;
	return s->object_size >= VECTOR_MIN_OBJECT && bytes <= max_bytes &&
	       lost > bytes + (PAGE_SIZE << order) / 64;
}

/**
 * struct slab_layout - where a cache has its ids: the codetag_ fields of its struct
 * @vector:	codetag_vector
 * @others:	codetag_near.others before the cache has slabs
 * @within:	codetag_within
 * @bytes:	codetag_bytes
 * @shift:	codetag_shift
 * @uncharge:	codetag_uncharge
 *
 * A value that depends on nothing but the sizes and flags of the cache.
 */
struct slab_layout {
	bool vector;
	unsigned int others;
	unsigned int within;
	unsigned int bytes;
	unsigned int shift;
	long uncharge;
};

static union codetag_slab_near near_of(bool vector, unsigned int within, unsigned int others)
{
	return (union codetag_slab_near){
		.mask = vector || others || !within ? 0 : ~within,
		.others = ATOMIC_INIT(others),
	};
}

/* A cache can be laid out more than once: overwrite every field. */
static void set_layout(struct kmem_cache *s, const struct slab_layout *layout)
{
	s->codetag_vector = layout->vector;
	s->codetag_within = layout->within;
	s->codetag_near = near_of(layout->vector, layout->within, layout->others);
	s->codetag_bytes = layout->bytes;
	s->codetag_uncharge = layout->uncharge;
	s->codetag_shift = layout->shift;
}

/**
 * codetag_slab_layout - choose the place of the ids of a cache
 * @s:		cache, its size known and its slabs not
 * @order:	order that its slabs would have without ids
 * @max_order:	highest order that may be chosen for it
 *
 * Context: Creation of the cache, which may do this several times: the last one counts.
 * Return: The order that its slabs shall have.
 */
unsigned int codetag_slab_layout(struct kmem_cache *s, unsigned int order,
				 unsigned int max_order)
{
	struct slab_layout layout = {};
	bool far = !order && !max_order;
	unsigned int objects;

	if (mem_alloc_profiling_permanently_disabled())
		goto out;

	layout.vector = vector_pays(s, order, far);
	if (layout.vector && !far)
		order = max(order, 1U);

	objects = inline_objects(s, order);
	layout.within = (PAGE_SIZE << order) - 1;
	layout.uncharge = -(long)s->size;
	layout.shift = inline_shift(s);
	if (layout.vector) {
		layout.shift |= CODETAG_SLAB_VECTOR;	/* bytes: the first slab tells */
		far_vectors_are_usual |= far;
	} else {
		layout.bytes = (plain_objects(s, order) - objects) * s->size;
	}
	/* If every slab is an OTHER one, keep the count above 0 from the start. */
	layout.others = codetag_slab_checks_frees(s) || (layout.vector ? far : objects == 1);
out:
	set_layout(s, &layout);
	return order;
}

/**
 * codetag_slab_objects - compute how many objects fit into a slab
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

/*
 * For changing the lists of far vectors; looking needs RCU only. A tracer of the lock's
 * contention can allocate and free objects while its CPU has the lock, a BPF program for
 * example. Then it adds no vector, see codetag_far_locked(). Frees never take the lock:
 * they give the vector up, and a grace period later it is unlinked.
 */
static DEFINE_RAW_SPINLOCK(far_lock);
static DEFINE_PER_CPU(bool, has_far_lock);

/**
 * codetag_far_lock - lock the lists of far vectors
 *
 * Not static for the tests.
 *
 * Context: Any but NMI; must not be called while codetag_far_locked().
 * Return: The flags for codetag_far_unlock().
 */
unsigned long codetag_far_lock(void)
	__acquires(&far_lock)
{
	unsigned long flags;

	local_irq_save(flags);
	__this_cpu_write(has_far_lock, true);
	raw_spin_lock(&far_lock);
	return flags;
}

/**
 * codetag_far_unlock - undo codetag_far_lock()
 * @flags: what that returned
 *
 * Not static for the tests.
 *
 * Context: With codetag_far_lock() held.
 */
void codetag_far_unlock(unsigned long flags)
	__releases(&far_lock)
{
	raw_spin_unlock(&far_lock);
	__this_cpu_write(has_far_lock, false);
	local_irq_restore(flags);
}

/* Is this CPU in codetag_far_lock() already? No task leaves the CPU before the end of that. */
static bool codetag_far_locked(void)
{
	return this_cpu_read(has_far_lock);
}

/* Those of the time when memory is short, or of the first slabs of a boot. */
struct hlist_head codetag_few_far_vectors[CODETAG_FEW_FAR_VECTORS];

/* Where far vectors are usual, all others: a table as large as memory needs. */
struct hlist_head *codetag_many_far_vectors __ro_after_init;
unsigned int codetag_many_far_vectors_bits __ro_after_init;

static struct hlist_head *few_far_vectors_of(const struct slab *slab)
{
	return &codetag_few_far_vectors[hash_ptr(slab, HASH_BITS(codetag_few_far_vectors))];
}

/* Where a new one belongs. */
static struct hlist_head *far_vectors_of(const struct slab *slab)
{
	/* With the bits that belong to it, see far_vectors_init(). */
	struct hlist_head *table = smp_load_acquire(&codetag_many_far_vectors);

	return table ? &table[hash_ptr(slab, codetag_many_far_vectors_bits)] :
		       few_far_vectors_of(slab);
}

static struct far_vector *find_far_vector_in(struct hlist_head *head, const struct slab *slab)
{
	struct far_vector *far;

	hlist_for_each_entry_rcu_notrace(far, head, node)
		if (READ_ONCE(far->slab) == slab)
			return far;
	return NULL;
}

static struct far_vector *find_far_vector(const struct slab *slab)
{
	struct far_vector *far = find_far_vector_in(far_vectors_of(slab), slab);

	return far ?: find_far_vector_in(few_far_vectors_of(slab), slab);
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

/* Are a slab's ids where those of the cache's slabs usually are, and frees uncharged at once? */
static bool slab_is_usual(const struct kmem_cache *s, const struct slab *slab)
{
	if (codetag_slab_checks_frees(s))
		return false;
	if (slab_size(slab) - 1 != s->codetag_within || slab->objects == 1)
		return false;
	return !s->codetag_vector || (slab_order(slab) && *codetag_slab_vector(slab));
}

/**
 * codetag_slab_objects_in - compute how many objects a slab must have
 * @s:		cache
 * @slab:	slab, from codetag_slab_init() to codetag_slab_exit()
 *
 * Context: Any.
 * Return: The number that follows from the cache; the slab itself may be damaged.
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
 * codetag_slab_ref_slow - where the id of any object of any cache is
 * @s:		cache
 * @object:	object
 *
 * Context: Any.
 * Return: The place.
 */
u16 *codetag_slab_ref_slow(const struct kmem_cache *s, const void *object)
{
	const void *addr = kasan_reset_tag(object);
	struct slab *slab = virt_to_slab(addr);

	if (is_kfence_address(addr))
		return slab_single(slab);
	return codetag_slab_ref_in(s, slab, addr);
}

/*
 * Charge an object to the context of its call site, whatever keys split it. Also for objects of
 * KFENCE.
 */
static noinline void codetag_slab_alloc_context(struct kmem_cache *s, struct slab *slab,
						gfp_t gfp, void *object, size_t size)
{
	const struct codetag_alloc alloc = {
		.size = size, .nid = slab_nid(slab),
		.gfp = gfp, .accounted = codetag_slab_accounted(s, gfp),
	};
	unsigned int id;

	preempt_disable();
	id = codetag_charged_id(&alloc, CODETAG_ID_MAX);
	if (id) {
		*codetag_slab_ref_slow(s, object) = id;
		alloc_tag_charge(id, s->size, 1);
		codetag_traced_alloc(id, object, s->size, gfp, alloc.nid);
	}
	preempt_enable();
}

/*
 * codetag_slab_alloc_slow() for split sites, KFENCE and objects of OTHER slabs: here so that only
 * they have a frame.
 */
static noinline void codetag_slab_alloc_rare(struct kmem_cache *s, struct slab *slab,
					     gfp_t gfp, void *object, size_t size)
{
	if (is_kfence_address(object) ||
	    !codetag_slab_alloc_split(s, slab, gfp, object, size, true))
		codetag_slab_alloc_context(s, slab, gfp, object, size);
}

/**
 * codetag_slab_alloc_slow - charge any object of any cache to the current call site
 * @s:		cache
 * @gfp:	how it was allocated
 * @object:	new object
 * @size:	bytes that were asked for
 *
 * Context: Any.
 */
void codetag_slab_alloc_slow(struct kmem_cache *s, gfp_t gfp, void *object, size_t size)
{
	struct slab *slab = virt_to_slab(kasan_reset_tag(object));

	if (!mem_alloc_profiling_enabled())
		return;
	/* It may be that only the slab was not known. */
	if (is_kfence_address(object) || !codetag_slab_alloc_fast(s, slab, object))
		codetag_slab_alloc_rare(s, slab, gfp, object, size);
}

/**
 * codetag_slab_free_slow - uncharge any object of any cache
 * @s:		cache
 * @object:	object that is about to be freed
 *
 * Context: Any.
 */
void codetag_slab_free_slow(struct kmem_cache *s, void *object)
{
	/* KFENCE rejects an address within its object, which stays allocated. */
	if (is_kfence_address(object)) {
		if (object != kfence_object_start(object))
			return;
	} else if (codetag_slab_checks_frees(s)) {
		return;
	}
	codetag_slab_free_checked(s, object);
}

/**
 * codetag_slab_free_checked - uncharge an object whose free is known to be valid
 * @s:		cache
 * @object:	object that is about to be freed
 *
 * Context: Any.
 */
void codetag_slab_free_checked(struct kmem_cache *s, void *object)
{
	u16 *ref, id;

	ref = codetag_slab_ref_slow(s, object);
	id = *ref;
	if (!id)
		return;

	*ref = CODETAG_ID_NONE;
	if (!alloc_tag_uncharge(id, s->size, 1) &&
	    !codetag_traced_uncharge(id, object, s->size,
				     slab_nid(virt_to_slab(kasan_reset_tag(object)))))
		alloc_tag_damaged(id, "an object of", s->name);
}

/**
 * __codetag_object_reused - see codetag_object_reused()
 * @s:		cache
 * @object:	object
 *
 * Context: Any.
 */
void __codetag_object_reused(struct kmem_cache *s, void *object)
{
	codetag_slab_free_checked(s, object);
	codetag_slab_alloc_slow(s, GFP_NOWAIT, object, s->object_size);
}

#ifdef CONFIG_CODETAG_CONTEXTS

/**
 * __codetag_slab_charged - see codetag_slab_charged()
 * @s:		cache
 * @object:	object
 *
 * Context: Any but NMI; nobody else may free the object.
 */
void __codetag_slab_charged(struct kmem_cache *s, void *object)
{
	u16 *ref;

	/* Without refs no object is charged, and the id may have no place. */
	if (!alloc_tag_refs_exist())
		return;
	ref = codetag_slab_ref_slow(s, object);
	*ref = codetag_context_accounted(*ref, s->size);
}

#endif

/**
 * codetag_slab_tail - bytes of ids at the end of a slab
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
static void account_usual(const struct kmem_cache *s, int sign)
{
	long bytes = sign * (long)s->codetag_bytes;

	if (s->codetag_vector)
		this_cpu_add(codetag_slab_vector_bytes, bytes);
	else
		this_cpu_add(codetag_slab_inline_bytes, bytes);
}

/* The same for an OTHER slab. */
static void account_other(const struct kmem_cache *s, const struct slab *slab, int sign)
{
	void *vector = slab_vector(s, slab);
	long bytes;

	if (vector) {
		if (!slab_order(slab))
			vector -= offsetof(struct far_vector, ids);
		this_cpu_add(codetag_slab_vector_bytes, sign * (long)ksize(vector));
		return;
	}
	bytes = (plain_objects(s, slab_order(slab)) - slab->objects) * s->size;
	this_cpu_add(codetag_slab_inline_bytes, sign * bytes);
}

/* Memory for ids. Only struct pages point to it, which kmemleak need not scan. */
static void *alloc_ids(const struct slab *slab, size_t bytes, gfp_t gfp)
{
	void *ids = kzalloc_codetag_ids(bytes, gfp, slab_nid(slab));

	kmemleak_ignore(ids);
	return ids;
}

static void add_far_vector(const struct slab *slab, size_t bytes, gfp_t gfp)
{
	struct far_vector *far;
	unsigned long flags;

	if (codetag_far_locked())
		return;
	far = alloc_ids(slab, sizeof(*far) + bytes, gfp);
	if (!far)
		return;
	far->slab = slab;
	flags = codetag_far_lock();
	hlist_add_head_rcu(&far->node, far_vectors_of(slab));
	codetag_far_unlock(flags);
}

/* Returns false if the slab has to do without one. */
static bool slab_add_vector(const struct kmem_cache *s, struct slab *slab, size_t bytes,
			    gfp_t gfp, bool allow_spin)
{
	u16 *ids = NULL;

	gfp = (gfp & GFP_RECLAIM_MASK & ~(__GFP_NOFAIL | __GFP_ACCOUNT)) | __GFP_NOWARN;
	allow_spin &= slab_is_available();
	if (slab_order(slab)) {
		if (allow_spin)
			ids = alloc_ids(slab, bytes, gfp);
		/* Some kernels do not clear that word of the second page for its next owner. */
		*codetag_slab_vector(slab) = ids;
	} else if (allow_spin) {
		add_far_vector(slab, bytes, gfp);
		ids = slab_vector(s, slab);
	}
	if (likely(ids))
		return true;

	slab->objects = inline_objects(s, slab_order(slab));
	if (slab_is_available())
		atomic_long_inc(&codetag_slab_vectors_failed);
	return false;
}

static void free_far_vector(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct far_vector, rcu));
}

static void unlink_far_vector(struct rcu_head *rcu)
{
	struct far_vector *far = container_of(rcu, struct far_vector, rcu);
	unsigned long flags;

	flags = codetag_far_lock();
	hlist_del_rcu(&far->node);
	codetag_far_unlock(flags);
	call_rcu(rcu, free_far_vector);
}

/* Clear the pointer before freeing the vector, because an audit may run in between. */
static void slab_remove_vector(struct slab *slab)
{
	struct far_vector *far;
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
	WRITE_ONCE(far->slab, NULL);
	call_rcu(&far->rcu, unlink_far_vector);
}

/*
 * Vectors that are in the small table stay there, so that a concurrent lookup cannot miss
 * them.
 */
static int __init far_vectors_init(void)
{
	/* 2^27 heads are as much as kvcalloc() gives. */
	unsigned int bits = clamp(ilog2(totalram_pages() / 8), 1, 27);
	struct hlist_head *table;

	if (!far_vectors_are_usual)
		return 0;
	table = kvcalloc(1UL << bits, sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	codetag_many_far_vectors_bits = bits;
	/* Now it can be used. */
	smp_store_release(&codetag_many_far_vectors, table);
	return 0;
}
early_initcall(far_vectors_init);

/* Add @more to the number of OTHER slabs. The mask follows from it. */
static void count_others(struct kmem_cache *s, int more)
{
#ifdef CONFIG_64BIT
	union codetag_slab_near old = { .both = READ_ONCE(s->codetag_near.both) }, near;

	do {
		near = near_of(s->codetag_vector, s->codetag_within,
			       atomic_read(&old.others) + more);
	} while (!try_cmpxchg(&s->codetag_near.both, &old.both, near.both));
#else
	/* In two steps, so the mask does not come back. Not all kernels could do it in one. */
	atomic_add(more, &s->codetag_near.others);
	if (s->codetag_near.mask)
		WRITE_ONCE(s->codetag_near.mask, 0);
#endif
}

static void mark_other(struct kmem_cache *s, struct slab *slab)
{
	slab->__page_type |= CODETAG_SLAB_TYPE_OTHER;
	count_others(s, 1);
}

static void unmark_other(struct kmem_cache *s, struct slab *slab)
{
	slab->__page_type &= ~CODETAG_SLAB_TYPE_OTHER;
	count_others(s, -1);
}

/**
 * codetag_slab_init - make room for the ids of a new slab
 * @s:		cache
 * @slab:	slab, whose number of objects is set and may be lowered
 * @gfp:	how the slab was allocated
 * @allow_spin:	false if the caller may hold any lock
 *
 * Context: As @gfp and @allow_spin tell. Does not fail.
 */
void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp, bool allow_spin)
{
	bool known = slab_size(slab) - 1 == s->codetag_within && s->codetag_bytes;
	unsigned int tail = 0;
	size_t bytes;
	void *ids;

	if (!s->codetag_within)
		return;

	if (s->codetag_vector && slab->objects > 1) {
		bytes = known ? s->codetag_bytes : vector_bytes(s, slab->objects);
		/* Nearly all slabs with vectors are like one before them. */
		if (slab_add_vector(s, slab, bytes, gfp, allow_spin) && likely(known)) {
			account_usual(s, 1);
			return;
		}
	} else if (s->codetag_vector && slab_order(slab)) {
		*codetag_slab_vector(slab) = NULL;
	}

	if (likely(slab_is_usual(s, slab))) {
		if (!s->codetag_vector)
			tail = inline_bytes(s, slab_order(slab));
		else
			s->codetag_bytes = kmalloc_size_roundup(vector_bytes(s, slab->objects));
		account_usual(s, 1);
	} else {
		mark_other(s, slab);
		tail = codetag_slab_tail(s, slab);
		account_other(s, slab, 1);
	}
	if (tail) {
		ids = slab_start(slab) + slab_size(slab) - tail;
		/* This file is not instrumented; UML's memset() and SLUB's hooks are. */
		kasan_disable_current();
		memset(ids, 0, tail);
		kasan_enable_current();
		kmsan_unpoison_memory(ids, tail);
	}
}

/**
 * codetag_slab_exit - undo codetag_slab_init()
 * @s:		cache
 * @slab:	slab, no object of which is allocated
 *
 * Context: Any; but for NMI if the slab was made where locks can be taken.
 */
void codetag_slab_exit(struct kmem_cache *s, struct slab *slab)
{
	if (!s->codetag_within)
		return;

	if (unlikely(codetag_slab_is_other(slab))) {
		account_other(s, slab, -1);
		unmark_other(s, slab);
	} else {
		account_usual(s, -1);
	}
	if (s->codetag_vector)
		slab_remove_vector(slab);
}

/* ---- reports -------------------------------------------------------------- */

/**
 * codetag_slab_show_stats - the slab ids' part of the stats file
 * @m: where to print to
 *
 * Context: Process.
 */
void codetag_slab_show_stats(struct seq_file *m)
{
	long vectors = 0, inlined = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		vectors += per_cpu(codetag_slab_vector_bytes, cpu);
		inlined += per_cpu(codetag_slab_inline_bytes, cpu);
	}
	seq_printf(m, "mem_slab_refs: %ld\n", vectors + inlined);
	seq_printf(m, "mem_slab_refs_inline: %ld\n", inlined);
	seq_printf(m, "mem_slab_refs_vectors: %ld\n", vectors);
	seq_printf(m, "slab_vectors_failed: %ld\n", atomic_long_read(&codetag_slab_vectors_failed));
}
