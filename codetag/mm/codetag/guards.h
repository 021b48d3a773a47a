/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.c: guards at call sites, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_GUARDS_H
#define _MM_CODETAG_GUARDS_H

#include "armed.h"

/* Only with CONFIG_CODETAG_GUARD */
extern struct codetag_armory codetag_guards;

int codetag_guard_prepare(void);
struct codetag_armed *codetag_guard_new(const struct codetag_info *info, unsigned long rate);

#endif /* _MM_CODETAG_GUARDS_H */
