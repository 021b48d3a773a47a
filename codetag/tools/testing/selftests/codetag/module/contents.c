// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contents: every byte of an object belongs to the owner of the object.
 *
 * Objects of every kmalloc() size and of caches of many sizes, alignments and flags
 * are filled from the first byte to the last one. Later allocations and frees next to
 * them must not change a byte. Each object has another value than its neighbours.
 */
#include <linux/bitops.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "codetag_test.h"

/* Objects of a cache: more than one slab, unless slabs are very large. */
#define CONTENTS_BYTES	SZ_64K
#define CONTENTS_MIN	12
#define CONTENTS_MAX	1200

/* Objects that one call allocates or frees. */
#define CONTENTS_BULK	8

/* The contents of free objects of a cache with a constructor. */
#define CONSTRUCTED	0x33

/**
 * struct contents - objects of one size from one cache
 * @name:	name for the report
 * @size:	bytes that belong to the owner of an object
 * @gfp:	how they are allocated
 * @cache:	their cache, NULL for kmalloc()
 * @constructed: the cache has a constructor
 * @nr:		number of objects
 * @object:	the objects; NULL where one could not be allocated
 * @churned:	how often the odd ones were exchanged
 * @changed:	objects with a wrong byte
 * @first:	the first of these
 */
struct contents {
	char name[CT_CACHE_NAME];
	unsigned int size;
	gfp_t gfp;
	struct kmem_cache *cache;
	bool constructed;
	unsigned int nr;
	void **object;
	unsigned int churned;
	unsigned long changed;
	char first[80];
};

static const unsigned int sizes[] = {
	1, 8, 12, 24, 40, 64, 72, 100, 136, 192, 200, 256, 257, 504, 512, 1000, 1024,
	1360, 2040, 2048, 2056, 3000, 4096, 5000, 8192, 20000,
};

static const struct {
	const char *name;
	unsigned int align;
	slab_flags_t flags;
	bool constructed;
} variants[] = {
	{ "plain", 0, SLAB_NO_MERGE },
	{ "mergeable" },
	{ "lines", 0, SLAB_HWCACHE_ALIGN | SLAB_NO_MERGE },
	{ "page", PAGE_SIZE, SLAB_NO_MERGE },
	{ "rcu", 0, SLAB_TYPESAFE_BY_RCU | SLAB_ACCOUNT },
	{ "constructed", 0, SLAB_NO_MERGE, true },
#ifdef CONFIG_SLUB_DEBUG
	{ "checked", 0, SLAB_RED_ZONE | SLAB_POISON | SLAB_STORE_USER },
	{ "zones", 64, SLAB_RED_ZONE | SLAB_NO_MERGE },
#endif
};

static const struct {
	const char *name;
	gfp_t gfp;
} kinds[] = {
	{ "kmalloc", GFP_KERNEL },
	{ "kmalloc-cg", GFP_KERNEL_ACCOUNT },
	{ "kmalloc-rcl", GFP_KERNEL | __GFP_RECLAIMABLE },
#ifdef CONFIG_ZONE_DMA
	{ "dma-kmalloc", GFP_KERNEL | GFP_DMA },
#endif
};

/* At most one size of a cache per bit of the largest one, and one between. */
#define MAX_KMALLOC	(2 * BITS_PER_LONG)
#define MAX_CONTENTS	(ARRAY_SIZE(sizes) * ARRAY_SIZE(variants) + \
			 ARRAY_SIZE(kinds) * MAX_KMALLOC)

static struct contents *contents;
static unsigned int nr_contents;

/* Bytes of an object of the only cache that may get new slabs now. */
static unsigned int constructed_size;

static void construct(void *object)
{
	memset(object, CONSTRUCTED, constructed_size);
}

/* ---- one object ---------------------------------------------------------------- */

static void expect_bytes(struct contents *c, unsigned int i, u8 value, const char *when)
{
	const u8 *object = c->object[i], *wrong = memchr_inv(object, value, c->size);

	if (!wrong)
		return;
	if (!c->changed++)
		snprintf(c->first, sizeof(c->first), "object %u byte %td is %02x, not %02x, %s",
			 i, wrong - object, *wrong, value, when);
}

/* Neither a neighbour's, nor the one that the object had before it was exchanged. */
static u8 value_of(const struct contents *c, unsigned int i)
{
	return 1 + (i + i % 2 * c->churned * 101) % 0xfe;
}

/* A new object is as it has to be; then all of it is its owner's. */
static void fill(struct contents *c, unsigned int i, bool zeroed)
{
	if (!c->object[i])
		return;
	if (zeroed)
		expect_bytes(c, i, 0, "new");
	if (c->constructed)
		expect_bytes(c, i, CONSTRUCTED, "new");
	memset(c->object[i], value_of(c, i), c->size);
}

static void look(struct contents *c, unsigned int i, const char *when)
{
	if (c->object[i])
		expect_bytes(c, i, value_of(c, i), when);
}

/* ---- allocations and frees -------------------------------------------------------- */

static noinline void contents_alloc(struct contents *c, unsigned int i)
{
	bool zeroed = !c->constructed && i % 3 == 0;
	gfp_t gfp = c->gfp | (zeroed ? __GFP_ZERO : 0);

	constructed_size = c->size;
	c->object[i] = c->cache ? kmem_cache_alloc(c->cache, gfp) : kmalloc(c->size, gfp);
	fill(c, i, zeroed);
}

static noinline unsigned int contents_alloc_bulk(struct contents *c, void **vec,
						 unsigned int nr)
{
	unsigned int i;

	constructed_size = c->size;
	if (c->cache)
		return ct_alloc_bulk(c->cache, c->gfp, nr, vec);
	for (i = 0; i < nr; i++) {
		vec[i] = kmalloc(c->size, c->gfp);
		if (!vec[i])
			break;
	}
	return i;
}

static void contents_free_bulk(struct contents *c, void **vec, unsigned int nr)
{
	if (c->cache)
		kmem_cache_free_bulk(c->cache, nr, vec);
	else
		kfree_bulk(nr, vec);
}

/* Restore the constructed state before a free: the constructor is not called again. */
static void *leave(struct contents *c, unsigned int i)
{
	void *object = c->object[i];

	look(c, i, "freed");
	if (object && c->constructed)
		memset(object, CONSTRUCTED, c->size);
	c->object[i] = NULL;
	return object;
}

static void contents_free(struct contents *c, unsigned int i)
{
	void *object = leave(c, i);

	if (object && c->cache)
		kmem_cache_free(c->cache, object);
	else
		kfree(object);
}

/* Every @step objects from @i on, a few at a time. */
static void free_some(struct contents *c, unsigned int i, unsigned int step)
{
	void *vec[CONTENTS_BULK];
	unsigned int nr = 0;

	for (; i < c->nr; i += step) {
		vec[nr] = leave(c, i);
		nr += !!vec[nr];
		if (nr == CONTENTS_BULK) {
			contents_free_bulk(c, vec, nr);
			nr = 0;
		}
	}
	if (nr)
		contents_free_bulk(c, vec, nr);
}

static void alloc_some(struct contents *c, unsigned int i, unsigned int step)
{
	void *vec[CONTENTS_BULK];
	unsigned int nr, taken;

	while (i < c->nr) {
		nr = contents_alloc_bulk(c, vec, CONTENTS_BULK);
		for (taken = 0; taken < nr && i < c->nr; i += step) {
			c->object[i] = vec[taken++];
			fill(c, i, false);
		}
		if (taken < nr)
			contents_free_bulk(c, vec + taken, nr - taken);
		if (nr < CONTENTS_BULK)
			return;
	}
}

/* ---- all of a cache ----------------------------------------------------------------- */

static void look_at_all(struct contents *c, const char *when)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		look(c, i, when);
}

static void fill_all(struct contents *c)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		contents_alloc(c, i);
	look_at_all(c, "after allocations");
}

/* Other objects come where every second one was; the rest stays. */
static void churn(struct contents *c)
{
	unsigned int i;

	if (c->churned % 2)
		free_some(c, 1, 2);
	else
		for (i = 1; i < c->nr; i += 2)
			contents_free(c, i);
	look_at_all(c, "after frees");

	c->churned++;
	if (c->churned % 2)
		alloc_some(c, 1, 2);
	else
		for (i = 1; i < c->nr; i += 2)
			contents_alloc(c, i);
	look_at_all(c, "after other allocations");
}

static void drop_all(struct contents *c)
{
	unsigned int i;

	for (i = 0; i < c->nr; i += 2)
		contents_free(c, i);
	free_some(c, 1, 2);
}

/* ---- all caches ------------------------------------------------------------------------ */

static struct contents *add(const char *name, unsigned int size, unsigned int takes)
{
	struct contents *c = &contents[nr_contents];

	snprintf(c->name, sizeof(c->name), "%s-%u", name, size);
	c->size = size;
	c->nr = clamp(CONTENTS_BYTES / takes, CONTENTS_MIN, CONTENTS_MAX);
	c->object = ct_buffer(array_size(c->nr, sizeof(*c->object)));
	if (!c->object)
		return NULL;
	nr_contents++;
	return c;
}

static int add_caches(void)
{
	struct contents *c;
	int i, v;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (v = 0; v < ARRAY_SIZE(variants); v++) {
			c = add(variants[v].name, sizes[i], max(sizes[i], variants[v].align));
			if (!c)
				return -ENOMEM;
			c->gfp = GFP_KERNEL;
			c->constructed = variants[v].constructed;
			c->cache = kmem_cache_create(c->name, c->size, variants[v].align,
						     variants[v].flags,
						     c->constructed ? construct : NULL);
			if (!c->cache) {
				nr_contents--;
				vfree(c->object);
				return -ENOMEM;
			}
		}
	}
	return 0;
}

static int add_kmalloc(void)
{
	struct contents *c;
	size_t size;
	int k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size = kmalloc_size_roundup(1); size <= KMALLOC_MAX_CACHE_SIZE;
		     size = kmalloc_size_roundup(size + 1)) {
			c = add(kinds[k].name, size, size);
			if (!c)
				return -ENOMEM;
			c->gfp = kinds[k].gfp;
		}
	}
	return 0;
}

static void drop_contents(void)
{
	unsigned int i;

	for (i = 0; i < nr_contents; i++) {
		drop_all(&contents[i]);
		kmem_cache_destroy(contents[i].cache);
		contents[i].cache = NULL;
		vfree(contents[i].object);
		contents[i].object = NULL;
		contents[i].nr = 0;
	}
}

static void forget_contents(void)
{
	drop_contents();
	vfree(contents);
	contents = NULL;
	nr_contents = 0;
}

static int fill_contents(void)
{
	unsigned int i;
	int err;

	forget_contents();
	contents = ct_buffer(array_size(MAX_CONTENTS, sizeof(*contents)));
	if (!contents)
		return -ENOMEM;
	err = add_kmalloc() ?: add_caches();
	if (err) {
		forget_contents();
		return err;
	}
	for (i = 0; i < nr_contents; i++) {
		fill_all(&contents[i]);
		cond_resched();
	}
	return 0;
}

/**
 * ct_contents - one step of the test of contents
 * @step: fill, look, churn or drop
 *
 * The report keeps an error until the next fill.
 *
 * Return: 0, or an error if the step could not be done.
 */
int ct_contents(const char *step)
{
	unsigned int i;

	if (!strcmp(step, "fill"))
		return fill_contents();
	if (strcmp(step, "look") && strcmp(step, "churn") && strcmp(step, "drop"))
		return -EINVAL;
	for (i = 0; i < nr_contents; i++) {
		if (!strcmp(step, "churn"))
			churn(&contents[i]);
		else
			look_at_all(&contents[i], "later");
		cond_resched();
	}
	if (!strcmp(step, "drop"))
		drop_contents();
	return 0;
}

/**
 * ct_contents_show - print how many objects there are and which were changed
 * @m: where to print to
 */
void ct_contents_show(struct seq_file *m)
{
	unsigned long held = 0, bytes = 0, changed = 0;
	unsigned int i, j;

	for (i = 0; i < nr_contents; i++) {
		const struct contents *c = &contents[i];

		for (j = 0; j < c->nr; j++) {
			held += !!c->object[j];
			bytes += c->object[j] ? c->size : 0;
		}
		changed += c->changed;
		if (c->changed)
			seq_printf(m, "%s: %lu changed, first: %s\n", c->name, c->changed,
				   c->first);
	}
	seq_printf(m, "held: %lu objects, %lu bytes, %u caches, %lu changed\n", held, bytes,
		   nr_contents, changed);
}

void ct_contents_exit(void)
{
	forget_contents();
}
