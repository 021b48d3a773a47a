// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of code tags: the tags of all ids, including those of unloaded modules.
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

#include <linux/init.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include "tags.h"
#include "stats.h"

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
 * for reading and with the lock of codetag_content().
 */
u64 codetag_content_id = 1;

/* Events that cost names or ids. Written under codetag_sem. */
unsigned long codetag_modules_without_id;
unsigned long codetag_names_lost;

/* ---- the lock ----------------------------------------------------------------- */

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
 * codetag_unlock - undo codetag_lock()
 *
 * Context: Any, with codetag_lock() held.
 */
void codetag_unlock(void)
{
	up_read(&codetag_sem);
}

/**
 * codetag_lock_all - lock out all others, so that sites and contexts can be removed
 *
 * Context: Process. Holds codetag_sem for writing until codetag_unlock_all().
 */
void codetag_lock_all(void)
{
	down_write(&codetag_sem);
}

/**
 * codetag_unlock_all - undo codetag_lock_all()
 *
 * Context: Process, with codetag_lock_all() held.
 */
void codetag_unlock_all(void)
{
	up_write(&codetag_sem);
}

/* ---- finding tags -------------------------------------------------------------- */

/* The id of a context's site, CODETAG_ID_NONE if the context is free. */
static u16 site_of_context(const struct codetag_context *ctx)
{
	const struct codetag_site *site;
	u16 id = CODETAG_ID_NONE;

	rcu_read_lock();
	site = READ_ONCE(ctx->site);
	if (site)
		id = site->id;
	rcu_read_unlock();
	return id;
}

/**
 * codetag_site_id - find the id of a call site
 * @id: any id that memory holds
 *
 * Context: Any.
 * Return: The id of the site for that of one of its contexts, CODETAG_ID_NONE if the context
 *	   is free by now; any other id as it is.
 */
u16 codetag_site_id(u16 id)
{
	const struct codetag_range *range;

	if (id < codetag_builtin_end)
		return id;
	rcu_read_lock();
	range = codetag_range_of(id);
	if (range && range->kind == CODETAG_CONTEXTS)
		id = site_of_context(&range->block->contexts[id - range->first]);
	rcu_read_unlock();
	return id;
}

/**
 * codetag_from_id - find the tag of an id, or of the context that has the id
 * @id: any id
 *
 * Context: Any. For an id that is not built in, with codetag_lock() held or under RCU. RCU
 *	    protects the range, not the tag: the module can go at any moment, and its tag is
 *	    to be read only by functions that survive a bad address.
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
	range = codetag_range_of(id);
	if (!range)
		return NULL;
	if (range->kind == CODETAG_CONTEXTS)
		return codetag_from_id(site_of_context(&range->block->contexts[id - range->first]));
	if (range->kind == CODETAG_NAMELESS)
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
		if (range->kind != CODETAG_NO_IDS)
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
 * codetag_info_of - describe the tag of an id for reports
 * @id:		an id, not that of a context
 * @info:	filled in, without the counters
 *
 * Context: Any, with codetag_lock() held.
 * Return: false if no tag has this id.
 */
bool codetag_info_of(u16 id, struct codetag_info *info)
{
	struct codetag_range *range = id < codetag_builtin_end ? NULL : codetag_range_of(id);

	*info = (struct codetag_info) {
		.ct = codetag_from_id(id),
		.id = id,
	};
	if (range) {
		info->mod = range->mod;
		info->modname = range->modname;
		info->unloaded = range->kind != CODETAG_LOADED;
	}
	return info->ct;
}

/* The first id from @id on that a module's tag may have; CODETAG_ID_MAX + 1 if none. */
static unsigned int next_module_id(unsigned int id)
{
	const struct codetag_range *range;

	while ((range = codetag_range_from(&id)) && range->kind == CODETAG_CONTEXTS)
		id = range->first + CODETAG_BLOCK_SIZE;
	return range ? id : CODETAG_ID_MAX + 1;
}

/**
 * codetag_next_tag - go through all tags, but not their counters
 * @pos:	like that of codetag_next()
 * @info:	on return the tag, without its counters
 *
 * Context: Any, with codetag_lock() held.
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
 * codetag_next_site - go through the existing call sites
 * @pos:	like that of codetag_next()
 * @info:	on return the tag, without its counters
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
				.id = range->kind == CODETAG_NO_IDS ? CODETAG_ID_UNREPRESENTABLE :
				      range->first + i,
				.without_id = range->kind == CODETAG_NO_IDS,
			};

			function(&info, data);
		}
	}
}

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

/* Only while nothing allocates there. */
static void set_id(struct alloc_tag *tag, u16 id)
{
	tag->ct.id = id;
	tag->counters = codetag_counters_of(id);
}

/* ---- modules -------------------------------------------------------------- */

#ifdef CONFIG_MODULES

static void free_copied_tags(struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; i < range->nr; i++) {
		kfree_const(range->tags[i].ct.function);
		kfree_const(range->tags[i].ct.filename);
	}
	kvfree(range->tags);
}

static void free_range_rcu(struct rcu_head *rcu)
{
	struct codetag_range *range = container_of(rcu, struct codetag_range, rcu);

	if (range->kind == CODETAG_UNLOADED)
		free_copied_tags(range);
	kfree(range);
}

static void free_range(struct codetag_range *range)
{
	if (range->nr_lines)
		codetag_content_id++;
	if (range->first)
		codetag_ids_withdraw(range);
	free_percpu(range->counters);
	list_del(&range->list);
	call_rcu(&range->rcu, free_range_rcu);
}

/* A site that has contexts is needed as long as these are. */
static bool site_holds_memory(const struct codetag_range *range, unsigned int i)
{
	return range->pinned & BIT(i) || codetag_id_holds_memory(range->first + i);
}

static bool range_holds_memory(struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; range->first && i < range->nr; i++) {
		/* A tag that held nothing when its module was unloaded never will again. */
		if (range->kind == CODETAG_UNLOADED && !range->tags[i].ct.function)
			continue;
		if (site_holds_memory(range, i))
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
		if ((range->kind == CODETAG_UNLOADED || range->kind == CODETAG_NAMELESS) &&
		    !range_holds_memory(range))
			free_range(range);
}

/* Copy the names of sites that still hold memory. */
static void keep_names(struct codetag_range *range)
{
	struct alloc_tag *copies = kvcalloc(range->nr, sizeof(*copies), GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < range->nr; i++) {
		struct codetag *ct = &range->tags[i].ct;

		codetag_rest(num_possible_cpus());
		if (!site_holds_memory(range, i))
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
	range->kind = copies ? CODETAG_UNLOADED : CODETAG_NAMELESS;
	range->mod = NULL;
	range->nr_lines = CODETAG_UNCOUNTED;
}

/*
 * Find a free block of ids. Returns its first one, 0 if there is none. Reaping takes long,
 * and a second time finds nothing more: @reaped notes that it was done.
 */
static u16 find_ids(bool *reaped)
{
	u16 first = codetag_ids_find();

	if (first || *reaped)
		return first;
	reap_ranges();
	*reaped = true;
	return codetag_ids_find();
}

static struct codetag_range *new_range(struct module *mod, unsigned int done, unsigned int nr)
{
	struct codetag_range *range = kzalloc(sizeof(*range), GFP_KERNEL);

	if (!range)
		return NULL;
	range->kind = CODETAG_NO_IDS;
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

	range->kind = CODETAG_LOADED;
	list_add_tail(&range->list, &codetag_ranges);
	codetag_ids_publish(range);
	for (i = 0; i < nr; i++)
		set_id(&range->tags[i], range->first + i);
	return true;
}

/* The tags of a module from @done on get no ids: they are just listed. */
static void register_without_ids(struct module *mod, unsigned int done)
{
	struct codetag_range *range = new_range(mod, done, mod->num_alloc_tags - done);
	struct list_head *at;

	for (; done < mod->num_alloc_tags; done++)
		set_id(&mod->alloc_tags[done], CODETAG_ID_UNREPRESENTABLE);
	if (!range)
		return;
	/* Behind those of its kind: their tags keep their positions, see codetag_next(). */
	list_for_each(at, &codetag_ranges)
		if (list_entry(at, struct codetag_range, list)->kind != CODETAG_NO_IDS)
			break;
	list_add_tail(&range->list, at);
}

/**
 * codetag_load_module - give the tags of a module their ids
 * @mod: the module, relocated, none of whose code has run yet
 *
 * The module works also without ids or without memory for them. The allocations of its
 * sites are then charged to CODETAG_ID_UNREPRESENTABLE.
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
 * codetag_tags_going - remove the tags of a module, but keep those that hold memory
 * @mod: the module, none of whose code will run any more
 *
 * Context: Process, with codetag_lock_all() held.
 */
void codetag_tags_going(struct module *mod)
{
	struct codetag_range *range, *next;

	list_for_each_entry_safe(range, next, &codetag_ranges, list) {
		if (range->mod != mod)
			continue;
		codetag_rest(range->nr);
		if (range_holds_memory(range))
			keep_names(range);
		else
			free_range(range);
	}
	reap_ranges();
	codetag_content_id++;
}

#ifdef CONFIG_CODETAG_CONTEXTS

/**
 * codetag_pin - keep a tag while it has contexts, whether it holds memory or not
 * @id:		id of the tag
 * @pin:	false: not any more
 *
 * Context: With codetag_lock() held, one at a time.
 */
void codetag_pin(u16 id, bool pin)
{
	struct codetag_range *range = id < codetag_builtin_end ? NULL : codetag_range_of(id);

	if (!range)
		return;
	if (pin)
		range->pinned |= BIT(id - range->first);
	else
		range->pinned &= ~BIT(id - range->first);
}

/**
 * codetag_block_add - give a block of contexts its ids
 * @block: the block, its counters set
 *
 * Context: Process, with codetag_context_pool.mutex held, without codetag_lock().
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
		range->kind = CODETAG_CONTEXTS;
		range->nr = CODETAG_BLOCK_SIZE;
		range->block = block;
		range->counters = &block->counters->held[0];
		block->first = range->first;
		list_add_tail(&range->list, &codetag_ranges);
		codetag_ids_publish(range);
	}
	up_write(&codetag_sem);
	if (!block->first)
		kfree(range);
	return block->first;
}

/**
 * codetag_block_remove - undo codetag_block_add()
 * @block: the block, all of it free
 *
 * Context: Process, with codetag_context_pool.mutex held, without codetag_lock().
 */
void codetag_block_remove(struct codetag_block *block)
{
	struct codetag_range *range;

	down_write(&codetag_sem);
	range = codetag_range_of(block->first);
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
	const struct codetag_range *range;

	while ((range = codetag_range_from(&id)) && range->kind != CODETAG_CONTEXTS)
		id = range->first + CODETAG_BLOCK_SIZE;
	return range ? range->block : NULL;
}

#endif /* CONFIG_CODETAG_CONTEXTS */

#endif /* CONFIG_MODULES */

/**
 * codetag_reap - free the ids of unloaded modules to which nothing is charged
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

/* ---- reports, boot ------------------------------------------------------------ */

/**
 * codetag_id_use - report how the ids are used
 * @use: filled in
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_id_use(struct codetag_id_use *use)
{
	unsigned int nr_builtin = __stop_alloc_tags - __start_alloc_tags;
	struct codetag_range *range;

	*use = (struct codetag_id_use) {
		.modules_without_id = codetag_modules_without_id,
		.names_lost = codetag_names_lost,
		.tag_bytes = nr_builtin * sizeof(struct alloc_tag) +
			     sizeof(codetag_reserved_tags) + sizeof(alloc_tag_untagged),
		.counter_bytes = (nr_builtin + CODETAG_ID_FIRST) * num_possible_cpus() *
				 sizeof(struct alloc_tag_counters),
	};
	codetag_ids_fill_use(use);
	use->without_id = nr_builtin - use->builtin;

	list_for_each_entry(range, &codetag_ranges, list) {
		switch (range->kind) {
		case CODETAG_NO_IDS:
			use->without_id += range->nr;
			break;
		case CODETAG_LOADED:
			use->modules += range->nr;
			break;
		case CODETAG_UNLOADED:
		case CODETAG_NAMELESS:
			use->unloaded += range->nr;
			break;
		case CODETAG_CONTEXTS:
			use->contexts += range->nr;
			continue;
		}
		use->tag_bytes += sizeof(*range);
		if (range->kind != CODETAG_NAMELESS)
			use->tag_bytes += range->nr * sizeof(*range->tags);
		if (range->kind != CODETAG_NO_IDS)
			use->counter_bytes += range->nr * num_possible_cpus() *
					      sizeof(*range->counters);
	}
}

/**
 * codetag_give_ids - give the tags of built-in code their ids
 *
 * Context: Boot, before the first page or slab object is allocated.
 */
void __init codetag_give_ids(void)
{
	unsigned int i, nr = codetag_ids_builtin(__stop_alloc_tags - __start_alloc_tags);

	for (i = 0; i < nr; i++)
		set_id(&__start_alloc_tags[i], CODETAG_ID_FIRST + i);
	for (; i < __stop_alloc_tags - __start_alloc_tags; i++)
		set_id(&__start_alloc_tags[i], CODETAG_ID_UNREPRESENTABLE);
}
