/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compressed files (gzip, bzip2, xz, zstd) and archives (zip; tar, compressed or not),
 * from memory. Which it is, the bytes tell and not the name.
 */
#ifndef CODETAG_UNPACK_H
#define CODETAG_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

bool unpack_is_packed(const char *data, size_t len);

struct unpacked_member {
	const char *path;	/* "": the content of a compressed file */
	char *text;		/* with a NUL behind it */
	size_t len;
};

struct unpacked {
	struct unpacked_member *member;
	size_t count, room;
	struct arena strings;
};

/* More than this is taken for an attack. */
#define UNPACK_MOST ((size_t)1 << 28)

/* Neither has an archive of a fleet so many files that are wanted. */
#define UNPACK_FILES 20000

/* As is what becomes so many times larger, and is this large, even if it is only passed over. */
#define UNPACK_RATIO 1000

/*
 * Keeps those members of an archive of which @wanted says so, which is called with
 * @arg; a file that is alone in an archive, and not wanted, is like one that is only
 * compressed. False with errno, and nothing to free: EOPNOTSUPP if this build cannot unpack,
 * EBADMSG if it is damaged or cut, EFBIG if it becomes larger than that, E2BIG if it has
 * too many files.
 */
bool unpack(struct unpacked *unpacked, const char *data, size_t len,
	    bool (*wanted)(const char *path, const char *arg), const char *arg);

/*
 * Whether @path of an archive is the copy of /proc/@name: …/proc/NAME, or not deep
 * in it. There are other files called meminfo. No @name: none is.
 */
bool unpack_is_proc(const char *path, const char *name);

void unpacked_free(struct unpacked *unpacked);

#endif
