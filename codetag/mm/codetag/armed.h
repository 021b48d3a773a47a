/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call sites that something is armed for: faults, guards.
 */
#ifndef _MM_CODETAG_ARMED_H
#define _MM_CODETAG_ARMED_H

#include <linux/hashtable.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include "tags.h"

struct module;
struct seq_file;

/**
 * struct codetag_armed - something that is armed for a call site; the start of a larger struct
 * @node:	in codetag_armory.sites; gone when the site is
 * @list:	in codetag_armory.known or, once the site is gone, in codetag_armory.gone
 * @rcu:	to free it
 * @armory:	all of its kind
 * @ct:		the site's tag; dangles once the site is gone
 * @mod:	the site's module, NULL for built-in code
 * @name:	the site as reports show it
 *
 * Allocators find it under RCU. @node and @list change under codetag_armory.mutex, the other
 * members do not change.
 */
struct codetag_armed {
	struct hlist_node node;
	struct list_head list;
	struct rcu_head rcu;
	struct codetag_armory *armory;
	struct codetag *ct;
	const struct module *mod;
	char *name;
};

/**
 * struct codetag_armory - everything of one kind that is armed
 * @bit:	bit of codetag.fault that makes allocators look here
 * @key:	on while anything is armed
 * @switched:	called when @key changes; or NULL
 * @free:	frees one of them
 * @show:	prints one that is armed, as a query would arm it
 * @show_counts:	prints the counts of one, "armed" or "unloaded", and its name
 * @mutex:	protects the members below, and what codetag_armed says of it
 * @used:	anything was ever armed
 * @nr:		sites that have @bit set
 * @known:	those of the kernel and of loaded modules
 * @gone:	those of unloaded modules
 * @sites:	@known by the address of the tag
 */
struct codetag_armory {
	u8 bit;
	struct static_key_false *key;
	void (*switched)(bool on);
	void (*free)(struct codetag_armed *armed);
	void (*show)(struct seq_file *m, struct codetag_armed *armed);
	void (*show_counts)(struct seq_file *m, struct codetag_armed *armed, const char *state);
	struct mutex mutex;	/* of the following */
	bool used;
	unsigned int nr;
	struct list_head known;
	struct list_head gone;
	DECLARE_HASHTABLE(sites, 8);
};

#define CODETAG_ARMORY_INIT(_name)						\
	.mutex = __MUTEX_INITIALIZER(_name.mutex),				\
	.known = LIST_HEAD_INIT(_name.known),					\
	.gone = LIST_HEAD_INIT(_name.gone)

int codetag_armed_init(struct codetag_armed *armed, struct codetag_armory *armory,
		       const struct codetag_info *info);
void codetag_armed_free(struct codetag_armed *armed);
struct codetag_armed *codetag_armed_find(struct codetag_armory *armory,
					 const struct codetag *ct);
void codetag_arm(struct codetag_armed *armed);
void codetag_disarm(struct codetag_armed *armed);
void codetag_disarm_site(struct codetag_armory *armory, const struct codetag_info *info);
void codetag_disarm_module(struct codetag_armory *armory, const struct module *mod);
void codetag_forget_gone(struct codetag_armory *armory);
void codetag_armory_switch(struct codetag_armory *armory);
void codetag_armed_show(struct seq_file *m, struct codetag_armory *armory,
			const struct codetag_info *info);
void codetag_armory_show(struct seq_file *m, struct codetag_armory *armory);

#endif /* _MM_CODETAG_ARMED_H */
