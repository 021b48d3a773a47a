/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queries that were applied last.
 */
#ifndef _MM_CODETAG_APPLIED_H
#define _MM_CODETAG_APPLIED_H

#include <linux/types.h>

#ifdef CONFIG_DEBUG_FS
void codetag_applied(const char *source, size_t len);
#else
static inline void codetag_applied(const char *source, size_t len) {}
#endif

#endif /* _MM_CODETAG_APPLIED_H */
