/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that describe a machine, such as copies of /proc/meminfo, alone or in an archive.
 * Each is checked: parts that are missing are reported, and left out if sums would be wrong.
 */
#ifndef CODETAG_MEMBERS_H
#define CODETAG_MEMBERS_H

#include "source/source.h"

/* Files that others depend on come first: vmallocinfo needs the size of a page. */
enum member {
	MEMINFO, ALLOCINFO, VMSTAT, ZONEINFO, SLABINFO, VMALLOCINFO, IOMEM, SWITCH, CHARGED,
	STATS, BOOT, VERSION, HOSTNAME, UNAME, MEMBERS
};

struct member_file {
	const char *dir, *name;	/* path below the root directory of the machine */
};

extern const struct member_file member_files[MEMBERS];

/* The file that the path @path in an archive is; MEMBERS: none. */
enum member member_of(const char *path);

/* For unpack() */
bool is_member(const char *path, const char *arg);

/*
 * Takes over @text, which was read from @path. Sets *@s->incomplete, after a message, if a part
 * of it could not be used. Returns false after a message if nothing could.
 */
bool member_take(struct snapshot *s, enum member m, char *text, size_t len, const char *path);

#endif
