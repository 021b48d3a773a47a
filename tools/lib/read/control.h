/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a codetag kernel about single call sites, in debugfs:
 *
 *	control	FILE:LINE [MODULE] func:FUNCTION =FLAGS id N [keys=KEY,… …] [fault SETTING=N …]
 *		[guard rate=N] [trace]
 *	faults	PASSED FAILED SKIPPED STATE FILE:LINE [MODULE] func:FUNCTION
 *	guards	PASSED GUARDED MISSED RATE STATE FILE:LINE [MODULE] func:FUNCTION
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
	int64_t guard;		/* KFENCE takes every one of so many objects; 0: it has no guard */
	bool traced;
};

struct control {
	struct control_site *site;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/* The parsers take over @text; the result then always has to be freed. */
void control_parse(struct control *control, char *text, size_t len);

/* Keeps the sites that @query (may be NULL) selects. */
void control_select(struct control *control, const struct query *query);

/* How many sites are profiled, are split, have a fault and a guard, and are traced. */
struct control_counts {
	size_t profiled, split, faults, guards, traced;
};

struct control_counts control_count(const struct control *control);
void control_free(struct control *control);

/* The same sites, as far as allocinfo knows them; @info has to stay. */
void control_from_allocinfo(struct control *control, const struct allocinfo *info);

/* Keeps the rows of @site: there may be copies, of an inlined function. */
void control_select_site(struct control *control, const struct site *site);

/* Queries that do @action with each site; false if one of them has no id. */
bool control_by_id(const struct control *control, const char *action, struct text *text);

/* Whether the kernel will understand @action; *@error is why not. */
bool control_action_check(const char *action, struct query_error *error);

/* The numbers of a line of "faults", and of one of "guards" */
enum { FAULT_PASSED, FAULT_FAILED, FAULT_SKIPPED, FAULT_NUMBERS };
enum { GUARD_PASSED, GUARD_GUARDED, GUARD_MISSED, GUARD_RATE, GUARD_NUMBERS };

struct armed_site {
	struct site site;
	const char *state;	/* armed, spent, … */
	int64_t number[GUARD_NUMBERS];
};

struct armed_sites {
	struct armed_site *site;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/* @numbers is FAULT_NUMBERS or GUARD_NUMBERS. */
void armed_sites_parse(struct armed_sites *sites, unsigned int numbers, char *text, size_t len);
void armed_sites_free(struct armed_sites *sites);

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

/* A query that was applied @seconds after boot. Unusual bytes in the name of its task are octal. */
struct applied_query {
	int64_t seconds, pid;
	const char *task, *query;
};

/* The last of them, and how many the kernel has forgotten. */
struct applied {
	struct applied_query *query;
	size_t count, room;
	int64_t forgotten;
	struct bad_lines bad;
	char *text;
};

void applied_parse(struct applied *applied, char *text, size_t len);
void applied_free(struct applied *applied);

#endif
