// SPDX-License-Identifier: GPL-2.0-only
#include "source/saved_copies.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/strmap.h"
#include "base/text.h"
#include "model/group.h"
#include "read/copies.h"
#include "read/input.h"
#include "source/source.h"

struct saved {
	struct saved_copy {
		struct snapshot snapshot;
		size_t number;	/* in the order in which they were read */
	} *copy;
	size_t count, room;
	bool complete, parts;
};

bool saved_copies_are(const char *path)
{
	struct copies copies;
	struct stat st;
	size_t len;
	char *text;
	bool several;

	if (stat(path, &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	if (!S_ISREG(st.st_mode) || source_is_recording(path) || !input_read(path, &text, &len))
		return false;
	copies_find(&copies, text, len);
	several = copies.count > 1;
	copies_free(&copies);
	free(text);
	return several;
}

static void take(void *data, struct snapshot *snapshot)
{
	struct saved *saved = data;

	saved->complete &= allocinfo_complete(&snapshot->info, snapshot->host);
	saved->parts |= snapshot->info.part;
	GROW(saved->copy, saved->count, saved->room);
	saved->copy[saved->count] = (struct saved_copy){ *snapshot, saved->count };
	saved->count++;
}

static int compare_times(const void *a, const void *b)
{
	const struct saved_copy *x = a, *y = b;

	if (x->snapshot.time != y->snapshot.time)
		return x->snapshot.time < y->snapshot.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static size_t number_of(struct strmap *names, const struct site *site)
{
	struct text name = { 0 };
	size_t i;

	group_name(&name, (struct grouping){ .by = BY_SITE }, site);
	i = strmap_add(names, name.s, name.len);
	text_free(&name);
	return i;
}

/*
 * A site that a part of a list lacks may hold anything: only the sites in all of the lists can
 * be followed.
 */
static void keep_common(struct saved *saved)
{
	struct strmap names = { 0 };
	size_t *seen = NULL, seen_room = 0, dropped = 0;

	for (size_t c = 0; c < saved->count; c++) {
		const struct allocinfo *info = &saved->copy[c].snapshot.info;

		for (size_t i = 0; i < info->count; i++) {
			size_t known = names.count, n = number_of(&names, &info->site[i]);

			if (n == known) {
				GROW(seen, n, seen_room);
				seen[n] = 0;
			}
			seen[n] += seen[n] == c;
		}
	}
	for (size_t c = 0; c < saved->count; c++) {
		struct allocinfo *info = &saved->copy[c].snapshot.info;
		size_t kept = 0;

		for (size_t i = 0; i < info->count; i++)
			if (seen[number_of(&names, &info->site[i])] == saved->count)
				info->site[kept++] = info->site[i];
		info->count = kept;
	}
	for (size_t n = 0; n < names.count; n++)
		dropped += seen[n] < saved->count;
	if (dropped)
		warning("these copies are parts of a list: %zu call sites that are not in all of them are left out",
			dropped);
	else
		warning("these copies are parts of a list: call sites can be missing");
	free(seen);
	strmap_free(&names);
}

static bool add_all(struct recording *rec, const struct saved *saved)
{
	for (size_t i = 0; i < saved->count; i++) {
		const struct snapshot *s = &saved->copy[i].snapshot;
		const struct moment moment = {
			.time = s->time, .info = &s->info, .meminfo = &s->machine.meminfo,
			.vmstat = &s->machine.vmstat, .slabinfo = &s->machine.slabinfo,
		};

		if (!recording_add(rec, &moment))
			return false;
	}
	return true;
}

/* The name of the file is removed as soon as it is open. */
static struct recording *record(const struct saved *saved, const char *path)
{
	const char *tmp = getenv("TMPDIR");
	struct recording *rec;
	char dir[PATH_MAX], file[PATH_MAX + 16];
	const char *kernel;
	bool good;

	snprintf(dir, sizeof(dir), "%s/codetag-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		warning("cannot make a directory in %s: %s", tmp && *tmp ? tmp : "/tmp",
			strerror(errno));
		return NULL;
	}
	snprintf(file, sizeof(file), "%s/recording", dir);
	kernel = saved->copy[0].snapshot.kernel;
	rec = recording_create(file, kernel ? kernel : "", false);
	recording_do_not_sync(rec);
	good = !recording_error(rec) && add_all(rec, saved);
	if (!good)
		warning("cannot keep the copies of %s: %s", path, recording_error(rec));
	recording_close(rec);
	rec = good ? recording_open(file) : NULL;
	unlink(file);
	rmdir(dir);
	if (rec && recording_error(rec)) {
		warning("cannot keep the copies of %s: %s", path, recording_error(rec));
		recording_close(rec);
		rec = NULL;
	}
	return rec;
}

static bool check(struct saved *saved, const char *path)
{
	if (!saved->count)
		return false;
	qsort(saved->copy, saved->count, sizeof(*saved->copy), compare_times);
	if (saved->count > 1 && (!saved->copy[0].snapshot.time ||
				 saved->copy[0].snapshot.time == saved->copy[saved->count - 1].snapshot.time)) {
		warning("%s: the times of its copies are not known", path);
		hint("A time can be in the name of a file (allocinfo-2026-11-25T12:00:00), or on a "
		     "line before each copy, as date prints it.");
		return false;
	}
	if (saved->parts)
		keep_common(saved);
	return true;
}

struct recording *saved_copies_open(const char *path)
{
	struct source_list list = { 0 };
	struct saved saved = { .complete = true };
	struct recording *rec = NULL;
	bool good = source_list_add(&list, path, NULL);

	for (size_t i = 0; good && i < list.count; i++)
		good = source_read_every(list.path[i], take, &saved);
	/* A trend must not lack a step silently; the missing one was reported. */
	if (good && saved.complete && check(&saved, path))
		rec = record(&saved, path);
	for (size_t i = 0; i < saved.count; i++)
		snapshot_free(&saved.copy[i].snapshot);
	free(saved.copy);
	source_list_free(&list);
	return rec;
}
