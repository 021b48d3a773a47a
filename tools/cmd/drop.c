// SPDX-License-Identifier: GPL-2.0-only
#include "drop.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "debugfs.h"
#include "base/message.h"

bool drop_caches(const char *path)
{
	struct timespec second = { .tv_sec = 1 };
	int error;

	/* Dirty pages cannot be dropped. */
	sync();
	error = debugfs_write_file(path, "3\n");
	if (error) {
		warning("cannot write %s: %s", path, strerror(error));
		return false;
	}
	nanosleep(&second, NULL);
	return true;
}
