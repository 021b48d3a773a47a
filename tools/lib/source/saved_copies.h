/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Saved copies of /proc/allocinfo as a recording: the files of a directory, or one file with
 * several copies. The time of a copy is written before it, or is in the name of its file, or is
 * the time at which that was written.
 */
#ifndef CODETAG_SAVED_COPIES_H
#define CODETAG_SAVED_COPIES_H

#include <stdbool.h>

#include "recording/recording.h"

/* Whether @path is a directory, or a file with several copies. */
bool saved_copies_are(const char *path);

/* Returns NULL after a message. The recording is in a temporary file. */
struct recording *saved_copies_open(const char *path);

#endif
