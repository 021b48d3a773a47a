/* SPDX-License-Identifier: GPL-2.0-only */
/* Archives with the files of machines, such as a sosreport. */
#ifndef CODETAG_ARCHIVE_H
#define CODETAG_ARCHIVE_H

#include "read/unpack.h"
#include "source/members.h"

/*
 * Calls @visit, which takes over the snapshot, for each machine in an archive that has the file
 * @of: with all files below its root, and a name for the host. Returns false after a message if
 * there is none, or if its file @of cannot be used.
 */
bool archive_read(struct unpacked *u, const char *path, enum member of,
		  void (*visit)(void *data, struct snapshot *s, const char *name),
		  void *data);

/* Whether files called meminfo and allocinfo are of several machines. */
bool archive_is_of_several(const struct unpacked *u);

#endif
