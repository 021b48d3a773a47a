/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard.c: guards at call sites, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_GUARDS_H
#define _MM_CODETAG_GUARDS_H

#include "tags.h"

struct codetag_guard;
struct seq_file;

#ifdef CONFIG_CODETAG_GUARD
int codetag_guard_prepare(void);
struct codetag_guard *codetag_guard_new(const struct codetag_info *info, unsigned long rate);
void codetag_guard_free(struct codetag_guard *guard);
void codetag_guard_arm(struct codetag_guard *guard);
void codetag_guard_disarm(const struct codetag_info *info);
void codetag_guard_forget_gone(void);
void codetag_guard_module_gone(const struct module *mod);
void codetag_guard_switch(void);
void codetag_guard_show(struct seq_file *m, const struct codetag_info *info);
#else
static inline int codetag_guard_prepare(void) { return -EOPNOTSUPP; }

static inline struct codetag_guard *
codetag_guard_new(const struct codetag_info *info, unsigned long rate)
{
	return NULL;
}

static inline void codetag_guard_free(struct codetag_guard *guard) {}
static inline void codetag_guard_arm(struct codetag_guard *guard) {}
static inline void codetag_guard_disarm(const struct codetag_info *info) {}
static inline void codetag_guard_forget_gone(void) {}
static inline void codetag_guard_module_gone(const struct module *mod) {}
static inline void codetag_guard_switch(void) {}
static inline void codetag_guard_show(struct seq_file *m, const struct codetag_info *info) {}
#endif

#endif /* _MM_CODETAG_GUARDS_H */
