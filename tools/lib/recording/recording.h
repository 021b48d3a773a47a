/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording: snapshots of a machine over time in one SQLite file.
 *
 * Rows are stored when they differ from the snapshot before. So the state of
 * site S in snapshot N is the row of S with the largest snapshot <= N. bytes is
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

/* One moment; unknown parts are empty. */
struct moment {
	int64_t time;	/* milliseconds since 1970 */
	int64_t boot_number;	/* differs between boots of the machine; 0: not known */
	const struct allocinfo *info;
	const struct fields *meminfo, *vmstat;
	const struct slabinfo *slabinfo;
	const struct zone_pages *pages;
	const struct holders *processes;	/* the largest first */
	const struct holders *boot;
	const char *contexts;	/* as the kernel prints them, NULL: no call site is split */
};

/*
 * On failure these return NULL or false, and recording_error() says why. A recording that could
 * not be opened has to be closed, too. A new recording is removed if it is closed without a
 * snapshot.
 */
struct recording *recording_create(const char *path, const char *kernel, bool append);

/* For a recording that will be removed: writing does not wait for the disk. */
void recording_do_not_sync(struct recording *rec);
struct recording *recording_open(const char *path);
const char *recording_error(const struct recording *rec);	/* NULL: no failure */
const char *recording_hint(const struct recording *rec);	/* what to do about it, or NULL */
void recording_close(struct recording *rec);

bool recording_add(struct recording *rec, const struct moment *moment);

size_t recording_count(const struct recording *rec);
int64_t recording_time(const struct recording *rec, size_t i);

/* The first snapshot since the boot before snapshot @i: after a boot all counters are new. */
size_t recording_since_boot(const struct recording *rec, size_t i);

/* The allocinfo of snapshot @i, from 0. */
bool recording_load(struct recording *rec, size_t i, struct allocinfo *info);

/* The same with the recent activity: since snapshot @from. */
bool recording_load_since(struct recording *rec, size_t from, size_t i, struct allocinfo *info);

/* The other values recorded with it. */
bool recording_load_machine(struct recording *rec, size_t i, struct machine *machine);

/* Its contexts in the format of the kernel; empty if there were none. */
bool recording_load_contexts(struct recording *rec, size_t i, struct text *text);

/* Other recorded values over time: "meminfo.MemFree", "slabinfo.dentry/active". */
struct gauges {
	struct gauge {
		const char *name;
		int64_t *value;	/* a value for each snapshot */
		size_t first;	/* the first snapshot that has a value */
	} *gauge;
	size_t count, room;
	struct arena strings;
};

/* Adds those whose name matches @glob. */
bool recording_load_gauges(struct recording *rec, const char *glob, struct gauges *gauges);
void gauges_free(struct gauges *gauges);

/* The sites to sum, and how. */
struct recording_choice {
	bool (*keep)(void *context, const struct site *site);	/* NULL: all */
	void *context;
	/*
	 * Chooses the series for a site, all with the same columns; NULL: always the one that
	 * was passed.
	 */
	struct series *(*into)(void *context, const struct site *site);
	struct grouping by;
	bool together;		/* all sites into one group */
};

/*
 * Sums over time: column c of @series, which has @series->columns, is snapshot @at[c]; @at
 * ascends. It takes one pass over the file, however many there are.
 */
bool recording_series(struct recording *rec, struct series *series, const size_t *at,
		      const struct recording_choice *choice);

/*
 * The call sites that @keep selects and that were not profiled in some snapshot, as far as that
 * was recorded. @info, which has to be freed, has only these, marked; *@all is the number that
 * @keep selects.
 */
bool recording_unprofiled(struct recording *rec, const struct recording_choice *choice,
			  struct allocinfo *info, size_t *all);

/*
 * Snapshot number @k of @take that are spread evenly from snapshot @first on; a single one is the
 * last.
 */
size_t recording_pick(const struct recording *rec, size_t first, size_t k, size_t take);

/* "" if it was not recorded. */
const char *recording_kernel(const struct recording *rec);

#endif
