// SPDX-License-Identifier: GPL-2.0-only
#include "read/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ARCHIVE
#include <archive.h>
#include <archive_entry.h>

#include "base/text.h"
#endif

bool unpack_is_packed(const char *data, size_t len)
{
	static const struct {
		const char *magic;
		size_t at, len;
	} kinds[] = {
		{ "\x1f\x8b", 0, 2 },			/* gzip */
		{ "BZh", 0, 3 },			/* bzip2 */
		{ "\xfd" "7zXZ\0", 0, 6 },		/* xz */
		{ "\x28\xb5\x2f\xfd", 0, 4 },		/* zstd */
		{ "ustar", 257, 5 },			/* tar */
		{ "PK\3\4", 0, 4 },			/* zip */
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (len >= kinds[i].at + kinds[i].len &&
		    !memcmp(data + kinds[i].at, kinds[i].magic, kinds[i].len))
			return true;
	return false;
}

bool unpack_is_proc(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *dir;

	if (!name || strcmp(slash ? slash + 1 : path, name))
		return false;
	if (path[0] == '.' && path[1] == '/')
		path += 2;
	dir = strchr(path, '/');
	return !dir || dir == slash || (slash - path >= 5 && !memcmp(slash - 5, "/proc", 5));
}

void unpacked_free(struct unpacked *unpacked)
{
	for (size_t i = 0; i < unpacked->count; i++)
		free(unpacked->member[i].text);
	free(unpacked->member);
	arena_free(&unpacked->strings);
	*unpacked = (struct unpacked){ 0 };
}

#ifdef HAVE_ARCHIVE
static void add_member(struct unpacked *unpacked, const char *path, const struct text *text)
{
	GROW(unpacked->member, unpacked->count, unpacked->room);
	unpacked->member[unpacked->count++] = (struct unpacked_member){
		arena_copy(&unpacked->strings, path, strlen(path)), text->s, text->len
	};
}

static bool read_member(struct unpacked *unpacked, struct archive *a, const char *path,
			size_t *sum)
{
	struct text text = { 0 };
	char chunk[65536];
	la_ssize_t got;

	if (unpacked->count == UNPACK_FILES) {
		errno = E2BIG;
		return false;
	}
	text_clear(&text);
	while ((got = archive_read_data(a, chunk, sizeof(chunk))) > 0) {
		*sum += (size_t)got;
		if (*sum > UNPACK_MOST) {
			text_free(&text);
			errno = EFBIG;
			return false;
		}
		text_add(&text, chunk, (size_t)got);
	}
	if (got < 0) {
		text_free(&text);
		errno = EBADMSG;
		return false;
	}
	add_member(unpacked, path, &text);
	return true;
}

/* Skips a member, unless that makes more than @most bytes: compressed data can be endless. */
static bool skip_member(struct archive *a, int64_t most)
{
	const void *block;
	size_t size;
	int64_t at;
	int result;

	while ((result = archive_read_data_block(a, &block, &size, &at)) == ARCHIVE_OK)
		if (archive_filter_bytes(a, 0) > most || at > most) {
			errno = EFBIG;
			return false;
		}
	errno = EBADMSG;
	return result == ARCHIVE_EOF;
}

/* *@files is the number of members, wanted or not. */
static bool read_members(struct unpacked *unpacked, struct archive *a, int64_t most, size_t *files,
			 bool (*wanted)(const char *path, const char *arg), const char *arg)
{
	struct archive_entry *entry;
	struct text empty = { 0 };
	size_t sum = 0;
	int result;

	*files = 0;
	while ((result = archive_read_next_header(a, &entry)) == ARCHIVE_OK ||
	       result == ARCHIVE_WARN) {
		bool raw = archive_format(a) == ARCHIVE_FORMAT_RAW;
		const char *path = raw ? "" : archive_entry_pathname(entry);

		*files += raw || archive_entry_filetype(entry) == AE_IFREG;
		if (raw || (archive_entry_filetype(entry) == AE_IFREG && path && wanted(path, arg))) {
			if (!read_member(unpacked, a, path, &sum))
				return false;
		} else if (!skip_member(a, most)) {
			return false;
		}
	}
	/* Nothing, compressed, is one member, as for a file that is no archive. */
	if (result == ARCHIVE_EOF && archive_format(a) == ARCHIVE_FORMAT_EMPTY) {
		text_clear(&empty);
		add_member(unpacked, "", &empty);
	}
	errno = EBADMSG;
	return result == ARCHIVE_EOF;
}

static bool unpack_wanted(struct unpacked *unpacked, const char *data, size_t len, size_t *files,
			  bool (*wanted)(const char *path, const char *arg), const char *arg)
{
	struct archive *a = archive_read_new();
	bool good;
	int why;

	*unpacked = (struct unpacked){ 0 };
	/* Not all filters: for some the library runs a program, which it looks for in PATH. */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_empty(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	archive_read_support_format_raw(a);
	errno = EBADMSG;
	good = archive_read_open_memory(a, data, len) == ARCHIVE_OK &&
	       read_members(unpacked, a, UNPACK_MOST + UNPACK_RATIO * (int64_t)len, files, wanted,
			    arg);
	why = errno;
	archive_read_free(a);
	if (!good)
		unpacked_free(unpacked);
	errno = why;
	return good;
}

static bool is_any(const char *path, const char *arg)
{
	(void)path, (void)arg;
	return true;
}

bool unpack(struct unpacked *unpacked, const char *data, size_t len,
	    bool (*wanted)(const char *path, const char *arg), const char *arg)
{
	bool good;
	size_t files;

	good = unpack_wanted(unpacked, data, len, &files, wanted, arg);
	if (!good || unpacked->count || files != 1)
		return good;
	/* A single file in an archive was packed for a mail or a tracker. */
	unpacked_free(unpacked);
	good = unpack_wanted(unpacked, data, len, &files, is_any, NULL);
	if (good && unpacked->count == 1)
		unpacked->member[0].path = "";
	return good;
}
#else
bool unpack(struct unpacked *unpacked, const char *data, size_t len,
	    bool (*wanted)(const char *path, const char *arg), const char *arg)
{
	(void)data;
	(void)len;
	(void)wanted;
	(void)arg;
	*unpacked = (struct unpacked){ 0 };
	errno = EOPNOTSUPP;
	return false;
}
#endif
