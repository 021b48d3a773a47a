/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording: snapshots of a machine over time in one SQLite file.
 *
 * Rows are stored when they differ from the snapshot before, so the state of
 * site S in snapshot N is the row of S with the largest snapshot <= N; bytes is
 * NULL once the row has vanished. The same goes for the samples of gauges, which
 * are 0 for a slab cache that has vanished. Each snapshot is one transaction:
 * after a crash at most the last is missing.
 */
#ifndef CODETAG_RECORDING_H
#define CODETAG_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/series.h"
#include "read/allocinfo.h"
#include "read/machine.h"

struct recording;

/* One moment; parts that are not known stay empty. */
struct moment {
	int64_t time;	/* milliseconds since 1970 */
	const struct allocinfo *info;
	const struct fields *meminfo, *vmstat;
	const struct slabinfo *slabinfo;
	const struct zone_pages *pages;
	const struct holders *processes;	/* the largest come first */
	const struct holders *boot;
	const char *contexts;	/* as the kernel prints them, NULL: no call site is split */
};

/*
 * All that fail return NULL or false; recording_error() then says why. A recording that
 * could not be opened is closed all the same. One that was created is removed when it is
 * closed without a snapshot.
 */
struct recording *recording_create(const char *path, const char *kernel, bool append);

/* For a recording that is removed in the end: what is added does not wait for the disk. */
void recording_do_not_sync(struct recording *rec);
struct recording *recording_open(const char *path);
const char *recording_error(const struct recording *rec);	/* NULL: no failure */
const char *recording_hint(const struct recording *rec);	/* what to do then, or NULL */
void recording_close(struct recording *rec);

bool recording_add(struct recording *rec, const struct moment *moment);

size_t recording_count(const struct recording *rec);
int64_t recording_time(const struct recording *rec, size_t i);

/* The allocinfo of snapshot @i, from 0. */
bool recording_load(struct recording *rec, size_t i, struct allocinfo *info);

/* What else was recorded with it. */
bool recording_load_machine(struct recording *rec, size_t i, struct machine *machine);

/* Its contexts, as the kernel printed them; empty if there were none. */
bool recording_load_contexts(struct recording *rec, size_t i, struct text *text);

/* What else was recorded, over time: "meminfo.MemFree", "slabinfo.dentry/active". */
struct gauges {
	struct gauge {
		const char *name;
		int64_t *value;	/* of each snapshot */
		size_t first;	/* the first one that has a value */
	} *gauge;
	size_t count, room;
	struct arena strings;
};

/* Adds those whose name matches @glob. */
bool recording_load_gauges(struct recording *rec, const char *glob, struct gauges *gauges);
void gauges_free(struct gauges *gauges);

/* Which sites, and how they are summed. */
struct recording_choice {
	bool (*keep)(void *context, const struct site *site);	/* NULL: all */
	void *context;
	/* Which series a site goes to, all of as many columns; NULL: to the one that was named. */
	struct series *(*into)(void *context, const struct site *site);
	struct grouping by;
	bool together;		/* all into one group */
};

/*
 * Sums over time: column c of @series, of which there are @series->columns, is
 * snapshot @at[c]; @at ascends. One pass over the file, however many there are.
 */
bool recording_series(struct recording *rec, struct series *series, const size_t *at,
		      const struct recording_choice *choice);

/*
 * Call sites that @keep selects and that were not profiled in some snapshot, as far as that was
 * recorded. @info, which has to be freed, has these alone and marked; *@all is how many @keep selects.
 */
bool recording_unprofiled(struct recording *rec, const struct recording_choice *choice,
			  struct allocinfo *info, size_t *all);

/* Snapshot @k of @take that are spread evenly; one alone is the last. */
size_t recording_pick(const struct recording *rec, size_t k, size_t take);

/* "" if it was not recorded. */
const char *recording_kernel(const struct recording *rec);

#endif
