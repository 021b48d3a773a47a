// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libc's functions is the kernel. The file $TEXT is /proc/allocinfo, and
 * the ioctls choose lines of it, unless NO_IOCTL is set. Their arguments go to $ASKED.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/alloc_tag.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static struct allocinfo_filter filter;
static int file = -1;
static FILE *lines;

int open(const char *path, int flags, ...)
{
	int fd, ours = !strcmp(path, "/proc/allocinfo");
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	fd = syscall(SYS_openat, AT_FDCWD, ours ? getenv("TEXT") : path, flags, mode);
	if (ours)
		file = fd;
	return fd;
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static void copy_end(char *to, const char *name)
{
	size_t len = strlen(name);

	strcpy(to, name + (len > 63 ? len - 63 : 0));
}

/* The next line that the filter wants. */
static int next(struct allocinfo_tag_data *data)
{
	char line[4096], name[4096], module[4096], func[4096], *note;
	long long bytes;

	while (fgets(line, sizeof(line), lines)) {
		memset(data, 0, sizeof(*data));
		*module = 0;
		if (sscanf(line, "%lld %llu %[^:]:%llu func:%s", &bytes,
			   &data->counter.calls, name, &data->tag.lineno, func) != 5 &&
		    sscanf(line, "%lld %llu %[^:]:%llu [%[^]]] func:%s", &bytes,
			   &data->counter.calls, name, &data->tag.lineno, module,
			   func) != 6)
			continue;
		copy_end(data->tag.filename, name);
		copy_end(data->tag.modname, module);
		copy_end(data->tag.function, func);
		if ((filter.mask & ALLOCINFO_FILTER_MASK_FUNCTION &&
		     strcmp(filter.fields.function, data->tag.function)) ||
		    (filter.mask & ALLOCINFO_FILTER_MASK_MODNAME &&
		     strcmp(filter.fields.modname, data->tag.modname)))
			continue;
		note = strstr(line, "func:");
		data->counter.bytes = bytes;
		data->counter.accurate = !strstr(note, " accurate:no");
		data->counter.pad[ALLOCINFO_PAD_UNLOADED] = !!strstr(note, " unloaded:yes");
		return 0;
	}
	errno = ENOENT;
	return -1;
}

int ioctl(int fd, unsigned long command, ...)
{
	struct allocinfo_get_at *at;
	va_list args;
	FILE *log;

	va_start(args, command);
	at = va_arg(args, void *);
	va_end(args);
	if (fd != file)
		return syscall(SYS_ioctl, fd, command, at);
	if (getenv("NO_IOCTL")) {
		errno = ENOTTY;
		return -1;
	}
	if (command == ALLOCINFO_IOC_GET_NEXT)
		return next((struct allocinfo_tag_data *)at);
	log = fopen(getenv("ASKED"), "w");
	fprintf(log, "%llx %s %s\n", at->filter.mask, at->filter.fields.function,
		at->filter.fields.modname);
	fclose(log);
	filter = at->filter;
	lines = fopen(getenv("TEXT"), "r");
	return next(&at->data);
}
