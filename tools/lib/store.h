/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording: snapshots of a machine over time in one SQLite file.
 *
 * Rows are stored when they differ from the snapshot before, so the state of
 * site S in snapshot N is the row of S with the largest snapshot <= N; bytes is
 * NULL once the row has vanished. The same goes for the samples of gauges. Each
 * snapshot is one transaction: whatever happens, at most the last is missing.
 */
#ifndef CODETAG_STORE_H
#define CODETAG_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocinfo.h"
#include "fields.h"
#include "slabinfo.h"

struct store;

/* One moment; parts that are not known stay empty. */
struct moment {
	int64_t time;	/* milliseconds since 1970 */
	const struct allocinfo *info;
	const struct fields *meminfo, *vmstat;
	const struct slabinfo *slabinfo;
};

/*
 * All that fail return NULL or false; store_error() then says why. A store that
 * could not be opened is closed all the same.
 */
struct store *store_create(const char *path, const char *kernel, bool append);
struct store *store_open(const char *path);
const char *store_error(const struct store *store);	/* NULL: no failure */
void store_close(struct store *store);

bool store_add(struct store *store, const struct moment *moment);

size_t store_count(const struct store *store);
int64_t store_time(const struct store *store, size_t i);

/* The allocinfo of snapshot @i, from 0. */
bool store_load(struct store *store, size_t i, struct allocinfo *info);

/* "" if it was not recorded. */
const char *store_kernel(const struct store *store);

#endif
