/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ids.c: ids, the blocks of them that modules and contexts have, and their counters.
 */
#ifndef _MM_CODETAG_IDS_H
#define _MM_CODETAG_IDS_H

#include <linux/alloc_tag.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include "context.h"

/*
 * Can a free of an object or of percpu memory add to the counters of id 0? Nobody reads them, and
 * nearly all memory has another id, so a test of the id costs more. This holds where an addition
 * is one cheap instruction.
 */
#define CODETAG_COUNTS_NONE	(IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_UML))

/**
 * struct codetag_sum - the counters of an id, over all possible CPUs
 * @bytes:	allocated minus freed
 * @allocs:	allocations
 * @frees:	frees; each part of a page that was split is freed by one of its own
 * @parts:	parts that splits have added to the allocations, and memory that has moved
 *		between contexts
 * @calls:	allocations or parts that are held: @allocs + @parts - @frees
 *
 * All but the bytes are modulo 2^32.
 */
struct codetag_sum {
	u64 bytes;
	u32 allocs;
	u32 frees;
	u32 parts;
	u32 calls;
};

/* A sum that is made while others allocate and free can be a little below 0. */
#define CODETAG_CALLS_MAX	(U32_MAX - SZ_1M)

static inline u32 codetag_calls(const struct codetag_sum *sum)
{
	return sum->calls <= CODETAG_CALLS_MAX ? sum->calls : 0;
}

/**
 * struct codetag_sums - counters of neighbouring ids, read together
 * @first:	id of the first
 * @nr:		how many there are, 0 for none
 * @may_sleep:	the reader may sleep
 * @reads_left:	if it may not: so many counters of contexts may still be read
 * @incomplete:	there were more
 * @of:		their sums over all possible CPUs
 *
 * Reaching the memory of another CPU costs more than adding. On a machine with many CPUs
 * this is done once for all of these ids.
 */
struct codetag_sums {
	unsigned int first;
	unsigned int nr;
	bool may_sleep;
	unsigned long reads_left;
	bool incomplete;
	struct codetag_sum of[32];
};

/**
 * struct codetag_id_use - how the ids are used
 * @builtin:	tags of built-in code with an id
 * @modules:	tags of loaded modules with an id
 * @unloaded:	tags of unloaded modules whose ids are not free yet
 * @free:	ids that modules can still get
 * @without_id:	tags of built-in code and loaded modules that have no id
 * @contexts:	ids set aside for contexts
 * @modules_without_id: number of loaded modules that got too few ids
 * @names_lost:	sites of unloaded modules whose names could not be kept
 * @damaged:	ids that were found in pages and objects and that no tag has
 * @tag_bytes:	memory for tags and for finding them by id
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

#ifdef CONFIG_MEM_ALLOC_PROFILING

/**
 * struct codetag_block_counters - the counters of a block of contexts, on one CPU
 * @held:	counters of the ids
 * @parts:	see struct codetag_sum; memory that moves to another context leaves a part here
 */
struct codetag_block_counters {
	struct alloc_tag_counters held[CODETAG_BLOCK_SIZE];
	u32 parts[CODETAG_BLOCK_SIZE];
};

/**
 * struct codetag_block - contexts with neighbouring ids
 * @list:	in the blocks, in the order of ids
 * @first:	id of the first
 * @nr_used:	contexts that are not free
 * @traced:	its contexts are for traced sites, see traced.c
 * @unlisted:	for codetag_contexts_check(): those not seen in the list of their site
 * @rcu:	to free it
 * @counters:	their counters
 * @contexts:	the contexts
 *
 * codetag_context_pool.mutex protects @list and @unlisted, codetag_context_lock @nr_used;
 * @first, @traced and @counters do not change.
 */
struct codetag_block {
	struct list_head list;
	u16 first;
	unsigned int nr_used;
	bool traced;
	u32 unlisted;
	struct rcu_head rcu;
	struct codetag_block_counters __percpu *counters;
	struct codetag_context contexts[CODETAG_BLOCK_SIZE];
};

/* Owners of the ids of a range */
enum codetag_range_kind {
	CODETAG_NO_IDS,		/* tags of a loaded module that got no ids */
	CODETAG_LOADED,		/* tags of a loaded module */
	CODETAG_UNLOADED,	/* copies of the tags of an unloaded module */
	CODETAG_NAMELESS,	/* an unloaded module, without memory for the copies */
	CODETAG_CONTEXTS,	/* contexts */
};

/* In nr_lines of a range: not counted yet */
#define CODETAG_UNCOUNTED	UINT_MAX

/**
 * struct codetag_range - tags of one module, or a block of contexts
 * @list:	in codetag_ranges, those without ids first, the others in the order of loading
 * @kind:	the owner
 * @pinned:	tags that have contexts
 * @mod:	the module, NULL once it is unloaded
 * @tags:	the module's tags, or their copies once it is unloaded; NULL if
 *		there was no memory for these. A copy without a function holds
 *		nothing.
 * @nr:		number of tags
 * @first:	id of the first tag, 0 if the range has no ids
 * @counters:	counters of the tags
 * @block:	the contexts that have the ids, NULL for a module
 * @nr_lines:	of an unloaded module: tags that the last count found in the list
 * @rcu:	to free it; reports find it under RCU
 * @modname:	name of the module
 *
 * A range of a module is a block of ids, or all tags that have none.
 *
 * Changed with codetag_sem held for writing; read with it held or under RCU. Two members also
 * change with codetag_sem held for reading: @pinned, by one writer at a time, and @nr_lines,
 * with the lock of codetag_content() held. The counters have no lock.
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
struct codetag_context *codetag_context_of(u16 id);
#endif /* CONFIG_MEM_ALLOC_PROFILING */

void codetag_rest(unsigned long steps);
struct codetag_sum alloc_tag_read(u16 id);
void alloc_tag_read_block(unsigned int first, struct codetag_sum *sums);
struct codetag_sum codetag_read_ahead(u16 id, struct codetag_sums *sums);
void codetag_ids_fill_use(struct codetag_id_use *use);
unsigned int codetag_ids_builtin(unsigned int nr);
bool codetag_id_holds_memory(u16 id);

#endif /* _MM_CODETAG_IDS_H */
