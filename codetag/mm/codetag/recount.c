// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count again, from their ids, all pages, slab objects and percpu objects.
 */
#include <linux/bsearch.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/pgalloc_tag.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include "../internal.h"
#include "../percpu-internal.h"
#include "page_store.h"
#include "recount.h"
#include "slab_ref.h"

/* Add the memory to the sums, or pass it to the visitor. */
static void found(struct codetag_recount *rc, const struct codetag_holding *holding)
{
	if (rc->visit)
		rc->visit(rc, holding);
	else
		codetag_recount_add(rc, holding->id, holding->bytes);
}

/* ---- slabs ------------------------------------------------------------------- */

/*
 * All caches during the recount, sorted: the cache pointer of a slab that is being made may
 * not be valid yet. Written with slab_mutex held.
 */
static const struct kmem_cache **known_caches;
static size_t nr_known_caches;

/* Caches that were destroyed while objects of theirs were allocated. Under slab_mutex. */
static LIST_HEAD(abandoned_caches);

/**
 * codetag_slab_abandon - go on counting the objects of a cache that is destroyed
 * @s: cache, not on any list, which stays because it has objects
 *
 * Context: slab_mutex held.
 */
void codetag_slab_abandon(struct kmem_cache *s)
{
	list_add(&s->list, &abandoned_caches);
}

static int compare_caches(const void *a, const void *b)
{
	const struct kmem_cache *x = *(const struct kmem_cache **)a;
	const struct kmem_cache *y = *(const struct kmem_cache **)b;

	return (x > y) - (x < y);
}

/**
 * codetag_recount_prepare - get ready for codetag_recount_pages()
 *
 * Context: Process. Holds slab_mutex until codetag_recount_done().
 * Return: false if there is no memory for it; then nothing is held.
 */
bool codetag_recount_prepare(void)
{
	struct kmem_cache *s;
	size_t nr;

	mutex_lock(&slab_mutex);
	nr = list_count_nodes(&slab_caches) + list_count_nodes(&abandoned_caches);
	known_caches = kvmalloc_array(nr, sizeof(*known_caches), GFP_KERNEL);
	if (!known_caches) {
		mutex_unlock(&slab_mutex);
		return false;
	}

	nr_known_caches = 0;
	list_for_each_entry(s, &slab_caches, list)
		known_caches[nr_known_caches++] = s;
	list_for_each_entry(s, &abandoned_caches, list)
		known_caches[nr_known_caches++] = s;
	sort(known_caches, nr_known_caches, sizeof(*known_caches), compare_caches, NULL);
	return true;
}

/**
 * codetag_recount_done - undo codetag_recount_prepare()
 *
 * Context: Process, after codetag_recount_prepare().
 */
void codetag_recount_done(void)
{
	kvfree(known_caches);
	known_caches = NULL;
	mutex_unlock(&slab_mutex);
}

/**
 * codetag_recount_nr_caches - get the number of caches
 *
 * Context: After codetag_recount_prepare().
 * Return: The number.
 */
size_t codetag_recount_nr_caches(void)
{
	return nr_known_caches;
}

/**
 * codetag_recount_cache - get the name of a cache
 * @i: its index in the caches of a recount
 *
 * Context: After codetag_recount_prepare().
 * Return: The name.
 */
const char *codetag_recount_cache(size_t i)
{
	return known_caches[i]->name;
}

#ifdef CONFIG_MEMCG
/*
 * A slab has a vector with a pointer for each object. Linux 7 can have the pointer of
 * each object behind that object; then the first one is within the first object.
 */
static struct obj_cgroup *objcg_of(struct slab *slab, const struct kmem_cache *s, unsigned int i)
{
	unsigned long exts = READ_ONCE(slab->obj_exts), vector = exts & ~OBJEXTS_FLAGS_MASK;
	unsigned long start = (unsigned long)kasan_reset_tag(slab_address(slab));
	struct obj_cgroup *objcg;
	size_t stride = sizeof(struct slabobj_ext);	/* more than a pointer on 32 bits */

	static_assert(sizeof(struct slabobj_ext) - sizeof(objcg) < 8); /* nothing but the pointer */
	if (!vector)
		return NULL;
	if (vector - start < s->size)
		stride = s->size;
	if (get_kernel_nofault(objcg, (struct obj_cgroup **)(vector + i * stride)))
		return NULL;
	/* If the slab was freed before that, the vector may be other memory. */
	smp_rmb();
	return READ_ONCE(slab->obj_exts) == exts && READ_ONCE(slab->slab_cache) == s ? objcg : NULL;
}
#else
static struct obj_cgroup *objcg_of(struct slab *slab, const struct kmem_cache *s, unsigned int i)
{
	return NULL;
}
#endif

static void recount_object(struct codetag_recount *rc, struct page *page,
			   const struct kmem_cache **known, unsigned int i, const u16 *ref)
{
	const struct kmem_cache *s = *known;
	struct codetag_holding holding = { .page = page, .cache = known - known_caches };
	u16 id;

	/* The slab, or its vector, can be gone if the machine does not stand still. */
	if (!rc->visit)
		id = *ref;
	else if (get_kernel_nofault(id, ref))
		return;
	if (!id)
		return;
	rc->objects++;
	holding.id = id;
	holding.bytes = s->size;
	if (rc->objcgs)
		holding.objcg = objcg_of((struct slab *)page, s, i);
	found(rc, &holding);
	if (rc->caches) {
		rc->caches[known - known_caches].bytes += s->size;
		rc->caches[known - known_caches].calls++;
	}
}

/**
 * codetag_recount_slab - recount the objects of a slab
 * @rc:		the recount
 * @page:	any page; it need not be one of a slab
 *
 * Not static for the tests.
 *
 * Context: All CPUs stopped, or with a visitor; after codetag_recount_prepare().
 */
void codetag_recount_slab(struct codetag_recount *rc, struct page *page)
{
	const struct kmem_cache *s, **known;
	unsigned int i, objects;
	struct slab *slab;
	void *start, *object;

	if (!PageSlab(page))
		return;
	slab = (struct slab *)page;
	s = smp_load_acquire(&slab->slab_cache);	/* pairs with allocate_slab() */
	known = bsearch(&s, known_caches, nr_known_caches, sizeof(*known_caches), compare_caches);
	if (!known)
		return;

	start = kasan_reset_tag(slab_address(slab));
	if (is_kfence_address(start)) {
		recount_object(rc, page, known, 0, codetag_slab_ref_slow(s, start));
		return;
	}
	/* One that is just freed, and has no vector any more, has no ids either. */
	objects = slab->objects;
	if (objects > codetag_slab_objects_in(s, slab))
		return;
	for (i = 0; i < objects; i++) {
		object = fixup_red_left((struct kmem_cache *)s, start + i * s->size);
		recount_object(rc, page, known, i, codetag_slab_ref_in(s, slab, object));
	}
}

/* ---- pages ------------------------------------------------------------------- */

/* Count the memory of the page; returns how many pages it stands for. */
static unsigned long recount_page(struct codetag_recount *rc, struct page *page)
{
	struct page *holder = page_tag_holder(page);
	struct codetag_holding holding = { .page = page, .cache = -1 };
	unsigned int order = 0;
	u16 id = page_tag_get(holder);

	if (id || PageHead(page))
		order = pgalloc_tag_order(page);
	if (id && !page_tag_is_mark(id)) {
		holding.order = order;
		holding.id = id;
		holding.bytes = PAGE_SIZE << order;
		found(rc, &holding);
	}
	codetag_recount_slab(rc, page);
	/* The id of the second page is counted already. */
	if (holder != page)
		return 2;
	/*
	 * The other struct pages of a huge page can be the first ones over again,
	 * see HUGETLB_PAGE_OPTIMIZE_VMEMMAP.
	 */
	return PageHead(page) ? 1UL << order : 1;
}

/**
 * codetag_recount_any - is there any page to recount?
 * @pfn:	the first page frame
 * @end:	the page frame after the last one
 *
 * Context: Process, with get_online_mems().
 * Return: false if nothing in between is online memory.
 */
bool codetag_recount_any(unsigned long pfn, unsigned long end)
{
	for (; pfn < end; pfn = codetag_next_pfn(pfn))
		if (pfn_to_online_page(pfn))
			return true;
	return false;
}

/**
 * codetag_recount_pages - recount pages, and the slab objects in them
 * @rc:		the recount
 * @pfn:	the first page
 * @end:	the page after the last one
 *
 * Context: All CPUs stopped, or process context with a visitor and get_online_mems();
 *	    after codetag_recount_prepare().
 */
void codetag_recount_pages(struct codetag_recount *rc, unsigned long pfn, unsigned long end)
{
	unsigned long nr;

	while (pfn < end) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page) {
			pfn = codetag_next_pfn(pfn);
			continue;
		}
		/* A huge page can be larger than a piece. */
		nr = PageTail(page) ? 1 : min(recount_page(rc, page), end - pfn);
		rc->pages += nr;
		pfn += nr;
	}
}

/* ---- percpu chunks ----------------------------------------------------------- */

/* Of a chunk what begins from bit @bit of its map on, and before bit @to. */
static void recount_chunk(struct codetag_recount *rc, struct pcpu_chunk *chunk, int bit, int to)
{
	struct codetag_holding holding = { .cache = -1 };
	int off, end, nr = pcpu_chunk_map_bits(chunk);
	u16 *ids, id;

	for_each_set_bit_from(bit, chunk->alloc_map, to) {
		/* An allocation begins at a boundary and ends at the next one. */
		if (!test_bit(bit, chunk->bound_map))
			continue;
		if (chunk->start_offset && bit < chunk->start_offset / PCPU_MIN_ALLOC_SIZE)
			continue;
		if (bit >= nr - chunk->end_offset / PCPU_MIN_ALLOC_SIZE)
			break;

		/* An area that waits for its pages is not charged yet. */
		off = bit * PCPU_MIN_ALLOC_SIZE;
		if (!test_bit(PFN_DOWN(off), chunk->populated))
			continue;
		ids = pcpu_codetag_ids(chunk, off);
		id = ids ? ids[pcpu_codetag_index(off)] : CODETAG_ID_UNREPRESENTABLE;
		if (!id)
			continue;
		end = find_next_bit(chunk->bound_map, nr + 1, bit + 1);
		rc->objects++;
		holding.id = id;
		holding.bytes = pcpu_codetag_size((end - bit) * PCPU_MIN_ALLOC_SIZE);
		found(rc, &holding);
	}
}

/**
 * codetag_recount_percpu - recount all percpu allocations
 * @rc: the recount
 *
 * Context: All CPUs stopped.
 */
void codetag_recount_percpu(struct codetag_recount *rc)
{
	struct pcpu_chunk *chunk;
	int slot;

	for (slot = 0; slot < pcpu_nr_slots; slot++)
		list_for_each_entry(chunk, &pcpu_chunk_lists[slot], list)
			recount_chunk(rc, chunk, 0, pcpu_chunk_map_bits(chunk));
	if (pcpu_reserved_chunk)
		recount_chunk(rc, pcpu_reserved_chunk, 0, pcpu_chunk_map_bits(pcpu_reserved_chunk));
}

/* The chunk with this number, counted through all lists. With pcpu_lock held. */
static struct pcpu_chunk *nth_chunk(unsigned int nr)
{
	struct pcpu_chunk *chunk;
	int slot;

	for (slot = 0; slot < pcpu_nr_slots; slot++)
		list_for_each_entry(chunk, &pcpu_chunk_lists[slot], list)
			if (!nr--)
				return chunk;
	return nr ? NULL : pcpu_reserved_chunk;
}

/**
 * codetag_recount_percpu_live - tell of some percpu allocations while the machine works
 * @rc:  the recount, with a visitor
 * @pos: where to go on: all 0 at the beginning
 *
 * Interrupts are off, and allocations of percpu memory wait, for CODETAG_PERCPU_SLICE bytes
 * of a chunk. A chunk that moves to another list between two calls may be counted twice or not.
 *
 * Context: Process.
 * Return: false if that was all.
 */
bool codetag_recount_percpu_live(struct codetag_recount *rc, struct codetag_percpu_pos *pos)
{
	struct pcpu_chunk *chunk;
	int nr, to;

	spin_lock_irq(&pcpu_lock);
	chunk = nth_chunk(pos->chunk);
	if (chunk) {
		nr = pcpu_chunk_map_bits(chunk);
		to = min(pos->bit + (int)(CODETAG_PERCPU_SLICE / PCPU_MIN_ALLOC_SIZE), nr);
		recount_chunk(rc, chunk, pos->bit, to);
		pos->chunk += to == nr;
		pos->bit = to == nr ? 0 : to;
	}
	spin_unlock_irq(&pcpu_lock);
	return chunk;
}
