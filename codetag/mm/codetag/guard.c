// SPDX-License-Identifier: GPL-2.0
/*
 * Guards at chosen call sites.
 *
 * KFENCE takes every Nth slab object of a site that has a guard. It reports an access to that
 * object after it was freed, and a write outside of it, with the stacks of the allocation and of
 * the free. Other sites get no object because of it: the guard neither waits for KFENCE's sample
 * interval nor changes it.
 *
 * While the pool of KFENCE is used up, the site's objects come from their slab.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/codetag_guard.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kfence.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "armed.h"
#include "guards.h"
#include "internal.h"

/**
 * struct codetag_guard - the guard of one call site
 * @armed:	the site
 * @rate:	KFENCE takes every one of so many objects
 * @passed:	objects that the site has allocated and that KFENCE could hold
 * @guarded:	objects that KFENCE took
 * @missed:	objects that KFENCE should have taken, but had no room, or was disabled by a warning
 *
 * The counts are atomic. The other members do not change.
 */
struct codetag_guard {
	struct codetag_armed armed;
	unsigned long rate;
	atomic_long_t passed;
	atomic_long_t guarded;
	atomic_long_t missed;
};

DEFINE_STATIC_KEY_FALSE(codetag_guards_key);

static void free_guard(struct codetag_armed *armed)
{
	kfree(container_of(armed, struct codetag_guard, armed));
}

CODETAG_DEFINE_ARMORY(guards, CODETAG_ARMED_GUARD, &codetag_guards_key, free_guard);

/* The guard of a call site; it stays as the result of codetag_armed_find() does. */
static struct codetag_guard *find_guard(const struct codetag *ct)
{
	struct codetag_armed *armed = codetag_armed_find(&guards, ct);

	return armed ? container_of(armed, struct codetag_guard, armed) : NULL;
}

/* ---- arming and disarming ------------------------------------------------------ */

/**
 * codetag_guard_prepare - get the pool that guards need
 *
 * A kernel that does not sample has no pool before the first guard.
 *
 * Context: Process, with codetag_query_mutex held.
 * Return: 0, or an error with the reason in the kernel log.
 */
int codetag_guard_prepare(void)
{
	int ret = kfence_prepare_chosen();

	if (ret)
		pr_warn_ratelimited("control: no pool of KFENCE for a guard: error %d\n", ret);
	return ret;
}

/**
 * codetag_guard_new - prepare a guard for a call site
 * @info:	the site
 * @rate:	KFENCE takes every one of so many objects
 *
 * Context: Process.
 * Return: The guard, not armed; NULL without memory for it.
 */
struct codetag_guard *codetag_guard_new(const struct codetag_info *info, unsigned long rate)
{
	struct codetag_guard *guard = kzalloc(sizeof(*guard), CODETAG_GFP);

	if (guard && codetag_armed_init(&guard->armed, &guards, info)) {
		kfree(guard);
		return NULL;
	}
	if (guard)
		guard->rate = rate;
	return guard;
}

/**
 * codetag_guard_free - free a guard that is not armed
 * @guard: the guard
 *
 * Context: Any but NMI.
 */
void codetag_guard_free(struct codetag_guard *guard)
{
	codetag_armed_free(&guard->armed);
}

/**
 * codetag_guard_arm - have KFENCE take objects of a call site
 * @guard: what codetag_guard_new() returned; it replaces what the site had
 *
 * Context: As codetag_arm().
 */
void codetag_guard_arm(struct codetag_guard *guard)
{
	codetag_arm(&guard->armed);
}

/**
 * codetag_guard_disarm - remove the guard of a call site
 * @info: the site
 *
 * Objects that KFENCE has taken stay there until they are freed.
 *
 * Context: As codetag_disarm_site().
 */
void codetag_guard_disarm(const struct codetag_info *info)
{
	codetag_disarm_site(&guards, info);
}

/**
 * codetag_guard_forget_gone - remove the guards of sites of unloaded modules
 *
 * Context: Process.
 */
void codetag_guard_forget_gone(void)
{
	codetag_forget_gone(&guards);
}

/**
 * codetag_guard_module_gone - disarm the guards of an unloaded module
 * @mod: the module, whose sites nobody finds any more
 *
 * Context: As codetag_disarm_module().
 */
void codetag_guard_module_gone(const struct module *mod)
{
	codetag_disarm_module(&guards, mod);
}

/**
 * codetag_guard_switch - make the slab allocator look for guards, or not
 *
 * Context: As codetag_armory_switch().
 */
void codetag_guard_switch(void)
{
	codetag_armory_switch(&guards);
}

/* ---- allocating ------------------------------------------------------------------ */

/**
 * codetag_guard_alloc - allocate an object for a call site with a guard
 * @s:		the cache
 * @size:	bytes of the object
 * @flags:	of the allocation
 *
 * Context: Any but NMI; KFENCE could hold the object.
 * Return: The object, NULL if it is to come from its slab.
 */
void *codetag_guard_alloc(struct kmem_cache *s, size_t size, gfp_t flags)
{
	struct codetag_guard *guard;
	void *object = NULL;

	rcu_read_lock();
	guard = find_guard(&alloc_tag_current()->ct);
	if (guard && atomic_long_inc_return(&guard->passed) % guard->rate == 0) {
		object = kfence_alloc_chosen(s, size, flags);
		atomic_long_inc(object ? &guard->guarded : &guard->missed);
	}
	rcu_read_unlock();
	return object;
}

/* ---- reports --------------------------------------------------------------------- */

/**
 * codetag_guard_show - show the guard of a call site
 * @m:		where to print to
 * @info:	the site
 *
 * Prints nothing for a site without a guard.
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_guard_show(struct seq_file *m, const struct codetag_info *info)
{
	struct codetag_guard *guard;

	if (!(READ_ONCE(info->ct->fault) & CODETAG_ARMED_GUARD))
		return;

	mutex_lock(&guards.mutex);
	guard = find_guard(info->ct);
	if (guard)
		seq_printf(m, " guard rate=%lu", guard->rate);
	mutex_unlock(&guards.mutex);
}

static void show_guard(struct seq_file *m, struct codetag_guard *guard, const char *state)
{
	seq_printf(m, "%8lu %8lu %8lu %8lu %-8s %s\n", atomic_long_read(&guard->passed),
		   atomic_long_read(&guard->guarded), atomic_long_read(&guard->missed),
		   guard->rate, state, guard->armed.name);
}

static int guards_show(struct seq_file *m, void *v)
{
	struct codetag_guard *guard;

	seq_puts(m, "# passed  guarded   missed     rate state    tag\n");
	mutex_lock(&guards.mutex);
	list_for_each_entry(guard, &guards.known, armed.list)
		show_guard(m, guard, "armed");
	list_for_each_entry(guard, &guards.gone, armed.list)
		show_guard(m, guard, "unloaded");
	mutex_unlock(&guards.mutex);
	return 0;
}

CODETAG_DEFINE_FILE(guards, guards_show, NULL);

static int __init guards_debugfs_init(void)
{
	if (IS_ENABLED(CONFIG_DEBUG_FS) && !mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("guards", 0400, codetag_debugfs_dir(), NULL, &guards_fops);
	return 0;
}
late_initcall(guards_debugfs_init);
