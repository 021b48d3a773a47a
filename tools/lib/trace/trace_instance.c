// SPDX-License-Identifier: GPL-2.0-only
#include "trace/trace_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"

bool trace_instance_write(const char *dir, const char *name, const char *value)
{
	struct text path = { 0 };
	ssize_t written = -1;
	int fd;

	text_printf(&path, "%s/%s", dir, name);
	fd = open(path.s, O_WRONLY | O_CLOEXEC);
	text_free(&path);
	if (fd >= 0) {
		written = write(fd, value, strlen(value));
		close(fd);
	}
	return written == (ssize_t)strlen(value);
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
