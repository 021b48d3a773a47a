/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The language that selects call sites, the same as in the kernel's control
 * file: terms joined by "and", queries separated by ';' or a new line, a site
 * is selected if any query matches.
 *
 *	file GLOB	the whole path, or its end after a '/'
 *	func GLOB
 *	module GLOB	"vmlinux" is built-in code
 *	line N | N-M | N-
 *	id N		only the kernel knows ids
 *
 * In a GLOB '*' stands for any characters, '/' too, and '?' for one.
 */
#ifndef CODETAG_QUERY_H
#define CODETAG_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "allocinfo.h"

struct query;

struct query_error {
	const char *why;
	size_t at;	/* where the offending word starts … */
	size_t len;	/* … and its length, 0: the end of the text */
};

/* NULL and *@error on bad text. Empty text selects everything. */
struct query *query_parse(const char *text, struct query_error *error);
bool query_match(const struct query *query, const struct site *site);
bool query_has_id(const struct query *query);
void query_free(struct query *query);

bool query_keyword(const char *word, size_t len);
bool glob_match(const char *pattern, const char *s);

#endif
