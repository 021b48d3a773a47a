// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libc's functions: files of the kernel are those of the same name in the directory
 * $PRETEND. A write to "control" is appended to "armed". A write to "drop_caches" takes no time. Programs
 * that the command starts see the files of the machine.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *dir;

__attribute__((constructor)) static void begin(void)
{
	dir = getenv("PRETEND");
	unsetenv("LD_PRELOAD");
}

static const char *pretended(const char *path, int flags, char *to, size_t room)
{
	const char *name = strrchr(path, '/');

	if (!dir || !name)
		return path;
	if (!strcmp(name, "/control") && flags & O_WRONLY)
		name = "/armed";
	else if (strcmp(path, "/dev/kmsg") && strcmp(path, "/proc/allocinfo") && strcmp(name, "/make-it-fail") &&
		 strcmp(name, "/boot_id") && strcmp(name, "/drop_caches"))
		return path;
	snprintf(to, room, "%s%s", dir, name);
	return to;
}

int access(const char *path, int mode)
{
	char to[4096];

	return syscall(SYS_faccessat, AT_FDCWD, pretended(path, 0, to, sizeof(to)), mode);
}

int open(const char *path, int flags, ...)
{
	const char *real;
	unsigned int mode;
	char to[4096];
	va_list more;

	va_start(more, flags);
	mode = va_arg(more, unsigned int);
	va_end(more);
	real = pretended(path, flags, to, sizeof(to));
	if (real == to && flags & O_WRONLY)
		flags |= O_APPEND;
	return syscall(SYS_openat, AT_FDCWD, real, flags, mode);
}

void sync(void)
{
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	return time->tv_sec ? 0 : syscall(SYS_nanosleep, time, left);
}
