// SPDX-License-Identifier: GPL-2.0
#include "debugfs.h"

#include <errno.h>
#include <string.h>

#include "input.h"
#include "message.h"

void debugfs_argument(struct debugfs_file *file, const char *path,
		      struct argp_state *state)
{
	if (file->given)
		argp_error(state, "one file at a time, '%s' is a second one", path);
	file->path = path;
	file->given = true;
}

void debugfs_complain(const struct debugfs_file *file, int error)
{
	warning("cannot open %s: %s", input_name(file->path), strerror(error));
	if (file->given)
		return;
	if (error == EACCES || error == EPERM)
		hint("Only root may use it.");
	else if (error == ENOENT)
		hint("It needs a kernel with codetag, and debugfs:\n"
		     "mount -t debugfs none /sys/kernel/debug");
}
