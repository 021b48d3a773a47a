/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums of call sites by site, function, file, directory, module or subsystem,
 * of one snapshot or of two to compare.
 */
#ifndef CODETAG_GROUP_H
#define CODETAG_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "base/text.h"
#include "read/allocinfo.h"

enum group_by {
	BY_SITE,	/* rows with the same file:line, module and function */
	BY_ROW,		/* each row of the input apart */
	BY_PLACE,	/* a function of a file: stays the same when lines move */
	BY_FUNC,
	BY_FILE,
	BY_DIR,
	BY_MODULE,
	BY_SUBSYSTEM,
	BY_HOST,	/* rows are hosts, see source_hosts(); not for grouping_parse() */
};

struct grouping {
	enum group_by by;
	unsigned int depth;	/* of directories, 0: all */
};

struct sum {
	int64_t bytes;
	int64_t calls;
	size_t rows;
};

/* Frames by name, the root first. */
struct stack {
	const char **name;
	size_t count;
	bool whole;		/* the call site does not become a frame */
};

struct group {
	const char *name;
	const struct site *site;	/* one of its rows */
	unsigned int flags;		/* flags of any of its rows */
	struct sum now;
	struct sum before;		/* sums in the older snapshot, if there is one */
	struct activity all, recent;	/* of its rows */
	int64_t peak;			/* its largest size in the snapshots of a recording */
	uint32_t line_before;		/* line in that snapshot, if it differs; else 0 */
	const struct stack *stack;	/* the stack of callers; NULL: its path stands for it */
};

struct groups {
	struct grouping by;
	struct group *group;	/* in the order in which they were first seen */
	size_t count, room;
	struct sum now, before;	/* of all groups */
	struct sum left_out;	/* the sites in no group, see model/container.h */
	struct activity all, recent;
	size_t peak_snapshots;	/* how many snapshots that are, 0: peaks are not known */
	double seconds;		/* the time of the recent activity, 0: not known */
	bool compared;		/* there is an older snapshot */
	struct strmap names;
	struct strmap seen;	/* BY_ROW: how often each site has occurred … */
	size_t *times;		/* … in the snapshot that is being added */
	size_t times_room;
};

/* "site", "place", "dir:2" …; false if @text is none of them. */
bool grouping_parse(struct grouping *by, const char *text);
const char *grouping_name(enum group_by by);

/* The name of the @k-th row of a call site: adds " #K" to that of the site, from the second on. */
void group_number_row(struct text *name, size_t k);

/* The number in such a name; 1 without one. */
uint32_t group_row_number(const char *name);

/* The name of the group that @site belongs to; for BY_ROW the same as BY_SITE. */
void group_name(struct text *name, struct grouping by, const struct site *site);

struct query;

/* Adds the sites of @info that @query (may be NULL) selects; @info has to stay. */
void groups_add(struct groups *groups, const struct allocinfo *info,
		const struct query *query);
void groups_add_before(struct groups *groups, const struct allocinfo *info,
		       const struct query *query);
void groups_free(struct groups *groups);

enum order {
	ORDER_SIZE, ORDER_CALLS, ORDER_AVERAGE, ORDER_NAME, ORDER_GROWTH,
	ORDER_ALLOCS, ORDER_FREES,	/* the recent ones if they are known, else all */
	ORDERS
};

extern const char *const order_names[ORDERS];

/* Largest first, names from A to Z. Afterwards groups cannot be found by name any more. */
void groups_sort(struct groups *groups, enum order order);

bool order_is_activity(enum order order);

int64_t group_growth(const struct group *group);
int64_t sum_average(const struct sum *sum);
void sum_add(struct sum *to, const struct sum *more);

#endif
