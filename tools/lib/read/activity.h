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

/* Whether the activity of any row is known; and whether the recent one is. */
bool activity_known(const struct allocinfo *info);
bool activity_recent_known(const struct allocinfo *info);

/*
 * Allocations and frees between two readings of a row. @before is NULL if it is a new row.
 *
 * A number may wrap around between them, if it grows by less than 2^31. One that seems to have
 * grown by 2^31 or more has begun again from 0: the module was loaded again. Only in a row of an unloaded module, which
 * allocates no more, a number that is not known from before is not counted.
 */
struct activity activity_step(const struct activity *before, const struct activity *now,
			      bool unloaded);

/*
 * Sets the recent activity of the rows of @now, if both are known. @back: @before is the later
 * one.
 */
void activity_between(struct allocinfo *now, const struct allocinfo *before, bool back);

void activity_add(struct activity *to, const struct activity *more);

#endif
