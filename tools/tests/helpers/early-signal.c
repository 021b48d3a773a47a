// SPDX-License-Identifier: GPL-2.0-only
/* A library in front of libc's sleeping functions: SIGINT comes just before the process sleeps. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	raise(SIGINT);
	return syscall(SYS_clock_nanosleep, clock, flags, until, left) ? errno : 0;
}
int ppoll(struct pollfd *fds, nfds_t nr, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec left = timeout ? *timeout : (struct timespec){ 0 };

	raise(SIGINT);
	return (int)syscall(SYS_ppoll, fds, nr, timeout ? &left : NULL, mask, _NSIG / 8);
}
