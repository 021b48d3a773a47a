/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kind of memory that a call site allocates: can it leak, or does the kernel by itself drop
 * it or free it later? Only the name of the site decides, so it works for recordings and for
 * all kernels; 'codetag leaks --drop' tests it.
 */
#ifndef CODETAG_KIND_H
#define CODETAG_KIND_H

#include "read/allocinfo.h"

enum kind {
	KIND_KERNEL,	/* stays until it is freed */
	KIND_CACHE,	/* is dropped when memory is short: page cache, inodes, dentries */
	KIND_USER,	/* belongs to processes and tmpfs: pages, page tables, mappings */
	KIND_LATER,	/* is freed after a time or in bulk: TIME_WAIT, journal, lazy vunmap */
	KIND_ALLOCATOR,	/* slab pages, percpu chunks, the profiler: their contents tell more */
};

#define KINDS (KIND_ALLOCATOR + 1)

enum kind site_kind(const struct site *site);

/* One word such as "cache", for labels and JSON. */
const char *kind_word(enum kind kind);

/* "the kernel drops it when memory is short (page cache, inodes, dentries)" */
const char *kind_text(enum kind kind);

#endif
