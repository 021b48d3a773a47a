/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queries for modules to come.
 */
#ifndef _MM_CODETAG_REMEMBERED_H
#define _MM_CODETAG_REMEMBERED_H

#include <linux/mutex.h>
#include <linux/types.h>

/* Queries that are remembered at most: what the load of a module has to go through */
#define CODETAG_REMEMBERED_MAX	1024

struct remembered_query;

extern struct mutex codetag_query_mutex;

struct remembered_query *codetag_remembered_new(const char *source, size_t len);
void codetag_remembered_free(struct remembered_query *r);
unsigned int codetag_remembered_nr(void);
bool codetag_is_remembered(const struct remembered_query *r);
void codetag_remember(struct remembered_query *new);

#endif /* _MM_CODETAG_REMEMBERED_H */
