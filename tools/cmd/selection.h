/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that choose, group and sort the call sites to show. */
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
	const char *path;	/* the allocinfo */
	const char *newer;	/* the one to compare with */
	bool path_given;
	bool allocinfo;		/* --allocinfo was given, which excludes other files */
	bool many;		/* the command takes several files: all of them are here */
	const char **paths;	/* … here */
	size_t paths_count, paths_room;
	const char *label;	/* the host of the next file */
	const char **labels;	/* the label of each file; NULL: the file names its host */
	size_t labels_count, labels_room;
	bool compare;		/* two snapshots: growth is shown */
	struct text query_text;
	struct query *query;
	struct grouping by;
	bool by_given;
	enum order order;
	size_t top;		/* 0: all */
	bool all;		/* also groups that hold nothing */
	unsigned int groups;	/* the words that --group takes, see struct group_words */
	bool raw;		/* counts sites that contain others, too: see model/container.h */
	const char *activity;	/* the file with the allocations and frees, NULL: the kernel's own */
	bool activity_too;	/* they are read without being asked for, if they are there */
	bool has_min, has_max;
	int64_t min, max;
	struct columns columns;
	bool csv;
	const char *sqlite;	/* a database that does not exist yet */
};

/* Argp children: their input is a struct selection. */
extern const struct argp selection_argp;
extern const struct argp selection_recorded_argp;	/* … of a recording */
extern const struct argp selection_trend_argp;	/* the options that make sense for leaks … */
extern const struct argp selection_merge_argp;	/* … for merge … */
extern const struct argp selection_chart_argp;	/* … and for chart */
extern const struct argp selection_raw_argp;	/* for commands that sum up … */
extern const struct argp selection_raw_only_argp;	/* … but not allocations and frees */
extern const struct argp columns_argp;	/* for commands that print tables */
extern const struct argp rows_argp;	/* … and also write them as CSV and SQLite */
extern const struct argp hosts_argp;	/* --label; arguments are parsed in their order */

#define SELECTION_INIT { .path = ALLOCINFO_PATH, .groups = GROUPS_OF_SITES }

/*
 * A positional argument: the words from the first query keyword on are a query, the word before
 * them is a file. Returns false if it is one too many.
 */
bool selection_argument(struct selection *selection, const char *word);

/* "host=web1", for the next file; ends the program if it is not like that. */
void selection_label(struct selection *selection, char *arg, struct argp_state *state);
void selection_forget_labels(struct selection *selection);

/* Parses the words as a query; ends the program if they are not one. */
void selection_finish(struct selection *selection, struct argp_state *state);

/*
 * source_total() of all files that were named, or of the one at @path. Prints a hint if a file
 * that does not exist may have been meant as a query. selection_snapshot() of the running kernel
 * may read only the call sites that the query needs.
 */
bool selection_snapshot(struct snapshot *snapshot, const struct selection *selection);
bool selection_open(struct snapshot *snapshot, const struct selection *selection,
		    const char *path);

/*
 * The allocinfo of @path alone, with all call sites. *@complete becomes false if parts of it could
 * not be read, which was reported.
 */
bool selection_load(struct allocinfo *info, const char *path, bool *complete);

/* Whether allocations and frees were asked for, or those between two readings. */
bool selection_wants_activity(const struct selection *selection);
bool selection_wants_rates(const struct selection *selection);

/* Whether growth was asked for, and the message that refuses it where there is one snapshot. */
bool selection_wants_growth(const struct selection *selection);
#define PEAKS_OF_REPORT "only 'codetag report' of a recording has peaks"
#define GROWTH_OF_TWO "growth is between two snapshots: see 'codetag diff'"

/* Whether there are two readings for the columns that were chosen; otherwise prints a message. */
bool selection_rates_known(const struct selection *selection, const struct groups *groups);

/* Says that they are not known. */
void selection_complain_activity(const char *path);

/* Takes sites that contain others out of @info. *@out, which may be NULL, is their sum. */
void selection_take_out(const struct selection *selection, struct allocinfo *info,
			struct sum *out);

/* The same for two snapshots that are compared: out of both of them, or of none. */
void selection_take_out_both(const struct selection *selection, struct allocinfo *old, struct sum *old_out,
			     struct allocinfo *new, struct sum *new_out);

/*
 * Says so if the query selects no call site of @info nor of @older, which may be NULL: a name may
 * be misspelt. The running kernel may have left out everything else already.
 */
void selection_warn_unmatched(const struct selection *selection, const struct allocinfo *info,
			      const struct allocinfo *older);

/* The same message, without a look: nothing was selected. */
void selection_warn_none(const struct selection *selection);

/* The selected sites that are not profiled; by host the hosts that have such. */
size_t selection_unprofiled(const struct selection *selection, const struct allocinfo *info);

/*
 * Whether all selected sites of @info are profiled, or by host those of all hosts; otherwise
 * prints a message. Called after the output.
 */
bool selection_profiled(const struct selection *selection, const struct allocinfo *info);

/* Groups the selected sites, without those that contain others. */
void selection_group(const struct selection *selection, struct snapshot *snapshot,
		     struct groups *groups);

/* selection_snapshot(), then selection_group(). */
bool selection_read(const struct selection *selection, struct snapshot *snapshot,
		    struct groups *groups);

/*
 * Whether CSV or SQLite was asked for; writes the first @count groups in that format, false
 * after a message. selection_check_rows() checks the options, together with those of @output.
 */
bool selection_wants_rows(const struct selection *selection);
bool selection_rows(const struct selection *selection, const struct groups *groups,
		    size_t count, bool headings);
void selection_check_rows(const struct selection *selection, const struct output *output,
			  struct argp_state *state);

/* Sorts the groups, drops those that are not shown, and returns how many are left. */
size_t selection_apply(const struct selection *selection, struct groups *groups);

void selection_free(struct selection *selection);

#endif
