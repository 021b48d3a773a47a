/* SPDX-License-Identifier: GPL-2.0 */
/* Opening recordings, with messages. */
#ifndef CODETAG_RECORDING_H
#define CODETAG_RECORDING_H

#include "store.h"

/* NULL after a message; a recording without snapshots is one to complain about. */
struct store *recording_open(const char *path);

/* store_load() with a message on failure. */
bool recording_load(struct store *store, size_t i, struct allocinfo *info);

/* Snapshot @k of @take that are spread evenly; one alone is the last. */
size_t recording_pick(const struct store *store, size_t k, size_t take);

#define TIME_TEXT 32

/* "2026-03-01 12:00:00"; returns @out. */
char *time_format(char out[TIME_TEXT], int64_t ms);

#endif
