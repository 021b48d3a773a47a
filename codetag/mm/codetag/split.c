// SPDX-License-Identifier: GPL-2.0-only
/*
 * Splitting call sites, and ending it.
 */
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/hash.h>
#include <linux/slab.h>
#include "context.h"
#include "context_pool.h"
#include "internal.h"
#include "site.h"
#include "split.h"

/**
 * codetag_split_new - prepare to split a site
 * @info:	the site, which has an id
 * @keys:	the keys, and their limits; CODETAG_SPLIT_TRACE among the keys traces the site
 *
 * Context: Process, one at a time, with codetag_lock() held.
 * Return: An argument for codetag_split() or codetag_site_free(); NULL without
 *	   memory.
 */
struct codetag_site *codetag_split_new(const struct codetag_info *info,
				       const struct codetag_keys *keys)
{
	struct codetag_site *site;

	codetag_contexts_seed();
	site = kzalloc(sizeof(*site), CODETAG_GFP);
	if (!site)
		return NULL;
	site->lost = alloc_percpu_gfp(unsigned long, CODETAG_GFP);
	if (!site->lost) {
		kfree(site);
		return NULL;
	}
	site->ct = info->ct;
	site->id = info->id;
	site->lookup_key = (u64)site->id << CODETAG_LOOKUP_ID_SHIFT | hash_32(site->id, 32);
	site->split_wanted = codetag_split_bits(keys->mask, keys->depth);
	site->max = keys->max;
	INIT_LIST_HEAD(&site->contexts);
	return site;
}

/**
 * codetag_split - split a site, or change its keys
 * @site: result of codetag_split_new() for it; the caller may not use it again
 *
 * Context: Process, one at a time, with codetag_lock() held since codetag_split_new();
 *	    codetag_split_switch() is to follow.
 */
void codetag_split(struct codetag_site *site)
{
	if (!codetag_site_split(site))
		codetag_site_free(site);
}

/**
 * codetag_unsplit - end the split of a site
 * @info: the site
 *
 * Its contexts stay until they hold nothing.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_unsplit(const struct codetag_info *info)
{
	if (codetag_profiled(info))
		codetag_set_charging(info, CODETAG_CHARGE_SITE);
	codetag_site_unsplit(info->id);
}

/**
 * codetag_split_by - how is a site to be split while it is profiled?
 * @info:	the site
 * @max:	contexts that it may have, on return
 *
 * Context: With codetag_lock() held.
 * Return: See codetag_split_bits(), with CODETAG_SPLIT_TRACE if it is traced; 0: not at all.
 */
unsigned int codetag_split_by(const struct codetag_info *info, unsigned int *max)
{
	const struct codetag_site *site = NULL;
	unsigned int split_by = 0;

	*max = CODETAG_SITE_CONTEXTS;
	preempt_disable();
	if (!info->without_id)
		site = codetag_site_by_id(info->id);
	if (site)
		split_by = READ_ONCE(site->split_wanted);
	if (split_by)
		*max = READ_ONCE(site->max);
	preempt_enable();
	return split_by;
}

/**
 * codetag_split_wanted - is a site to be split while it is profiled?
 * @info: the site
 *
 * Context: With codetag_lock() held.
 * Return: Whether it is.
 */
bool codetag_split_wanted(const struct codetag_info *info)
{
	unsigned int max;

	return codetag_split_by(info, &max);
}

/**
 * codetag_split_switch - prepare free contexts, then let newly split sites charge to contexts
 *
 * Call it after codetag_split() and codetag_unsplit().
 *
 * Context: Process, one at a time, without codetag_lock().
 */
void codetag_split_switch(void)
{
	struct codetag_site *site;
	struct codetag_info info;

	if (list_empty(&codetag_sites))
		return;

	codetag_lock();
	codetag_split_count();
	codetag_unlock();
	codetag_split_switch_keys();
	codetag_pool_refill();

	codetag_lock();
	list_for_each_entry(site, &codetag_sites, list) {
		if (READ_ONCE(site->split_wanted) &&
		    READ_ONCE(site->split_now) != READ_ONCE(site->split_wanted) &&
		    codetag_info_of(site->id, &info) && !info.unloaded && codetag_profiled(&info))
			codetag_set_charging(&info, CODETAG_CHARGE_CONTEXTS);
		codetag_rest(1);
	}
	codetag_unlock();
	codetag_contexts_reap_later();
}
