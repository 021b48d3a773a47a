/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queries that select call sites. The language is that of the kernel's control file, whose
 * parser is built into the command: see query.h and query.c in mm/codetag. A query without an
 * action is a filter. If a text has several queries, a site is selected if any of them matches.
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
 * Returns NULL and *@error for an invalid text. An empty text selects everything. A query may
 * begin with the printed name of a call site: "fs/ext4/super.c:1384 [ext4]
 * func:ext4_alloc_inode".
 */
struct query *query_parse(const char *text, struct query_error *error);
bool query_match(const struct query *query, const struct site *site);

/* @id is the site's own id, which only the kernel knows; 0: none. */
bool query_match_id(const struct query *query, const struct site *site, uint16_t id);

/* How many queries the text has, and the last of them that selects @site: 1 is the first, 0 none. */
size_t query_count(const struct query *query);
size_t query_last(const struct query *query, const struct site *site, uint16_t id);

bool query_has_id(const struct query *query);

/* It is empty, or has only comments and ";": it selects everything. */
bool query_is_empty(const struct query *query);

/*
 * Whether every selected site has the same function or module. @func and @module are these,
 * NULL where they may differ.
 */
bool query_names(const struct query *query, const char **func, const char **module);

/* Appends the queries in the syntax of the control file: a line each, with @action. */
void query_with_action(const struct query *query, const char *action, struct text *text);

void query_free(struct query *query);

/* Whether @word can be part of such a name. */
bool query_name_part(const char *word);

/* Whether a query can begin with this word. */
bool query_keyword(const char *word, size_t len);

#endif
