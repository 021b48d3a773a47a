/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocations and frees of the call sites, which this kernel counts beside their memory:
 *
 *	# activity - version: 1.0
 *	#  <allocs>    <frees>    <parts> <tag info>
 *	       1234       1200          0 mm/slub.c:123 func:foo
 *
 * The rows are those of /proc/allocinfo. The numbers are counted since boot, or since the
 * module was loaded, modulo 2^32. A page that is split has one allocation and several frees:
 * the parts are the difference.
 */
#ifndef CODETAG_READ_ACTIVITY_H
#define CODETAG_READ_ACTIVITY_H

#include <stdbool.h>

#include "read/allocinfo.h"

#define ACTIVITY_PATH "/sys/kernel/debug/codetag/activity"

/*
 * Sets the activity of the rows of @info from the file. Otherwise returns false: *@why names
 * the error in the file. If it is NULL the file cannot be read, and errno says why.
 */
bool activity_read(struct allocinfo *info, const char *path, const char **why);

/* The same from its text, of @len bytes and a NUL, which it changes. */
bool activity_parse(struct allocinfo *info, char *text, size_t len, const char **why);

/*
 * How many rows lack their activity. On a running kernel a module can have gone before its activity
 * was read: @but_modules leaves out their rows.
 */
size_t activity_missing(const struct allocinfo *info, bool but_modules);

/* Sets @uncounted of @info to that number. */
void activity_find_missing(struct allocinfo *info, bool but_modules);

/* Whether the activity of any row is known; and whether the recent one is. */
bool activity_known(const struct allocinfo *info);
bool activity_recent_known(const struct allocinfo *info);

#define ACTIVITY_NO_ROW SIZE_MAX

/*
 * Sets row[i] to the row of @before that is the row now[i] of the same call site, ACTIVITY_NO_ROW
 * if it is new. A module that is loaded again has its rows beside those of its unloaded self, which
 * vanish when their memory is freed. An unloaded module allocates no more, which tells its rows.
 */
void activity_match(const struct site *const *now, size_t count, const struct site *const *before,
		    size_t count_before, size_t *row);

enum activity_row {
	ROW_STAYS,		/* counts on as long as the machine is up */
	ROW_CAN_RESTART,	/* of a module, or the machine can have booted */
	ROW_UNLOADED,
};

/* @one_boot: both readings are known to be of one boot. */
enum activity_row activity_row(const struct site *site, bool one_boot);

/*
 * Allocations and frees between two readings of a row. @before is NULL if it is a new row, and
 * known otherwise.
 *
 * They are right modulo 2^32. If a row can restart and a number is up to 2^31 less than
 * before, it began again from 0 and did not wrap around. In a row of an unloaded module, which
 * allocates no more, a number that is not known from before is not counted.
 */
struct activity activity_step(const struct activity *before, const struct activity *now,
			      enum activity_row kind);

enum activity_time {
	ACTIVITY_LIVE,		/* both were read by this process */
	ACTIVITY_RECORDED,
	ACTIVITY_BACKWARDS,	/* recorded, and @before is the later one */
};

/* Sets the recent activity of the rows of @now, if both are known. */
void activity_between(struct allocinfo *now, const struct allocinfo *before, enum activity_time time);

void activity_add(struct activity *to, const struct activity *more);

/* Whether that of each row of a sum is known. */
bool activity_whole(const struct activity *activity);

/* In tables, in place of a number that is missing */
#define ACTIVITY_MISSING "-"

#endif
