/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interfaces between the files of mm/codetag/. A file calls only files below it:
 * Documentation/design.md has their order, which a check compares. init.c calls them all.
 */
#ifndef _MM_CODETAG_INTERNAL_H
#define _MM_CODETAG_INTERNAL_H

#include <linux/alloc_tag.h>
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include "context.h"
#include "query.h"

/* Where to go on from a page that is not there: a section that is not can be skipped. */
static inline unsigned long codetag_next_pfn(unsigned long pfn)
{
#ifdef CONFIG_SPARSEMEM
	if (!pfn_in_present_section(pfn))
		return SECTION_ALIGN_UP(pfn + 1);
#endif
	return pfn + 1;
}

struct codetag_fault;
struct codetag_fault_settings;
struct dentry;
struct file;
struct module;
struct page;
struct seq_buf;
struct seq_file;
struct slab;

/* The tags of built-in code, from the linker. */
extern struct alloc_tag __start_alloc_tags[], __stop_alloc_tags[];

/* access.c: access rights */
int codetag_may_change(void);
int codetag_may_open(const struct file *file);
extern const struct kernel_param_ops codetag_param_ops;

/* ids.c, tags.c, totals.c: the registry of tags */

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
 * @may_sleep:	who reads them may sleep
 * @of:		their sums over all possible CPUs
 *
 * Going from one CPU's memory to the next one's costs more than to add. On a
 * machine with many it is done once for all of these.
 */
struct codetag_sums {
	unsigned int first;
	unsigned int nr;
	bool may_sleep;
	struct alloc_tag_counters of[32];
};

/**
 * struct codetag_id_use - how the ids are used
 * @builtin:	tags of built-in code with an id
 * @modules:	tags of loaded modules with an id
 * @unloaded:	tags of unloaded modules whose ids are not free yet
 * @free:	ids that modules can still get
 * @without_id:	tags that have no id, of built-in code and loaded modules
 * @contexts:	ids set aside for contexts
 * @modules_without_id: number of loaded modules that got too few ids
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
	unsigned int contexts;
	unsigned long modules_without_id;
	unsigned long names_lost;
	unsigned long damaged;
	size_t tag_bytes;
	size_t counter_bytes;
};

/**
 * struct codetag_content - which lines codetag_next() finds
 * @id: another one once a line has come or gone
 * @nr: how many they are
 */
struct codetag_content {
	u64 id;
	unsigned long nr;
};

/*
 * For what a write asks for: who asks pays for it, and is told that there is no memory
 * before anybody else is killed for it.
 */
#define CODETAG_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

#ifdef CONFIG_MEM_ALLOC_PROFILING

/* The counters of a block of contexts, on one CPU */
struct codetag_block_counters {
	struct alloc_tag_counters held[CODETAG_BLOCK_SIZE];
	u64 allocs[CODETAG_BLOCK_SIZE];
};

/**
 * struct codetag_block - contexts with neighbouring ids
 * @list:	in the blocks, in the order of ids
 * @first:	id of the first
 * @nr_used:	contexts that are not free
 * @unlisted:	for codetag_contexts_check(): those not seen in the list of their site
 * @rcu:	to free it
 * @counters:	what they count
 * @contexts:	the contexts
 */
struct codetag_block {
	struct list_head list;
	u16 first;
	unsigned int nr_used;
	u32 unlisted;
	struct rcu_head rcu;
	struct codetag_block_counters __percpu *counters;
	struct codetag_context contexts[CODETAG_BLOCK_SIZE];
};

/* Owners of the ids of a range */
enum codetag_range_kind {
	CODETAG_NO_IDS,		/* tags of a loaded module, for which there were no ids */
	CODETAG_LOADED,		/* tags of a loaded module */
	CODETAG_UNLOADED,	/* copies of the tags of an unloaded module */
	CODETAG_NAMELESS,	/* an unloaded module, without memory for the copies */
	CODETAG_CONTEXTS,	/* contexts */
};

/* In nr_lines of a range: not counted yet */
#define CODETAG_UNCOUNTED	UINT_MAX

/**
 * struct codetag_range - tags of one module: a block of ids, or all that have none
 * @list:	in codetag_ranges, those without ids first, the others in the order of loading
 * @kind:	what it is
 * @pinned:	tags that have contexts
 * @mod:	the module, NULL once it is unloaded
 * @tags:	the module's tags; when it is unloaded the copies, in which a tag
 *		without a function holds nothing; NULL if there is no memory for
 *		the copies
 * @nr:		number of tags
 * @first:	id of the first tag, 0 if the range has no ids
 * @counters:	counters of the tags
 * @block:	it is not of a module, but these contexts have the ids
 * @nr_lines:	once it is unloaded: tags that were listed when that was looked at last
 * @rcu:	to free it: reports find it under RCU
 * @modname:	name of the module
 *
 * Everything but the counters is protected by codetag_sem, and @nr_lines by the lock of
 * codetag_content() as well.
 */
struct codetag_range {
	struct list_head list;
	enum codetag_range_kind kind;
	u32 pinned;
	struct module *mod;
	struct alloc_tag *tags;
	unsigned int nr;
	u16 first;
	struct alloc_tag_counters __percpu *counters;
	struct codetag_block *block;
	unsigned int nr_lines;
	struct rcu_head rcu;
	char modname[MODULE_NAME_LEN];
};

static_assert(CODETAG_BLOCK_SIZE <= 32); /* a bit of a u32 each */

extern struct list_head codetag_ranges;
extern struct codetag_range *codetag_blocks[];
extern struct alloc_tag codetag_reserved_tags[];
extern u64 codetag_content_id;

/* ids.c: ids and their counters */
#ifdef CONFIG_MODULES
struct codetag_range *codetag_range_of(unsigned int id);
struct codetag_range *codetag_range_from(unsigned int *id);
#else
static inline struct codetag_range *codetag_range_of(unsigned int id) { return NULL; }
static inline struct codetag_range *codetag_range_from(unsigned int *id) { return NULL; }
#endif
u16 codetag_ids_find(void);
void codetag_ids_publish(struct codetag_range *range);
void codetag_ids_withdraw(struct codetag_range *range);
struct alloc_tag_counters __percpu *codetag_counters_of(u16 id);

#endif /* CONFIG_MEM_ALLOC_PROFILING */

/* How the charging of a site is switched. */
enum codetag_charging {
	CODETAG_CHARGE_OFF,
	CODETAG_CHARGE_SITE,
	CODETAG_CHARGE_CONTEXTS,
};

extern struct list_head codetag_sites;

unsigned long codetag_context_lock(void);
void codetag_context_unlock(unsigned long flags);
bool codetag_context_locked(void);

typedef void codetag_site_fn(const struct codetag_info *info, void *data);

void codetag_lock(void);
bool codetag_trylock(void);
void codetag_unlock(void);
void codetag_lock_all(void);
void codetag_unlock_all(void);
void codetag_rest(unsigned long steps);
bool codetag_next_tag(unsigned long *pos, struct codetag_info *info);
bool codetag_read(struct codetag_info *info, struct codetag_sums *sums);
bool codetag_next(unsigned long *pos, struct codetag_info *info, struct codetag_sums *sums);
bool codetag_next_site(unsigned long *pos, struct codetag_info *info);
void codetag_with_sites_of(struct module *mod, codetag_site_fn *function, void *data);
void codetag_content(struct codetag_content *content);
struct codetag *codetag_from_id(u16 id);
struct alloc_tag_counters alloc_tag_read(u16 id);
void alloc_tag_read_block(unsigned int first, struct alloc_tag_counters *sums);
void codetag_reap(void);
void codetag_id_use(struct codetag_id_use *use);
void codetag_give_ids(void);
void codetag_tags_going(struct module *mod);
void codetag_count_lines(void);
void codetag_ids_use(struct codetag_id_use *use);
unsigned int codetag_ids_builtin(unsigned int nr);
struct alloc_tag_counters codetag_read_ahead(u16 id, struct codetag_sums *sums);

void codetag_set_state(struct codetag *ct, u8 bits);
bool codetag_profiled(const struct codetag_info *info);
void codetag_set_charging(const struct codetag_info *info, enum codetag_charging charging);
bool codetag_info_of(u16 id, struct codetag_info *info);
bool codetag_id_holds_memory(u16 id);

#ifdef CONFIG_CODETAG_CONTEXTS

struct codetag_site *codetag_site_by_id(u16 id);
struct codetag_context *codetag_context_of(u16 id);
bool codetag_site_split(struct codetag_site *new);
void codetag_site_unsplit(u16 id);
void codetag_site_free(struct codetag_site *site);
void codetag_site_release(u16 id, bool tag_gone);
void codetag_sites_going(const struct module *mod);
void codetag_pin(u16 id, bool pin);
bool codetag_block_add(struct codetag_block *block);
void codetag_block_remove(struct codetag_block *block);
struct codetag_block *codetag_block_next(unsigned int id);

/* context.c: splitting sites */

/**
 * struct codetag_context_use - how the contexts are used
 * @max:	how many there may be
 * @used:	how many there are
 * @free:	how many more are set aside
 * @sites:	sites that are split
 * @lost:	allocations of such sites that got no context
 * @bytes:	memory for all of it
 */
struct codetag_context_use {
	unsigned int max;
	unsigned int used;
	unsigned int free;
	unsigned int sites;
	unsigned long lost;
	size_t bytes;
};

struct codetag_site *codetag_split_new(const struct codetag_info *info,
				       const struct codetag_keys *keys);
void codetag_split(struct codetag_site *site);
void codetag_unsplit(const struct codetag_info *info);
void codetag_split_switch(void);
void codetag_contexts_module_gone(const struct module *mod);
bool codetag_split_wanted(const struct codetag_info *info);
void codetag_contexts_reap(void);
void codetag_context_use(struct codetag_context_use *use);
unsigned int codetag_contexts_check(struct seq_buf *out);
void codetag_contexts_lock(void);
void codetag_contexts_unlock(void);
struct codetag_context *codetag_context_next(unsigned int id);
u64 codetag_context_allocs(const struct codetag_context *ctx);
unsigned long codetag_site_lost(const struct codetag_site *site);
unsigned int codetag_uptime(void);
u64 codetag_cgroup_value(const struct cgroup *cgrp);

extern unsigned int codetag_max_contexts, codetag_age_interval;
unsigned int codetag_default_contexts(u64 memory, unsigned int cpus);
void codetag_contexts_init(void);

/* context_show.c: the list of contexts */
void codetag_keys_show(struct seq_file *m, const struct codetag_info *info);

#else /* CONFIG_CODETAG_CONTEXTS */

static inline void codetag_site_free(struct codetag_site *site) {}
static inline void codetag_sites_going(const struct module *mod) {}
static inline struct codetag_site *codetag_split_new(const struct codetag_info *info,
						     const struct codetag_keys *keys)
{
	return NULL;
}

static inline void codetag_split(struct codetag_site *site) {}
static inline void codetag_unsplit(const struct codetag_info *info) {}
static inline void codetag_split_switch(void) {}
static inline void codetag_contexts_module_gone(const struct module *mod) {}
static inline bool codetag_split_wanted(const struct codetag_info *info) { return false; }
static inline void codetag_contexts_init(void) {}
static inline unsigned int codetag_contexts_check(struct seq_buf *out) { return 0; }
static inline void codetag_keys_show(struct seq_file *m, const struct codetag_info *info) {}

#endif /* CONFIG_CODETAG_CONTEXTS */

/* page_tag.c: the page stores */
enum page_tag_store {
	PAGE_TAG_AUTO,
	PAGE_TAG_FLAGS,
	PAGE_TAG_SLOT,
	PAGE_TAG_EXT,
};

extern enum page_tag_store page_tag_store;
extern u16 page_tag_max_id;
bool page_tag_slots_fit(u64 nr);
void page_tag_init(void);
void page_tag_show_stats(struct seq_file *m);

/*
 * Does a page have a place for an id? Every page does that the page allocator has given
 * out: the store covers all memory that is or was online. Device memory (ZONE_DEVICE)
 * never comes from the page allocator, is charged to nobody, and has no slot.
 *
 * A function that the page allocator itself calls need not ask, nor need the audit, which
 * looks at online memory only. One that gets its page from the owner of a page has to:
 * pages of a device are split and migrated like others.
 */
static inline bool page_tag_has_place(const struct page *page)
{
	return !is_zone_device_page(page);
}

/* pgalloc_tag.c: charging pages */
void pgalloc_tag_show_stats(struct seq_file *m);

/* owner.c: the call site in reports */
/**
 * struct codetag_owner - what memory at an address was allocated
 * @what:	the slab cache, or the number of pages
 * @offset:	distance of the address from the begin of the object or pages
 * @id:		what it is charged to
 */
struct codetag_owner {
	char what[32];
	long offset;
	u16 id;
};

bool codetag_owner_of(unsigned long addr, struct codetag_owner *owner);

/* slab_ref.c, ../percpu.c: the references of slab and percpu objects */
/**
 * struct far_vector - the ids of a slab that has one page and needs a vector
 * @node:	in a hash table of these
 * @slab:	the slab, NULL once that is gone
 * @rcu:	unlinks it, and frees it after those who look for another one have passed
 * @ids:	the ids
 */
struct far_vector {
	struct hlist_node node;
	const struct slab *slab;
	struct rcu_head rcu;
	u16 ids[];
};

#define CODETAG_FEW_FAR_VECTORS	512
extern struct hlist_head codetag_few_far_vectors[CODETAG_FEW_FAR_VECTORS];
extern struct hlist_head *codetag_many_far_vectors;
extern unsigned int codetag_many_far_vectors_bits;
unsigned long codetag_far_lock(void);
void codetag_far_unlock(unsigned long flags);
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
