/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of many machines, group by group: all values are kept, so that medians are exact.
 * Call sites are matched where kernels differ, see match.h.
 */
#ifndef CODETAG_FLEET_H
#define CODETAG_FLEET_H

#include "model/group.h"
#include "model/match.h"

struct fleet_value {
	int64_t bytes, calls;
};

struct fleet {
	struct grouping by;		/* any grouping but BY_ROW */
	const struct query *query;	/* NULL: all */

	struct fleet_host {
		const char *name;
		const char *kernel;	/* "": not known */
		struct sum sum;
		struct fleet_value *value;	/* the number of groups known at that time … */
		bool *off;			/* … and those with a site that is not profiled */
		size_t groups;
	} *host;
	size_t count, room;

	struct sum sum;			/* of all hosts */
	struct fleet_group {
		struct sum sum;
		unsigned int flags;	/* of any of its rows */
	} *group;
	size_t groups, groups_room;
	size_t values;			/* sums over all hosts */
	struct matcher matcher;		/* BY_SITE: the sites … */
	struct strmap names;		/* … else the names of the groups */
	struct arena strings;
};

/* A fleet of more than 10,000 hosts with 10,000 call sites each is taken for damage. */
#define FLEET_VALUES ((size_t)1 << 27)

/*
 * @kernel NULL: not known. @info may be freed afterwards. Ends the program if the fleet gets
 * too large.
 */
void fleet_add(struct fleet *fleet, const char *host, const char *kernel,
	       const struct allocinfo *info);

/* The memory of host @h in group @g: 0 if the host has no such group. */
struct fleet_value fleet_value(const struct fleet *fleet, size_t h, size_t g);

/* Group @g of a fleet by site. */
struct site fleet_site(const struct fleet *fleet, size_t g);

/* The name of group @g. */
void fleet_name(struct text *name, const struct fleet *fleet, size_t g);

/* A fleet by site as if it were one machine; @info has to be freed. */
void fleet_total(const struct fleet *fleet, struct allocinfo *info);
void fleet_free(struct fleet *fleet);

#endif
