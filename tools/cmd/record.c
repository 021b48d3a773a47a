// SPDX-License-Identifier: GPL-2.0-only
/* codetag record: snapshots over time into one file. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "contexts_read.h"
#include "interval.h"
#include "base/message.h"
#include "read/activity.h"
#include "read/allocinfo.h"
#include "read/input.h"
#include "recording/recording.h"
#include "source/host.h"

struct record {
	const char *output;
	const char *allocinfo, *meminfo, *vmstat, *slabinfo, *zoneinfo, *contexts, *activity;
	double interval;
	int64_t count;
	bool append, quiet;
	struct recording *recording;	/* NULL before the first snapshot */
};

enum { KEY_APPEND = 0x200, KEY_ALLOCINFO, KEY_MEMINFO, KEY_VMSTAT, KEY_SLABINFO,
       KEY_ZONEINFO, KEY_CONTEXTS, KEY_ACTIVITY };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The recording", 0 },
	{ "interval", 'i', "SEC", 0, "Time between snapshots (default: 10)", 0 },
	{ "count", 'c', "COUNT", 0, "End after COUNT snapshots (default: at Ctrl-C)", 0 },
	{ "append", KEY_APPEND, NULL, 0, "Go on with a recording that exists", 0 },
	{ "quiet", 'q', NULL, 0, "Say nothing at the end", 0 },
	{ "allocinfo", KEY_ALLOCINFO, "FILE", 0,
	  "Read FILE instead of " ALLOCINFO_PATH, 1 },
	{ "meminfo", KEY_MEMINFO, "FILE", 0, "Likewise for /proc/meminfo", 1 },
	{ "vmstat", KEY_VMSTAT, "FILE", 0, "Likewise for /proc/vmstat", 1 },
	{ "slabinfo", KEY_SLABINFO, "FILE", 0, "Likewise for /proc/slabinfo", 1 },
	{ "zoneinfo", KEY_ZONEINFO, "FILE", 0, "Likewise for /proc/zoneinfo", 1 },
	{ "activity", KEY_ACTIVITY, "FILE", 0, "Likewise for " ACTIVITY_PATH, 1 },
	{ "contexts", KEY_CONTEXTS, "FILE", 0, "Likewise for " CONTEXTS_PATH, 1 },
	{ 0 }
};

static void check(const struct record *record, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ !record->output, "--output FILE is missing", NULL },
		{ record->output && !*record->output, "the name after --output is empty", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case 'o':
		record->output = arg;
		return 0;
	case 'i':
		record->interval = argument_seconds(arg, state);
		return 0;
	case 'c':
		record->count = argument_number("--count", arg, 1, INT64_MAX, state);
		return 0;
	case KEY_APPEND:
		record->append = true;
		return 0;
	case 'q':
		record->quiet = true;
		return 0;
	case KEY_ALLOCINFO:
		record->allocinfo = arg;
		return 0;
	case KEY_MEMINFO:
		record->meminfo = arg;
		return 0;
	case KEY_VMSTAT:
		record->vmstat = arg;
		return 0;
	case KEY_SLABINFO:
		record->slabinfo = arg;
		return 0;
	case KEY_ZONEINFO:
		record->zoneinfo = arg;
		return 0;
	case KEY_ACTIVITY:
		record->activity = arg;
		return 0;
	case KEY_CONTEXTS:
		record->contexts = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		check(record, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "-o FILE",
	"Writes snapshots into one SQLite file, for replay, leaks, where and chart: allocinfo, meminfo, vmstat, "
	"slabinfo and zoneinfo, allocations and frees, the contexts of split call sites, the largest "
	"processes, and the memory kept at boot. Only changes are stored. However it ends, "
	"at most the last snapshot is missing."
	"\vThe tables are described in codetag-record(5).\n\n"
	"Examples:\n"
	"  codetag record -o night.db -i 60\n"
	"  codetag record -o boot.db -i 0.5 -c 120\n\n"
	"Exit status: 0 success, 2 trouble.",
	NULL, NULL, NULL
};

/* Files that are not given are this machine's, unless the allocinfo is not. */
static const char *of_machine(const struct record *record, const char *given,
			      const char *own)
{
	if (given)
		return given;
	return strcmp(record->allocinfo, ALLOCINFO_PATH) ? "/dev/null" : own;
}

/*
 * Files that were asked for have to be readable. The files of this machine may be missing: not
 * every kernel has all of them, nor lets everyone read them. The command says so once.
 */
static bool readable(const struct record *record, const char *given, const char *path,
		     bool read, bool understood)
{
	if (!read && given)
		input_complain(path, errno);
	else if (!read && !record->recording)
		warning("cannot read %s: %s", path, strerror(errno));
	else if (read && !understood && given)
		warning("%s: not in the format of its kind, or damaged", path);
	if (!read && !given && !record->recording)
		hint("The recording will be without it.");
	return !given || (read && understood);
}

/* Each file of this kind has the field @key. */
static bool read_fields(const struct record *record, const char *given, const char *own,
			const char *key, struct fields *fields)
{
	const char *path = of_machine(record, given, own);
	bool read = fields_read(fields, path);

	return readable(record, given, path, read,
			fields_find(fields, key) && !fields->bad.count && !fields->bad.cut);
}

static bool read_slabinfo(const struct record *record, struct slabinfo *info)
{
	const char *path = of_machine(record, record->slabinfo, "/proc/slabinfo");
	bool read = slabinfo_read(info, path);

	return readable(record, record->slabinfo, path, read,
			info->count && !info->bad.count && !info->bad.cut);
}

static bool read_zoneinfo(const struct record *record, struct zone_pages *pages)
{
	const char *path = of_machine(record, record->zoneinfo, "/proc/zoneinfo");
	char *text = NULL;
	size_t len;
	bool read = input_read(path, &text, &len);

	*pages = (struct zone_pages){ 0 };
	if (read)
		zoneinfo_parse(pages, text, len);
	read = readable(record, record->zoneinfo, path, read, pages->free > 0 && !pages->bad.cut);
	free(text);
	return read;
}

/*
 * The contexts of a kernel in which a call site is split, else *@text is NULL. Not every kernel
 * has contexts, and their absence is not reported.
 */
static bool read_contexts(const struct record *record, char **text)
{
	const char *path = of_machine(record, record->contexts, CONTEXTS_PATH);
	struct contexts contexts;
	char *copy;
	size_t len;
	bool good;

	*text = NULL;
	if (!input_read(path, &copy, &len)) {
		if (record->contexts)
			input_complain(path, errno);
		return !record->contexts;
	}
	if (!len && !record->contexts) {
		free(copy);
		return true;
	}
	*text = xstrdup(copy);
	if (!contexts_take(&contexts, copy, len, path, 0)) {
		free(*text);
		*text = NULL;
		return false;
	}
	good = contexts_complete(&contexts, path);
	if (!contexts.splits && !contexts.count) {
		free(*text);
		*text = NULL;
	}
	contexts_free(&contexts);
	return good;
}

/* Not every kernel counts allocations and frees; their absence is not reported. */
static bool read_activity(const struct record *record, struct allocinfo *info)
{
	const char *path = of_machine(record, record->activity, ACTIVITY_PATH), *why;

	if (activity_read(info, path, &why) || !record->activity)
		return true;
	if (why)
		warning("%s: %s", path, why);
	else
		input_complain(path, errno);
	return false;
}

/* Of this machine; their absence is not reported. */
static void read_holders(struct holders *processes, struct holders *boot)
{
	char *text;
	size_t len;

	host_read_processes(processes, false);
	if (input_read(BOOT_PATH, &text, &len)) {
		boot_parse(boot, text, len);
		free(text);
	}
}

/* The first 48 bits of the random number of this boot; 0: not known. */
static int64_t boot_number(void)
{
	char id[BOOT_ID];
	unsigned int high, low;

	host_boot_id(id);
	return sscanf(id, "%8x-%4x-", &high, &low) == 2 ? (int64_t)high << 16 | low : 0;
}

static bool create_recording(struct record *record)
{
	struct utsname kernel = { 0 };

	/* The kernel of a file from another machine is unknown. */
	if (!strcmp(record->allocinfo, ALLOCINFO_PATH))
		uname(&kernel);
	record->recording = recording_create(record->output, kernel.release, record->append);
	if (!recording_error(record->recording))
		return true;
	warning("%s: %s", record->output, recording_error(record->recording));
	if (recording_hint(record->recording))
		hint("%s", recording_hint(record->recording));
	return false;
}

/* A recording without a snapshot is removed when it is closed. */
static void say_kept(const struct record *record)
{
	size_t count = recording_count(record->recording);

	if (count)
		hint("%s is good up to its last snapshot: it has %zu.", record->output, count);
	else
		hint("Nothing was recorded.");
}

enum taken { TAKEN, TAKEN_PARTLY, NOT_TAKEN, NO_USE };

/*
 * Reads before it creates the file: if nothing can be read, no empty recording is left behind.
 * Once there is one, a read that fails for a time does not end it: see go_on(). A snapshot whose
 * rows are not complete is left out, too: nothing would tell a missing row from one that has
 * vanished. Of other files the last values stay.
 */
static enum taken take(struct record *record)
{
	struct moment moment = { .time = wall_clock() };
	enum taken taken = NOT_TAKEN;
	struct fields meminfo, vmstat;
	struct holders processes = { 0 }, boot = { 0 };
	struct slabinfo slabinfo;
	struct zone_pages pages;
	struct allocinfo info;
	char *contexts;
	bool whole, good;

	if (!allocinfo_read(&info, record->allocinfo))
		return NOT_TAKEN;
	whole = read_activity(record, &info);
	good = read_fields(record, record->meminfo, "/proc/meminfo", "MemTotal",
			   &meminfo);
	good = read_fields(record, record->vmstat, "/proc/vmstat", "nr_free_pages",
			   &vmstat) && good;
	good = read_slabinfo(record, &slabinfo) && good;
	good = read_zoneinfo(record, &pages) && good;
	good = read_contexts(record, &contexts) && good;
	if (!strcmp(record->allocinfo, ALLOCINFO_PATH)) {
		read_holders(&processes, &boot);
		moment.boot_number = boot_number();
	}
	moment.contexts = contexts;
	moment.info = &info;
	moment.meminfo = &meminfo;
	moment.vmstat = &vmstat;
	moment.slabinfo = &slabinfo;
	moment.pages = &pages;
	moment.processes = &processes;
	moment.boot = &boot;
	whole = allocinfo_complete(&info, record->allocinfo) && whole;
	if (whole && good && !record->recording && !create_recording(record)) {
		taken = NO_USE;
	} else if (whole && record->recording) {
		taken = good ? TAKEN : TAKEN_PARTLY;
		if (!recording_add(record->recording, &moment)) {
			warning("cannot write %s: %s", record->output,
				recording_error(record->recording));
			say_kept(record);
			taken = NO_USE;
		}
	}
	allocinfo_free(&info);
	fields_free(&meminfo);
	fields_free(&vmstat);
	slabinfo_free(&slabinfo);
	holders_free(&processes);
	holders_free(&boot);
	free(contexts);
	return taken;
}

static bool go_on(const struct record *record, enum taken taken, int64_t number)
{
	/* The script of Debian's service looks for this message. */
	if (taken == NOT_TAKEN && !record->recording && record->append)
		warning("nothing is added to %s", record->output);
	if (taken == NO_USE || (taken != TAKEN && number == 1 && !record->append) ||
	    !record->recording)
		return false;
	if (taken == TAKEN_PARTLY)
		warning("snapshot %" PRId64 " is not complete, going on", number);
	else if (taken == NOT_TAKEN)
		warning("snapshot %" PRId64 " is left out, going on", number);
	return true;
}

static bool run(struct record *record)
{
	int64_t number = 0, missing = 0;
	bool complete = true;
	struct interval interval;

	interval_start(&interval, record->interval);
	do {
		enum taken taken = take(record);

		if (!go_on(record, taken, ++number))
			return false;
		missing += taken == NOT_TAKEN;
		complete &= taken == TAKEN;
	} while (number != record->count && interval_wait(&interval));
	if (!record->quiet)
		printf("%s: %" PRId64 " snapshot%s%s\n", record->output, number - missing,
		       number - missing == 1 ? "" : "s", record->append ? " added" : "");
	return complete;
}

int cmd_record(int argc, char **argv)
{
	struct record record = {
		.allocinfo = ALLOCINFO_PATH,
		.interval = 10,
	};
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &record);
	if (!access(record.output, F_OK) && !record.append) {
		warning("%s exists", record.output);
		hint("Take another name, or --append to go on with it.");
		return STATUS_TROUBLE;
	}
	if (run(&record))
		status = STATUS_OK;
	if (record.recording)
		recording_close(record.recording);
	return status;
}
