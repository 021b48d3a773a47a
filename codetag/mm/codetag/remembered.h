/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queries for modules to come.
 */
#ifndef _MM_CODETAG_REMEMBERED_H
#define _MM_CODETAG_REMEMBERED_H

#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/types.h>

/* Limits of the work that each load of a module makes: queries, and bytes of their text */
#define CODETAG_REMEMBERED_MAX		1024
#define CODETAG_REMEMBERED_BYTES_MAX	SZ_64K

/**
 * struct codetag_remembered_size - how much is remembered
 * @nr:		queries
 * @bytes:	of their text, which limits what it costs to compare them with a call site
 */
struct codetag_remembered_size {
	unsigned int nr;
	size_t bytes;
};

struct remembered_query;

extern struct mutex codetag_query_mutex;

struct remembered_query *codetag_remembered_new(const char *source, size_t len);
void codetag_remembered_free(struct remembered_query *r);
struct codetag_remembered_size codetag_remembered_size(void);
bool codetag_remembered_same(const struct remembered_query *a, const struct remembered_query *b);
void codetag_remembered_add(struct codetag_remembered_size *size, const struct remembered_query *r);
void codetag_remember(struct remembered_query *new);

#endif /* _MM_CODETAG_REMEMBERED_H */
