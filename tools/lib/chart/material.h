/* SPDX-License-Identifier: GPL-2.0-only */
/* The data of a chart: snapshots, and the part of them that is wanted. */
#ifndef CODETAG_MATERIAL_H
#define CODETAG_MATERIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/group.h"
#include "model/series.h"
#include "model/tree.h"
#include "read/query.h"
#include "recording/recording.h"
#include "trace/kmem_rank.h"

enum chart_kind { USUAL, RING, TREEMAP, AREA, BARS, FLAME };
enum attribute { CURRENT, CALLS, GROWTH, STATIC, OF_TRACE };

struct chart_wish {
	enum chart_kind kind;
	enum attribute attribute;
	bool trace;		/* callers instead of call sites … */
	bool pages;		/* … of pages instead of slab objects … */
	enum kmem_key key;	/* … by this value, for OF_TRACE */
	bool objects;		/* values are numbers of objects, not bytes */
	const struct query *query;
	const char *query_text;	/* "": none */
	const char *start;	/* only files below this directory, NULL: all */
	struct grouping by;
	size_t top;		/* number of groups, 0: the default */
	bool moments;		/* all snapshots of a recording, not only the last */
	const char **gauge;	/* globs of other recorded values, for areas */
	size_t gauges, gauges_room;
	bool raw;		/* also sites that contain others, see model/container.h */
};

/* The snapshots that are needed, oldest first. */
struct material {
	struct allocinfo *info;
	double *time;	/* 0: not known */
	size_t count;
	struct tree tree;	/* for ring and treemap */
	struct series series;	/* for areas: the groups over time … */
	double *moment;		/* … at these times … */
	size_t *snapshot;	/* … which are these snapshots … */
	struct gauges gauges;	/* … and the other recorded values */
	size_t of;	/* number of snapshots, if not all are drawn */
	struct sum left_out;	/* of the last snapshot, see model/container.h */
	char kernel[128];
	bool complete;
};

/* Fill @m; false after a message. */
bool material_load_recording(struct material *m, struct chart_wish *wish, const char *path);
bool material_load_objects(struct material *m, const char *dir);

/* Whether the query and --start-branch select @site; @wish is a struct chart_wish. */
bool material_wants(void *wish, const struct site *site);

/* The same, without sites that contain others. */
bool material_counts(void *wish, const struct site *site);

/* Drops unwanted sites; false after a message if nothing is left below --start-branch. */
bool material_narrow(struct material *m, struct chart_wish *wish);

void material_groups(struct groups *groups, const struct material *m,
		     const struct chart_wish *wish, struct grouping by);

/* The value of a group by the attribute. */
int64_t material_value(const struct chart_wish *wish, const struct group *group);

/* The groups sorted by value, and the number of them that are drawn by name. */
struct weighed {
	int64_t value;
	size_t i;
};

size_t material_rank(const struct chart_wish *wish, const struct groups *groups,
		     struct weighed **ranked, size_t usual);

/* Fills m->tree, for rings and treemaps. */
void material_tree(struct material *m, const struct chart_wish *wish);

/* "Kernel memory by call site" */
const char *material_title(const struct chart_wish *wish);

/* "Linux 6.12.5 · 2026-03-01 12:00:00 · 123.4M in 4567 allocations" */
void material_describe(struct text *text, const struct material *m,
		       const struct chart_wish *wish);

void material_free(struct material *m);

#endif
