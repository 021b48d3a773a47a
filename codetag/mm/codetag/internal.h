/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rooms of mm/codetag/ know of one another. core.c is the lowest: it
 * calls none of the others but to initialise them.
 */
#ifndef _MM_CODETAG_INTERNAL_H
#define _MM_CODETAG_INTERNAL_H

#include <linux/alloc_tag.h>

struct codetag_fault;
struct codetag_fault_settings;
struct dentry;
struct module;
struct page;
struct seq_file;

/* The tags of built-in code, from the linker. */
extern struct alloc_tag __start_alloc_tags[], __stop_alloc_tags[];

/* core.c: the registry of tags */

/**
 * struct codetag_info - a tag as reports see it
 * @ct:		names and state of the site, valid until codetag_unlock()
 * @mod:	module of the site, NULL if it is built in or unloaded
 * @modname:	name of that module, NULL only if the site is built in
 * @id:		own id of the site, by which it is charged when it is profiled;
 *		CODETAG_ID_UNREPRESENTABLE when it has none of its own
 * @without_id:	the site has no id of its own
 * @unloaded:	the site's module is gone, its memory is not
 * @bytes:	bytes held, see struct alloc_tag_counters
 * @calls:	allocations held
 */
struct codetag_info {
	struct codetag *ct;
	struct module *mod;
	const char *modname;
	u16 id;
	bool without_id;
	bool unloaded;
	s64 bytes;
	u64 calls;
};

/**
 * struct codetag_sums - counters of neighbouring ids, read together
 * @first:	id of the first
 * @nr:		how many there are, 0 for none
 * @of:		their sums over all possible CPUs
 *
 * Going from one CPU's memory to the next one's costs more than to add. On a
 * machine with many it is done once for all of these.
 */
struct codetag_sums {
	unsigned int first;
	unsigned int nr;
	struct alloc_tag_counters of[32];
};

/**
 * struct codetag_id_use - how the ids are used
 * @builtin:	tags of built-in code with an id
 * @modules:	tags of loaded modules with an id
 * @unloaded:	tags of unloaded modules whose ids are not free yet
 * @free:	ids that modules can still get
 * @without_id:	tags that have no id, of built-in code and loaded modules
 * @modules_without_id: modules loaded so far that got too few ids
 * @names_lost:	sites of unloaded modules whose names could not be kept
 * @damaged:	ids that were found in pages and objects and that no tag has
 * @tag_bytes:	memory for tags and what finds them by id
 * @counter_bytes: memory for counters on all possible CPUs
 */
struct codetag_id_use {
	unsigned int builtin;
	unsigned int modules;
	unsigned int unloaded;
	unsigned int free;
	unsigned int without_id;
	unsigned long modules_without_id;
	unsigned long names_lost;
	unsigned long damaged;
	size_t tag_bytes;
	size_t counter_bytes;
};

void codetag_lock(void);
bool codetag_trylock(void);
void codetag_unlock(void);
bool codetag_next(unsigned long *pos, struct codetag_info *info, struct codetag_sums *sums);
bool codetag_next_site(unsigned long *pos, struct codetag_info *info);
struct codetag *codetag_from_id(u16 id);
struct alloc_tag_counters alloc_tag_read(u16 id);
void alloc_tag_read_block(unsigned int first, struct alloc_tag_counters *sums);
void codetag_reap(void);
void codetag_id_use(struct codetag_id_use *use);

static inline bool codetag_profiled(const struct codetag_info *info)
{
	return READ_ONCE(info->ct->id) != CODETAG_ID_NONE;
}

/**
 * codetag_set_profiled - switch the profiling of a call site
 * @info:	the site
 * @on:		whether what it allocates from now on is charged
 *
 * Context: With codetag_lock() held.
 */
static inline void codetag_set_profiled(const struct codetag_info *info, bool on)
{
	WRITE_ONCE(info->ct->id, on ? info->id : CODETAG_ID_NONE);
}

/* page_tag.c: the page stores */
extern u16 page_tag_max_id;
bool page_tag_slots_fit(u64 nr);
void page_tag_init(void);
void page_tag_show_stats(struct seq_file *m);

/* pgalloc_tag.c: charging pages */
void pgalloc_tag_show_stats(struct seq_file *m);

/* slab_ref.c, ../percpu.c: the references of slab and percpu objects */
void codetag_slab_show_stats(struct seq_file *m);
void pcpu_codetag_init(void);
void pcpu_codetag_show_stats(struct seq_file *m);

/* control.c: the sites that are chosen at boot */
void codetag_control_init(void);

/* fault.c: faults at call sites */
#ifdef CONFIG_CODETAG_FAULT_INJECTION
struct codetag_fault *codetag_fault_new(const struct codetag_info *info,
					const struct codetag_fault_settings *settings);
void codetag_fault_free(struct codetag_fault *fault);
void codetag_fault_arm(struct codetag_fault *fault);
void codetag_fault_disarm(const struct codetag_info *info);
void codetag_fault_forget_gone(void);
void codetag_fault_module_gone(const struct module *mod);
void codetag_fault_switch(void);
void codetag_fault_show(struct seq_file *m, const struct codetag_info *info);
#else
static inline struct codetag_fault *
codetag_fault_new(const struct codetag_info *info, const struct codetag_fault_settings *settings)
{
	return NULL;
}

static inline void codetag_fault_free(struct codetag_fault *fault) {}
static inline void codetag_fault_arm(struct codetag_fault *fault) {}
static inline void codetag_fault_disarm(const struct codetag_info *info) {}
static inline void codetag_fault_forget_gone(void) {}
static inline void codetag_fault_module_gone(const struct module *mod) {}
static inline void codetag_fault_switch(void) {}
static inline void codetag_fault_show(struct seq_file *m, const struct codetag_info *info) {}
#endif

/* debugfs.c: the directory of the profiler's files */
struct dentry *codetag_debugfs_dir(void);

#endif /* _MM_CODETAG_INTERNAL_H */
