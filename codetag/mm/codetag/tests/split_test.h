/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the tests of split call sites: splitting, and looking at the contexts.
 */
#ifndef _MM_CODETAG_SPLIT_TEST_H
#define _MM_CODETAG_SPLIT_TEST_H

#include <kunit/test.h>
#include <linux/gfp.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "../context.h"
#include "../context_pool.h"
#include "../site.h"
#include "../slab_ref.h"
#include "../split.h"
#include "../totals.h"

#ifdef CONFIG_CODETAG_CONTEXTS

#define MAX_FOUND	64

/* A tag of this file, through which nothing else allocates. */
static inline struct alloc_tag *own_tag(void)
{
	DEFINE_ALLOC_TAG(tag);

	return &tag;
}

static inline u16 own_id(void)
{
	return own_tag() - __start_alloc_tags + CODETAG_ID_FIRST;
}

#define own(_do_alloc)	alloc_hooks_tag(own_tag(), _do_alloc)

static inline void split_id(struct kunit *test, u16 id, unsigned int mask, unsigned int depth,
			    unsigned int max)
{
	struct codetag_keys keys = { .mask = mask, .depth = depth, .max = max };
	struct codetag_site *site;
	struct codetag_info info;

	codetag_lock();
	KUNIT_ASSERT_TRUE(test, codetag_info_of(id, &info));
	site = codetag_split_new(&info, &keys);
	if (site)
		codetag_split(site);
	codetag_unlock();
	KUNIT_ASSERT_NOT_NULL(test, site);
	codetag_split_switch();
}

static inline void split_by(struct kunit *test, unsigned int mask)
{
	split_id(test, own_id(), mask, CODETAG_DEPTH_STACK, CODETAG_SITE_CONTEXTS);
}

static inline void unsplit_id(u16 id)
{
	struct codetag_info info;

	codetag_lock();
	if (codetag_info_of(id, &info))
		codetag_unsplit(&info);
	codetag_unlock();
	codetag_split_switch();
}

/* The listed values of a context */
struct found {
	u16 id;
	unsigned int split_by;
	unsigned int nr_frames;
	u64 words[CODETAG_VALUE_WORDS];
	unsigned long stack[CODETAG_DEPTH_MAX];
	s64 bytes;
	s64 calls;
	u64 allocs;
};

static inline unsigned int find_all(struct kunit *test, u16 id, struct found *found)
{
	struct codetag_context *ctx;
	struct codetag_sum sum;
	unsigned int nr = 0;

	codetag_contexts_lock();
	for (ctx = codetag_context_next(0); ctx; ctx = codetag_context_next(ctx->id + 1)) {
		if (ctx->site->id != id)
			continue;
		if (nr == MAX_FOUND)
			break;
		sum = alloc_tag_read(ctx->id);
		found[nr] = (struct found) {
			.id = ctx->id,
			.split_by = ctx->split_by,
			.nr_frames = ctx->nr_frames,
			.bytes = sum.bytes,
			.calls = sum.calls,
			.allocs = sum.allocs + sum.parts,
		};
		memcpy(found[nr].words, ctx->words, sizeof(ctx->words));
		memcpy(found[nr].stack, ctx->stack, sizeof(ctx->stack));
		nr++;
	}
	codetag_contexts_unlock();
	return nr;
}

static inline struct found *found_of(struct kunit *test, unsigned int *nr)
{
	struct found *found = kunit_kcalloc(test, MAX_FOUND, sizeof(*found), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, found);
	*nr = find_all(test, own_id(), found);
	return found;
}

static inline struct found *one(struct kunit *test)
{
	struct found *found;
	unsigned int nr;

	found = found_of(test, &nr);
	KUNIT_ASSERT_EQ(test, nr, 1);
	return found;
}

/* The one whose word number @i is @word. */
static inline struct found *with_word(struct kunit *test, unsigned int i, u64 word)
{
	struct found *found, *f;
	unsigned int nr;

	found = found_of(test, &nr);
	for (f = found; f < found + nr; f++)
		if (f->words[i] == word)
			return f;
	KUNIT_FAIL_AND_ABORT(test, "no context of %llu among %u", word, nr);
	return NULL;
}

static inline struct found *with(struct kunit *test, u64 word)
{
	return with_word(test, 0, word);
}

static inline void expect(struct kunit *test, const struct found *f, s64 bytes, s64 calls,
			  u64 allocs)
{
	KUNIT_EXPECT_EQ(test, f->bytes, bytes);
	KUNIT_EXPECT_EQ(test, f->calls, calls);
	KUNIT_EXPECT_EQ(test, f->allocs, allocs);
}

/* The counters of the site and all of its contexts */
static inline struct codetag_sum site_sum(u16 id)
{
	unsigned long pos = id;
	struct codetag_info info;

	codetag_lock();
	codetag_next(&pos, &info, NULL);
	codetag_unlock();
	return info.sum;
}

/* The row of the site: its own and all of its contexts. */
static inline void expect_site(struct kunit *test, u16 id, s64 bytes, s64 calls)
{
	unsigned long pos = id;
	struct codetag_info info;

	codetag_lock();
	KUNIT_ASSERT_TRUE(test, codetag_next(&pos, &info, NULL));
	codetag_unlock();
	KUNIT_EXPECT_EQ(test, pos, id);
	KUNIT_EXPECT_EQ(test, info.bytes, bytes);
	KUNIT_EXPECT_EQ(test, (s64)info.calls, calls);
}

static inline struct codetag_context_use use(void)
{
	struct codetag_context_use use;

	codetag_context_use(&use);
	return use;
}

static inline struct codetag_id_use id_use(void)
{
	struct codetag_id_use use;

	codetag_lock();
	codetag_id_use(&use);
	codetag_unlock();
	return use;
}

/* The first run keeps contexts that were used since the last one, so run it twice. */
static inline void reap(void)
{
	codetag_contexts_reap();
	codetag_contexts_reap();
}

static inline long site_lost(u16 id)
{
	struct codetag_site *site;
	long lost = -1;

	codetag_contexts_lock();
	list_for_each_entry(site, &codetag_sites, list)
		if (site->id == id)
			lost = codetag_site_lost(site);
	codetag_contexts_unlock();
	return lost;
}

static inline size_t slab_bytes(const void *object)
{
	return virt_to_slab(object)->slab_cache->size;
}

static inline u64 gfp_word(gfp_t gfp)
{
	return (u64)(__force u32)gfp << CODETAG_GFP_SHIFT;
}

/* After each case nothing is split, and no context is left. */
static inline void split_test_exit(struct kunit *test)
{
	DECLARE_SEQ_BUF(out, 128);

	unsplit_id(own_id());
	KUNIT_EXPECT_EQ(test, codetag_contexts_check(&out), 0);
	reap();
	KUNIT_EXPECT_EQ(test, use().used, 0);
	KUNIT_EXPECT_EQ(test, use().free, 0);
	KUNIT_EXPECT_EQ(test, id_use().contexts, 0);
}

#endif /* CONFIG_CODETAG_CONTEXTS */

#endif /* _MM_CODETAG_SPLIT_TEST_H */
