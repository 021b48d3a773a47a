/* SPDX-License-Identifier: GPL-2.0 */
/* The options about which sites to show, grouped and sorted how. */
#ifndef CODETAG_SELECTION_H
#define CODETAG_SELECTION_H

#include <argp.h>
#include <stdbool.h>

#include "columns.h"
#include "words.h"
#include "base/text.h"
#include "model/group.h"
#include "read/query.h"
#include "source/source.h"

struct selection {
	const char *path;	/* of the allocinfo */
	const char *newer;	/* of the one to compare it with */
	bool path_given;
	bool allocinfo;		/* by --allocinfo, which goes with no other file */
	bool many;		/* files may be given one after the other: all of them are */
	const char **paths;	/* … here */
	size_t paths_count, paths_room;
	const char *label;	/* the host of the file to come */
	const char **labels;	/* of each file, NULL: it says so itself */
	size_t labels_count, labels_room;
	bool compare;		/* two snapshots: growth is what counts */
	struct text query_text;
	struct query *query;
	struct grouping by;
	bool by_given;
	enum order order;
	size_t top;		/* 0: all */
	bool all;		/* groups that hold nothing, too */
	unsigned int groups;	/* what --group takes, see struct group_words */
	bool raw;		/* what contains others is counted, too: see model/container.h */
	bool has_min, has_max;
	int64_t min, max;
	struct columns columns;
	bool csv;
	const char *sqlite;	/* the file, which is not there yet */
};

/* Argp children: their input is a struct selection. */
extern const struct argp selection_argp;
extern const struct argp selection_trend_argp;	/* what makes sense for leaks … */
extern const struct argp selection_merge_argp;	/* … for merge … */
extern const struct argp selection_chart_argp;	/* … and for chart */
extern const struct argp selection_raw_argp;	/* for commands that sum up */
extern const struct argp columns_argp;	/* for commands that print tables */
extern const struct argp rows_argp;	/* … and also write them as CSV and SQLite */
extern const struct argp hosts_argp;	/* --label; arguments in the order as given */

#define SELECTION_INIT { .path = ALLOCINFO_PATH, .groups = GROUPS_OF_SITES }

/*
 * A positional argument: from the first query keyword on the words are a
 * query, the one before it is a file. Returns false if it is one too many.
 */
bool selection_argument(struct selection *selection, const char *word);

/* "host=web1", of the file to come; ends the program if it is none. */
void selection_label(struct selection *selection, char *arg, struct argp_state *state);
void selection_forget_labels(struct selection *selection);

/* Turns the words into a query; ends the program if they are none. */
void selection_finish(struct selection *selection, struct argp_state *state);

/* source_total() of what may have been named by mistake: all files, or one. */
bool selection_snapshot(struct snapshot *snapshot, const struct selection *selection);
bool selection_open(struct snapshot *snapshot, const struct selection *selection,
		    const char *path);

/* Only its call sites. */
bool selection_load(struct allocinfo *info, const char *path);

/* Takes what would be counted twice out of @info; @out, which may be NULL, is how much. */
void selection_take_out(const struct selection *selection, struct allocinfo *info,
			struct sum *out);

/* Groups what is selected, and takes out of it what would be counted twice. */
void selection_group(const struct selection *selection, struct snapshot *snapshot,
		     struct groups *groups);

/* Both. */
bool selection_read(const struct selection *selection, struct snapshot *snapshot,
		    struct groups *groups);

/*
 * Whether CSV or SQLite was asked for; writes the first @count groups as that, false after a
 * message. The options of @output are checked by selection_check_rows().
 */
bool selection_wants_rows(const struct selection *selection);
bool selection_rows(const struct selection *selection, const struct groups *groups,
		    size_t count);
void selection_check_rows(const struct selection *selection, const struct output *output,
			  struct argp_state *state);

/* Sorts, drops what is not to be shown, returns how many are left. */
size_t selection_apply(const struct selection *selection, struct groups *groups);

void selection_free(struct selection *selection);

#endif
