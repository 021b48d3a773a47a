/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What many machines hold, group by group: the values of all of them, so that
 * medians are exact. Call sites are the same where kernels differ, see match.h.
 */
#ifndef CODETAG_FLEET_H
#define CODETAG_FLEET_H

#include "model/group.h"
#include "model/match.h"

struct fleet_value {
	int64_t bytes, calls;
};

struct fleet {
	struct grouping by;		/* anything but BY_ROW */
	const struct query *query;	/* NULL: all */

	struct fleet_host {
		const char *name;
		const char *kernel;	/* "": not known */
		struct sum sum;
		struct fleet_value *value;	/* of the groups that were known then */
		size_t groups;
	} *host;
	size_t count, room;

	struct sum sum;			/* of all hosts */
	struct fleet_group {
		struct sum sum;
		unsigned int flags;	/* of any of its rows */
	} *group;
	size_t groups, groups_room;
	size_t values;			/* that all hosts together have */
	struct matcher matcher;		/* BY_SITE: the sites … */
	struct strmap names;		/* … else the names of the groups */
	struct arena strings;
};

/* More than 10,000 hosts with 10,000 call sites each are no fleet. */
#define FLEET_VALUES ((size_t)1 << 27)

/* @kernel NULL: not known. @info may be freed afterwards. Ends the program if it is too much. */
void fleet_add(struct fleet *fleet, const char *host, const char *kernel,
	       const struct allocinfo *info);

/* What host @h holds of group @g: nothing where it has no such group. */
struct fleet_value fleet_value(const struct fleet *fleet, size_t h, size_t g);

/* Group @g of a fleet by site. */
struct site fleet_site(const struct fleet *fleet, size_t g);

/* The name of group @g. */
void fleet_name(struct text *name, const struct fleet *fleet, size_t g);

/* All machines of a fleet by site as if they were one; @info has to be freed. */
void fleet_total(const struct fleet *fleet, struct allocinfo *info);
void fleet_free(struct fleet *fleet);

#endif
