// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuse DIRECTORY PAGES - mount a file system with one file of so many pages
 *
 * "file" is full of the letter F. Its content goes from a pipe to the kernel by
 * splice() with SPLICE_F_MOVE, a whole page at a time. So the kernel can take the pages
 * themselves. The program ends when the file system is unmounted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_ID	2

static int dev;
static size_t page_size;
static size_t file_size;
static char *page;

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + len, .error = error, .unique = in->unique,
	};
	struct iovec iov[] = {
		{ &out, sizeof(out) }, { (void *)data, len },
	};

	if (writev(dev, iov, len ? 2 : 1) < 0 && errno != ENOENT)
		perror("fuse: writev");
}

static struct fuse_attr attr(uint64_t id)
{
	return (struct fuse_attr) {
		.ino = id, .nlink = 1, .blksize = page_size,
		.mode = id == FILE_ID ? S_IFREG | 0444 : S_IFDIR | 0555,
		.size = id == FILE_ID ? file_size : 0,
	};
}

/* The header and the pages go into a pipe, each in a buffer of its own, and on. */
static void reply_read(const struct fuse_in_header *in, const struct fuse_read_in *read)
{
	size_t len = read->offset >= file_size ? 0 : file_size - read->offset, done;
	struct fuse_out_header out = { .unique = in->unique };
	int fds[2];

	if (len > read->size)
		len = read->size;
	out.len = sizeof(out) + len;
	if (pipe(fds) || fcntl(fds[1], F_SETPIPE_SZ, 64 * page_size) < 0 ||
	    write(fds[1], &out, sizeof(out)) != sizeof(out)) {
		reply(in, -EIO, NULL, 0);
		return;
	}
	for (done = 0; done < len; done += page_size)
		if (write(fds[1], page, page_size) != (ssize_t)page_size)
			perror("fuse: pipe");
	if (splice(fds[0], NULL, dev, NULL, out.len, SPLICE_F_MOVE) != (ssize_t)out.len)
		perror("fuse: splice");
	close(fds[0]);
	close(fds[1]);
}

static void serve(const struct fuse_in_header *in)
{
	const void *arg = in + 1;

	switch (in->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *init = arg;
		struct fuse_init_out out = {
			.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
			.max_readahead = init->max_readahead, .max_write = 32 * page_size,
			.flags = init->flags & (FUSE_ASYNC_READ | FUSE_SPLICE_MOVE |
						FUSE_SPLICE_READ | FUSE_MAX_PAGES),
			.max_pages = 32, .time_gran = 1,
		};

		reply(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {
			.nodeid = FILE_ID, .attr_valid = 60, .entry_valid = 60,
			.attr = attr(FILE_ID),
		};

		if (strcmp(arg, "file"))
			reply(in, -ENOENT, NULL, 0);
		else
			reply(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_GETATTR: {
		struct fuse_attr_out out = { .attr_valid = 60, .attr = attr(in->nodeid) };

		reply(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_OPEN:
	case FUSE_OPENDIR: {
		struct fuse_open_out out = { .open_flags = FOPEN_KEEP_CACHE };

		reply(in, 0, &out, sizeof(out));
		break;
	}
	case FUSE_READ:
		reply_read(in, arg);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_DESTROY:
		reply(in, 0, NULL, 0);
		break;
	default:
		reply(in, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	char options[100];
	size_t room;
	char *buf;

	if (argc != 3) {
		fprintf(stderr, "usage: fuse DIRECTORY PAGES\n");
		return 2;
	}
	page_size = sysconf(_SC_PAGESIZE);
	file_size = strtoul(argv[2], NULL, 0) * page_size;
	room = 64 * page_size;
	page = malloc(page_size);
	buf = malloc(room);
	if (!page || !buf)
		return 1;
	memset(page, 'F', page_size);
	dev = open("/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", dev);
	if (dev < 0 || mount("codetag", argv[1], "fuse", 0, options)) {
		perror("fuse: mount");
		return 1;
	}
	for (;;) {
		ssize_t len = read(dev, buf, room);

		if (len >= (ssize_t)sizeof(struct fuse_in_header)) {
			serve((struct fuse_in_header *)buf);
		} else if (len < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT) {
			/* ENODEV: it has been unmounted. */
			return errno == ENODEV ? 0 : 1;
		}
	}
}
