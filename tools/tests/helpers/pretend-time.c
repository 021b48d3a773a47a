// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libc's functions: time passes only while the command sleeps. After each
 * sleep it sends the second, a long, to the socket $WORLD and waits for a byte. Unless the byte is
 * 0, it is a signal, which is raised. Writes to the kernel's files control and age_interval go to the
 * file $WRITTEN, if that is set. If $STOPPED is set, each sleep takes as many seconds longer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static struct timespec now = { 1000000000, 0 };
int clock_gettime(clockid_t clock, struct timespec *time)
{
	*time = now;
	return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	int world = atoi(getenv("WORLD"));
	const char *stopped = getenv("STOPPED");
	unsigned char event;
	long second;

	now = *until;
	now.tv_sec += stopped ? atoi(stopped) : 0;
	second = now.tv_sec - 1000000000;
	if (syscall(SYS_write, world, &second, sizeof(second)) != sizeof(second) || read(world, &event, 1) != 1)
		abort();
	if (!event)
		return 0;
	raise(event);
	return EINTR;
}
ssize_t write(int fd, const void *data, size_t len)
{
	char link[32], path[4096] = "";
	int note;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!getenv("WRITTEN") || readlink(link, path, sizeof(path) - 1) < 0 ||
	    (!strstr(path, "/control") && !strstr(path, "/age_interval")))
		return syscall(SYS_write, fd, data, len);
	note = open(getenv("WRITTEN"), O_WRONLY | O_APPEND);
	syscall(SYS_write, note, data, len);
	if (((const char *)data)[len - 1] != '\n')
		syscall(SYS_write, note, "\n", 1);
	close(note);
	return len;
}
