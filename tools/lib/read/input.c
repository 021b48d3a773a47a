// SPDX-License-Identifier: GPL-2.0-only
#include "read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"
#include "read/lines.h"
#include "read/unpack.h"

/* Size limits for files that have a size, and for files that may never end. */
#define MOST ((size_t)1 << 30)
#define MOST_ENDLESS ((size_t)1 << 28)

/* Closes @fd unless it is the error of a failed open(). */
static bool read_all(int fd, char **text, size_t *len)
{
	struct text all = { 0 };
	char chunk[65536];
	struct stat st;
	int failure = 0;
	size_t most;
	ssize_t got;

	if (fd < 0)
		return false;
	most = !fstat(fd, &st) && S_ISREG(st.st_mode) ? MOST : MOST_ENDLESS;
	text_clear(&all);
	while ((got = read(fd, chunk, sizeof(chunk))) != 0) {
		if (got > 0 && all.len + (size_t)got > most) {
			failure = EFBIG;
			break;
		} else if (got > 0) {
			text_add(&all, chunk, got);
		} else if (errno != EINTR) {
			failure = errno;
			break;
		}
	}
	if (fd != STDIN_FILENO)
		close(fd);
	if (failure) {
		text_free(&all);
		errno = failure;
		return false;
	}
	*text = all.s;
	*len = all.len;
	return true;
}

bool input_read_raw(const char *path, char **text, size_t *len)
{
	return read_all(strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO,
			text, len);
}

/* Takes the content of a compressed file or, from an archive, the file /proc/@name. */
static bool take_member(char **text, size_t *len, const char *name)
{
	struct unpacked unpacked;
	char *packed = *text;
	bool good = unpack(&unpacked, packed, *len, unpack_is_proc, name);
	int why = errno;

	if (good && unpacked.count == 1) {
		*text = unpacked.member[0].text;
		*len = unpacked.member[0].len;
		unpacked.member[0].text = NULL;
	} else if (good) {
		good = false;
		why = unpacked.count ? ENOTUNIQ : ENODATA;
	}
	unpacked_free(&unpacked);
	free(packed);
	errno = why;
	return good;
}

/* Returns false, with nothing to free, if it cannot be decoded. */
static bool take_plain(char **text, size_t *len, const char *name)
{
	if (unpack_is_packed(*text, *len) && !take_member(text, len, name))
		return false;
	if (lines_plain(text, len))
		return true;
	free(*text);
	errno = EILSEQ;
	return false;
}

bool input_read_proc(const char *path, const char *name, char **text, size_t *len)
{
	return input_read_raw(path, text, len) && take_plain(text, len, name);
}

/* A directory on which another file system is mounted */
static bool is_mount(const char *path, const struct stat *st)
{
	struct text above = { 0 };
	struct stat parent;
	bool is;

	text_printf(&above, "%s/..", path);
	is = S_ISDIR(st->st_mode) && !stat(above.s, &parent) && parent.st_dev != st->st_dev;
	text_free(&above);
	return is;
}

bool input_leads_into_kernel(const char *path)
{
	static const uint32_t kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
	};
	struct statfs fs;
	struct stat st;

	if (lstat(path, &st) || !(S_ISLNK(st.st_mode) || is_mount(path, &st)) || statfs(path, &fs))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

bool input_read_found(const char *path, char **text, size_t *len)
{
	struct stat st;
	int fd;

	if (input_leads_into_kernel(path)) {
		errno = EINVAL;
		return false;
	}
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return false;
	}
	return read_all(fd, text, len) && take_plain(text, len, NULL);
}

bool input_read(const char *path, char **text, size_t *len)
{
	return input_read_proc(path, NULL, text, len);
}

FILE *input_open(const char *path)
{
	FILE *in = fopen(path, "re"), *unpacked;
	char head[512], *text;
	struct stat st;
	size_t len, got;

	/* Nothing from a pipe may be lost; trace_pipe is a file without a size. */
	if (!in || fstat(fileno(in), &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return in;
	got = fread(head, 1, sizeof(head), in);
	if (!unpack_is_packed(head, got) && !lines_is_utf16(head, got)) {
		rewind(in);
		return in;
	}
	fclose(in);
	if (!input_read(path, &text, &len))
		return NULL;
	unpacked = fdopen(memfd_create("codetag", MFD_CLOEXEC), "w+");
	if (unpacked && (fwrite(text, 1, len, unpacked) != len || fflush(unpacked))) {
		fclose(unpacked);
		unpacked = NULL;
	}
	free(text);
	if (unpacked)
		rewind(unpacked);
	return unpacked;
}

#define MOST_LINE ((size_t)1 << 20)

/* getline() has no limit, and out of memory looks like the end of the file. */
ssize_t input_next_line(FILE *in, char **line, size_t *room)
{
	size_t len = 0;
	int c = 0;

	while (c != '\n' && (c = getc_unlocked(in)) != EOF) {
		if (len == MOST_LINE) {
			errno = EMSGSIZE;
			return -1;
		}
		GROW((*line), len + 1, *room);
		(*line)[len++] = (char)c;
	}
	if (ferror(in))
		return -1;
	if (len)
		(*line)[len] = '\0';
	return (ssize_t)len;
}

size_t input_head(const char *path, char *head, size_t size)
{
	struct stat st;
	FILE *in = !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	size_t len = in ? fread(head, 1, size, in) : 0;

	if (in)
		fclose(in);
	return len;
}

bool input_begins(const char *path, const char *magic, size_t len)
{
	char head[32];

	return len <= sizeof(head) && input_head(path, head, len) == len && !memcmp(head, magic, len);
}

/* "night.db@-1" */
static bool is_numbered(const char *path)
{
	const char *at = strrchr(path, '@');

	return at && at[1] && !at[1 + strspn(at + 1, "-0123456789")];
}

void input_complain(const char *path, int error)
{
	static const struct {
		int error;
		const char *words;
	} ours[] = {
		{ EOPNOTSUPP, "it is compressed, and this build cannot unpack (libarchive)" },
		{ EBADMSG, "it is compressed, and damaged or cut" },
		{ EFBIG, "it is too large, maybe when it is unpacked" },
		{ E2BIG, "the archive has too many files" },
		{ ENODATA, "the archive has no such file" },
		{ ENOTUNIQ, "the archive has several such files" },
		{ EMSGSIZE, "a line is longer than 1 MiB, as in no trace" },
		{ EILSEQ, "it begins like UTF-16, and is none" },
	};
	const char *words = strerror(error);

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (ours[i].error == error)
			words = ours[i].words;
	warning("cannot read %s: %s", input_name(path), words);
	if ((error == EACCES || error == EPERM) && geteuid())
		hint("This needs root.");
	else if (error == EISDIR)
		hint("It has to be a file.");
	else if (error == ENOENT && is_numbered(path))
		hint("There is no such file, or this command takes no number. FILE@N is snapshot N of a "
		     "recording, or copy N in a file with several.");
}

const char *input_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}
