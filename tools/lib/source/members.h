/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that tell of a machine, such as copies of /proc/meminfo, by themselves or in an
 * archive. Each is checked: what is not whole is said, and left out where sums would be wrong.
 */
#ifndef CODETAG_MEMBERS_H
#define CODETAG_MEMBERS_H

#include "read/unpack.h"
#include "source/source.h"

/* Those that others depend on come first: areas of vmalloc need the size of a page. */
enum member {
	MEMINFO, ALLOCINFO, VMSTAT, ZONEINFO, SLABINFO, VMALLOCINFO, IOMEM, SWITCH, CHARGED,
	STATS, BOOT, VERSION, HOSTNAME, UNAME, MEMBERS
};

struct member_file {
	const char *dir, *name;	/* below the root of the machine */
};

extern const struct member_file member_files[MEMBERS];

/* Which one the file @path of an archive is; MEMBERS: none. */
enum member member_of(const char *path);

/* For unpack() */
bool is_member(const char *path, const char *arg);

/*
 * Takes over @text, which was read from @path. Sets @s->incomplete if not all of it could be
 * used, which was said. False after a message if that is nothing at all.
 */
bool member_take(struct snapshot *s, enum member m, char *text, size_t len, const char *path);

/*
 * Calls @visit with each machine that has the file @of, all files below its root, and what
 * its host may be called after; it takes the snapshot over. False after a message if there is
 * none, or its file @of is none.
 */
bool members_read_archive(struct unpacked *u, const char *path, enum member of,
			  void (*visit)(void *data, struct snapshot *s, const char *name),
			  void *data);

#endif
