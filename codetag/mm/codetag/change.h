/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Apply queries to the call sites that they match.
 */
#ifndef _MM_CODETAG_CHANGE_H
#define _MM_CODETAG_CHANGE_H

#include <linux/list.h>
#include "query.h"

struct codetag_info;
struct module;
struct seq_file;

/**
 * struct codetag_change - one of several queries that apply one after another
 * @list:	in these queries, in their order
 * @query:	the query
 * @matched:	it has matched a call site, or need not
 */
struct codetag_change {
	struct list_head list;
	struct codetag_query query;
	bool matched;
};

int codetag_change_supported(const struct codetag_query *query);
void codetag_change_flags(const struct codetag_query *query);
int codetag_changes_prepare(struct list_head *queries, struct list_head *plans);
void codetag_changes_commit(const struct list_head *queries, struct list_head *plans);
void codetag_changes_free(struct list_head *plans);
void codetag_changes_of_module(struct list_head *queries, struct module *mod);
void codetag_change_switch(void);
void codetag_change_module_gone(const struct module *mod);
void codetag_change_show(struct seq_file *m, const struct codetag_info *info);

#endif /* _MM_CODETAG_CHANGE_H */
