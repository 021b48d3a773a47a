/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queries that select call sites. The language is the one of the kernel's
 * control file, whose parser is built into the command: see query.h and query.c
 * in mm/codetag. A query without an action is a filter, and a site is selected
 * if any of the queries in a text chooses it.
 */
#ifndef CODETAG_QUERY_H
#define CODETAG_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "read/allocinfo.h"

struct query;

struct query_error {
	const char *why;
	char token[32];	/* the offending word … */
	size_t at;	/* … and where it starts in the text */
};

/*
 * NULL and *@error on bad text. Empty text selects everything. A query may begin with the
 * name of a call site as it is printed: "fs/ext4/super.c:1384 [ext4] func:ext4_alloc_inode".
 */
struct query *query_parse(const char *text, struct query_error *error);
bool query_match(const struct query *query, const struct site *site);

/* @id: the site's own one, which only the kernel knows; 0: none. */
bool query_match_id(const struct query *query, const struct site *site, uint16_t id);
bool query_has_id(const struct query *query);

/* Nothing is in it, or comments and ";" only: it selects everything. */
bool query_is_empty(const struct query *query);

/*
 * Whether every site that is selected has the same function or module: @func and
 * @module are these, NULL where they need not be the same.
 */
bool query_names(const struct query *query, const char **func, const char **module);

/* Appends the queries as the control file takes them: a line each, with @action. */
void query_with_action(const struct query *query, const char *action, struct text *text);

void query_free(struct query *query);

/* Whether it is a word of such a name. */
bool query_name_part(const char *word);

/* Does a query begin with this word? */
bool query_keyword(const char *word, size_t len);

#endif
