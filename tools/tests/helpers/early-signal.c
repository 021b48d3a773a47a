// SPDX-License-Identifier: GPL-2.0-only
/* A library in front of libc's ppoll(): SIGINT comes just before the process sleeps. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *left, const sigset_t *mask)
{
	struct timespec time = *left;

	raise(SIGINT);
	return syscall(SYS_ppoll, files, count, &time, mask, _NSIG / 8);
}
