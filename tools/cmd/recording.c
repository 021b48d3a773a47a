// SPDX-License-Identifier: GPL-2.0
#include "recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "message.h"

struct store *recording_open(const char *path)
{
	struct store *store;
	struct stat st;

	/* SQLite's own words are few. */
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		errno = EISDIR;
	else if (!access(path, R_OK))
		errno = 0;
	if (errno) {
		int why = errno;

		input_complain(path, why);
		if (why == ENOENT)
			hint("Recordings are made by 'codetag record'.");
		return NULL;
	}
	store = store_open(path);
	if (store_error(store)) {
		warning("%s: %s", path, store_error(store));
		hint("Recordings are made by 'codetag record'.");
	} else if (!store_count(store)) {
		warning("%s: there is no snapshot in it", path);
	} else {
		return store;
	}
	store_close(store);
	return NULL;
}

bool recording_load(struct store *store, size_t i, struct allocinfo *info)
{
	if (store_load(store, i, info))
		return true;
	warning("cannot read snapshot %zu: %s", i + 1, store_error(store));
	return false;
}

size_t recording_pick(const struct store *store, size_t k, size_t take)
{
	size_t last = store_count(store) - 1;

	return take > 1 ? k * last / (take - 1) : last;
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
