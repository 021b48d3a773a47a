/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Saved copies of /proc/allocinfo as a recording: of a directory, or of a file that has
 * several. Their times are what stands before them, else what the name of their file says, else
 * when that was written.
 */
#ifndef CODETAG_SAVED_COPIES_H
#define CODETAG_SAVED_COPIES_H

#include <stdbool.h>

#include "recording/recording.h"

/* Whether @path is a directory, or a file with several copies. */
bool saved_copies_are(const char *path);

/* NULL after a message. It is in no file that lasts. */
struct recording *saved_copies_open(const char *path);

#endif
