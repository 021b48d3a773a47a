// SPDX-License-Identifier: GPL-2.0-only
#include "trace/trace_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"

/* Without memory of its own: it is called when there is none left, too. */
bool trace_instance_write(const char *dir, const char *name, const char *value)
{
	ssize_t len = (ssize_t)strlen(value), written = -1;
	char path[256];
	int fd = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) < sizeof(path))
		fd = open(path, O_WRONLY | O_CLOEXEC);
	else
		errno = ENAMETOOLONG;
	if (fd >= 0) {
		written = write(fd, value, (size_t)len);
		if (written >= 0 && written < len)
			errno = EIO;
		close(fd);
	}
	return written == len;
}

void trace_instance_remove(const char *dir)
{
	int error = errno;

	trace_instance_write(dir, "events/enable", "0");
	if (rmdir(dir)) {
		warning("cannot remove %s: %s", dir, strerror(errno));
		hint("The kernel keeps the memory of its buffer until somebody removes it: rmdir %s", dir);
	}
	errno = error;
}
