// SPDX-License-Identifier: GPL-2.0
/*
 * What a query does to the call sites that it matches: first prepared, so that
 * nothing of it can fail any more, and then made.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "change.h"
#include "internal.h"

/* ---- what a query matches --------------------------------------------------- */

/* What a site is, or could be, a module of. */
static const char *modname_of(const struct codetag_info *info, char name[MODULE_NAME_LEN])
{
	const char *end = info->ct->filename - 1, *start = end;

	if (info->modname)
		return info->modname;
	/* See CODETAG_FILENAME() */
	while (start[-1] != ':')
		start--;
	strscpy(name, start, min_t(size_t, end - start + 1, MODULE_NAME_LEN));
	return name;
}

/*
 * Go on from *pos to the next site that a query matches, in one module or,
 * with NULL, anywhere. There can be very many queries at once.
 */
static bool next_match(const struct codetag_query *query, const struct module *mod,
		       unsigned long *pos, struct codetag_info *info)
{
	char name[MODULE_NAME_LEN];

	for (; codetag_next_site(pos, info); (*pos)++) {
		cond_resched();
		if (mod && info->mod != mod)
			continue;
		if (codetag_query_matches(query, info->ct, info->without_id ? 0 : info->id,
					  modname_of(info, name), !info->modname))
			return true;
	}
	return false;
}

/**
 * codetag_query_matches_any - is there a call site that a query matches?
 * @query: the query
 *
 * Context: Process, with codetag_lock() held.
 * Return: Whether there is.
 */
bool codetag_query_matches_any(const struct codetag_query *query)
{
	struct codetag_info info;
	unsigned long pos = 0;

	return next_match(query, NULL, &pos, &info);
}

static unsigned int count_matches(const struct codetag_query *query, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;
	unsigned int nr = 0;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		nr++;
	return nr;
}

static void set_profiled(const struct codetag_info *info, bool on)
{
	if (!on)
		codetag_set_charging(info, CODETAG_CHARGE_OFF);
	else if (codetag_split_wanted(info))
		codetag_set_charging(info, CODETAG_CHARGE_CONTEXTS);
	else
		codetag_set_charging(info, CODETAG_CHARGE_SITE);
}

/**
 * codetag_change_flags - do what a query that sets flags asks for
 * @query:	the query
 * @mod:	the module whose sites it is for, NULL: all
 *
 * This needs no memory, so it can be done from the start of the boot.
 *
 * Context: Process, with codetag_lock() held; or early during boot.
 */
void codetag_change_flags(const struct codetag_query *query, const struct module *mod)
{
	bool profile = query->flags & CODETAG_FLAG_PROFILE;
	struct codetag_info info;
	unsigned long pos;

	/* "+_" and "-_" change nothing. */
	if (query->action != CODETAG_ACTION_SET && !profile)
		return;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		set_profiled(&info, profile && query->action != CODETAG_ACTION_REMOVE);
}

static void disarm_faults(const struct codetag_query *query, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		codetag_fault_disarm(&info);
	codetag_fault_forget_gone();
}

static void unsplit_sites(const struct codetag_query *query, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;

	for (pos = 0; next_match(query, mod, &pos, &info); pos++)
		if (!info.without_id)
			codetag_unsplit(&info);
}

/* ---- changes: prepared, then made -------------------------------------------- */

/**
 * codetag_change_free - free what a change has not used up
 * @change: the change; not itself
 *
 * Context: Process.
 */
void codetag_change_free(struct codetag_change *change)
{
	unsigned int i;

	for (i = 0; i < change->nr_faults; i++)
		codetag_fault_free(change->faults[i]);
	kvfree(change->faults);
	change->faults = NULL;
	change->nr_faults = 0;

	for (i = 0; i < change->nr_sites; i++)
		codetag_site_free(change->sites[i]);
	kvfree(change->sites);
	change->sites = NULL;
	change->nr_sites = 0;
}

static int prepare_faults(struct codetag_change *change, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;
	unsigned int nr;

	if (!IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION)) {
		pr_warn_ratelimited("control: this kernel has no faults: CONFIG_CODETAG_FAULT_INJECTION is not set\n");
		return -EOPNOTSUPP;
	}

	nr = count_matches(&change->query, mod);
	change->faults = kvcalloc(nr, sizeof(*change->faults), GFP_KERNEL);
	if (nr && !change->faults)
		return -ENOMEM;

	for (pos = 0; next_match(&change->query, mod, &pos, &info); pos++) {
		struct codetag_fault *fault = codetag_fault_new(&info, &change->query.fault);

		if (!fault)
			return -ENOMEM;
		change->faults[change->nr_faults++] = fault;
	}
	return 0;
}

static int prepare_sites(struct codetag_change *change, const struct module *mod)
{
	struct codetag_info info;
	unsigned long pos;
	unsigned int nr;

	if (!IS_ENABLED(CONFIG_CODETAG_CONTEXTS)) {
		pr_warn_ratelimited("control: this kernel has no contexts: CONFIG_CODETAG_CONTEXTS is not set\n");
		return -EOPNOTSUPP;
	}
	if (!change->query.keys.mask)
		return 0;

	nr = count_matches(&change->query, mod);
	change->sites = kvcalloc(nr, sizeof(*change->sites), GFP_KERNEL);
	if (nr && !change->sites)
		return -ENOMEM;

	for (pos = 0; next_match(&change->query, mod, &pos, &info); pos++) {
		/* All that it has is charged elsewhere. */
		if (info.without_id)
			continue;
		change->sites[change->nr_sites] = codetag_split_new(&info);
		if (!change->sites[change->nr_sites])
			return -ENOMEM;
		change->nr_sites++;
	}
	return 0;
}

/**
 * codetag_change_prepare - get all that a change is going to need
 * @change:	the change, its query set and the rest 0
 * @mod:	the module whose sites it is for, NULL: all
 *
 * Context: Process, with codetag_lock() held until codetag_change_make(). What is
 *	    left has to be freed by codetag_change_free() in any case.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP for faults or keys where there are none.
 */
int codetag_change_prepare(struct codetag_change *change, const struct module *mod)
{
	switch (change->query.action) {
	case CODETAG_ACTION_FAULT:
		return prepare_faults(change, mod);
	case CODETAG_ACTION_KEYS:
		return prepare_sites(change, mod);
	default:
		return 0;
	}
}

/**
 * codetag_change_make - do what a query asks for
 * @change:	what codetag_change_prepare() has prepared, which is used up
 * @mod:	the same module
 *
 * Context: Process, with codetag_lock() held; codetag_change_switch() is to follow.
 */
void codetag_change_make(struct codetag_change *change, const struct module *mod)
{
	unsigned int i;

	switch (change->query.action) {
	case CODETAG_ACTION_FAULT:
		for (i = 0; i < change->nr_faults; i++)
			codetag_fault_arm(change->faults[i]);
		change->nr_faults = 0;
		break;
	case CODETAG_ACTION_FAULT_OFF:
		disarm_faults(&change->query, mod);
		break;
	case CODETAG_ACTION_KEYS:
		for (i = 0; i < change->nr_sites; i++)
			codetag_split(change->sites[i], &change->query.keys);
		change->nr_sites = 0;
		if (!change->query.keys.mask)
			unsplit_sites(&change->query, mod);
		break;
	default:
		codetag_change_flags(&change->query, mod);
	}
}

/**
 * codetag_change_switch - make allocators follow what was changed
 *
 * Context: Process, without codetag_lock(), with what keeps other changes away.
 */
void codetag_change_switch(void)
{
	codetag_fault_switch();
	codetag_split_switch();
}
