// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of code tags: which tag has which id, or had it.
 *
 * The tags of built-in code are one array, so are their ids and counters. A
 * module gets blocks of ids and counters of its own. Its tags are in the module's
 * memory, so each block has a struct codetag_range that finds them. A range
 * outlives the module for as long as memory is charged to any of its ids: then it
 * holds copies of the names. Its ids are given out again only after that. So a module
 * that leaks one object each time it is loaded costs 32 ids each time, however many
 * call sites it has.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <kunit/static_stub.h>
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/ratelimit.h>
#include <linux/rculist.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include "internal.h"

unsigned long codetag_builtin_end __ro_after_init = CODETAG_ID_FIRST;
unsigned long builtin_alloc_tag_counters_size __ro_after_init =
	CODETAG_ID_FIRST * sizeof(struct alloc_tag_counters);

/* One above the highest id that may be given out, codetag.max_ids= lowers it. */
static u32 codetag_id_end __ro_after_init = CODETAG_ID_MAX + 1;

/*
 * The counters of the reserved ids come first in builtin_alloc_tag_counters[],
 * or rather as many elements as there are reserved ids: all are the same.
 */
static struct alloc_tag_counters reserved_counters[CODETAG_ID_FIRST] __used
	__section(PER_CPU_BASE_SECTION "..alloc_tags");

#define RESERVED_TAG(_id, _name) {			\
	.ct = {						\
		.id		= _id,			\
		.lineno		= _id,			\
		.function	= _name,		\
		.filename	= CODETAG_FILENAME("", "codetag"), \
	},						\
	.counters = &builtin_alloc_tag_counters[_id],	\
}

struct alloc_tag codetag_reserved_tags[CODETAG_ID_UNTAGGED] = {
	[CODETAG_ID_UNREPRESENTABLE] =
		RESERVED_TAG(CODETAG_ID_UNREPRESENTABLE, "not_representable"),
	[CODETAG_ID_EARLY] = RESERVED_TAG(CODETAG_ID_EARLY, "early"),
	[CODETAG_ID_UNLOADED] = RESERVED_TAG(CODETAG_ID_UNLOADED, "unloaded"),
};

struct alloc_tag alloc_tag_untagged = RESERVED_TAG(CODETAG_ID_UNTAGGED, "untagged");

static struct codetag *reserved_tag(u16 id)
{
	return id == CODETAG_ID_UNTAGGED ? &alloc_tag_untagged.ct : &codetag_reserved_tags[id].ct;
}

/* Protects the ranges, the blocks and what reports show of them. */
static DECLARE_RWSEM(codetag_sem);

LIST_HEAD(codetag_ranges);

/*
 * How often lines have come or gone. Changed with codetag_sem held for writing, or
 * for reading and with this lock.
 */
static u64 codetag_content_id = 1;
static DEFINE_MUTEX(codetag_content_lock);

/* Events that cost names or ids. Written under codetag_sem. */
static unsigned long codetag_modules_without_id;
static unsigned long codetag_names_lost;

/* Ids found in pages and objects that no tag has. */
static atomic_long_t codetag_ids_damaged;

#ifdef CONFIG_MODULES

/* The range that a block of ids belongs to. Written under codetag_sem. */
struct codetag_range *codetag_blocks[CODETAG_NR_BLOCKS];
static DECLARE_BITMAP(codetag_blocks_used, CODETAG_NR_BLOCKS);

/*
 * Read without a lock: an id that is looked up is that of charged memory, and the block
 * does not change while memory is charged to it.
 */
struct alloc_tag_counters __percpu *module_alloc_tag_counters[CODETAG_NR_BLOCKS];
u16 module_alloc_tag_sizes[CODETAG_NR_BLOCKS];

static struct codetag_range *range_of(unsigned int id)
{
	struct codetag_range *range = READ_ONCE(codetag_blocks[id >> CODETAG_BLOCK_SHIFT]);

	return range && id - range->first < range->nr ? range : NULL;
}

/* The first id from @id on that may have a range; CODETAG_ID_MAX + 1 if none. */
static unsigned int next_module_id(unsigned int id)
{
	unsigned int block = id >> CODETAG_BLOCK_SHIFT;
	struct codetag_range *range;

	for_each_set_bit_from(block, codetag_blocks_used, CODETAG_NR_BLOCKS) {
		id = max(id, block << CODETAG_BLOCK_SHIFT);
		range = codetag_blocks[block];
		if (range && !range->block && id - range->first < range->nr)
			return id;
	}
	return CODETAG_ID_MAX + 1;
}

#else

static struct codetag_range *range_of(unsigned int id) { return NULL; }
static unsigned int next_module_id(unsigned int id) { return CODETAG_ID_MAX + 1; }

#endif /* CONFIG_MODULES */

/* ---- long walks --------------------------------------------------------------- */

/**
 * codetag_rest - a chance for others to run, in the middle of a long walk
 * @steps: what was looked at since the last one: ids times CPUs, or sites times queries;
 *	   for the tests, which see to it that there is a bound
 *
 * Context: Process, with nothing held but mutexes and codetag_sem.
 */
void codetag_rest(unsigned long steps)
{
	KUNIT_STATIC_STUB_REDIRECT(codetag_rest, steps);
	cond_resched();
}

/* ---- sites that are split --------------------------------------------------- */

#ifdef CONFIG_CODETAG_CONTEXTS

/*
 * Protects the sites, the contexts and the blocks of contexts, but for the
 * existence of blocks. Taken by allocators: nothing is called with it held, but for
 * tracers of its contention, which can allocate, see codetag_context_locked().
 */
static DEFINE_RAW_SPINLOCK(context_lock);
static DEFINE_PER_CPU(bool, has_context_lock);

/**
 * codetag_context_lock - lock the sites, the contexts and their blocks
 *
 * Context: Any but NMI, unless codetag_context_locked().
 * Return: The flags for codetag_context_unlock().
 */
unsigned long codetag_context_lock(void)
	__acquires(&context_lock)
{
	unsigned long flags;

	local_irq_save(flags);
	__this_cpu_write(has_context_lock, true);
	raw_spin_lock(&context_lock);
	return flags;
}

/**
 * codetag_context_unlock - the end of codetag_context_lock()
 * @flags: what that returned
 */
void codetag_context_unlock(unsigned long flags)
	__releases(&context_lock)
{
	raw_spin_unlock(&context_lock);
	__this_cpu_write(has_context_lock, false);
	local_irq_restore(flags);
}

/**
 * codetag_context_locked - is this CPU in codetag_context_lock() already?
 *
 * Then a tracer interrupts what took the lock, a BPF program for example.
 *
 * Context: Any, with preemption disabled.
 * Return: Whether it is.
 */
bool codetag_context_locked(void)
{
	return this_cpu_read(has_context_lock);
}

LIST_HEAD(codetag_sites);

struct hlist_head codetag_sites_by_tag[1 << CODETAG_SITE_BITS];
static struct hlist_head sites_by_id[1 << CODETAG_SITE_BITS];

static struct hlist_head *bucket_by_id(u16 id)
{
	return &sites_by_id[id % ARRAY_SIZE(sites_by_id)];
}

/**
 * codetag_site_by_id - the site with an id, if it is or was split
 * @id: own id of the site
 *
 * Context: Any, with preemption disabled or under RCU for as long as the site is
 *	    used; or with codetag_sem held for writing.
 * Return: The site or NULL.
 */
struct codetag_site *codetag_site_by_id(u16 id)
{
	struct codetag_site *site;

	hlist_for_each_entry_rcu(site, bucket_by_id(id), by_id, true)
		if (site->id == id)
			return site;
	return NULL;
}

/**
 * codetag_site_split - set the keys that a site is split by
 * @new:	the site: its tag and id, by what it is to be split, and how far
 *
 * Context: With codetag_lock() held, one at a time.
 * Return: false if the site has been there, so that @new is not needed.
 */
bool codetag_site_split(struct codetag_site *new)
{
	unsigned int wanted = new->split_wanted, max = new->max;
	struct codetag_site *site, *before;
	unsigned long flags;

	/* Nobody else adds sites, and none goes: no need to look with interrupts disabled. */
	list_for_each_entry_reverse(before, &codetag_sites, list)
		if (before->id < new->id)
			break;

	flags = codetag_context_lock();
	site = codetag_site_by_id(new->id);
	if (!site) {
		site = new;
		list_add_rcu(&site->list, &before->list);
		hlist_add_head_rcu(&site->by_id, bucket_by_id(site->id));
		hlist_add_head_rcu(&site->by_tag, codetag_sites_of(site->ct));
	}
	site->max = max;
	WRITE_ONCE(site->keys, site->keys | (wanted & CODETAG_SPLIT_KEYS));
	WRITE_ONCE(site->split_wanted, wanted);
	codetag_context_unlock(flags);
	return site == new;
}

/**
 * codetag_site_unsplit - a site is to be split no more
 * @id: own id of the site
 *
 * Context: With codetag_lock() held.
 */
void codetag_site_unsplit(u16 id)
{
	struct codetag_site *site;
	unsigned long flags;

	flags = codetag_context_lock();
	site = codetag_site_by_id(id);
	if (site) {
		WRITE_ONCE(site->split_wanted, 0);
		WRITE_ONCE(site->split_now, 0);
	}
	codetag_context_unlock(flags);
}

/**
 * codetag_site_free - free a site that nobody can find
 * @site: the site, or NULL
 *
 * Context: Any but NMI.
 */
void codetag_site_free(struct codetag_site *site)
{
	if (site)
		free_percpu(site->lost);
	kfree(site);
}

static void free_site_rcu(struct rcu_head *rcu)
{
	codetag_site_free(container_of(rcu, struct codetag_site, rcu));
}

/**
 * codetag_site_release - let go of a site that is not split and has no contexts
 * @id:		own id of the site
 * @tag_gone:	its tag is going, so that it is not split any more
 *
 * Context: Process, with codetag_sem held for writing.
 */
void codetag_site_release(u16 id, bool tag_gone)
{
	struct codetag_site *site;
	unsigned long flags;

	flags = codetag_context_lock();
	site = codetag_site_by_id(id);
	if (site && tag_gone) {
		WRITE_ONCE(site->split_wanted, 0);
		WRITE_ONCE(site->split_now, 0);
		hlist_del_init_rcu(&site->by_tag);
	}
	if (site && !site->split_wanted && list_empty(&site->contexts)) {
		hlist_del_init_rcu(&site->by_tag);
		hlist_del_rcu(&site->by_id);
		list_del(&site->list);
	} else {
		site = NULL;
	}
	codetag_context_unlock(flags);
	if (site)
		call_rcu(&site->rcu, free_site_rcu);
}

/**
 * codetag_context_of - the context that has an id
 * @id: an id that a page or object holds, so that it stays as it is
 *
 * Context: Any.
 * Return: The context, NULL if the id is that of a site.
 */
struct codetag_context *codetag_context_of(u16 id)
{
	const struct codetag_range *range = id < codetag_builtin_end ? NULL : range_of(id);

	return range && range->block ? &range->block->contexts[id - range->first] : NULL;
}

/*
 * Add what the contexts of a site hold; they can be many, and so can the CPUs. Neither
 * the site nor a context in its list can go while codetag_sem is held.
 */
static void add_contexts(u16 id, struct alloc_tag_counters *sum, bool may_sleep)
{
	const struct codetag_context *ctx;
	const struct codetag_site *site;
	int cpu;

	lockdep_assert_held(&codetag_sem);
	site = codetag_site_by_id(id);
	if (!site)
		return;
	list_for_each_entry_rcu(ctx, &site->contexts, list, true) {
		for_each_possible_cpu(cpu) {
			sum->bytes += READ_ONCE(per_cpu_ptr(ctx->counters, cpu)->bytes);
			sum->calls += READ_ONCE(per_cpu_ptr(ctx->counters, cpu)->calls);
		}
		if (may_sleep)
			codetag_rest(num_possible_cpus());
	}
}

/* Publish to allocations whether the site is split, and by which keys. */
static void set_site_split(u16 id, bool split)
{
	struct codetag_site *site;
	unsigned long flags;

	flags = codetag_context_lock();
	site = codetag_site_by_id(id);
	if (site)
		WRITE_ONCE(site->split_now, split ? site->split_wanted : 0);
	codetag_context_unlock(flags);
}

static bool site_is_split(u16 id)
{
	const struct codetag_site *site;
	bool split;

	preempt_disable();
	site = codetag_site_by_id(id);
	split = site && READ_ONCE(site->split_now);
	preempt_enable();
	return split;
}

static bool has_contexts(u16 id)
{
	bool has;

	preempt_disable();
	has = codetag_site_by_id(id);
	preempt_enable();
	return has;
}

#else

static void add_contexts(u16 id, struct alloc_tag_counters *sum, bool may_sleep) {}
static void set_site_split(u16 id, bool split) {}
static bool site_is_split(u16 id) { return false; }
static __maybe_unused bool has_contexts(u16 id) { return false; }

#endif /* CONFIG_CODETAG_CONTEXTS */

/* ---- reading ------------------------------------------------------------ */

/**
 * codetag_lock - keep the tags as they are
 *
 * Context: Process. Holds codetag_sem for reading until codetag_unlock().
 */
void codetag_lock(void)
{
	down_read(&codetag_sem);
}

/**
 * codetag_trylock - codetag_lock() where waiting is not allowed
 *
 * Context: Any but NMI; with PREEMPT_RT not with interrupts disabled.
 * Return: Whether the lock is held.
 */
bool codetag_trylock(void)
{
	return down_read_trylock(&codetag_sem);
}

/**
 * codetag_unlock - the end of codetag_lock()
 */
void codetag_unlock(void)
{
	up_read(&codetag_sem);
}

/**
 * codetag_lock_all - keep all others out, and let sites and contexts go
 *
 * Context: Process. Holds codetag_sem for writing until codetag_unlock_all().
 */
void codetag_lock_all(void)
{
	down_write(&codetag_sem);
}

/**
 * codetag_unlock_all - the end of codetag_lock_all()
 */
void codetag_unlock_all(void)
{
	up_write(&codetag_sem);
}

static struct alloc_tag_counters __percpu *counters_of(u16 id)
{
	if (!IS_ENABLED(CONFIG_MODULES) || id < codetag_builtin_end)
		return builtin_alloc_tag_counters + id;

	return alloc_tag_module_counters(alloc_tag_offset(id));
}

/* Sum up the counters of @nr ids from @id on, which are next to each other. */
static void sum_up(u16 id, unsigned int nr, struct alloc_tag_counters *sums)
{
	struct alloc_tag_counters __percpu *counters = counters_of(id);
	struct alloc_tag_counters *counter, *sum;
	int cpu;

	memset(sums, 0, nr * sizeof(*sums));
	for_each_possible_cpu(cpu) {
		counter = per_cpu_ptr(counters, cpu);
		for (sum = sums; sum < sums + nr; sum++, counter++) {
			sum->bytes += READ_ONCE(counter->bytes);
			sum->calls += READ_ONCE(counter->calls);
		}
	}
}

/**
 * alloc_tag_read - sum up the counters of an id
 * @id: an id with counters: a reserved, a built-in or a module's id
 *
 * Context: Any. For a module's id, with codetag_lock() held.
 * Return: The sum over all possible CPUs, each read once, one after another.
 */
struct alloc_tag_counters alloc_tag_read(u16 id)
{
	struct alloc_tag_counters sum;

	sum_up(id, 1, &sum);
	return sum;
}

/*
 * Where the counters end that begin with @id's and are next to each other: no
 * higher than @id if it has none.
 */
static unsigned int counters_end(unsigned int id)
{
	struct codetag_range *range;

	if (id < codetag_builtin_end)
		return codetag_builtin_end;

	range = range_of(id);
	return range ? range->first + range->nr : id;
}

/**
 * alloc_tag_read_block - sum up the counters of a block of ids
 * @first:	first id of the block, a multiple of CODETAG_BLOCK_SIZE
 * @sums:	filled in for all ids of the block, with 0 for those that no tag has
 *
 * Context: Any. For modules' ids, with codetag_lock() held.
 */
void alloc_tag_read_block(unsigned int first, struct alloc_tag_counters *sums)
{
	/* No block has built-in ids and a module's. */
	unsigned int end = min(counters_end(first), first + CODETAG_BLOCK_SIZE);

	memset(sums, 0, CODETAG_BLOCK_SIZE * sizeof(*sums));
	if (end > first)
		sum_up(first, end - first, sums);
}

/* The same by way of @sums, unless that is NULL. */
static struct alloc_tag_counters read_ahead(u16 id, struct codetag_sums *sums)
{
	if (!sums)
		return alloc_tag_read(id);

	if (id - sums->first >= sums->nr) {
		sums->first = id;
		sums->nr = min_t(unsigned int, counters_end(id) - id, ARRAY_SIZE(sums->of));
		sum_up(id, sums->nr, sums->of);
		if (sums->may_sleep)
			codetag_rest(sums->nr * num_possible_cpus());
	}
	return sums->of[id - sums->first];
}

/**
 * alloc_tag_damaged - an id was found that no tag has
 * @id:		the id
 * @what:	what held it: "page" or "object of"
 * @name:	which one
 *
 * A write beyond the last object of a slab hits the ids first. The memory can then not be
 * uncharged: it stays with its site.
 *
 * Context: Any.
 */
void alloc_tag_damaged(u16 id, const char *what, const char *name)
{
	atomic_long_inc(&codetag_ids_damaged);
	/* The freeing task may hold locks that a console takes. */
	printk_deferred_once(KERN_WARNING pr_fmt("%s %s: id %u of no call site, overwritten\n"),
			     what, name, id);
}

/* The tag of a context's site, NULL if the context is free. */
static struct codetag *tag_of_context(const struct codetag_context *ctx)
{
	const struct codetag_site *site;
	u16 id = CODETAG_ID_NONE;

	rcu_read_lock();
	site = READ_ONCE(ctx->site);
	if (site)
		id = site->id;
	rcu_read_unlock();
	return codetag_from_id(id);
}

/**
 * codetag_from_id - the tag that has an id, or whose context has it
 * @id: any id
 *
 * Context: Any. For an id that is not built in, with codetag_lock() held or under RCU. Under
 *	    RCU the module can go, and the tag with it, as soon as that ends.
 * Return: The tag, NULL if no tag has this id.
 */
struct codetag *codetag_from_id(u16 id)
{
	struct codetag_range *range;

	if (id < CODETAG_ID_FIRST)
		return id && id < CODETAG_ID_NR_RESERVED ? reserved_tag(id) : NULL;
	if (id < codetag_builtin_end)
		return &__start_alloc_tags[id - CODETAG_ID_FIRST].ct;

	RCU_LOCKDEP_WARN(!lockdep_is_held(&codetag_sem) && !rcu_read_lock_held(),
			 "the tags of a module can go");
	range = range_of(id);
	if (!range)
		return NULL;
	if (range->block)
		return tag_of_context(&range->block->contexts[id - range->first]);
	if (!range->tags)
		return reserved_tag(CODETAG_ID_UNLOADED);
	return &range->tags[id - range->first].ct;
}

/*
 * Positions: ids come first, each at the position of its number. Tags without
 * an id follow, built-in ones first.
 */
static bool tag_without_id(unsigned long n, struct codetag_info *info)
{
	unsigned long nr_builtin = __stop_alloc_tags - __start_alloc_tags;
	unsigned long nr_with_id = codetag_builtin_end - CODETAG_ID_FIRST;
	struct codetag_range *range;

	*info = (struct codetag_info) {
		.id = CODETAG_ID_UNREPRESENTABLE,
		.without_id = true,
	};
	if (n < nr_builtin - nr_with_id) {
		info->ct = &__start_alloc_tags[nr_with_id + n].ct;
		return true;
	}

	n -= nr_builtin - nr_with_id;
	list_for_each_entry(range, &codetag_ranges, list) {
		if (range->first)
			break;
		if (n < range->nr) {
			info->ct = &range->tags[n].ct;
			info->mod = range->mod;
			info->modname = range->modname;
			return true;
		}
		n -= range->nr;
	}
	return false;
}

/**
 * codetag_info_of - what reports see of the tag with an id
 * @id:		an id, not that of a context
 * @info:	filled in, without what the counters say
 *
 * Context: Process, with codetag_lock() held.
 * Return: false if no tag has this id.
 */
bool codetag_info_of(u16 id, struct codetag_info *info)
{
	struct codetag_range *range = id < codetag_builtin_end ? NULL : range_of(id);

	*info = (struct codetag_info) {
		.ct = codetag_from_id(id),
		.id = id,
	};
	if (range) {
		info->mod = range->mod;
		info->modname = range->modname;
		info->unloaded = !range->mod;
	}
	return info->ct;
}

/**
 * codetag_next_tag - go through all tags, but not their counters
 * @pos:	like that of codetag_next()
 * @info:	on return what is there, without what the counters say
 *
 * Context: Process, with codetag_lock() held.
 * Return: false if there is no tag at or after @pos.
 */
bool codetag_next_tag(unsigned long *pos, struct codetag_info *info)
{
	for (; *pos <= CODETAG_ID_MAX; (*pos)++) {
		if (*pos >= codetag_builtin_end) {
			*pos = next_module_id(*pos);
			if (*pos > CODETAG_ID_MAX)
				break;
		}

		/* A tag that held nothing when its module was unloaded has no names. */
		if (codetag_info_of(*pos, info) && info->ct->function)
			return true;
	}

	return tag_without_id(*pos - (CODETAG_ID_MAX + 1), info);
}

/**
 * codetag_read - read the counters of a tag that codetag_next_tag() has found
 * @info:	the tag; on return with what the counters say
 * @sums:	like that of codetag_next()
 *
 * Context: Process, with codetag_lock() still held.
 * Return: false if reports have no line for it: its module is unloaded, and it
 *	   holds nothing any more.
 */
bool codetag_read(struct codetag_info *info, struct codetag_sums *sums)
{
	struct alloc_tag_counters sum;

	if (info->without_id)
		return true;

	sum = read_ahead(info->id, sums);
	add_contexts(info->id, &sum, !sums || sums->may_sleep);
	/* Changes on several CPUs can be missed meanwhile: show nothing below 0. */
	info->bytes = max_t(s64, sum.bytes, 0);
	info->calls = max_t(s64, sum.calls, 0);
	return !info->unloaded || sum.bytes || sum.calls;
}

/**
 * codetag_next - go through all tags and their counters
 * @pos:	where to look; on return where the tag was found. Begin with 0,
 *		go on with the last position plus 1. Positions stay valid while
 *		no codetag_lock() is held: what is there the whole time is found
 *		exactly once, but for tags without an id when a module that has
 *		such tags comes or goes.
 * @info:	on return what is there
 * @sums:	for who goes through many, or may not sleep: counters that are read
 *		ahead, nr is 0 whenever codetag_lock() was taken; or NULL
 *
 * Of unloaded modules it finds just the tags that still hold memory.
 *
 * Context: Process, with codetag_lock() held.
 * Return: false if there is no tag at or after @pos.
 */
bool codetag_next(unsigned long *pos, struct codetag_info *info, struct codetag_sums *sums)
{
	for (; codetag_next_tag(pos, info); (*pos)++)
		if (codetag_read(info, sums))
			return true;
	return false;
}

/**
 * codetag_next_site - go through the call sites that there are
 * @pos:	like that of codetag_next()
 * @info:	on return what is there, without what the counters say
 *
 * Context: Process, with codetag_lock() held.
 * Return: false if there is no site at or after @pos.
 */
bool codetag_next_site(unsigned long *pos, struct codetag_info *info)
{
	for (; codetag_next_tag(pos, info); (*pos)++)
		if ((info->id >= CODETAG_ID_FIRST || info->without_id) && !info->unloaded)
			return true;
	return false;
}

/**
 * codetag_with_sites_of - go through the call sites of one module
 * @mod:	the module, which is loaded
 * @function:	called for each with what codetag_next_site() would find, and @data
 * @data:	for @function
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_with_sites_of(struct module *mod, codetag_site_fn *function, void *data)
{
	struct codetag_range *range;
	unsigned int i;

	list_for_each_entry(range, &codetag_ranges, list) {
		for (i = 0; range->mod == mod && i < range->nr; i++) {
			struct codetag_info info = {
				.ct = &range->tags[i].ct,
				.mod = range->mod,
				.modname = range->modname,
				.id = range->first ? range->first + i : CODETAG_ID_UNREPRESENTABLE,
				.without_id = !range->first,
			};

			function(&info, data);
		}
	}
}

/* How many lines codetag_next() finds in a range of an unloaded module. */
static unsigned int range_lines(const struct codetag_range *range)
{
	struct codetag_info info;
	unsigned int i, nr = 0;

	for (i = 0; i < range->nr; i++)
		if (codetag_info_of(range->first + i, &info) && info.ct->function &&
		    codetag_read(&info, NULL))
			nr++;
	return nr;
}

/**
 * codetag_content - which lines codetag_next() finds
 * @content: filled in
 *
 * Nobody says when an unloaded module's last byte at a site is freed. Such lines
 * only go: when there are fewer than the last time somebody asked, some have.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_content(struct codetag_content *content)
{
	struct codetag_range *range;
	unsigned int nr;

	content->nr = CODETAG_ID_NR_RESERVED - 1 + (__stop_alloc_tags - __start_alloc_tags);

	mutex_lock(&codetag_content_lock);
	list_for_each_entry(range, &codetag_ranges, list) {
		if (range->block)
			continue;
		nr = range->mod ? range->nr : range_lines(range);
		if (nr < range->nr_lines) {
			range->nr_lines = nr;
			codetag_content_id++;
		}
		content->nr += nr;
		codetag_rest(range->mod ? 1 : range->nr * num_possible_cpus());
	}
	content->id = codetag_content_id;
	mutex_unlock(&codetag_content_lock);
}

/**
 * codetag_id_use - how the ids are used
 * @use: filled in
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_id_use(struct codetag_id_use *use)
{
	unsigned int nr_builtin = __stop_alloc_tags - __start_alloc_tags;
	struct codetag_range *range;

	*use = (struct codetag_id_use) {
		.builtin = codetag_builtin_end - CODETAG_ID_FIRST,
		.modules_without_id = codetag_modules_without_id,
		.names_lost = codetag_names_lost,
		.damaged = atomic_long_read(&codetag_ids_damaged),
		.tag_bytes = nr_builtin * sizeof(struct alloc_tag) +
			     sizeof(codetag_reserved_tags) + sizeof(alloc_tag_untagged),
		.counter_bytes = (nr_builtin + CODETAG_ID_FIRST) * num_possible_cpus() *
				 sizeof(struct alloc_tag_counters),
	};
	use->without_id = nr_builtin - use->builtin;

	list_for_each_entry(range, &codetag_ranges, list) {
		if (!range->first)
			use->without_id += range->nr;
		else if (range->block)
			use->contexts += range->nr;
		else if (range->mod)
			use->modules += range->nr;
		else
			use->unloaded += range->nr;

		if (range->block)
			continue;
		use->tag_bytes += sizeof(*range);
		if (range->tags)
			use->tag_bytes += range->nr * sizeof(*range->tags);
		if (range->first)
			use->counter_bytes += range->nr * num_possible_cpus() *
					      sizeof(*range->counters);
	}

#ifdef CONFIG_MODULES
	use->tag_bytes += sizeof(codetag_blocks) + sizeof(codetag_blocks_used) +
			  sizeof(module_alloc_tag_counters) + sizeof(module_alloc_tag_sizes);
	use->free = (codetag_id_end >> CODETAG_BLOCK_SHIFT) -
		    bitmap_weight(codetag_blocks_used, codetag_id_end >> CODETAG_BLOCK_SHIFT);
	use->free <<= CODETAG_BLOCK_SHIFT;
#endif
}

/* ---- switching -------------------------------------------------------------- */

/**
 * codetag_set_state - set bits of codetag.state
 * @ct:		the tag
 * @bits:	the bits
 *
 * Context: Any.
 */
void codetag_set_state(struct codetag *ct, u8 bits)
{
	u8 old = READ_ONCE(ct->state);

	while (!try_cmpxchg(&ct->state, &old, old | bits))
		;
}

/**
 * codetag_profiled - is what a call site allocates charged?
 * @info: the site
 *
 * Context: With codetag_lock() held.
 * Return: Whether it is, to the site or to its contexts.
 */
bool codetag_profiled(const struct codetag_info *info)
{
	return READ_ONCE(info->ct->id) != CODETAG_ID_NONE ||
	       (READ_ONCE(info->ct->state) & CODETAG_SPLIT && site_is_split(info->id));
}

/**
 * codetag_set_charging - say what a call site's allocations are charged to
 * @info:	the site
 * @charging:	nothing, the site, or its contexts
 *
 * An allocation that sees no id goes on to look how the site is split, and if it is
 * not, at the id again.
 *
 * Context: With codetag_lock() held, one at a time; or early during boot.
 */
void codetag_set_charging(const struct codetag_info *info, enum codetag_charging charging)
{
	u16 id = charging == CODETAG_CHARGE_SITE ? info->id : CODETAG_ID_NONE;

	if (charging == CODETAG_CHARGE_CONTEXTS) {
		set_site_split(info->id, true);
		codetag_set_state(info->ct, CODETAG_SPLIT);
	}
	/*
	 * Pairs with alloc_tag_split() and codetag_split_now(): publish split_now before
	 * id 0, and the id before split_now = 0.
	 */
	smp_wmb();
	WRITE_ONCE(info->ct->id, id);
	smp_wmb(); /* see above */
	if (charging != CODETAG_CHARGE_CONTEXTS)
		set_site_split(info->id, false);
}

/* Only while nothing allocates there. */
static void set_id(struct alloc_tag *tag, u16 id)
{
	tag->ct.id = id;
	tag->counters = counters_of(id);
}

/* ---- modules -------------------------------------------------------------- */

#ifdef CONFIG_MODULES

static void free_copied_tags(struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; range->tags && i < range->nr; i++) {
		kfree_const(range->tags[i].ct.function);
		kfree_const(range->tags[i].ct.filename);
	}
	kvfree(range->tags);
}

static void free_range_rcu(struct rcu_head *rcu)
{
	struct codetag_range *range = container_of(rcu, struct codetag_range, rcu);

	if (!range->mod)
		free_copied_tags(range);
	kfree(range);
}

static void free_range(struct codetag_range *range)
{
	unsigned int block = range->first >> CODETAG_BLOCK_SHIFT;

	if (range->nr_lines)
		codetag_content_id++;
	if (range->first) {
		module_alloc_tag_sizes[block] = 0;
		module_alloc_tag_counters[block] = NULL;
		WRITE_ONCE(codetag_blocks[block], NULL);
		__clear_bit(block, codetag_blocks_used);
	}
	free_percpu(range->counters);
	list_del(&range->list);
	call_rcu(&range->rcu, free_range_rcu);
}

/**
 * codetag_id_holds_memory - is anything charged to an id that is not in use any more?
 * @id: an id with counters
 *
 * Nothing can be charged to an unloaded module's ids any more, so bytes only
 * become fewer. Each CPU's counter is then at least what it was when the last
 * one was read, and no bytes in all is the truth, whatever is freed meanwhile.
 * An uncharge that is half done still has its call.
 *
 * Context: With the id's counters known to stay.
 * Return: false if nothing is and nobody is about to take anything back.
 */
bool codetag_id_holds_memory(u16 id)
{
	struct alloc_tag_counters __percpu *counters = counters_of(id);
	u64 bytes = 0, calls = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		bytes += READ_ONCE(per_cpu_ptr(counters, cpu)->bytes);
	smp_rmb(); /* pairs with the order of the two in alloc_tag_uncharge() */
	for_each_possible_cpu(cpu)
		calls += READ_ONCE(per_cpu_ptr(counters, cpu)->calls);
	return bytes || calls;
}

/* A site that has contexts is needed as long as these are. */
static bool site_holds_memory(u16 id)
{
	return codetag_id_holds_memory(id) || has_contexts(id);
}

static bool range_holds_memory(struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; range->first && i < range->nr; i++) {
		/* A tag that held nothing when its module was unloaded never will again. */
		if (!range->mod && range->tags && !range->tags[i].ct.function)
			continue;
		if (site_holds_memory(range->first + i))
			return true;
		codetag_rest(num_possible_cpus());
	}
	return false;
}

/* Free the ids of unloaded modules that hold nothing any more. */
static void reap_ranges(void)
{
	struct codetag_range *range, *next;

	lockdep_assert_held_write(&codetag_sem);
	list_for_each_entry_safe(range, next, &codetag_ranges, list)
		if (!range->mod && !range->block && !range_holds_memory(range))
			free_range(range);
}

/* Their tags are about to go; those that have contexts stay in the list. */
static void release_sites(struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; range->first && i < range->nr; i++)
		codetag_site_release(range->first + i, true);
}

/* Take over the names of what still holds memory. */
static void keep_names(struct codetag_range *range)
{
	struct alloc_tag *copies = kvcalloc(range->nr, sizeof(*copies), GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < range->nr; i++) {
		struct codetag *ct = &range->tags[i].ct;

		codetag_rest(num_possible_cpus());
		if (!site_holds_memory(range->first + i))
			continue;
		if (!copies) {
			codetag_names_lost++;
			continue;
		}

		copies[i].ct = *ct;
		copies[i].ct.function = kstrdup(ct->function, GFP_KERNEL);
		copies[i].ct.filename = kstrdup(ct->filename, GFP_KERNEL);
		if (!copies[i].ct.function || !copies[i].ct.filename) {
			kfree(copies[i].ct.function);
			kfree(copies[i].ct.filename);
			copies[i].ct.function = reserved_tag(CODETAG_ID_UNLOADED)->function;
			copies[i].ct.filename = reserved_tag(CODETAG_ID_UNLOADED)->filename;
			codetag_names_lost++;
		}
	}
	range->tags = copies;
}

static u16 try_find_ids(void)
{
	unsigned long end = codetag_id_end >> CODETAG_BLOCK_SHIFT;
	unsigned long block = find_first_zero_bit(codetag_blocks_used, end);

	return block < end ? block << CODETAG_BLOCK_SHIFT : 0;
}

/*
 * Find a free block of ids. Returns its first one, 0 if there is none. To reap takes
 * long, and finds no more the second time: @reaped says that it was done.
 */
static u16 find_ids(bool *reaped)
{
	u16 first = try_find_ids();

	if (first || *reaped)
		return first;
	reap_ranges();
	*reaped = true;
	return try_find_ids();
}

/* Let allocations find the counters of a range that has got its ids. */
static void publish_range(struct codetag_range *range)
{
	unsigned int block = range->first >> CODETAG_BLOCK_SHIFT;

	__set_bit(block, codetag_blocks_used);
	/* Reports find the range without a lock. */
	smp_store_release(&codetag_blocks[block], range);
	module_alloc_tag_counters[block] = range->counters - range->first;
	module_alloc_tag_sizes[block] = range->nr * sizeof(*range->counters);
}

static struct codetag_range *new_range(struct module *mod, unsigned int done, unsigned int nr)
{
	struct codetag_range *range = kzalloc(sizeof(*range), GFP_KERNEL);

	if (!range)
		return NULL;
	range->mod = mod;
	range->tags = mod->alloc_tags + done;
	range->nr = nr;
	strscpy(range->modname, mod->name);
	return range;
}

/* Give a block of ids to @nr tags of a module, from the tag @done on. */
static bool register_tags(struct module *mod, unsigned int done, unsigned int nr, bool *reaped)
{
	struct codetag_range *range = new_range(mod, done, nr);
	unsigned int i;

	if (!range)
		return false;

	range->first = find_ids(reaped);
	if (range->first)
		range->counters = __alloc_percpu_gfp(nr * sizeof(*range->counters),
						     sizeof(*range->counters),
						     GFP_KERNEL | __GFP_NOWARN);
	if (!range->counters) {
		kfree(range);
		return false;
	}

	list_add_tail(&range->list, &codetag_ranges);
	publish_range(range);
	for (i = 0; i < nr; i++)
		set_id(&range->tags[i], range->first + i);
	return true;
}

/* The tags of a module from @done on get no ids: they are just listed. */
static void register_without_ids(struct module *mod, unsigned int done)
{
	struct codetag_range *range = new_range(mod, done, mod->num_alloc_tags - done);

	for (; done < mod->num_alloc_tags; done++)
		set_id(&mod->alloc_tags[done], CODETAG_ID_UNREPRESENTABLE);
	if (range)
		list_add(&range->list, &codetag_ranges);
}

/**
 * codetag_load_module - give the tags of a module their ids
 * @mod: the module, relocated, none of whose code has run yet
 *
 * Whatever is short (ids, memory), the module works: what its sites allocate
 * is then charged to CODETAG_ID_UNREPRESENTABLE.
 *
 * Context: Process.
 */
void codetag_load_module(struct module *mod)
{
	/* Users can have a module that fails to start loaded again and again. */
	static DEFINE_RATELIMIT_STATE(warnings, 3600 * HZ, 10);
	unsigned int done, nr, without_id;
	bool reaped = false;

	if (!mod->num_alloc_tags || mem_alloc_profiling_permanently_disabled())
		return;

	down_write(&codetag_sem);
	for (done = 0; done < mod->num_alloc_tags; done += nr) {
		nr = min_t(unsigned int, mod->num_alloc_tags - done, CODETAG_BLOCK_SIZE);
		if (!register_tags(mod, done, nr, &reaped))
			break;
		codetag_rest(nr * num_possible_cpus());
	}
	without_id = mod->num_alloc_tags - done;
	if (without_id) {
		register_without_ids(mod, done);
		codetag_modules_without_id++;
	}
	codetag_content_id++;
	up_write(&codetag_sem);

	if (without_id && __ratelimit(&warnings))
		pr_warn("no ids for %u of the %u call sites of module %s: their memory is charged to codetag:%d func:not_representable\n",
			without_id, mod->num_alloc_tags, mod->name,
			CODETAG_ID_UNREPRESENTABLE);
}

/**
 * codetag_let_go - let the tags of a module go, but not what they still hold
 * @mod: the module, none of whose code will run any more
 *
 * Context: Process.
 */
void codetag_let_go(struct module *mod)
{
	struct codetag_range *range, *next;

	/* Wait for kfree_rcu() of the module, so that this does not look like a leak. */
	kvfree_rcu_barrier();

	down_write(&codetag_sem);
	list_for_each_entry_safe(range, next, &codetag_ranges, list) {
		if (range->mod != mod)
			continue;
		codetag_rest(range->nr);
		release_sites(range);
		if (range_holds_memory(range)) {
			keep_names(range);
			range->mod = NULL;
			range->nr_lines = range_lines(range);
		} else {
			free_range(range);
		}
	}
	reap_ranges();
	codetag_content_id++;
	up_write(&codetag_sem);
}

#ifdef CONFIG_CODETAG_CONTEXTS

/**
 * codetag_block_add - give a block of contexts its ids
 * @block: the block, its counters set
 *
 * Context: Process, with none of the locks here held.
 * Return: false if there are no ids or no memory.
 */
bool codetag_block_add(struct codetag_block *block)
{
	struct codetag_range *range = kzalloc(sizeof(*range), GFP_KERNEL | __GFP_NOWARN);
	bool reaped = false;

	if (!range)
		return false;

	down_write(&codetag_sem);
	range->first = find_ids(&reaped);
	if (range->first) {
		range->nr = CODETAG_BLOCK_SIZE;
		range->block = block;
		range->counters = &block->counters->held[0];
		block->first = range->first;
		list_add_tail(&range->list, &codetag_ranges);
		publish_range(range);
	}
	up_write(&codetag_sem);
	if (!block->first)
		kfree(range);
	return block->first;
}

/**
 * codetag_block_remove - the reverse of codetag_block_add()
 * @block: the block, all of it free
 *
 * Context: Process, with none of the locks here held.
 */
void codetag_block_remove(struct codetag_block *block)
{
	struct codetag_range *range;

	down_write(&codetag_sem);
	range = range_of(block->first);
	range->counters = NULL;
	free_range(range);
	up_write(&codetag_sem);
}

/**
 * codetag_block_next - the next block of contexts
 * @id: the id to begin with
 *
 * Context: With codetag_lock() held.
 * Return: The first block that has @id or higher ones, NULL if there is none.
 */
struct codetag_block *codetag_block_next(unsigned int id)
{
	unsigned int block = id >> CODETAG_BLOCK_SHIFT;

	for_each_set_bit_from(block, codetag_blocks_used, CODETAG_NR_BLOCKS)
		if (codetag_blocks[block] && codetag_blocks[block]->block)
			return codetag_blocks[block]->block;
	return NULL;
}

#endif /* CONFIG_CODETAG_CONTEXTS */

#endif /* CONFIG_MODULES */

/**
 * codetag_reap - free the ids of unloaded modules that hold nothing any more
 *
 * Context: Process.
 */
void codetag_reap(void)
{
#ifdef CONFIG_MODULES
	down_write(&codetag_sem);
	reap_ranges();
	up_write(&codetag_sem);
#endif
}

/* ---- boot ----------------------------------------------------------------- */

static int __init codetag_max_ids_param(char *arg)
{
	unsigned int max;

	if (!arg || kstrtouint(arg, 0, &max) || max > CODETAG_ID_MAX - CODETAG_ID_FIRST + 1) {
		pr_warn("codetag.max_ids=%s: not a number from 0 to %u; ignored\n",
			arg ?: "", CODETAG_ID_MAX - CODETAG_ID_FIRST + 1);
		return 0;
	}
	codetag_id_end = CODETAG_ID_FIRST + max;
	return 0;
}
early_param("codetag.max_ids", codetag_max_ids_param);

/**
 * codetag_give_ids - give the tags of built-in code their ids
 *
 * Context: Boot, before the first page or slab object is allocated.
 */
void __init codetag_give_ids(void)
{
	unsigned int i, nr = __stop_alloc_tags - __start_alloc_tags;

	if (nr > codetag_id_end - CODETAG_ID_FIRST) {
		pr_warn("ids for only %u of the %u call sites of the kernel\n",
			codetag_id_end - CODETAG_ID_FIRST, nr);
		nr = codetag_id_end - CODETAG_ID_FIRST;
	}

	codetag_builtin_end = CODETAG_ID_FIRST + nr;
	builtin_alloc_tag_counters_size = codetag_builtin_end * sizeof(struct alloc_tag_counters);
	for (i = 0; i < nr; i++)
		set_id(&__start_alloc_tags[i], CODETAG_ID_FIRST + i);
	for (; i < __stop_alloc_tags - __start_alloc_tags; i++)
		set_id(&__start_alloc_tags[i], CODETAG_ID_UNREPRESENTABLE);

#ifdef CONFIG_MODULES
	bitmap_set(codetag_blocks_used, 0,
		   DIV_ROUND_UP(codetag_builtin_end, CODETAG_BLOCK_SIZE));
#endif
}
