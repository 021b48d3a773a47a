// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "chart/material.h"
#ifdef HAVE_ELF
#include "image/objects.h"
#endif
#include "model/container.h"
#include "read/input.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

#ifdef HAVE_SQLITE
static bool load_gauges(struct recording *recording, const char *glob, struct gauges *gauges)
{
	size_t before = gauges->count;

	if (!recording_load_gauges(recording, glob, gauges)) {
		warning("cannot read the recording: %s", recording_error(recording));
		return false;
	}
	if (gauges->count > before)
		return true;
	warning("no gauge that was recorded is called '%s'", glob);
	hint("See 'codetag replay --gauges'.");
	return false;
}

/* Reads all snapshots that an area shows in one pass over the recording. */
static bool load_area(struct material *m, struct chart_wish *wish, struct recording *recording,
		      size_t want)
{
	const struct recording_choice choice = {
		.keep = material_counts, .context = wish, .by = wish->by,
	};
	size_t *at = xcalloc(want, sizeof(*at));
	bool good;

	m->moment = xcalloc(want, sizeof(*m->moment));
	m->snapshot = xcalloc(want, sizeof(*m->snapshot));
	m->series.columns = want;
	for (size_t k = 0; k < want; k++) {
		at[k] = recording_pick(recording, 0, k, want);
		m->snapshot[k] = at[k];
		m->moment[k] = (double)recording_time(recording, at[k]) / 1000;
	}
	good = load_series(recording, &m->series, at, &choice);
	free(at);
	for (size_t i = 0; i < wish->gauges && good; i++)
		good = load_gauges(recording, wish->gauge[i], &m->gauges);
	return good;
}

bool material_load_recording(struct material *m, struct chart_wish *wish, const char *path)
{
	struct recording *recording = open_recording(path);
	size_t first, have, want, area;
	bool good = true;

	if (!recording)
		return false;
	first = wish->attribute == GROWTH ? recorded_since_boot(recording, path) : 0;
	have = recording_count(recording) - first;
	want = wish->kind == AREA || wish->moments ? have : wish->attribute == GROWTH && have > 1 ? 2 : 1;
	if (want > 500) {
		want = 500;
		m->of = have;
	}
	snprintf(m->kernel, sizeof(m->kernel), "%s", recording_kernel(recording));
	area = wish->kind == AREA ? want : 0;
	if (area)
		want = 1;	/* the last snapshot, for the title */
	m->info = xcalloc(want, sizeof(*m->info));
	m->time = xcalloc(want, sizeof(*m->time));
	for (size_t k = 0; k < want && good; k++) {
		size_t i = recording_pick(recording, first, k, want);

		good = load_recorded(recording, i, &m->info[k]);
		if (!good)
			break;
		m->time[k] = (double)recording_time(recording, i) / 1000;
		m->count++;
	}
	if (good && area) {
		wish->raw |= containers_only(&m->info[0], material_wants, wish);
		good = load_area(m, wish, recording, area);
	}
	/* Of a single snapshot the caller knows. */
	if (good && (area || wish->moments)) {
		const struct recording_choice choice = { .keep = material_counts, .context = wish };
		struct profiled profiling;

		m->complete &= count_unprofiled(recording, &choice, &profiling) && !profiling.off;
	}
	recording_close(recording);
	return good;
}
#else
bool material_load_recording(struct material *m, struct chart_wish *wish, const char *path)
{
	(void)m, (void)wish;
	warning("%s is a recording, this build reads none", path);
	return false;
}
#endif

#ifdef HAVE_ELF
/* Kbuild writes the release to a file of the build tree. */
static void read_release(struct material *m, const char *dir)
{
	struct text path = { 0 };
	size_t len;
	char *text;

	text_printf(&path, "%s/include/config/kernel.release", dir);
	if (input_read(path.s, &text, &len)) {
		snprintf(m->kernel, sizeof(m->kernel), "%.*s",
			 (int)strcspn(text, "\n"), text);
		free(text);
	}
	text_free(&path);
}

bool material_load_objects(struct material *m, const char *dir)
{
	struct objects objects = { 0 };
	bool good = objects_read(&objects, dir);

	m->info = xcalloc(1, sizeof(*m->info));
	m->time = xcalloc(1, sizeof(*m->time));
	m->count = 1;
	if (!good)
		warning("cannot read %s: %s", dir, strerror(errno));
	else if (!objects.count && objects.single)
		warning("%s is not an object file, module or vmlinux", dir);
	else if (!objects.count)
		warning("there are no object files in %s", dir);
	good = good && objects.count;
	if (good) {
		objects_sites(&objects, "", m->info);
		read_release(m, dir);
	} else if (!objects.single) {
		hint("It has to be the directory that the kernel was built in (O=).");
	}
	objects_free(&objects);
	return good;
}
#else
bool material_load_objects(struct material *m, const char *dir)
{
	(void)m;
	warning("this build cannot read the objects in %s", dir);
	return false;
}
#endif
