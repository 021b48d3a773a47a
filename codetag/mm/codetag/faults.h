/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault.c: faults at call sites, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_FAULTS_H
#define _MM_CODETAG_FAULTS_H

#include "tags.h"

struct codetag_fault;
struct codetag_fault_settings;
struct seq_file;

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

#endif /* _MM_CODETAG_FAULTS_H */
