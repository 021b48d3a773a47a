// SPDX-License-Identifier: GPL-2.0
/*
 * The slab references: layout of the ids in a slab.
 *
 * There are three places for the ids of a slab's objects:
 *
 * inline	at the end of the slab, in what the objects leave free or, where
 *		that is too little, in the place of the last objects
 * vector	memory of their own, that the second page of the slab points to
 * single	for a slab with one object: a part of page->page_type
 *
 * A cache is laid out for inline unless that takes notably more memory than a
 * vector would; then its slabs have at least two pages. Nothing can go wrong
 * with the other two places, and they stand in when a vector cannot be had:
 * a slab is then a little smaller, and no tag is lost.
 *
 * Both inline, in slab_ref.h, and vectors, here, are found from the object's
 * address alone in slabs that are like the cache prefers them. As long as it has
 * any other slab, all its objects go through codetag_slab_ref_any().
 */
#include <linux/bsearch.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
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
	return atomic_long_read(&s->codetag_shift) % CODETAG_SLAB_VECTOR;
}

/* Bytes of the inline ids of @objects objects. */
static unsigned int inline_bytes(const struct kmem_cache *s, unsigned int objects)
{
	unsigned int last = (objects - 1) * s->size + s->red_left_pad;

	return ((last >> inline_shift(s)) + 1) * sizeof(u16);
}

/* Objects that fit a slab together with their ids; one always does. */
static unsigned int inline_objects(const struct kmem_cache *s, unsigned int order)
{
	unsigned int slab_size = (unsigned int)PAGE_SIZE << order;
	unsigned int objects = plain_objects(s, order);

	while (objects > 1 && objects * s->size + inline_bytes(s, objects) > slab_size)
		objects--;
	return objects;
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
			    inline_bytes(s, plain) <= VECTOR_MAX_BYTES &&
			    lost > inline_bytes(s, plain) + (PAGE_SIZE << order) / 64;
	if (s->codetag_vector && !order && max_order)
		order = 1;

	objects = inline_objects(s, order);
	s->codetag_mask = -(PAGE_SIZE << order);
	s->codetag_start = PAGE_SIZE << order;
	s->codetag_bytes = (plain_objects(s, order) - objects) * s->size;
	if (objects > 1)
		s->codetag_start -= inline_bytes(s, objects);
	if (s->codetag_vector)
		atomic_long_add(CODETAG_SLAB_VECTOR, &s->codetag_shift);
	else if (objects == 1)
		atomic_long_add(CODETAG_SLAB_OTHER, &s->codetag_shift);
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

/* ---- slabs ---------------------------------------------------------------- */

static inline bool slab_has_vector(const struct kmem_cache *s, const struct slab *slab)
{
	return s->codetag_vector && slab_order(slab) && *codetag_slab_vector(slab);
}

/* Are a slab's ids where those of the cache's slabs usually are? */
static inline bool slab_is_usual(const struct kmem_cache *s, const struct slab *slab)
{
	return -slab_size(slab) == s->codetag_mask &&
	       (!s->codetag_vector || slab_has_vector(s, slab));
}

static u16 *slab_single(struct slab *slab)
{
	return (u16 *)&slab->__page_type + IS_ENABLED(CONFIG_CPU_BIG_ENDIAN);
}

/* The address of the slab's memory, like all addresses here without a KASAN tag. */
static void *slab_start(const struct slab *slab)
{
	return kasan_reset_tag(slab_address(slab));
}

static u16 *slab_ref(const struct kmem_cache *s, struct slab *slab, const void *object)
{
	/* A slab is aligned to its size. */
	unsigned int offset = (unsigned long)object & (slab_size(slab) - 1);
	u16 *ids;

	if (slab->objects == 1)
		return slab_single(slab);
	if (slab_has_vector(s, slab))
		ids = *codetag_slab_vector(slab);
	else
		ids = (void *)object - offset + slab_size(slab) - inline_bytes(s, slab->objects);
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
	return slab_ref(s, slab, addr);
}

/**
 * codetag_slab_alloc_any - charge any object of any cache to the current call site
 * @s:		cache
 * @object:	new object
 *
 * Context: Any.
 */
void codetag_slab_alloc_any(struct kmem_cache *s, void *object)
{
	u16 id = alloc_tag_current_id();

	if (!mem_alloc_profiling_enabled() || !id)
		return;

	*codetag_slab_ref_any(s, object) = id;
	alloc_tag_charge(id, s->size, 1);
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
	alloc_tag_uncharge(id, s->size, 1);
}

/**
 * codetag_slab_tail - what the ids occupy at the end of a slab
 * @s:		cache
 * @slab:	slab
 *
 * Context: Any.
 * Return: Number of bytes.
 */
unsigned int codetag_slab_tail(const struct kmem_cache *s, const struct slab *slab)
{
	if (mem_alloc_profiling_permanently_disabled() || slab->objects == 1 ||
	    slab_has_vector(s, slab))
		return 0;
	return inline_bytes(s, slab->objects);
}

/* Account for a new slab (@sign 1), or for one that goes away (-1). */
static void slab_account(const struct kmem_cache *s, const struct slab *slab, int sign)
{
	long bytes = s->codetag_bytes;

	if (slab_has_vector(s, slab)) {
		bytes = kmalloc_size_roundup(inline_bytes(s, slab->objects));
		this_cpu_add(slab_vector_bytes, sign * bytes);
		return;
	}
	if (unlikely(!slab_is_usual(s, slab)))
		bytes = (plain_objects(s, slab_order(slab)) - slab->objects) * s->size;
	this_cpu_add(slab_inline_bytes, sign * bytes);
}

static void slab_add_vector(const struct kmem_cache *s, struct slab *slab, gfp_t gfp)
{
	if (slab_order(slab) && slab_is_available()) {
		gfp &= GFP_RECLAIM_MASK & ~(__GFP_NOFAIL | __GFP_ACCOUNT);
		*codetag_slab_vector(slab) = kzalloc_node(inline_bytes(s, slab->objects),
							  gfp | __GFP_NOWARN, slab_nid(slab));
	}
	if (!slab_has_vector(s, slab)) {
		slab->objects = inline_objects(s, slab_order(slab));
		atomic_long_inc(&slab_vectors_failed);
	}
}

/**
 * codetag_slab_init - make room for the ids of a new slab
 * @s:		cache
 * @slab:	slab, whose number of objects is set and may be lowered
 * @gfp:	how the slab was allocated
 *
 * Context: As @gfp allows. Does not fail.
 */
void codetag_slab_init(struct kmem_cache *s, struct slab *slab, gfp_t gfp)
{
	unsigned int tail;

	if (!s->codetag_mask)
		return;

	if (s->codetag_vector && slab->objects > 1)
		slab_add_vector(s, slab, gfp);

	if (likely(slab_is_usual(s, slab))) {
		tail = s->codetag_vector ? 0 : -s->codetag_mask - s->codetag_start;
	} else {
		atomic_long_add(CODETAG_SLAB_OTHER, &s->codetag_shift);
		tail = codetag_slab_tail(s, slab);
	}
	if (tail)
		memset(slab_start(slab) + slab_size(slab) - tail, 0, tail);
	slab_account(s, slab, 1);
}

/**
 * codetag_slab_exit - the end of what codetag_slab_init() did
 * @s:		cache
 * @slab:	slab, no object of which is allocated
 *
 * Context: Any but NMI.
 */
void codetag_slab_exit(struct kmem_cache *s, struct slab *slab)
{
	if (!s->codetag_mask)
		return;

	slab_account(s, slab, -1);
	if (unlikely(!slab_is_usual(s, slab)))
		atomic_long_sub(CODETAG_SLAB_OTHER, &s->codetag_shift);
	if (slab_has_vector(s, slab)) {
		kfree(*codetag_slab_vector(slab));
		*codetag_slab_vector(slab) = NULL;
	}
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

/*
 * The caches there are while the audit runs, sorted: a slab that is being made
 * may not have its cache yet. With slab_mutex held.
 */
static const struct kmem_cache **known_caches;
static size_t nr_known_caches;

static int compare_caches(const void *a, const void *b)
{
	const struct kmem_cache *x = *(const struct kmem_cache **)a;
	const struct kmem_cache *y = *(const struct kmem_cache **)b;

	return (x > y) - (x < y);
}

/**
 * codetag_slab_recount_prepare - get ready for codetag_slab_recount()
 *
 * Context: Process. Holds slab_mutex until codetag_slab_recount_done().
 * Return: false if there is no memory for it; then nothing is held.
 */
bool codetag_slab_recount_prepare(void)
{
	struct kmem_cache *s;

	mutex_lock(&slab_mutex);
	nr_known_caches = 0;
	list_for_each_entry(s, &slab_caches, list)
		nr_known_caches++;
	known_caches = kvmalloc_array(nr_known_caches, sizeof(*known_caches), GFP_KERNEL);
	if (!known_caches) {
		mutex_unlock(&slab_mutex);
		return false;
	}

	nr_known_caches = 0;
	list_for_each_entry(s, &slab_caches, list)
		known_caches[nr_known_caches++] = s;
	sort(known_caches, nr_known_caches, sizeof(*known_caches), compare_caches, NULL);
	return true;
}

/**
 * codetag_slab_recount_done - the end of codetag_slab_recount_prepare()
 */
void codetag_slab_recount_done(void)
{
	kvfree(known_caches);
	known_caches = NULL;
	mutex_unlock(&slab_mutex);
}

/**
 * codetag_slab_recount - recount the objects of a slab
 * @rc:		the recount
 * @page:	any page; it need not be one of a slab
 *
 * Context: All other CPUs stopped, after codetag_slab_recount_prepare().
 */
void codetag_slab_recount(struct codetag_recount *rc, struct page *page)
{
	const struct kmem_cache *s;
	struct slab *slab;
	unsigned int i;
	u16 id;

	if (PageTail(page) || !PageSlab(page))
		return;
	slab = page_slab(page);
	s = READ_ONCE(slab->slab_cache);
	if (!bsearch(&s, known_caches, nr_known_caches, sizeof(*known_caches), compare_caches))
		return;

	if (is_kfence_address(slab_start(slab))) {
		id = *slab_single(slab);
		if (id) {
			rc->objects++;
			codetag_recount_add(rc, id, s->size);
		}
		return;
	}

	for (i = 0; i < slab->objects; i++) {
		id = *slab_ref(s, slab, fixup_red_left((struct kmem_cache *)s,
						       slab_start(slab) + i * s->size));
		if (id) {
			rc->objects++;
			codetag_recount_add(rc, id, s->size);
		}
	}
}
