/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a codetag kernel says about single call sites, in debugfs:
 *
 *	control	FILE:LINE [MODULE] func:FUNCTION =FLAGS id N [keys=KEY,… …] [fault SETTING=N …]
 *	faults	PASSED FAILED SKIPPED STATE FILE:LINE [MODULE] func:FUNCTION
 *	queries	N: QUERY, for modules to come
 */
#ifndef CODETAG_CONTROL_H
#define CODETAG_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"
#include "base/text.h"
#include "read/allocinfo.h"
#include "read/query.h"

struct control_site {
	struct site site;	/* without sizes */
	uint16_t id;		/* 0: it has none of its own */
	bool profiled;
	const char *keys;	/* "stack depth=16 max=1024"; NULL: it is not split */
	const char *fault;	/* its settings, "" or all of them default; NULL: none */
};

struct control {
	struct control_site *site;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/* The parsers take over @text; what they fill then always has to be freed. */
void control_parse(struct control *control, char *text, size_t len);

/* Keeps the sites that @query (may be NULL) selects. */
void control_select(struct control *control, const struct query *query);

/* How many are profiled, have a fault, and are split. */
size_t control_profiled(const struct control *control);
size_t control_faults(const struct control *control);
size_t control_split(const struct control *control);
void control_free(struct control *control);

/* The same sites, as far as allocinfo knows them; @info has to stay. */
void control_from_allocinfo(struct control *control, const struct allocinfo *info);

/* Keeps the rows of @site: there may be copies, of an inlined function. */
void control_select_site(struct control *control, const struct site *site);

/* Queries that do @action with each site; false if one of them has no id. */
bool control_by_id(const struct control *control, const char *action, struct text *text);

/* Whether the kernel will understand @action; *@error is why not. */
bool control_action_check(const char *action, struct query_error *error);

struct fault_state {
	struct site site;
	const char *state;	/* armed, spent, … */
	int64_t passed, failed, skipped;
};

struct fault_states {
	struct fault_state *fault;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

void fault_states_parse(struct fault_states *states, char *text, size_t len);
void fault_states_free(struct fault_states *states);

struct remembered_query {
	int64_t number;
	const char *query;
};

struct remembered {
	struct remembered_query *query;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

void remembered_parse(struct remembered *remembered, char *text, size_t len);
void remembered_free(struct remembered *remembered);

#endif
