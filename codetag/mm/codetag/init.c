// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boot, and modules that go: in which order the files here learn of it.
 *
 * This file alone calls all the others, so that tags.c need not.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/pgalloc_tag.h>
#include <linux/slab.h>
#include "change.h"
#include "internal.h"
#include "page_store.h"
#include "site.h"
#include "split.h"
#include "totals.h"

/**
 * codetag_init - start the profiler
 *
 * Context: Boot, before the first page or slab object is allocated.
 */
void __init codetag_init(void)
{
	if (mem_alloc_profiling_permanently_disabled())
		return;

	codetag_give_ids();
	page_tag_init();
	pgalloc_tag_singles_inline(true);
	pcpu_codetag_init();
	codetag_contexts_init();
	codetag_control_init();
}

#ifdef CONFIG_MODULES
/**
 * codetag_unload_module - let a module go
 * @mod: the module, none of whose code will run any more
 *
 * Its tags go first: as long as they are there, a query can choose its sites and an
 * allocation can be charged to a new context of theirs.
 *
 * Context: Process.
 */
void codetag_unload_module(struct module *mod)
{
	if (mem_alloc_profiling_permanently_disabled())
		return;

	if (mod->num_alloc_tags) {
		/* Wait for kfree_rcu() of the module, so that this does not look like a leak. */
		kvfree_rcu_barrier();
		codetag_lock_all();
		codetag_sites_going(mod);
		codetag_tags_going(mod);
		codetag_count_lines();
		codetag_unlock_all();
		codetag_change_module_gone(mod);
	}
	/* Stacks of other modules' sites may have its code. */
	codetag_contexts_module_gone(mod);
}
#endif /* CONFIG_MODULES */
