// SPDX-License-Identifier: GPL-2.0-only
#include "trace_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "interval.h"
#include "sites_view.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/text.h"
#include "model/group.h"
#include "read/control.h"
#include "trace/line_record.h"

/* The kernel takes 1024 queries at once. */
#define AT_ONCE 1000

struct names {
	char *of[UINT16_MAX + 1];	/* by id; NULL: not one of the chosen call sites */
	char other[16];
};

static void names_init(struct names *names, const struct control *control)
{
	for (size_t i = 0; i < control->count; i++) {
		const struct control_site *site = &control->site[i];
		struct text name = { 0 };

		group_name(&name, (struct grouping){ BY_SITE, 0 }, &site->site);
		free(names->of[site->id]);
		names->of[site->id] = name.s;
	}
}

static const char *name_of(void *context, unsigned int id)
{
	struct names *names = context;

	if (names->of[id])
		return names->of[id];
	/* Somebody else traces it at the same time. */
	snprintf(names->other, sizeof(names->other), "id %u", id);
	return names->other;
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i <= UINT16_MAX; i++)
		free(names->of[i]);
	free(names);
}

/* Does @action with the call sites, by their ids: such queries are not remembered. */
static int apply(const struct trace_lines *lines, const struct control *control,
		 const char *action, size_t at_once)
{
	struct text text = { 0 };
	int error = 0, failed;
	bool opened;

	for (size_t i = 0; i < control->count; i += at_once) {
		text_clear(&text);
		for (size_t n = i; n < control->count && n < i + at_once; n++)
			text_printf(&text, "id %u %s\n", control->site[n].id, action);
		failed = debugfs_write(&lines->dir, "control", text.s, &opened);
		if (failed && !error)
			error = failed;
	}
	text_free(&text);
	return error;
}

void trace_lines_off(const struct profiled *profiled)
{
	warning("%zu of %zu chosen call sites are not profiled: these have no events",
		profiled->off, profiled->chosen);
	hint("'codetag status' lists them, 'codetag enable QUERY' turns them on, if vm.mem_profiling is 1.");
}

/*
 * Keeps the call sites that can be traced and are not; false after a message if there are none,
 * or none is profiled.
 */
static bool choose(const struct trace_lines *lines, struct control *control, struct names *names,
		   struct profiled *profiled)
{
	size_t kept = 0, without_id = 0;

	control_select(control, lines->query);
	if (!control->count) {
		warning("no call site is chosen");
		return false;
	}
	for (size_t i = 0; i < control->count; i++)
		without_id += !control->site[i].id;
	if (without_id)
		warning("%zu call sites have no id and cannot be traced", without_id);
	sites_profiled(control, &lines->dir, profiled);
	if (profiled->off == profiled->chosen) {
		trace_lines_off(profiled);
		return false;
	}
	names_init(names, control);
	for (size_t i = 0; i < control->count; i++)
		if (control->site[i].id && !control->site[i].traced)
			control->site[kept++] = control->site[i];
	control->count = kept;
	return true;
}

static int record(const struct trace_lines *lines, struct control *control, struct names *names,
		  struct kmem *kmem)
{
	struct line_record *record;
	struct interval interval;
	const char *why;
	int error;

	/* No signal may end it while the kernel traces. */
	interrupt_catch_all();
	record = line_record_start(lines->buffer, &why);
	if (!record) {
		error = errno;
		warning("cannot trace: %s", why ? why : strerror(error));
		if (!why && (error == EACCES || error == EPERM))
			hint("This needs root.");
		return STATUS_TROUBLE;
	}
	error = apply(lines, control, "trace", AT_ONCE);
	if (!error) {
		interval_start(&interval, lines->seconds);
		interval_wait(&interval);
	}
	/* A module that has gone takes its ids along, and a write with such an id does nothing. */
	if (apply(lines, control, "trace=off", AT_ONCE))
		apply(lines, control, "trace=off", 1);
	why = line_record_finish(record, kmem, name_of, names);
	if (error)
		return change_refused(&lines->dir, "trace", error);
	if (why)
		warning("%s", why);
	return why ? STATUS_TROUBLE : STATUS_OK;
}

int trace_lines_record(const struct trace_lines *lines, struct kmem *kmem, struct profiled *profiled)
{
	struct names *names = xcalloc(1, sizeof(*names));
	struct control control;
	int status = STATUS_TROUBLE;

	if (control_read(&control, &lines->dir)) {
		if (choose(lines, &control, names, profiled))
			status = record(lines, &control, names, kmem);
		else if (!profiled->off)
			status = STATUS_FOUND;
		control_free(&control);
	}
	names_free(names);
	return status;
}
