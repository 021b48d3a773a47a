/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening recordings, with messages. */
#ifndef CODETAG_OPEN_RECORDING_H
#define CODETAG_OPEN_RECORDING_H

#include "read/profiling.h"
#include "recording/recording.h"

/* Returns NULL after a message. Callers have to report a recording without snapshots. */
struct recording *open_recording(const char *path);

/* recording_load() with a message on failure. */
bool load_recorded(struct recording *recording, size_t i, struct allocinfo *info);

/* recording_series() with a message on failure. */
bool load_series(struct recording *recording, struct series *series, const size_t *at,
		 const struct recording_choice *choice);

/*
 * Sets @off and @chosen of @profiling: the call sites that @choice keeps, and those of them that
 * were not profiled in all snapshots. Tells the user if there are any. Returns false after a
 * message if the recording cannot be read.
 */
bool count_unprofiled(struct recording *recording, const struct recording_choice *choice,
		      struct profiled *profiling);

/* The first snapshot since the last boot; says so if that is not the first of all. */
size_t recorded_since_boot(const struct recording *recording, const char *path);

#define TIME_TEXT 32

/* "2026-03-01 12:00:00"; returns @out. */
char *time_format(char out[TIME_TEXT], int64_t ms);

#endif
