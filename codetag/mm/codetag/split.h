/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sites split into contexts, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_SPLIT_H
#define _MM_CODETAG_SPLIT_H

#include "context.h"
#include "tags.h"

struct cgroup;
struct seq_buf;
struct seq_file;

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

#ifdef CONFIG_CODETAG_CONTEXTS
/* context_pool.c: the contexts that there are */
extern unsigned int codetag_max_contexts;
void codetag_contexts_lock(void);
void codetag_contexts_unlock(void);
struct codetag_context *codetag_context_next(unsigned int id);
unsigned int codetag_default_contexts(u64 memory, unsigned int cpus);
void codetag_contexts_init(void);

/* context.c: finding and making contexts */
extern unsigned int codetag_age_interval;
unsigned int codetag_uptime(void);
u64 codetag_cgroup_value(const struct cgroup *cgrp);
void codetag_contexts_seed(void);
struct codetag_context *codetag_context_found(const struct codetag_context *ctx);

/* context_reap.c: releasing contexts */
void codetag_split_count(void);
void codetag_split_switch_keys(void);
void codetag_contexts_reap(void);
void codetag_contexts_reap_later(void);
void codetag_contexts_module_gone(const struct module *mod);

/* split.c: splitting sites */
struct codetag_site *codetag_split_new(const struct codetag_info *info,
				       const struct codetag_keys *keys);
void codetag_split(struct codetag_site *site);
void codetag_unsplit(const struct codetag_info *info);
void codetag_split_switch(void);
unsigned int codetag_split_by(const struct codetag_info *info, unsigned int *max);
bool codetag_split_wanted(const struct codetag_info *info);

/* context_check.c: reports about all contexts */
unsigned long codetag_site_lost(const struct codetag_site *site);
void codetag_context_use(struct codetag_context_use *use);
unsigned int codetag_contexts_check(struct seq_buf *out);

/* context_show.c: the list of contexts */
void codetag_keys_show(struct seq_file *m, const struct codetag_info *info);
void codetag_trace_show(struct seq_file *m, const struct codetag_info *info);

#else /* CONFIG_CODETAG_CONTEXTS */

static inline struct codetag_site *codetag_split_new(const struct codetag_info *info,
						     const struct codetag_keys *keys)
{
	return NULL;
}

static inline void codetag_split(struct codetag_site *site) {}
static inline void codetag_unsplit(const struct codetag_info *info) {}
static inline void codetag_split_switch(void) {}
static inline void codetag_contexts_module_gone(const struct module *mod) {}
static inline unsigned int codetag_split_by(const struct codetag_info *info, unsigned int *max)
{
	*max = 0;
	return 0;
}

static inline bool codetag_split_wanted(const struct codetag_info *info) { return false; }
static inline void codetag_contexts_init(void) {}
static inline unsigned int codetag_contexts_check(struct seq_buf *out) { return 0; }
static inline void codetag_keys_show(struct seq_file *m, const struct codetag_info *info) {}
static inline void codetag_trace_show(struct seq_file *m, const struct codetag_info *info) {}

#endif /* CONFIG_CODETAG_CONTEXTS */

#endif /* _MM_CODETAG_SPLIT_H */
