/* SPDX-License-Identifier: GPL-2.0 */
/* The files of the profiler in debugfs, or saved copies of them. */
#ifndef CODETAG_DEBUGFS_H
#define CODETAG_DEBUGFS_H

#include <argp.h>
#include <stdbool.h>

#define DEBUGFS_DIR "/sys/kernel/debug/codetag"

struct debugfs_file {
	const char *path;
	bool given;	/* by the user: not the one of this machine */
};

#define DEBUGFS_FILE(name) { .path = DEBUGFS_DIR "/" name }

/* Takes the path from the command line; a second one is an error. */
void debugfs_argument(struct debugfs_file *file, const char *path,
		      struct argp_state *state);

/* Why @file could not be opened, and what to do. */
void debugfs_complain(const struct debugfs_file *file, int error);

#endif
