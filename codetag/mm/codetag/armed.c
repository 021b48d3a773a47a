// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites that something is armed for: faults, guards.
 *
 * A bit of codetag.fault makes the allocators look for a fault or guard, in a hash table by the
 * address of the tag. The faults and guards of an unloaded module stay in a list. Their counts
 * can be read until the same site is armed again.
 */
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "armed.h"
#include "internal.h"

/* Protects codetag.fault, which all kinds share. Innermost. */
static DEFINE_SPINLOCK(bits_lock);

static void set_bit_of(struct codetag_armory *armory, struct codetag *ct, bool on)
{
	lockdep_assert_held(&armory->mutex);
	spin_lock(&bits_lock);
	armory->nr += on - !!(ct->fault & armory->bit);
	WRITE_ONCE(ct->fault, (ct->fault & ~armory->bit) | (on ? armory->bit : 0));
	spin_unlock(&bits_lock);
}

/**
 * codetag_armed_init - fill in the start of a fault or guard
 * @armed:	to be filled in
 * @armory:	its kind
 * @info:	the site
 *
 * Context: Process.
 * Return: 0, or -ENOMEM.
 */
int codetag_armed_init(struct codetag_armed *armed, struct codetag_armory *armory,
		       const struct codetag_info *info)
{
	struct codetag *ct = info->ct;

	armed->armory = armory;
	armed->ct = ct;
	armed->mod = info->mod;
	armed->name = kasprintf(CODETAG_GFP, "%s:%u %s%s%sfunc:%s", ct->filename, ct->lineno,
				info->modname ? "[" : "", info->modname ?: "",
				info->modname ? "] " : "", ct->function);
	return armed->name ? 0 : -ENOMEM;
}

/**
 * codetag_armed_free - free a fault or guard that is not armed
 * @armed: the start of it
 *
 * Context: Any but NMI.
 */
void codetag_armed_free(struct codetag_armed *armed)
{
	kfree(armed->name);
	armed->armory->free(armed);
}

static void free_rcu_head(struct rcu_head *rcu)
{
	codetag_armed_free(container_of(rcu, struct codetag_armed, rcu));
}

static void forget(struct codetag_armed *armed)
{
	list_del(&armed->list);
	hash_del_rcu(&armed->node);
	call_rcu(&armed->rcu, free_rcu_head);
}

/**
 * codetag_armed_find - find the fault or guard of a call site
 * @armory:	the kind
 * @ct:		the site's tag
 *
 * Context: Any but NMI, under RCU or codetag_armory.mutex, which keep the result.
 * Return: The fault or guard, armed or disarmed by codetag_disarm(); NULL if there is none.
 */
struct codetag_armed *codetag_armed_find(struct codetag_armory *armory, const struct codetag *ct)
{
	struct codetag_armed *armed;

	hash_for_each_possible_rcu(armory->sites, armed, node, (unsigned long)ct,
				   lockdep_is_held(&armory->mutex))
		if (armed->ct == ct)
			return armed;
	return NULL;
}

/**
 * codetag_arm - arm a fault or guard at its call site
 * @armed: after codetag_armed_init(); it replaces the one of that kind that the site had
 *
 * Context: Process, with codetag_lock() held since codetag_armed_init();
 *	    codetag_armory_switch() is to follow.
 */
void codetag_arm(struct codetag_armed *armed)
{
	struct codetag_armory *armory = armed->armory;
	struct codetag_armed *old;

	mutex_lock(&armory->mutex);
	old = codetag_armed_find(armory, armed->ct);
	if (old)
		forget(old);
	/* The site may be back, in a module that has been loaded before. */
	list_for_each_entry(old, &armory->gone, list) {
		if (!strcmp(old->name, armed->name)) {
			forget(old);
			break;
		}
		codetag_rest(1);
	}

	list_add_tail(&armed->list, &armory->known);
	hash_add_rcu(armory->sites, &armed->node, (unsigned long)armed->ct);
	armory->used = true;
	set_bit_of(armory, armed->ct, true);
	mutex_unlock(&armory->mutex);
}

/**
 * codetag_disarm - have allocators look no more, but keep the counts
 * @armed: a fault or guard whose site exists
 *
 * Context: Process, with codetag_armory.mutex held; codetag_armory_switch() is to follow.
 */
void codetag_disarm(struct codetag_armed *armed)
{
	set_bit_of(armed->armory, armed->ct, false);
}

/**
 * codetag_disarm_site - remove the fault or guard of a call site
 * @armory:	the kind
 * @info:	the site
 *
 * Context: Process, with codetag_lock() held; codetag_armory_switch() is to follow.
 */
void codetag_disarm_site(struct codetag_armory *armory, const struct codetag_info *info)
{
	struct codetag_armed *armed;

	mutex_lock(&armory->mutex);
	armed = codetag_armed_find(armory, info->ct);
	if (armed) {
		codetag_disarm(armed);
		forget(armed);
	}
	mutex_unlock(&armory->mutex);
}

/**
 * codetag_disarm_module - disarm the faults or guards of an unloaded module
 * @armory:	the kind
 * @mod:	the module, whose sites nobody finds any more
 *
 * When it returns, nobody who found such a site looks at its tag any more.
 *
 * Context: Process, without a lock that is taken under cpus_read_lock() too.
 */
void codetag_disarm_module(struct codetag_armory *armory, const struct module *mod)
{
	struct codetag_armed *armed, *next;
	bool used;

	mutex_lock(&armory->mutex);
	list_for_each_entry_safe(armed, next, &armory->known, list) {
		if (armed->mod != mod)
			continue;
		codetag_disarm(armed);
		hash_del_rcu(&armed->node);
		list_move_tail(&armed->list, &armory->gone);
	}
	used = armory->used;
	mutex_unlock(&armory->mutex);
	codetag_armory_switch(armory);
	/* Also for a site of the module that was disarmed a moment ago */
	if (used)
		synchronize_rcu();
}

/**
 * codetag_forget_gone - remove the faults or guards of unloaded modules
 * @armory: the kind
 *
 * Context: Process.
 */
void codetag_forget_gone(struct codetag_armory *armory)
{
	struct codetag_armed *armed, *next;

	mutex_lock(&armory->mutex);
	list_for_each_entry_safe(armed, next, &armory->gone, list)
		forget(armed);
	mutex_unlock(&armory->mutex);
}

/**
 * codetag_armory_switch - make allocators look for faults or guards, or not
 * @armory: the kind
 *
 * To be called after anything was armed or disarmed, without a lock that is
 * taken under cpus_read_lock() too.
 *
 * Context: Process.
 */
void codetag_armory_switch(struct codetag_armory *armory)
{
	static DEFINE_MUTEX(switch_mutex);
	bool on;

	mutex_lock(&switch_mutex);
	on = READ_ONCE(armory->nr);
	if (on != static_key_enabled(armory->key)) {
		if (on)
			static_branch_enable(armory->key);
		else
			static_branch_disable(armory->key);
		if (armory->switched)
			armory->switched(on);
	}
	mutex_unlock(&switch_mutex);
}

/**
 * codetag_armed_show - show the fault or guard of a call site
 * @m:		where to print to
 * @armory:	the kind
 * @info:	the site
 *
 * Context: Process, with codetag_lock() held.
 */
void codetag_armed_show(struct seq_file *m, struct codetag_armory *armory,
			const struct codetag_info *info)
{
	struct codetag_armed *armed;

	if (!(READ_ONCE(info->ct->fault) & armory->bit))
		return;

	mutex_lock(&armory->mutex);
	armed = codetag_armed_find(armory, info->ct);
	if (armed)
		armory->show(m, armed);
	mutex_unlock(&armory->mutex);
}

/**
 * codetag_armory_show - show the counts of all faults or guards
 * @m:		where to print to
 * @armory:	the kind
 *
 * Context: Process.
 */
void codetag_armory_show(struct seq_file *m, struct codetag_armory *armory)
{
	struct codetag_armed *armed;

	mutex_lock(&armory->mutex);
	list_for_each_entry(armed, &armory->known, list)
		armory->show_counts(m, armed, "armed");
	list_for_each_entry(armed, &armory->gone, list)
		armory->show_counts(m, armed, "unloaded");
	mutex_unlock(&armory->mutex);
}
