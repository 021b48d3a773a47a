// SPDX-License-Identifier: GPL-2.0-only
/* A library in front of libc's functions: the kernel is locked down, and control cannot be opened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/syscall.h>
int open(const char *path, int flags, ...)
{
	const char *slash = strrchr(path, '/');
	if (slash && !strcmp(slash, "/control"))
		return errno = EPERM, -1;
	return syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}
FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
	static char line[] = "none [integrity] confidentiality\n";
	if (!strcmp(path, "/sys/kernel/security/lockdown"))
		return fmemopen(line, strlen(line), "r");
	return real(path, mode);
}
