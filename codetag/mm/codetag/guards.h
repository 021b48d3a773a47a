/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.c, guard_page.c: guards at call sites, for the rest of the profiler.
 */
#ifndef _MM_CODETAG_GUARDS_H
#define _MM_CODETAG_GUARDS_H

#include "armed.h"

/* Only with CONFIG_CODETAG_GUARD */
extern struct codetag_armory codetag_guards;

int codetag_guard_prepare(void); /* guard_page.c */
bool codetag_guard_due_now(const struct codetag *ct, const char **name);
bool codetag_guard_armed(const struct codetag *ct);
void codetag_guard_count(const struct codetag *ct, bool taken);
struct codetag_armed *codetag_guard_new(const struct codetag_info *info, unsigned long rate);

#endif /* _MM_CODETAG_GUARDS_H */
