/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fault.c: faults at call sites, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_FAULTS_H
#define _MM_CODETAG_FAULTS_H

#include "armed.h"

struct codetag_fault_settings;

/* Only with CONFIG_CODETAG_FAULT_INJECTION */
extern struct codetag_armory codetag_faults;

struct codetag_armed *codetag_fault_new(const struct codetag_info *info,
					const struct codetag_fault_settings *settings);

#endif /* _MM_CODETAG_FAULTS_H */
