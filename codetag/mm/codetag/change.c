// SPDX-License-Identifier: GPL-2.0-only
/*
 * Apply queries to the call sites that they match.
 *
 * The queries of a write are applied together, in one walk over the call sites. For each site,
 * the last matching query that says whether it is profiled decides. The same holds for its
 * fault, its guard, its keys and whether it is traced. All memory is allocated first, once for
 * a site and not for each query. After that nothing can fail, and the changes are made.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "change.h"
#include "faults.h"
#include "guards.h"
#include "internal.h"
#include "site.h"
#include "split.h"

/* Kinds of things that can be armed at a site */
enum armed_kind {
	ARMED_FAULT,
	ARMED_GUARD,
	NR_ARMED,
};

static struct codetag_armory * const armories[NR_ARMED] = {
	[ARMED_FAULT] = IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION) ? &codetag_faults : NULL,
	[ARMED_GUARD] = IS_ENABLED(CONFIG_CODETAG_GUARD) ? &codetag_guards : NULL,
};

/* The aspects of a site that queries change independently */
enum aspect {
	ASPECT_PROFILED,
	ASPECT_KEYS,
	ASPECT_TRACED,
	ASPECT_ARMED,		/* the first kind */
	NR_ASPECTS = ASPECT_ARMED + NR_ARMED,
};

/**
 * struct plan - the changes to a site
 * @list:	in the plans of a write
 * @info:	the site
 * @last:	for each aspect the query that decides, or NULL
 * @armed:	of each kind one to be armed, or NULL
 * @site:	memory to split the site, or NULL
 */
struct plan {
	struct list_head list;
	struct codetag_info info;
	const struct codetag_query *last[NR_ASPECTS];
	struct codetag_armed *armed[NR_ARMED];
	struct codetag_site *site;
};

/* ---- matching ----------------------------------------------------------------- */

/* The module that a site is in, or could be in if it were not built in */
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

static bool matches(const struct codetag_query *query, const struct codetag_info *info,
		    const char *modname)
{
	return codetag_query_matches(query, info->ct, info->without_id ? 0 : info->id,
				     modname, !info->modname);
}

static unsigned int aspect_of(const struct codetag_query *query)
{
	switch (query->action) {
	case CODETAG_ACTION_FAULT:
	case CODETAG_ACTION_FAULT_OFF:
		return ASPECT_ARMED + ARMED_FAULT;
	case CODETAG_ACTION_GUARD:
	case CODETAG_ACTION_GUARD_OFF:
		return ASPECT_ARMED + ARMED_GUARD;
	case CODETAG_ACTION_KEYS:
		return ASPECT_KEYS;
	case CODETAG_ACTION_TRACE:
	case CODETAG_ACTION_TRACE_OFF:
		return ASPECT_TRACED;
	default:
		return ASPECT_PROFILED;
	}
}

static bool arms(const struct codetag_query *query)
{
	return query->action == CODETAG_ACTION_FAULT || query->action == CODETAG_ACTION_GUARD;
}

/* Find the queries that decide about a site: the last ones. Returns whether there are any. */
static bool decide(struct list_head *queries, struct plan *plan)
{
	char name[MODULE_NAME_LEN];
	const char *modname = modname_of(&plan->info, name);
	struct codetag_change *change;
	unsigned long steps = 0;
	bool any = false;

	list_for_each_entry_reverse(change, queries, list) {
		const struct codetag_query **last = &plan->last[aspect_of(&change->query)];

		/* It decides nothing more here: only note that it matches a site. */
		if (*last && change->matched)
			continue;
		steps++;
		if (!matches(&change->query, &plan->info, modname))
			continue;
		change->matched = true;
		if (!*last)
			*last = &change->query;
		any = true;
	}
	codetag_rest(steps);
	return any;
}

/* ---- sites: prepared, then made ------------------------------------------------- */

static void set_profiled(const struct codetag_info *info, const struct codetag_query *query)
{
	if (!(query->flags & CODETAG_FLAG_PROFILE) || query->action == CODETAG_ACTION_REMOVE)
		codetag_set_charging(info, CODETAG_CHARGE_OFF);
	else if (codetag_split_wanted(info))
		codetag_set_charging(info, CODETAG_CHARGE_CONTEXTS);
	else
		codetag_set_charging(info, CODETAG_CHARGE_SITE);
}

static struct codetag_armed *new_armed(const struct codetag_info *info,
				       const struct codetag_query *query)
{
	if (IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION) && query->action == CODETAG_ACTION_FAULT)
		return codetag_fault_new(info, &query->fault);
	if (IS_ENABLED(CONFIG_CODETAG_GUARD) && query->action == CODETAG_ACTION_GUARD)
		return codetag_guard_new(info, query->rate);
	return NULL;
}

/*
 * How is a site to be split? Neither query touches a setting that the other one changes.
 * False if nothing changes.
 */
static bool new_split(const struct plan *plan, struct codetag_keys *keys)
{
	const struct codetag_query *split = plan->last[ASPECT_KEYS];
	const struct codetag_query *traced = plan->last[ASPECT_TRACED];
	unsigned int max, old;
	bool was, trace;

	/* The memory of a site without an id is charged elsewhere. */
	if ((!split && !traced) || plan->info.without_id)
		return false;

	old = codetag_split_by(&plan->info, &max);
	was = old & CODETAG_SPLIT_TRACE;
	trace = traced ? traced->action == CODETAG_ACTION_TRACE : was;
	if (!split && trace == was)
		return false;

	if (split)
		*keys = split->keys;
	else
		*keys = (struct codetag_keys) {
			.mask = old & CODETAG_SPLIT_KEYS,
			.depth = old >> CODETAG_SPLIT_DEPTH,
			.max = max,
		};
	if (trace)
		keys->mask |= CODETAG_SPLIT_TRACE;
	return true;
}

/* The caller has to call clean(), also after an error. */
static int prepare(struct plan *plan)
{
	struct codetag_keys keys;
	bool failed = false;

	for (unsigned int kind = 0; kind < NR_ARMED; kind++) {
		const struct codetag_query *query = plan->last[ASPECT_ARMED + kind];

		if (query && arms(query)) {
			plan->armed[kind] = new_armed(&plan->info, query);
			failed |= !plan->armed[kind];
		}
	}
	if (new_split(plan, &keys) && keys.mask) {
		plan->site = codetag_split_new(&plan->info, &keys);
		failed |= !plan->site;
	}
	return failed ? -ENOMEM : 0;
}

static void make(struct plan *plan)
{
	const struct codetag_query *profiled = plan->last[ASPECT_PROFILED];
	struct codetag_keys keys;

	if (profiled)
		set_profiled(&plan->info, profiled);
	for (unsigned int kind = 0; kind < NR_ARMED; kind++) {
		const struct codetag_query *query = plan->last[ASPECT_ARMED + kind];

		if (plan->armed[kind])
			codetag_arm(plan->armed[kind]);
		else if (query && !arms(query) && armories[kind])
			codetag_disarm_site(armories[kind], &plan->info);
		plan->armed[kind] = NULL;
	}
	if (plan->site)
		codetag_split(plan->site);
	else if (new_split(plan, &keys) && !keys.mask)
		codetag_unsplit(&plan->info);
	plan->site = NULL;
}

static void clean(struct plan *plan)
{
	for (unsigned int kind = 0; kind < NR_ARMED; kind++)
		if (plan->armed[kind])
			codetag_armed_free(plan->armed[kind]);
	codetag_site_free(plan->site);
}

/* ---- several queries -------------------------------------------------------------- */

/**
 * codetag_change_supported - does this kernel support the action of a query?
 * @query: the query
 *
 * Context: Process.
 * Return: 0, or -EOPNOTSUPP with the reason in the kernel log.
 */
int codetag_change_supported(const struct codetag_query *query)
{
	if (query->action == CODETAG_ACTION_FAULT &&
	    !IS_ENABLED(CONFIG_CODETAG_FAULT_INJECTION)) {
		pr_warn_ratelimited("control: this kernel has no faults: CONFIG_CODETAG_FAULT_INJECTION is not set\n");
		return -EOPNOTSUPP;
	}
	if (query->action == CODETAG_ACTION_FAULT && codetag_fault_filters(&query->fault) &&
	    !IS_ENABLED(CONFIG_FAULT_INJECTION_STACKTRACE_FILTER)) {
		pr_warn_ratelimited("control: this kernel cannot choose faults by their callers: CONFIG_FAULT_INJECTION_STACKTRACE_FILTER is not set\n");
		return -EOPNOTSUPP;
	}
	if (query->action == CODETAG_ACTION_GUARD && !IS_ENABLED(CONFIG_CODETAG_GUARD)) {
		pr_warn_ratelimited("control: this kernel has no guards: CONFIG_CODETAG_GUARD is not set\n");
		return -EOPNOTSUPP;
	}
	if (query->action == CODETAG_ACTION_TRACE &&
	    !(IS_ENABLED(CONFIG_CODETAG_CONTEXTS) && IS_ENABLED(CONFIG_TRACEPOINTS))) {
		pr_warn_ratelimited("control: this kernel cannot trace call sites: CONFIG_CODETAG_CONTEXTS or CONFIG_TRACEPOINTS is not set\n");
		return -EOPNOTSUPP;
	}
	if (query->action == CODETAG_ACTION_KEYS && !IS_ENABLED(CONFIG_CODETAG_CONTEXTS)) {
		pr_warn_ratelimited("control: this kernel has no contexts: CONFIG_CODETAG_CONTEXTS is not set\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * codetag_change_flags - apply a query that sets flags
 * @query: the query
 *
 * This needs no memory, so it can be done from the start of the boot.
 *
 * Context: Early during boot.
 */
void __init codetag_change_flags(const struct codetag_query *query)
{
	char name[MODULE_NAME_LEN];
	struct codetag_info info;
	unsigned long pos;

	for (pos = 0; codetag_next_site(&pos, &info); pos++)
		if (matches(query, &info, modname_of(&info, name)))
			set_profiled(&info, query);
}

/**
 * codetag_changes_prepare - plan the changes of queries, and allocate their memory
 * @queries:	struct codetag_change, in the order in which they apply; on return
 *		they know whether they match
 * @plans:	an empty list, for codetag_changes_commit(). To be freed by
 *		codetag_changes_free() in any case.
 *
 * Context: Process, with codetag_lock() held until codetag_changes_commit().
 * Return: 0, -ENOMEM, or -EINTR if the task is to die.
 */
int codetag_changes_prepare(struct list_head *queries, struct list_head *plans)
{
	struct plan plan = {}, *new;
	unsigned long pos;

	for (pos = 0; codetag_next_site(&pos, &plan.info); pos++) {
		/* Nothing is changed yet, and many queries take long. */
		if (fatal_signal_pending(current))
			return -EINTR;
		memset(plan.last, 0, sizeof(plan.last));
		if (!decide(queries, &plan))
			continue;
		new = kmemdup(&plan, sizeof(plan), CODETAG_GFP);
		if (!new)
			return -ENOMEM;
		list_add_tail(&new->list, plans);
		if (prepare(new))
			return -ENOMEM;
	}
	return 0;
}

/**
 * codetag_changes_commit - make the planned changes
 * @queries:	the queries
 * @plans:	plans of codetag_changes_prepare(); their memory is used up
 *
 * Context: Process, with codetag_lock() held, one at a time; codetag_change_switch()
 *	    is to follow.
 */
void codetag_changes_commit(const struct list_head *queries, struct list_head *plans)
{
	struct codetag_change *change;
	struct plan *plan;

	list_for_each_entry(change, queries, list) {
		unsigned int aspect = aspect_of(&change->query);

		if (aspect >= ASPECT_ARMED && !arms(&change->query) &&
		    armories[aspect - ASPECT_ARMED])
			codetag_forget_gone(armories[aspect - ASPECT_ARMED]);
	}
	list_for_each_entry(plan, plans, list) {
		make(plan);
		codetag_rest(1);
	}
}

/**
 * codetag_changes_free - free the plans of codetag_changes_prepare()
 * @plans: the list, which is empty then
 *
 * Context: Process.
 */
void codetag_changes_free(struct list_head *plans)
{
	struct plan *plan, *next;

	list_for_each_entry_safe(plan, next, plans, list) {
		clean(plan);
		kfree(plan);
		codetag_rest(1);
	}
	INIT_LIST_HEAD(plans);
}

static void change_site(const struct codetag_info *info, void *queries)
{
	struct plan plan = { .info = *info };

	if (!decide(queries, &plan))
		return;
	if (prepare(&plan))
		pr_warn_ratelimited("out of memory: not all queries are applied to %s:%u of module %s\n",
				    info->ct->filename, info->ct->lineno, info->modname);
	make(&plan);
	clean(&plan);
}

/**
 * codetag_changes_of_module - apply queries to the call sites of a module
 * @queries:	struct codetag_change, in the order in which they apply
 * @mod:	the module
 *
 * Context: Process, with codetag_lock() held, one at a time; codetag_change_switch()
 *	    is to follow.
 */
void codetag_changes_of_module(struct list_head *queries, struct module *mod)
{
	codetag_with_sites_of(mod, change_site, queries);
}

/**
 * codetag_change_switch - make allocators follow the changes
 *
 * Context: Process, without codetag_lock(), while no other changes can be made.
 */
void codetag_change_switch(void)
{
	for (unsigned int kind = 0; kind < NR_ARMED; kind++)
		if (armories[kind])
			codetag_armory_switch(armories[kind]);
	codetag_split_switch();
}

/**
 * codetag_change_module_gone - disarm the faults and guards of an unloaded module
 * @mod: the module, whose sites nobody finds any more
 *
 * Context: As codetag_disarm_module().
 */
void codetag_change_module_gone(const struct module *mod)
{
	for (unsigned int kind = 0; kind < NR_ARMED; kind++)
		if (armories[kind])
			codetag_disarm_module(armories[kind], mod);
}

/**
 * codetag_change_show - show the fault and the guard of a call site
 * @m:		where to print to
 * @info:	the site
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_change_show(struct seq_file *m, const struct codetag_info *info)
{
	for (unsigned int kind = 0; kind < NR_ARMED; kind++)
		if (armories[kind])
			codetag_armed_show(m, armories[kind], info);
}
