// SPDX-License-Identifier: GPL-2.0-only
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

/* ---- the way to a file ------------------------------------------------------------ */

/* As many links as the kernel follows in one path. */
#define MOST_LINKS 40

/* Where a path leads. */
struct place {
	int dir;		/* its directory */
	struct text name;	/* in there; no link, unless @magic */
	bool exists, magic;	/* magic: a link of /proc, which only the kernel can follow */
	struct stat st;		/* if it exists */
};

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != geteuid() && st->st_uid != 0;
}

static void place_free(struct place *place)
{
	int error = errno;

	if (place->dir >= 0)
		close(place->dir);
	text_free(&place->name);
	errno = error;
}

/* Moves the first name of @rest to @name. If there is none, @name is ".". */
static void take_name(struct text *rest, struct text *name)
{
	size_t from = strspn(rest->s, "/"), len = strcspn(rest->s + from, "/");
	char *left = xstrdup(rest->s + from + len);

	text_clear(name);
	text_add(name, len ? rest->s + from : ".", len ? len : 1);
	text_clear(rest);
	text_puts(rest, left);
	free(left);
}

/* Puts the target of the link @fd before @rest; false with errno if it must not be followed. */
static bool take_link(int fd, const struct stat *st, struct text *rest, unsigned int *links)
{
	char target[PATH_MAX];
	struct text whole = { 0 };
	ssize_t len;

	errno = is_foreign(st) ? EACCES : ELOOP;
	if (is_foreign(st) || ++*links > MOST_LINKS)
		return false;
	len = readlinkat(fd, "", target, sizeof(target));
	if (len <= 0)
		return false;
	text_add(&whole, target, (size_t)len);
	text_puts(&whole, rest->s);
	text_free(rest);
	*rest = whole;
	return true;
}

static bool is_in_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Goes one name further: @fd is the descriptor of place->name, and is closed or kept. Returns 0 if
 * that was the last name, 1 if there are more, -1 with errno.
 */
static int place_step(struct place *place, int fd, struct text *rest, unsigned int *links)
{
	bool good = !fstat(fd, &place->st), link = good && S_ISLNK(place->st.st_mode);

	if (link && is_in_proc(fd) && !is_foreign(&place->st) &&
	    !fstatat(place->dir, place->name.s, &place->st, 0)) {
		/*
		 * The kind of link that /dev/stdout leads to. /proc/self is an ordinary link in
		 * /proc, and the kernel follows it here, too.
		 */
		close(fd);
		place->magic = !*rest->s;
		link = false;
		fd = openat(place->dir, place->name.s, O_PATH | O_CLOEXEC);
		good = fd >= 0;
	}
	if (!link && good && !*rest->s) {
		close(fd);
		place->exists = true;
		return 0;
	}
	if (link) {
		good = take_link(fd, &place->st, rest, links);
		close(fd);
		if (!good || *rest->s != '/')
			return good ? 1 : -1;
		fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		good = fd >= 0;
	}
	if (!good)
		return -1;
	close(place->dir);
	place->dir = fd;
	return 1;
}

/* O_DIRECTORY makes the kernel mount file systems that are mounted on demand. */
static int open_name(const struct place *place, bool directory)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, fd = -1;

	if (directory)
		fd = openat(place->dir, place->name.s, flags | O_DIRECTORY);
	/* It can also be a link, which is no directory. */
	return fd < 0 ? openat(place->dir, place->name.s, flags) : fd;
}

/*
 * Find the file that @path names. The kernel may follow links of other users, who could thus
 * choose which file of root is replaced. So this function follows the links itself, one at a
 * time. It opens each directory relative to its parent: a directory that is open cannot be
 * replaced. False with errno.
 */
static bool find_place(struct place *place, const char *path)
{
	struct text rest = { 0 };
	unsigned int links = 0;
	int fd, more = 1;

	*place = (struct place){ .dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	text_puts(&rest, path);
	if (!*path)
		errno = ENOENT;
	if (!*path || place->dir < 0)
		more = -1;
	while (more > 0) {
		take_name(&rest, &place->name);
		fd = open_name(place, *rest.s);
		if (fd >= 0)
			more = place_step(place, fd, &rest, &links);
		else
			more = errno == ENOENT && !*rest.s ? 0 : -1;
	}
	text_free(&rest);
	if (more < 0)
		place_free(place);
	return !more;
}

/* Whether other users can create files in the directory, as in /tmp. */
static bool is_shared(int dir)
{
	struct stat st;

	return !fstat(dir, &st) && (st.st_mode & S_ISVTX) && (st.st_mode & (S_IWOTH | S_IWGRP));
}

/* ---- the new file ----------------------------------------------------------------- */

static int create_at(int dir, const char *name)
{
	return openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Like find_place(), but fails if there is anything at @path, even a dangling link. */
static bool find_new_place(struct place *place, const char *path)
{
	struct stat st;

	errno = EEXIST;
	if (!lstat(path, &st) || errno != ENOENT || !find_place(place, path))
		return false;
	if (!place->exists)
		return true;
	errno = EEXIST;
	place_free(place);
	return false;
}

int outfile_create_now(const char *path)
{
	struct place place;
	int fd;

	if (!find_new_place(&place, path))
		return -1;
	fd = create_at(place.dir, place.name.s);
	place_free(&place);
	return fd;
}

/*
 * Sets @name to its name. The leading dot hides it from collectors of *.prom. A file name has at
 * most 255 bytes, so @for_name is cut if the ten additional ones do not fit.
 */
static int create_temporary(int dir, const char *for_name, struct text *name)
{
	uint32_t number;
	int fd = -1;

	for (int i = 0; i < 100 && fd < 0; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		text_clear(name);
		text_printf(name, ".%.240s.%08x", for_name, number);
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
	/* Removes the access list that the directory gave it. */
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

/* A path of @name in @dir, which @path leads to, for functions that take no descriptor. */
static char *whole_name(int dir, const char *path, const char *name)
{
	char link[32], real[PATH_MAX];
	struct text whole = { 0 };
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	len = readlink(link, real, sizeof(real));
	if (len > 0)
		text_printf(&whole, "%.*s/%s", (int)len, real, name);
	else
		text_printf(&whole, "%.*s%s", (int)(base_name(path) - path), path, name);
	return whole.s;
}

static void set_stream(struct outfile *file, int fd, const char *name)
{
	file->stream = fdopen(fd, "w");
	if (!file->stream)
		die("out of memory");
	file->name = xstrdup(name);
}

/*
 * Opens a new file, which will replace the existing one and gets its attributes. @old is the
 * descriptor of that, or -1. Takes over the directory of @place.
 */
static bool open_beside(struct outfile *file, const char *path, struct place *place, int old)
{
	struct text name = { 0 };
	int fd = create_temporary(place->dir, place->name.s, &name), error;

	if (fd >= 0 && old >= 0 && !keep_attributes(fd, old, &place->st)) {
		error = errno;
		unlinkat(place->dir, name.s, 0);
		close(fd);
		fd = -1;
		errno = error;
	}
	if (fd >= 0) {
		set_stream(file, fd, place->name.s);
		file->temporary = whole_name(place->dir, path, name.s);
		file->dir = place->dir;
		place->dir = -1;
	}
	text_free(&name);
	return fd >= 0;
}

/*
 * In a shared directory, do not write to another user's file, nor to one with several names:
 * another user may have given it this one.
 */
static bool may_write(const struct place *place)
{
	const struct stat *st = &place->st;

	errno = EACCES;
	return !is_shared(place->dir) || (!is_foreign(st) && (!S_ISREG(st->st_mode) || st->st_nlink == 1));
}

static bool open_existing(struct outfile *file, const char *path, struct place *place)
{
	int fd;

	if (!may_write(place))
		return false;
	fd = openat(place->dir, place->name.s,
		    O_WRONLY | O_CLOEXEC | O_NOCTTY | (place->magic ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return false;
	/* Check again: the file may have been replaced since the first check. */
	if (fstat(fd, &place->st) || !may_write(place)) {
		close(fd);
		return false;
	}
	if (S_ISREG(place->st.st_mode)) {
		if (!place->magic && open_beside(file, path, place, fd)) {
			close(fd);
			return true;
		}
		if (ftruncate(fd, 0)) {
			close(fd);
			return false;
		}
	}
	set_stream(file, fd, place->name.s);
	return true;
}

bool outfile_open(struct outfile *file, const char *path)
{
	struct place place;
	mode_t mask;
	bool good;

	*file = (struct outfile){ .stream = stdout };
	if (!path || !strcmp(path, "-"))
		return true;
	if (!find_place(&place, path))
		return false;
	good = place.exists ? open_existing(file, path, &place) : open_beside(file, path, &place, -1);
	if (good && !place.exists) {
		mask = umask(0);
		umask(mask);
		fchmod(fileno(file->stream), 0666 & ~mask);
	}
	place_free(&place);
	return good;
}

bool outfile_can_open(const char *path)
{
	struct place place;
	bool can;
	int error;

	if (!strcmp(path, "-"))
		return true;
	if (!find_place(&place, path))
		return false;
	if (place.exists)
		can = may_write(&place) && !faccessat(place.dir, place.name.s, W_OK, AT_EACCESS);
	else
		can = !faccessat(place.dir, ".", W_OK | X_OK, AT_EACCESS);
	error = errno;
	place_free(&place);
	errno = error;
	return can;
}

bool outfile_create(struct outfile *file, const char *path)
{
	struct place place;
	bool good;

	*file = (struct outfile){ .must_be_new = true };
	if (!find_new_place(&place, path))
		return false;
	good = open_beside(file, path, &place, -1);
	place_free(&place);
	return good;
}

int outfile_open_now(const char *path)
{
	struct place place;
	int fd = -1;

	if (!find_place(&place, path))
		return -1;
	errno = ENOENT;
	if (place.exists && may_write(&place)) {
		fd = openat(place.dir, place.name.s, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
			    (place.magic ? 0 : O_NOFOLLOW));
		if (fd >= 0 && (fstat(fd, &place.st) || !may_write(&place))) {
			close(fd);
			fd = -1;
		}
	}
	place_free(&place);
	return fd;
}

int outfile_append(const char *path)
{
	struct place place;
	int fd = -1;

	if (!find_place(&place, path))
		return -1;
	if (!place.exists)
		fd = openat(place.dir, place.name.s,
			    O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	else if (!place.magic)
		fd = openat(place.dir, place.name.s,
			    O_RDWR | O_APPEND | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		errno = EACCES;
		if (fstat(fd, &place.st) || !S_ISREG(place.st.st_mode) || is_foreign(&place.st) ||
		    place.st.st_nlink != 1) {
			close(fd);
			fd = -1;
		}
	}
	place_free(&place);
	return fd;
}

/* The last step: the name. */
static bool take_place(const struct outfile *file)
{
	const char *from = base_name(file->temporary), *to = file->name;

	if (!file->must_be_new)
		return !renameat(file->dir, from, file->dir, to);
	if (!renameat2(file->dir, from, file->dir, to, RENAME_NOREPLACE))
		return true;
	/* Some file systems lack this call; a hard link replaces nothing, either. */
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
	free(file->name);
}

int outfile_error(FILE *stream)
{
	clearerr(stream);
	errno = 0;
	fputc('\n', stream);
	fflush(stream);
	return errno ? errno : EIO;
}

bool outfile_finish(struct outfile *file)
{
	bool good;
	int error;

	if (!file->name)
		return true;	/* the end of the program checks it */
	good = !ferror(file->stream);
	if (!good)
		errno = outfile_error(file->stream);
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
	/* A caller that gives up may have met the error that this reports. */
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
	if (!file->name)
		return;
	fclose(file->stream);
	forget(file, false);
}
