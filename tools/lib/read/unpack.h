/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compressed files (gzip, bzip2, xz, zstd) and archives (zip; tar, compressed or not), in
 * memory. Their first bytes tell the format, not their names.
 */
#ifndef CODETAG_UNPACK_H
#define CODETAG_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

bool unpack_is_packed(const char *data, size_t len);

struct unpacked_member {
	const char *path;	/* "": the content of a compressed file */
	char *text;		/* with a NUL after it */
	size_t len;
};

struct unpacked {
	struct unpacked_member *member;
	size_t count, room;
	struct arena strings;
};

/* A larger file is taken for an attack. */
#define UNPACK_MOST ((size_t)1 << 28)

/* No archive of a fleet has so many wanted files. */
#define UNPACK_FILES 20000

/* So is data that expands by this factor to at least this size, even if it is only skipped. */
#define UNPACK_RATIO 1000

/*
 * Keeps the members of an archive for which @wanted returns true; it is called with @arg. A
 * single file that is not wanted counts as a compressed file. Returns false with errno, and
 * nothing to free. errno is EOPNOTSUPP if this build cannot unpack it, EBADMSG if it is damaged
 * or cut. It is EFBIG if it gets too large, E2BIG if it has too many files.
 */
bool unpack(struct unpacked *unpacked, const char *data, size_t len,
	    bool (*wanted)(const char *path, const char *arg), const char *arg);

/*
 * Whether @path in an archive is a copy of /proc/@name: …/proc/NAME, or not deep in it. Other
 * files can be called meminfo. Without @name no file is.
 */
bool unpack_is_proc(const char *path, const char *name);

void unpacked_free(struct unpacked *unpacked);

#endif
