// SPDX-License-Identifier: GPL-2.0-only
#include "source/open_recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "read/input.h"
#include "source/saved_copies.h"

struct recording *open_recording(const char *path)
{
	struct recording *recording;

	if (saved_copies_are(path))
		return saved_copies_open(path);
	if (!strcmp(path, "-")) {
		warning("a recording cannot be read from standard input: name the file");
		return NULL;
	}
	/* SQLite's own messages are short. */
	if (access(path, R_OK)) {
		int why = errno;

		input_complain(path, why);
		if (why == ENOENT)
			hint("Recordings are made by 'codetag record'.");
		return NULL;
	}
	recording = recording_open(path);
	if (recording_error(recording)) {
		warning("%s: %s", path, recording_error(recording));
		hint("Recordings are made by 'codetag record'.");
	} else if (!recording_count(recording)) {
		warning("%s: there is no snapshot in it", path);
	} else {
		return recording;
	}
	recording_close(recording);
	return NULL;
}

bool load_recorded(struct recording *recording, size_t i, struct allocinfo *info)
{
	if (recording_load(recording, i, info))
		return true;
	warning("cannot read snapshot %zu: %s", i + 1, recording_error(recording));
	return false;
}

bool load_series(struct recording *recording, struct series *series, const size_t *at,
		 const struct recording_choice *choice)
{
	if (recording_series(recording, series, at, choice))
		return true;
	warning("cannot read the snapshots: %s", recording_error(recording));
	return false;
}

bool count_unprofiled(struct recording *recording, const struct recording_choice *choice,
		      struct profiled *profiling)
{
	struct allocinfo info;
	bool good;

	*profiling = (struct profiled){ 0 };
	good = recording_unprofiled(recording, choice, &info, &profiling->chosen);
	if (!good)
		warning("cannot read the call sites: %s", recording_error(recording));
	profiling->off = info.count;
	profiling->first = info.site;
	if (good && profiling->off)
		profiling_complain(profiling, true);
	profiling->first = NULL;
	allocinfo_free(&info);
	return good;
}

size_t recorded_since_boot(const struct recording *recording, const char *path)
{
	size_t count = recording_count(recording), first = recording_since_boot(recording, count - 1);

	if (first)
		warning("%s: the machine was booted between snapshots %zu and %zu; only the %zu since then are compared",
			path, first, first + 1, count - first);
	return first;
}

char *time_format(char out[TIME_TEXT], int64_t ms)
{
	time_t seconds = ms / 1000;
	struct tm tm;

	out[0] = '\0';
	if (localtime_r(&seconds, &tm))
		strftime(out, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	return out;
}
