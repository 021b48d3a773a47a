// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libc's write(), which fails for files with the errno $REFUSE. If that is
 * "later", the first write succeeds and all others fail.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t write(int fd, const void *data, size_t len)
{
	const char *error = getenv("REFUSE");
	static int count;

	if (fd <= 2 || !error || (!count++ && *error == 'l'))
		return syscall(SYS_write, fd, data, len);
	errno = *error == 'l' ? EIO : atoi(error);
	return -1;
}
