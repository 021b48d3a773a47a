/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queries that were applied last.
 */
#ifndef _MM_CODETAG_APPLIED_H
#define _MM_CODETAG_APPLIED_H

#include <linux/sizes.h>
#include <linux/types.h>

/* The file lists at most so many queries, with so many bytes of text. */
#define CODETAG_APPLIED_MAX		256
#define CODETAG_APPLIED_BYTES_MAX	SZ_16K

#ifdef CONFIG_DEBUG_FS
void codetag_applied(const char *source, size_t len);
#else
static inline void codetag_applied(const char *source, size_t len) {}
#endif

#endif /* _MM_CODETAG_APPLIED_H */
