/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All sources of snapshots: a copy of /proc/allocinfo, compressed or not; an archive of such
 * files, like a sosreport; a recording; a database of 'codetag merge --sqlite'. A directory with
 * any of these is a source, too. FILE@N is the N-th snapshot of a recording, and FILE alone is
 * FILE@-1, the last.
 */
#ifndef CODETAG_SOURCE_H
#define CODETAG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strmap.h"
#include "model/group.h"
#include "read/allocinfo.h"
#include "read/machine.h"
#include "read/query.h"

/* One machine at one moment. */
struct snapshot {
	char *host;		/* by the source itself, or its name */
	char *identity;		/* the name of the host if the source itself has it, else the file */
	char *kernel;		/* NULL: not known */
	int64_t time;		/* ms since 1970, 0: not known */
	int64_t counted;	/* when the activity of its sites was read, see host.h; 0: it was not */
	struct allocinfo info;
	struct machine machine;
	size_t hosts;		/* the snapshots that were added up, see source_total() */
	bool incomplete;	/* some of them could not be read, which was reported */
	bool unmatched;		/* by host: the query selects nothing on any of them */
	struct sum left_out;	/* by host: the sites of all of them that contain others */
};

/* The files with snapshots; directories are resolved. */
struct source_list {
	char **path;
	const char **label;	/* labels of the hosts, NULL: the file says it */
	size_t count, room, labels_room;
};

/* Adds @path, or the files in that directory; false after a message. */
bool source_list_add(struct source_list *list, const char *path, const char *label);
void source_list_free(struct source_list *list);

/*
 * Calls @visit, which takes it over, with each snapshot in @path, which is no directory. Its
 * host is @label unless that is NULL. Returns false after a message if not all could be read.
 */
bool source_read(const char *path, const char *label,
		 void (*visit)(void *data, struct snapshot *snapshot), void *data);

/* The same with the text of @path, which is not packed: it may be a pipe. Takes over @text. */
bool source_take(const char *path, char *text, size_t len,
		 void (*visit)(void *data, struct snapshot *snapshot), void *data);

/* The same with every copy of /proc/allocinfo in a file with several, not only the last one. */
bool source_read_every(const char *path, void (*visit)(void *data, struct snapshot *snapshot),
		       void *data);

/* The files and directories that the user names. */
struct source_files {
	const char *const *path;
	const char *const *label;	/* of their hosts; NULL: the files say it, all or this one */
	size_t count;
	/* Called after each file of the list, and at the end with @done 0; may be NULL. */
	void (*step)(size_t done, size_t all);
	/* Called with each snapshot that source_total() adds up; may be NULL. */
	void (*each)(void *data, const struct allocinfo *info);
	void *each_data;
};

/*
 * The same as source_total() of /proc/allocinfo, but reads only the call sites in @func and
 * @module, see read/allocinfo_ioctl.h. Returns false if that is not possible.
 */
bool source_running(struct snapshot *snapshot, const char *func, const char *module);

/* The sum of all their snapshots. Returns false after a message if there is none. */
bool source_total(struct snapshot *total, const struct source_files *files);

/*
 * The same with a row for each host: @sum makes one call site of a snapshot; the caller of it
 * sets the names.
 */
bool source_hosts(struct snapshot *hosts, const struct source_files *files,
		  struct site (*sum)(void *data, struct snapshot *snapshot), void *data);

/*
 * snapshot_complete() of one of several hosts; they cannot be compared by a part of a list, as
 * missing sites would count as 0.
 */
bool source_host_complete(const struct snapshot *snapshot);

/*
 * Whether a host of that name was seen before; warns that its memory counts more than once. @hosts
 * keeps the names.
 */
bool source_host_again(struct strmap *hosts, const char *name);

/* Whether both are snapshots of one recording, or may be the same one. */
bool source_same_recording(const char *a, const char *b);

/*
 * Whether both are snapshots of one recording, @from the earlier one; then replaces @info, that
 * of @to, by one with the activity since @from.
 */
bool source_since(const char *from, const char *to, struct allocinfo *info);

/*
 * Sets the peaks of @groups, which are of a snapshot of a recording and not sorted: their largest
 * sizes from its first snapshot to this one. Returns false after a message.
 */
bool source_peaks(const char *path, const struct query *query, struct groups *groups);

/* The contexts in a recording, as the kernel printed them; false after a message. */
bool source_contexts(const char *path, char **text, size_t *len);

/* Calls allocinfo_complete() for a total. */
bool snapshot_complete(const struct snapshot *snapshot, const char *path);

bool source_is_recording(const char *path);

void snapshot_free(struct snapshot *snapshot);

#endif
