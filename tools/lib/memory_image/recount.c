// SPDX-License-Identifier: GPL-2.0-only
#include "memory_image/recount.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define MAX_ORDER 18
#define MAX_SLAB_ORDER 10
#define MAX_CACHES 65536
#define MAX_CHUNKS 65536
#define MAX_CHUNK_PAGES (1 << 18)
#define CACHE_BUCKETS 4096

/* The kernel leaves it in the word of a slab's cache when it takes the page off a list of free pages. */
#define LIST_POISON1 0xdead000000000100ULL

/* The kernel sets this bit in the pointer to a page_ext that it is about to free. */
#define EXT_INVALID 1

struct cached {
	struct image_cache cache;
	bool good;
	struct cached *next;
};

struct far {
	uint64_t slab, ids;
};

struct recount_memory {
	struct cached *cache[CACHE_BUCKETS];
	size_t caches;
	struct far *far;
	size_t fars, room;
	uint16_t *ids;
	size_t ids_room, ids_count;
	uint64_t ids_of;		/* the address of the slab whose ids are in @ids; 0: none */

	/* Where pages have their ids */
	uint64_t store, slots, ext_size, ext_offset;
	/* The section that was looked at last */
	uint64_t section, ext, usage;
	bool online;
};

/* ---- far vectors ------------------------------------------------------------------ */

static void read_far_table(struct recount *recount, uint64_t table, uint64_t heads)
{
	struct recount_memory *memory = recount->memory;
	struct image *image = recount->image;
	const uint64_t *n = image->n;

	for (uint64_t i = 0; i < heads && !image_exhausted(image); i++) {
		uint64_t at = image_u64(image, table + 8 * i);

		/* A slab has a page at least. */
		for (; at && memory->fars < image->max_pa >> image->page_shift; at = image_u64(image, at)) {
			uint64_t far = at - n[N_FAR_NODE];

			GROW(memory->far, memory->fars, memory->room);
			memory->far[memory->fars++] = (struct far){
				image_u64(image, far + n[N_FAR_SLAB]), far + n[N_FAR_IDS],
			};
			if (image_exhausted(image))
				break;
		}
	}
}

static int by_slab(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	return (x->slab > y->slab) - (x->slab < y->slab);
}

static uint64_t find_far(const struct recount *recount, uint64_t slab)
{
	const struct recount_memory *memory = recount->memory;
	struct far key = { .slab = slab }, *found = NULL;

	if (memory->fars)
		found = bsearch(&key, memory->far, memory->fars, sizeof(key), by_slab);
	return found ? found->ids : 0;
}

/* ---- begin and end ---------------------------------------------------------------- */

void recount_init(struct recount *recount, struct image *image)
{
	struct recount_memory *memory = xcalloc(1, sizeof(*memory));
	const uint64_t *n = image->n;
	uint32_t bits;

	*recount = (struct recount){ .image = image, .memory = memory };
	memory->store = image_u32(image, n[N_STORE]);
	memory->slots = image_u64(image, n[N_SLOTS]);
	if (n[N_EXT_SIZE]) {
		memory->ext_size = image_u64(image, n[N_EXT_SIZE]);
		memory->ext_offset = image_u64(image, n[N_EXT_OPS] + n[N_EXT_OFFSET]);
	}
	memory->section = UINT64_MAX;

	read_far_table(recount, n[N_FEW_FAR], n[N_FEW_FAR_LENGTH]);
	bits = image_u32(image, n[N_MANY_FAR_BITS]);
	if (image_u64(image, n[N_MANY_FAR]) && bits <= 24)
		read_far_table(recount, image_u64(image, n[N_MANY_FAR]), 1ULL << bits);
	if (memory->fars)
		qsort(memory->far, memory->fars, sizeof(*memory->far), by_slab);
}

void recount_free(struct recount *recount)
{
	struct recount_memory *memory = recount->memory;

	for (size_t i = 0; i < CACHE_BUCKETS; i++) {
		while (memory->cache[i]) {
			struct cached *next = memory->cache[i]->next;

			free(memory->cache[i]);
			memory->cache[i] = next;
		}
	}
	free(memory->far);
	free(memory->ids);
	free(memory);
	recount->memory = NULL;
}

/* ---- pages ------------------------------------------------------------------------ */

static void find_section(struct recount *recount, uint64_t pfn)
{
	struct recount_memory *memory = recount->memory;
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t nr = pfn >> n[N_SECTION_SHIFT], at = n[N_SECTIONS];

	if (memory->section == nr)
		return;
	memory->section = nr;
	memory->online = false;
	memory->ext = memory->usage = 0;
	if (!n[N_SECTIONS_PER_ROOT] || nr / n[N_SECTIONS_PER_ROOT] >= image->layout.section_roots)
		return;
	if (n[N_SECTIONS_EXTREME]) {
		at = image_u64(image, at);
		if (at)
			at = image_u64(image, at + nr / n[N_SECTIONS_PER_ROOT] * 8);
		if (!at)
			return;
		at += nr % n[N_SECTIONS_PER_ROOT] * n[N_SECTION_SIZE];
	} else {
		at += nr * n[N_SECTION_SIZE];
	}
	memory->online = image_u64(image, at + n[N_SECTION_MAP]) & n[N_SECTION_ONLINE];
	memory->usage = image_u64(image, at + n[N_SECTION_USAGE]);
	if (n[N_SECTION_EXT])
		memory->ext = image_u64(image, at + n[N_SECTION_EXT]);
}

uint64_t image_page_slots(const struct recount *recount, uint64_t pfn, uint64_t *size)
{
	const struct recount_memory *memory = recount->memory;

	*size = 2;
	return memory->store == recount->image->n[N_STORE_SLOT] ? memory->slots + pfn * 2 : 0;
}

uint64_t image_page_ext(struct recount *recount, uint64_t pfn, uint64_t *size)
{
	const struct recount_memory *memory = recount->memory;

	find_section(recount, pfn);
	*size = memory->ext_size;
	return memory->ext && !(memory->ext & EXT_INVALID) && memory->ext_size <= DUMP_PAGE ?
	       memory->ext + memory->ext_size * pfn : 0;
}

static uint16_t page_id(struct recount *recount, uint64_t pfn, uint64_t flags)
{
	struct recount_memory *memory = recount->memory;
	struct image *image = recount->image;
	const uint64_t *n = image->n;

	if (memory->store == n[N_STORE_FLAGS])
		return (uint16_t)(flags >> image->layout.flags_shift &
				  ((1U << image->layout.flags_bits) - 1));
	if (memory->store == n[N_STORE_SLOT])
		return image_u16(image, memory->slots + pfn * 2);
	if (!memory->ext || memory->ext & EXT_INVALID)
		return 0;
	return image_u16(image, memory->ext + memory->ext_size * pfn + memory->ext_offset);
}

static bool is_mark(const struct image *image, uint16_t id)
{
	return id >= image->n[N_ID_TAIL] && id < image->n[N_ID_FIRST];
}

/*
 * In an allocation of several pages that is no compound page, the first page holds a mark with
 * the number of pages. The second page holds the id. While pages are freed to which others hold
 * references, it is the other way round.
 */
static void find_id(struct recount *recount, struct image_page *page)
{
	const uint64_t *n = recount->image->n;
	uint64_t flags;

	page->id = page_id(recount, page->pfn, page->flags);
	if (page->pfn & 1 || !is_mark(recount->image, page->id))
		return;
	page->mark = page->id;
	flags = image_u64(recount->image, page->va + n[N_PAGE_SIZE_OF] + n[N_PAGE_FLAGS]);
	page->id = page_id(recount, page->pfn + 1, flags);
	if (is_mark(recount->image, page->id))
		page->id = 0;
}

bool image_page_read(struct recount *recount, uint64_t pfn, struct image_page *page)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	char raw[256] = { 0 };	/* the largest size that numbers_sane() accepts */
	uint64_t info;

	*page = (struct image_page){
		.pfn = pfn, .va = image->layout.memory_map + pfn * n[N_PAGE_SIZE_OF],
	};
	find_section(recount, pfn);
	if (n[N_SECTIONS] && !recount->memory->online)
		return false;
	if (!image_read(image, page->va, raw, n[N_PAGE_SIZE_OF]))
		return false;
	page->flags = get64(raw, n[N_PAGE_FLAGS]);
	page->type = get32(raw, n[N_PAGE_TYPE]);
	page->mapping = get64(raw, n[N_FOLIO_MAPPING]);
	page->references = get32(raw, n[N_FOLIO_REFCOUNT]);
	info = get64(raw, n[N_SLAB_CACHE]);
	page->head = page->va;
	if (info & 1) {
		page->is_tail = true;
		page->head = info - 1;
		/* Or a mask for its own address. */
		if (!((~(info - 1) + 1) & ~(info - 1)))
			page->head = page->va & info;
	} else if (page->flags >> n[N_PG_HEAD] & 1) {
		uint8_t order = 0;

		page->is_head = true;
		image_read(image, page->va + n[N_FOLIO_FLAGS_1], &order, sizeof(order));
		page->order = order <= MAX_ORDER ? order : 0;
		/* HugeTLB can map the first struct pages of a huge page again, in place of its last. */
		if (pfn & ((1ULL << page->order) - 1)) {
			page->is_head = false;
			page->is_tail = true;
			page->head = image->layout.memory_map +
				     (pfn >> page->order << page->order) * n[N_PAGE_SIZE_OF];
			page->order = 0;
		}
	}
	page->is_slab = !page->is_tail && page->type >> 24 == n[N_TYPE_SLAB];
	find_id(recount, page);
	return true;
}

/* The first three bits of a block, in every kernel. */
unsigned int image_migratetype(struct recount *recount, uint64_t pfn)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t block, at;

	find_section(recount, pfn);
	if (!n[N_SECTIONS] || !recount->memory->usage)
		return 0;
	block = (pfn & ((1ULL << n[N_SECTION_SHIFT]) - 1)) >> image->layout.block_order;
	at = block * n[N_BLOCK_BITS];
	return (unsigned int)(image_u64(image, recount->memory->usage + n[N_USAGE_BLOCK_FLAGS] +
					at / 64 * 8) >> at % 64 & 7);
}

unsigned int image_page_order(struct recount *recount, const struct image_page *page)
{
	struct image *image = recount->image;
	unsigned int order = page->order;

	if (!order && page->mark) {
		order = page->mark - (unsigned int)image->n[N_ID_TAIL];
	} else if (!order && !(page->pfn & 1)) {
		uint64_t flags = image_u64(image, page->va + image->n[N_PAGE_SIZE_OF] +
					   image->n[N_PAGE_FLAGS]);
		uint16_t next = page_id(recount, page->pfn + 1, flags);

		if (is_mark(image, next))
			order = next - (unsigned int)image->n[N_ID_TAIL];
	}
	return order < 64 && !(page->pfn & ((1ULL << order) - 1)) ? order : 0;
}

/* ---- slabs ------------------------------------------------------------------------ */

static bool read_cache(struct image *image, struct image_cache *cache)
{
	const uint64_t *n = image->n;
	size_t size = n[N_CACHE_STRUCT_SIZE];
	char *raw = xmalloc(size);
	bool good = false;

	if (image_read(image, cache->address, raw, size)) {
		cache->size = get32(raw, n[N_CACHE_SIZE]);
		cache->object_size = get32(raw, n[N_CACHE_OBJECT_SIZE]);
		cache->flags = get32(raw, n[N_CACHE_FLAGS]);
		cache->vector = raw[n[N_CACHE_VECTOR]];
		cache->free_pointer = get32(raw, n[N_CACHE_OFFSET]);
		if (cache->flags & n[N_RED_ZONE])
			cache->pad = get32(raw, n[N_CACHE_RED]);
		image_string(image, get64(raw, n[N_CACHE_NAME]), cache->name, sizeof(cache->name));
		good = cache->size >= 8 && cache->size <= image->page_size << MAX_SLAB_ORDER &&
		       cache->object_size <= cache->size && cache->pad < cache->size;
	}
	free(raw);
	return good;
}

static const struct image_cache *find_cache(struct recount *recount, uint64_t address)
{
	struct recount_memory *memory = recount->memory;
	struct cached **bucket = &memory->cache[address / 64 % CACHE_BUCKETS], *c;

	for (c = *bucket; c; c = c->next)
		if (c->cache.address == address)
			return c->good ? &c->cache : NULL;
	if (memory->caches >= MAX_CACHES)
		return NULL;
	memory->caches++;
	c = xcalloc(1, sizeof(*c));
	c->cache.address = address;
	c->good = read_cache(recount->image, &c->cache);
	c->next = *bucket;
	*bucket = c;
	return c->good ? &c->cache : NULL;
}

static bool is_kfence(struct image *image, uint64_t address)
{
	uint64_t pool = image->n[N_KFENCE_POOL] ? image_u64(image, image->n[N_KFENCE_POOL]) : 0;

	return pool && address - pool < image->n[N_KFENCE_SIZE];
}

/*
 * KFENCE puts an object at the begin or at the end of its page, and its metadata says where. The
 * first two pages of the pool have no object, and then each second one has.
 */
uint64_t image_kfence_object(struct image *image, uint64_t page)
{
	const uint64_t *n = image->n;
	uint64_t pool = image_u64(image, n[N_KFENCE_POOL]);
	uint64_t at = n[N_KFENCE_METADATA] ? image_u64(image, n[N_KFENCE_METADATA]) : 0;
	uint64_t number = ((page - pool) >> image->page_shift) / 2 - 1, address;

	if (!at || !n[N_KFENCE_OBJECT_SIZE_OF] ||
	    number >= n[N_KFENCE_METADATA_SIZE] / n[N_KFENCE_OBJECT_SIZE_OF])
		return page;
	at += number * n[N_KFENCE_OBJECT_SIZE_OF];
	address = image_u64(image, at + n[N_KFENCE_OBJECT_ADDRESS]);
	return address - page < image->page_size ? address : page;
}

/* The same computation as in mm/codetag/slab_ref.c. */
bool image_slab_read(struct recount *recount, const struct image_page *page,
		     struct image_slab *slab)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t size = image->page_size << page->order, vector = 0, mask = image->layout.objects;
	uint64_t cache = image_u64(image, page->va + n[N_SLAB_CACHE]);
	bool kfence;
	unsigned int objects, plain, inline_bytes, inline_objects;

	*slab = (struct image_slab){ .pfn = page->pfn, .order = page->order };
	slab->start = image->layout.direct_map + (page->pfn << image->page_shift);
	kfence = is_kfence(image, slab->start);
	/* The kernel is making this slab, or it is a page of KFENCE's that never had an object. */
	if (!cache || cache == LIST_POISON1 || cache - page->va < n[N_PAGE_SIZE_OF])
		return false;
	slab->cache = find_cache(recount, cache);
	if (page->order > MAX_SLAB_ORDER || !slab->cache || slab->cache->size > size) {
		/* KFENCE's page remembers a cache that may be gone. */
		image->damaged_slabs += !kfence;
		return false;
	}
	if (kfence) {
		slab->kfence = slab->single = true;
		slab->objects = 1;
		slab->start = image_kfence_object(image, slab->start);
		return true;
	}

	slab->shift = 31 - (unsigned int)__builtin_clz(slab->cache->size);
	plain = (unsigned int)(size / slab->cache->size);
	inline_bytes = (unsigned int)(size >> slab->shift) * 2;
	inline_objects = (unsigned int)((size - inline_bytes) / slab->cache->size);
	if (!inline_objects)
		inline_objects = 1;
	if (slab->cache->vector)
		vector = page->order ? image_u64(image, page->va + n[N_PAGE_SIZE_OF] + n[N_PAGE_PRIVATE]) :
			 find_far(recount, page->va);

	objects = (unsigned int)(mask ? (image_u64(image, page->va + n[N_SLAB_COUNTERS]) & mask) >>
				 __builtin_ctzll(mask) : 0);
	/* A slab that is just being freed has no vector any more, and then no ids either. */
	if (objects > (vector ? plain : inline_objects))
		return false;
	slab->objects = objects;
	slab->single = objects == 1;
	if (vector) {
		slab->ids = vector;
		slab->nr_ids = ((plain - 1) * slab->cache->size + slab->cache->pad) >> slab->shift;
		slab->nr_ids++;
	} else {
		slab->ids = slab->start + size - inline_bytes;
		slab->nr_ids = inline_bytes / 2;
	}
	return true;
}

uint64_t image_object(const struct image_slab *slab, unsigned int i)
{
	return slab->kfence ? slab->start :
			      slab->start + (uint64_t)i * slab->cache->size + slab->cache->pad;
}

/* Reads all ids of the slab at once, because reading an image is slow. */
static bool load_ids(struct recount *recount, const struct image_slab *slab)
{
	struct recount_memory *memory = recount->memory;

	if (memory->ids_of && memory->ids_of == slab->ids && memory->ids_count >= slab->nr_ids)
		return true;
	memory->ids_of = 0;
	if (memory->ids_room < slab->nr_ids) {
		memory->ids = xreallocarray(memory->ids, slab->nr_ids, sizeof(*memory->ids));
		memory->ids_room = slab->nr_ids;
	}
	if (!image_read(recount->image, slab->ids, memory->ids, slab->nr_ids * sizeof(*memory->ids)))
		return false;
	memory->ids_of = slab->ids;
	memory->ids_count = slab->nr_ids;
	return true;
}

uint16_t image_object_id(struct recount *recount, const struct image_slab *slab, unsigned int i)
{
	uint64_t n = ((uint64_t)i * slab->cache->size + slab->cache->pad) >> slab->shift;

	if (slab->single)
		return image_u16(recount->image, recount->image->layout.memory_map +
				 slab->pfn * recount->image->n[N_PAGE_SIZE_OF] +
				 recount->image->n[N_PAGE_TYPE]);
	if (n >= slab->nr_ids || !load_ids(recount, slab))
		return 0;
	return recount->memory->ids[n];
}

/* The pointer of a page to its control group; a slab has an array of pointers there. */
static uint64_t page_group(struct recount *recount, const struct image_page *page)
{
	const uint64_t *n = recount->image->n;
	uint64_t group = image_u64(recount->image, page->va + n[N_PAGE_GROUP]);

	return group & n[N_GROUP_VECTOR] ? 0 : group & ~n[N_GROUP_FLAGS];
}

/*
 * The pointers of a slab's objects. Linux 7 can have that of each object behind the object; then
 * the first one is within the first object.
 */
static uint64_t slab_groups(struct recount *recount, const struct image_page *page,
			    const struct image_slab *slab, uint64_t *stride)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t groups = image_u64(image, page->va + n[N_SLAB_GROUPS]) & ~n[N_GROUP_FLAGS];

	*stride = groups - slab->start < slab->cache->size ? slab->cache->size : 8;
	return groups;
}

static void recount_slab(struct recount *recount, const struct image_page *page)
{
	uint64_t groups = 0, stride = 0;
	struct image_slab slab;

	if (!image_slab_read(recount, page, &slab))
		return;
	if (!slab.single && !load_ids(recount, &slab))
		return;
	if (recount->groups)
		groups = slab_groups(recount, page, &slab, &stride);
	for (unsigned int i = 0; i < slab.objects; i++) {
		struct holding holding = {
			.holder = HOLDER_OBJECT, .id = image_object_id(recount, &slab, i),
			.bytes = slab.cache->size, .address = image_object(&slab, i),
			.pfn = slab.pfn, .flags = page->flags, .order = slab.order,
			.cache = slab.cache,
		};

		if (!holding.id)
			continue;
		if (groups)
			holding.group = image_u64(recount->image, groups + i * stride);
		recount->objects++;
		recount->visit(recount->data, &holding);
	}
}

static uint64_t recount_page(struct recount *recount, const struct image_page *page)
{
	struct image *image = recount->image;
	/* The second page's id has already been counted. */
	uint64_t nr = page->mark ? 2 : page->is_head ? 1ULL << page->order : 1;

	if (recount->visit_page)
		recount->visit_page(recount->data, page, nr);
	if (page->id && !is_mark(image, page->id)) {
		struct holding holding = {
			.holder = HOLDER_PAGES, .id = page->id,
			.order = image_page_order(recount, page),
			.pfn = page->pfn, .flags = page->flags,
			.address = image->layout.direct_map + (page->pfn << image->page_shift),
		};

		holding.bytes = image->page_size << holding.order;
		if (recount->groups)
			holding.group = page_group(recount, page);
		recount->visit(recount->data, &holding);
	}
	if (page->is_slab)
		recount_slab(recount, page);
	return nr;
}

/*
 * The number of struct pages from this one on that have never been written, because the page
 * that they are in is zero. Returns 0 at once if anything says that this page is in use.
 */
static uint64_t unwritten(struct recount *recount, const struct image_page *page)
{
	static const uint8_t zeros[DUMP_PAGE];
	struct image *image = recount->image;
	uint64_t size = image->n[N_PAGE_SIZE_OF], pa;
	const void *map;

	if (page->va % DUMP_PAGE || DUMP_PAGE % size || page->flags || page->type ||
	    page->references || page->id || !image_translate(image, page->va, &pa))
		return 0;
	map = image_page(image, pa, DUMP_PAGE);
	return map && !memcmp(map, zeros, DUMP_PAGE) ? DUMP_PAGE / size : 0;
}

static void recount_pages(struct recount *recount)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t end = image->max_pa >> image->page_shift, nr;
	struct image_page page;

	for (uint64_t pfn = 0; pfn < end && image_step(image); pfn += nr) {
		nr = 1;
		if (!image_page_read(recount, pfn, &page)) {
			if (n[N_SECTIONS] && !recount->memory->online)
				nr = (1ULL << n[N_SECTION_SHIFT]) -
				     (pfn & ((1ULL << n[N_SECTION_SHIFT]) - 1));
			continue;
		}
		nr = unwritten(recount, &page);
		if (nr) {
			recount->pages += nr;
			continue;
		}
		nr = 1;
		if (n[N_DEVICE_ZONE] && (page.flags >> n[N_ZONE_SHIFT] & n[N_ZONE_MASK]) == n[N_DEVICE_ZONE])
			continue;
		if (!page.is_tail)
			nr = recount_page(recount, &page);
		recount->pages += nr;
	}
}

/* ---- percpu ----------------------------------------------------------------------- */

static bool bit(const uint64_t *map, uint64_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

/* A bitmap of @bits bits; to be freed. */
static uint64_t *read_map(struct image *image, uint64_t address, uint64_t bits)
{
	uint64_t words = (bits + 63) / 64;
	uint64_t *map = xcalloc(words + 1, 8);

	/* The dump may lack the page after the bitmap, so do not read beyond its end. */
	image_read(image, address, map, words * 8);
	return map;
}

/* A chunk of percpu memory while it is being read */
struct chunk {
	uint64_t base, unit, pages, first, last, bits;
	uint64_t *allocated, *bounds, *populated, *blocks;
};

static bool chunk_read(struct image *image, uint64_t at, struct chunk *c)
{
	const uint64_t *n = image->n;
	uint64_t ids;

	*c = (struct chunk){ .unit = n[N_CHUNK_UNIT], .pages = image_u32(image, at + n[N_CHUNK_PAGES]) };
	if (!c->pages || c->pages > MAX_CHUNK_PAGES || image_exhausted(image) ||
	    c->pages > (dump_size(image->dump) >> image->page_shift) + 1024)
		return false;
	c->bits = (c->pages << image->page_shift) / c->unit;
	c->first = image_u32(image, at + n[N_CHUNK_START]) / c->unit;
	c->last = image_u32(image, at + n[N_CHUNK_END]) / c->unit;
	c->last = c->last < c->bits ? c->bits - c->last : 0;
	c->base = image_u64(image, at + n[N_CHUNK_BASE]);
	c->allocated = read_map(image, image_u64(image, at + n[N_CHUNK_ALLOCATED]), c->bits);
	c->bounds = read_map(image, image_u64(image, at + n[N_CHUNK_BOUNDS]), c->bits + 1);
	c->populated = read_map(image, at + n[N_CHUNK_POPULATED], c->pages);
	c->blocks = xcalloc(c->pages, 8);
	ids = image_u64(image, at + n[N_CHUNK_IDS]);
	if (ids)
		image_read(image, ids, c->blocks, c->pages * 8);
	return true;
}

static void chunk_free(struct chunk *c)
{
	free(c->allocated);
	free(c->bounds);
	free(c->populated);
	free(c->blocks);
}

/* The next allocation from @i on: its beginning, end and id. UINT64_MAX: there is none. */
static uint64_t chunk_next(struct image *image, const struct chunk *c, uint64_t i, uint64_t *end,
			   uint16_t *id)
{
	for (i = i > c->first ? i : c->first; i < c->last; i++) {
		uint64_t at = i * c->unit, page = at >> image->page_shift, block = c->blocks[page];

		if (!bit(c->allocated, i) || !bit(c->bounds, i) || !bit(c->populated, page))
			continue;
		*id = (uint16_t)image->n[N_ID_UNREPRESENTABLE];
		if (block)
			*id = image_u16(image, block + image_in_page(image, at) / c->unit * 2);
		for (*end = i + 1; *end < c->bits && !bit(c->bounds, *end); (*end)++)
			;
		return i;
	}
	return UINT64_MAX;
}

static bool recount_chunk(struct recount *recount, uint64_t at, void *unused)
{
	struct image *image = recount->image;
	struct chunk c;
	uint64_t end = 0;

	(void)unused;
	if (!chunk_read(image, at, &c))
		return false;
	if (recount->visit_chunk) {
		struct percpu_chunk chunk = {
			c.base, c.pages << image->page_shift, c.first * c.unit, c.last * c.unit, c.blocks,
		};

		recount->visit_chunk(recount->data, &chunk);
	}
	for (;;) {
		struct holding holding = { .holder = HOLDER_PERCPU };
		uint64_t i = chunk_next(image, &c, end, &end, &holding.id);

		if (i == UINT64_MAX)
			break;
		if (!holding.id)
			continue;
		holding.address = c.base + i * c.unit;
		holding.bytes = (end - i) * c.unit * image->cpus;
		recount->objects++;
		recount->visit(recount->data, &holding);
	}
	chunk_free(&c);
	return false;
}

/* Calls @function for each chunk until it returns true, and returns whether it did. */
static bool each_chunk(struct recount *recount,
		       bool (*function)(struct recount *recount, uint64_t chunk, void *data),
		       void *data)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t lists = image_u64(image, n[N_CHUNK_LISTS]), chunks = 0, reserved = 0;
	uint32_t nr = image_u32(image, n[N_CHUNK_NR_LISTS]);

	for (uint32_t i = 0; i < nr && i < 256; i++) {
		uint64_t head = lists + 16ULL * i, at = image_u64(image, head);

		for (; at && at != head && chunks < MAX_CHUNKS && !image_exhausted(image); chunks++) {
			if (function(recount, at - n[N_CHUNK_LIST], data))
				return true;
			at = image_u64(image, at);
		}
	}
	if (n[N_CHUNK_RESERVED])
		reserved = image_u64(image, n[N_CHUNK_RESERVED]);
	return reserved && function(recount, reserved, data);
}

struct percpu_search {
	uint64_t address;
	struct percpu_place *place;
};

static bool search_chunk(struct recount *recount, uint64_t at, void *data)
{
	const struct percpu_search *search = data;
	struct percpu_place *place = search->place;
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t offsets = n[N_UNIT_OFFSETS] ? image_u64(image, n[N_UNIT_OFFSETS]) : 0;
	uint64_t base = image_u64(image, at + n[N_CHUNK_BASE]), offset = 0, end = 0, i;
	uint64_t size = (uint64_t)image_u32(image, at + n[N_CHUNK_PAGES]) << image->page_shift;
	struct chunk c;
	uint16_t id;
	uint64_t cpu;

	for (cpu = 0; cpu < image->layout.nr_cpus; cpu++) {
		offset = search->address - base - (offsets ? image_u64(image, offsets + 8 * cpu) : 0);
		if (offset < size)
			break;
	}
	if (cpu >= image->layout.nr_cpus || !chunk_read(image, at, &c))
		return false;
	/* Chunks can share a page. */
	if (offset / c.unit < c.first || offset / c.unit >= c.last) {
		chunk_free(&c);
		return false;
	}
	*place = (struct percpu_place){ .cpu = (unsigned int)cpu, .offset = offset };
	while ((i = chunk_next(image, &c, end, &end, &id)) != UINT64_MAX && i * c.unit <= offset) {
		if (offset >= end * c.unit)
			continue;
		place->offset = offset - i * c.unit;
		place->size = (end - i) * c.unit;
		place->id = id;
		break;
	}
	chunk_free(&c);
	return true;
}

bool recount_find_percpu(struct recount *recount, uint64_t address, struct percpu_place *place)
{
	struct percpu_search search = { address, place };

	return each_chunk(recount, search_chunk, &search);
}

static bool add_populated(struct recount *recount, uint64_t at, void *data)
{
	uint64_t *pages = data;

	*pages += image_u32(recount->image, at + recount->image->n[N_CHUNK_NR_POPULATED]);
	return false;
}

uint64_t recount_percpu_pages(struct recount *recount)
{
	const uint64_t *n = recount->image->n;
	uint64_t pages = (n[N_PERCPU_END] - n[N_PERCPU_START]) >> recount->image->page_shift;

	each_chunk(recount, add_populated, &pages);
	return pages;
}

/*
 * The pages of a part of the memory map that are the kernel's since boot. The map of memory that
 * was plugged in later is allocated, and HugeTLB maps one page in place of many.
 */
static uint64_t boot_pages(struct image *image, uint64_t from, uint64_t to)
{
	const uint64_t *n = image->n;
	uint64_t map = image->layout.memory_map, pages = 0, last = UINT64_MAX, pa, flags;

	for (uint64_t va = map + from; va < map + to && image_step(image); va += image->page_size) {
		if (!image_translate(image, va, &pa) || pa >> image->page_shift == last)
			continue;
		last = pa >> image->page_shift;
		flags = image_u64(image, map + last * n[N_PAGE_SIZE_OF] + n[N_PAGE_FLAGS]);
		pages += flags >> n[N_PG_RESERVED] & 1;
	}
	return pages;
}

uint64_t image_memory_map_pages(struct recount *recount)
{
	struct image *image = recount->image;
	const uint64_t *n = image->n;
	uint64_t end = image->max_pa >> image->page_shift, step = 1ULL << n[N_SECTION_SHIFT], pages = 0;

	if (!n[N_SECTIONS])
		return boot_pages(image, 0, end * n[N_PAGE_SIZE_OF]);
	for (uint64_t pfn = 0; pfn < end && image_step(image); pfn += step) {
		find_section(recount, pfn);
		if (recount->memory->online)
			pages += boot_pages(image, pfn * n[N_PAGE_SIZE_OF],
					    (pfn + step) * n[N_PAGE_SIZE_OF]);
	}
	return pages;
}

void recount_percpu(struct recount *recount)
{
	each_chunk(recount, recount_chunk, NULL);
}

void recount_all(struct recount *recount)
{
	recount_percpu(recount);
	recount_pages(recount);
}
