/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whatever snapshots can come from: a copy of /proc/allocinfo, compressed or not; an
 * archive of such files, as sosreport makes it; a recording, of which
 * FILE@N takes the N-th snapshot (@-1, the last one, is taken without it); what 'codetag
 * merge --sqlite' wrote; a directory with any of these.
 */
#ifndef CODETAG_SOURCE_H
#define CODETAG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/allocinfo.h"
#include "read/machine.h"

/* One machine at one moment. */
struct snapshot {
	char *host;		/* as the source says, or its name */
	char *kernel;		/* NULL: not known */
	int64_t time;		/* ms since 1970, 0: not known */
	struct allocinfo info;
	struct machine machine;
	size_t hosts;		/* whose sum it is, see source_total() */
	bool incomplete;	/* some of them could not be read, which was said */
};

/* Where snapshots are: files, no directories. */
struct source_list {
	char **path;
	const char **label;	/* of the host, NULL: it says so itself */
	size_t count, room, labels_room;
};

/* Adds @path, or what is in that directory; false after a message. */
bool source_list_add(struct source_list *list, const char *path, const char *label);
void source_list_free(struct source_list *list);

/*
 * Calls @visit with each snapshot that @path, no directory, has; it takes the snapshot
 * over. Its host is @label if there is one. False after a message if not all could be read.
 */
bool source_read(const char *path, const char *label,
		 void (*visit)(void *data, struct snapshot *snapshot), void *data);

/* The same with every copy of /proc/allocinfo in a file that has several, not the last one. */
bool source_read_every(const char *path, void (*visit)(void *data, struct snapshot *snapshot),
		       void *data);

/* What the user names: files, and directories of them. */
struct source_files {
	const char *const *path;
	const char *const *label;	/* their hosts; NULL: they say so themselves, all or one */
	size_t count;
	/* Called after each file of the list, and once more with @done 0; NULL: nobody cares. */
	void (*step)(size_t done, size_t all);
};

/*
 * The same as source_total() of /proc/allocinfo, but nothing except its call sites in
 * @func and @module, see read/allocinfo_ioctl.h. False if that cannot be had.
 */
bool source_running(struct snapshot *snapshot, const char *func, const char *module);

/*
 * What they have as one: a sum if they have several. False after a message if that is
 * nothing at all.
 */
bool source_total(struct snapshot *total, const struct source_files *files);

/*
 * The same, with a row for each host: @sum makes one site of all that a snapshot has,
 * and leaves names to us.
 */
bool source_hosts(struct snapshot *hosts, const struct source_files *files,
		  struct site (*sum)(void *data, struct snapshot *snapshot), void *data);

/* The contexts in a recording, as the kernel printed them; false after a message. */
bool source_contexts(const char *path, char **text, size_t *len);

/* allocinfo_complete() of a total. */
bool snapshot_complete(const struct snapshot *snapshot, const char *path);

bool source_is_recording(const char *path);

void snapshot_free(struct snapshot *snapshot);

#endif
