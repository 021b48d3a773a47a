// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites: the ids that their allocations are charged to, and the keys of split sites.
 */
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "site.h"

#ifdef CONFIG_CODETAG_CONTEXTS

/* ---- sites that are split --------------------------------------------------- */

/*
 * Protects the sites, the contexts and the content of the blocks of contexts. Allocators
 * take it. No code outside runs with it held, except for tracers of its contention, which
 * can allocate: see codetag_context_locked().
 */
static DEFINE_RAW_SPINLOCK(context_lock);
static DEFINE_PER_CPU(bool, has_context_lock);

/**
 * codetag_context_lock - lock the sites, the contexts and their blocks
 *
 * Context: Any but NMI; must not be called while codetag_context_locked().
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
 * codetag_context_unlock - undo codetag_context_lock()
 * @flags: what that returned
 *
 * Context: With codetag_context_lock() held.
 */
void codetag_context_unlock(unsigned long flags)
	__releases(&context_lock)
{
	raw_spin_unlock(&context_lock);
	__this_cpu_write(has_context_lock, false);
	local_irq_restore(flags);
}

/**
 * codetag_context_locked - does this CPU hold, or wait for, codetag_context_lock()?
 *
 * If so, the caller is a tracer of the lock, such as a BPF program.
 *
 * Context: Any, with preemption disabled.
 * Return: Whether it does.
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
 * codetag_site_by_id - find the site with an id, if it is or was split
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
 * @new:	the site, with its tag, id, keys and limit
 *
 * Context: With codetag_lock() held, one at a time.
 * Return: false if the site has been there, so that @new is not needed.
 */
bool codetag_site_split(struct codetag_site *new)
{
	unsigned int split_wanted = new->split_wanted, max = new->max;
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
	WRITE_ONCE(site->keys, site->keys | (split_wanted & CODETAG_SPLIT_KEYS));
	WRITE_ONCE(site->split_wanted, split_wanted);
	codetag_context_unlock(flags);
	codetag_pin(site->id, true);
	return site == new;
}

/**
 * codetag_site_unsplit - end the split of a site
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
 * codetag_site_free - free a site that no list and no table has
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
 * codetag_site_release - remove a site that is not split and has no contexts
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
	if (site) {
		codetag_pin(id, false);
		call_rcu(&site->rcu, free_site_rcu);
	}
}

/**
 * codetag_sites_going - the tags of a module are about to go
 * @mod: the module
 *
 * Its sites that have contexts stay in the list.
 *
 * Context: Process, with codetag_lock_all() held.
 */
void codetag_sites_going(const struct module *mod)
{
	struct codetag_range *range;
	unsigned int i;

	list_for_each_entry(range, &codetag_ranges, list)
		for (i = 0; range->mod == mod && range->first && i < range->nr; i++)
			codetag_site_release(range->first + i, true);
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

#else

static void set_site_split(u16 id, bool split) {}
static bool site_is_split(u16 id) { return false; }

#endif /* CONFIG_CODETAG_CONTEXTS */

/* ---- switching -------------------------------------------------------------- */

/**
 * codetag_profiled - are the allocations of a call site charged?
 * @info: the site
 *
 * Context: With codetag_lock() held.
 * Return: Whether they are, to the site or to its contexts.
 */
bool codetag_profiled(const struct codetag_info *info)
{
	return READ_ONCE(info->ct->id) != CODETAG_ID_NONE ||
	       (READ_ONCE(info->ct->state) & CODETAG_SPLIT && site_is_split(info->id));
}

/**
 * codetag_set_charging - choose the id that the allocations of a call site are charged to
 * @info:	the site
 * @charging:	nothing, the site, or its contexts
 *
 * An allocation that reads id 0 then reads how the site is split. If the site is not
 * split, it reads the id again.
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
