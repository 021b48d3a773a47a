/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a query does to the call sites that it matches.
 */
#ifndef _MM_CODETAG_CHANGE_H
#define _MM_CODETAG_CHANGE_H

#include "query.h"

struct codetag_fault;
struct codetag_site;
struct module;

/**
 * struct codetag_change - a query that is about to be applied
 * @query:	the query
 * @faults:	faults to be armed
 * @nr_faults:	how many of them
 * @sites:	sites to be split
 * @nr_sites:	how many of them
 */
struct codetag_change {
	struct codetag_query query;
	struct codetag_fault **faults;
	unsigned int nr_faults;
	struct codetag_site **sites;
	unsigned int nr_sites;
};

bool codetag_query_matches_any(const struct codetag_query *query);
void codetag_change_flags(const struct codetag_query *query, const struct module *mod);
int codetag_change_prepare(struct codetag_change *change, const struct module *mod);
void codetag_change_make(struct codetag_change *change, const struct module *mod);
void codetag_change_switch(void);
void codetag_change_free(struct codetag_change *change);

#endif /* _MM_CODETAG_CHANGE_H */
