/* SPDX-License-Identifier: GPL-2.0 */
/* Opening recordings, with messages. */
#ifndef CODETAG_OPEN_RECORDING_H
#define CODETAG_OPEN_RECORDING_H

#include "recording/recording.h"

/* NULL after a message; a recording without snapshots is one to complain about. */
struct recording *open_recording(const char *path);

/* recording_load() with a message on failure. */
bool load_recorded(struct recording *recording, size_t i, struct allocinfo *info);

/* Snapshot @k of @take that are spread evenly; one alone is the last. */
size_t pick_recorded(const struct recording *recording, size_t k, size_t take);

#define TIME_TEXT 32

/* "2026-03-01 12:00:00"; returns @out. */
char *time_format(char out[TIME_TEXT], int64_t ms);

#endif
