// SPDX-License-Identifier: GPL-2.0
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/text.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int open_directory(const char *path)
{
	struct text name = { 0 };
	int fd;

	text_add(&name, path, (size_t)(base_name(path) - path));
	fd = open(name.len ? name.s : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	text_free(&name);
	return fd;
}

static int create_at(int dir, const char *name)
{
	return openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int outfile_create_now(const char *path)
{
	return create_at(AT_FDCWD, path);
}

/*
 * Its name is in @name: a leading dot keeps collectors of *.prom away from it. A file system
 * takes 255 bytes, which @path can have without the ten more.
 */
static int create_temporary(int dir, const char *path, struct text *name)
{
	uint32_t number;
	int fd = -1;

	for (int i = 0; i < 100 && fd < 0; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		text_clear(name);
		text_printf(name, ".%.240s.%08x", base_name(path), number);
		fd = create_at(dir, name->s);
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	return fd;
}

static bool keep_attribute(int fd, int old, const char *name)
{
	char value[65536], has[65536];
	ssize_t len = fgetxattr(old, name, value, sizeof(value)), now;

	if (len < 0)
		return false;
	now = fgetxattr(fd, name, has, sizeof(has));
	return (now == len && !memcmp(value, has, (size_t)len)) ||
	       !fsetxattr(fd, name, value, (size_t)len, 0);
}

/* Owner, mode, access list and labels of the file that @fd replaces. */
static bool keep_attributes(int fd, int old, const struct stat *st)
{
	char names[65536];
	ssize_t len;
	struct stat now;

	if (fstat(fd, &now))
		return false;
	if ((now.st_uid != st->st_uid || now.st_gid != st->st_gid) &&
	    fchown(fd, st->st_uid, st->st_gid))
		return false;
	/* What the directory gave it. */
	fremovexattr(fd, "system.posix_acl_access");
	if (fchmod(fd, st->st_mode & 0777))
		return false;
	len = flistxattr(old, names, sizeof(names));
	if (len < 0)
		return errno == EOPNOTSUPP;
	for (const char *name = names; name < names + len; name += strlen(name) + 1)
		if (!keep_attribute(fd, old, name))
			return false;
	return true;
}

/*
 * A new file that takes the place of @path in @dir, which is closed if there is none. @old is
 * what is there and may not be kept, or -1.
 */
static bool open_beside(struct outfile *file, const char *path, int dir, int old,
			const struct stat *st)
{
	struct text name = { 0 }, whole = { 0 };
	int fd = -1;

	errno = ENOENT;
	if (dir >= 0 && *base_name(path))
		fd = create_temporary(dir, path, &name);
	if (fd >= 0 && old >= 0 && !keep_attributes(fd, old, st)) {
		unlinkat(dir, name.s, 0);
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		int error = errno;

		if (dir >= 0)
			close(dir);
		text_free(&name);
		errno = error;
		return false;
	}
	text_add(&whole, path, (size_t)(base_name(path) - path));
	text_puts(&whole, name.s);
	text_free(&name);
	file->stream = fdopen(fd, "w");
	if (!file->stream)
		die("out of memory");
	file->path = xstrdup(path);
	file->temporary = whole.s;
	file->dir = dir;
	return true;
}

static bool open_new(struct outfile *file, const char *path)
{
	return open_beside(file, path, open_directory(path), -1, NULL);
}

/* Whether others can have put there what is there: as in /tmp. */
static bool in_shared_directory(const char *path)
{
	int dir = open_directory(path);
	struct stat st;
	bool shared = dir >= 0 && !fstat(dir, &st) && (st.st_mode & S_ISVTX) &&
		      (st.st_mode & (S_IWOTH | S_IWGRP));

	if (dir >= 0)
		close(dir);
	return shared;
}

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != geteuid() && st->st_uid != 0;
}

/* The name of the file that @fd is, and its directory, once links have been followed. */
static int find_directory(int fd, const struct stat *st, char real[PATH_MAX])
{
	char link[32];
	struct stat there;
	ssize_t len;
	int dir;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, real, PATH_MAX - 1);
	if (len <= 0)
		return -1;
	real[len] = '\0';
	dir = open_directory(real);
	if (dir >= 0 && !fstatat(dir, base_name(real), &there, AT_SYMLINK_NOFOLLOW) &&
	    there.st_dev == st->st_dev && there.st_ino == st->st_ino)
		return dir;
	if (dir >= 0)
		close(dir);
	return -1;
}

static bool write_in_place(struct outfile *file, const char *path, int fd)
{
	file->stream = fdopen(fd, "w");
	if (!file->stream)
		die("out of memory");
	file->path = xstrdup(path);
	return true;
}

/* @name: what is there under the name, maybe a link */
static bool open_existing(struct outfile *file, const char *path, const struct stat *name)
{
	bool shared = in_shared_directory(path), replaced;
	/* What was no link a moment ago is to be none. */
	int follow = S_ISLNK(name->st_mode) ? 0 : O_NOFOLLOW, fd, dir;
	char real[PATH_MAX];
	struct stat st;

	errno = EACCES;
	if (shared && is_foreign(name))
		return false;
	/* A link may lead to a file that is to be made. */
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | follow);
	if (fd < 0 && errno == ENOENT && !shared)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | follow, 0666);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return write_in_place(file, path, fd);
	dir = find_directory(fd, &st, real);
	/* A link of our own may lead there, or another file was there a moment ago. */
	if (dir >= 0 && is_foreign(&st) && in_shared_directory(real)) {
		close(dir);
		close(fd);
		errno = EACCES;
		return false;
	}
	replaced = dir >= 0 && open_beside(file, real, dir, fd, &st);
	if (!replaced && ftruncate(fd, 0)) {
		close(fd);
		return false;
	}
	if (!replaced)
		return write_in_place(file, path, fd);
	close(fd);
	return true;
}

bool outfile_open(struct outfile *file, const char *path)
{
	struct stat st;
	mode_t mask;

	*file = (struct outfile){ .stream = stdout };
	if (!path || !strcmp(path, "-"))
		return true;
	if (!lstat(path, &st))
		return open_existing(file, path, &st);
	if (errno != ENOENT || !open_new(file, path))
		return false;
	mask = umask(0);
	umask(mask);
	fchmod(fileno(file->stream), 0666 & ~mask);
	return true;
}

bool outfile_create(struct outfile *file, const char *path)
{
	struct stat st;

	*file = (struct outfile){ .must_be_new = true };
	errno = EEXIST;
	return lstat(path, &st) && errno == ENOENT && open_new(file, path);
}

/* The last step: the name. */
static bool take_place(const struct outfile *file)
{
	const char *from = base_name(file->temporary), *to = base_name(file->path);

	if (!file->must_be_new)
		return !renameat(file->dir, from, file->dir, to);
	if (!renameat2(file->dir, from, file->dir, to, RENAME_NOREPLACE))
		return true;
	/* Some file systems cannot; a link replaces nothing, either. */
	return errno == EINVAL && !linkat(file->dir, from, file->dir, to, 0) &&
	       !unlinkat(file->dir, from, 0);
}

static void forget(struct outfile *file, bool good)
{
	if (file->temporary) {
		if (!good)
			unlinkat(file->dir, base_name(file->temporary), 0);
		close(file->dir);
	}
	free(file->temporary);
	free(file->path);
}

/* Why something could not be written before: it is not going to be kept, so write again. */
static void find_error(FILE *stream)
{
	clearerr(stream);
	errno = 0;
	fputc('\n', stream);
	fflush(stream);
	if (!errno)
		errno = EIO;
}

bool outfile_finish(struct outfile *file)
{
	bool good;
	int error;

	if (!file->path)
		return true;	/* the end of the program checks it */
	good = !ferror(file->stream);
	if (!good)
		find_error(file->stream);
	else
		good = !fflush(file->stream) &&
		       (!file->temporary || !fsync(fileno(file->stream)));
	error = errno;
	if (fclose(file->stream) && good) {
		good = false;
		error = errno;
	}
	if (good && file->temporary && !take_place(file)) {
		good = false;
		error = errno;
	}
	forget(file, good);
	errno = error;
	return good;
}

bool outfile_end(struct outfile *file, const char *name, bool good)
{
	/* Who says that it is not good may have met with what comes out here. */
	if (!good && !ferror(file->stream)) {
		outfile_abandon(file);
		return false;
	}
	if (outfile_finish(file))
		return true;
	warning("cannot write %s: %s", name, strerror(errno));
	return false;
}

void outfile_abandon(struct outfile *file)
{
	if (!file->path)
		return;
	fclose(file->stream);
	forget(file, false);
}
