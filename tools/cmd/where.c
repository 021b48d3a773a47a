// SPDX-License-Identifier: GPL-2.0-only
/* codetag where: how all memory of a machine is used. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "interval.h"
#include "debugfs.h"
#include "memory_view.h"
#include "where_live.h"
#include "where_view.h"
#include "analysis/owners.h"
#include "model/spread.h"
#include "base/message.h"
#include "base/number.h"
#include "read/activity.h"
#include "source/host.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "source/open_recording.h"
#endif

/*
 * On larger machines the kernel recounts only on request, because that stops all CPUs for a
 * part of memory at a time.
 */
#define RECOUNT_MOST ((int64_t)64 << 30)

/* This many snapshots of a recording are enough to tell steady growth. */
#define MOMENTS 13

enum recount { RECOUNT_IF_SMALL, RECOUNT_ALWAYS, RECOUNT_NEVER };

struct where {
	const char **path;
	size_t paths, room;
	bool once, pss;
	double delay;
	enum recount recount;
	size_t owners;		/* owners below each row, in JSON */
	bool owners_given;
	struct output output;
};

enum { KEY_ONCE = 0x200, KEY_RECOUNT, KEY_NO_RECOUNT, KEY_PSS };

static const struct argp_option options[] = {
	{ "once", KEY_ONCE, NULL, 0, "Print the table once and end (the default for files, and if "
	  "the output is no terminal)", 0 },
	{ "delay", 'd', "SEC", 0, "Refresh every SEC seconds (default: 5); with --once, count allocations "
	  "and frees for SEC seconds", 0 },
	{ "recount", KEY_RECOUNT, NULL, 0, "Count the charged pages even with more than 64 GiB of "
	  "memory. All CPUs stop for some milliseconds per 64 MiB. Up to 64 GiB this is the "
	  "default, for root on a codetag kernel", 1 },
	{ "no-recount", KEY_NO_RECOUNT, NULL, 0, "Do not let the kernel count the charged pages, which "
	  "stops all CPUs: unaccounted memory is then an upper limit", 1 },
	{ "pss", KEY_PSS, NULL, 0, "Processes with their share of all they have mapped (PSS), not with "
	  "their anonymous memory; takes longer", 1 },
	IMAGE_OPTION,
	{ "owners", 'n', "N", 0, "In JSON the N largest owners of each kind (default: 10)", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static void check(const struct where *where, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ where->delay > 0 && where->paths, "only this machine is refreshed: leave out --delay", NULL },
		{ where->recount == RECOUNT_ALWAYS && where->paths,
		  "only this machine can count: leave out --recount", NULL },
		{ where->recount == RECOUNT_NEVER && where->paths,
		  "only this machine can count: leave out --no-recount", NULL },
		{ where->pss && where->paths,
		  "only this machine tells the shares of its processes: leave out --pss", NULL },
		{ where->owners_given && !where->output.json, "--owners goes with --json", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct where *where = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &where->output;
		return 0;
	case KEY_ONCE:
		where->once = true;
		return 0;
	case 'd':
		where->delay = argument_seconds(arg, state);
		return 0;
	case KEY_RECOUNT:
		where->recount = RECOUNT_ALWAYS;
		return 0;
	case KEY_NO_RECOUNT:
		where->recount = RECOUNT_NEVER;
		return 0;
	case KEY_PSS:
		where->pss = true;
		return 0;
	case 'n':
		where->owners = argument_number("--owners", arg, 0, 1000000, state);
		where->owners_given = true;
		return 0;
	case KEY_IMAGE:
		argument_image(arg, state);
		/* fall through */
	case ARGP_KEY_ARG:
		GROW(where->path, where->paths, where->room);
		where->path[where->paths++] = arg;
		return 0;
	case ARGP_KEY_END:
		check(where, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "\nFILE\nOLD NEW\nFILE FILE FILE…",
	"Explains all installed memory, each byte once: kept at boot, free, and the kinds of the "
	"rest, with the largest owner of each. The last lines name anything unusual. FILE is a "
	"recording, a copy of meminfo, or an image of a machine's memory. It can also be a directory "
	"with copies of /proc/meminfo, zoneinfo, vmstat, slabinfo and allocinfo, or an archive of "
	"them. Two FILEs are compared. Of more FILEs, or of a directory of machines, each kind is "
	"shown with the machines that are unlike the others."
	"\vExamples:\n"
	"  codetag where\n"
	"  codetag where --once --json | jq '.kinds[] | select(.size > 1e9)'\n"
	"  codetag where night.db\n"
	"  codetag where sosreport-web7.tar.xz\n"
	"  codetag where night.db@1 night.db\n"
	"  codetag where fleet/\n"
	"  codetag where --image vmcore\n\n"
	"Exit status: 0 nothing is unusual, 1 something is, 2 trouble.",
	children, NULL, NULL
};

/* Machines that were read, each with its known past. */
struct machines {
	struct machine_seen {
		struct snapshot host, first;
		struct explanation at[MOMENTS];
		size_t count;
		int64_t ms;
		double seconds;		/* of the recent activity, 0: not known */
	} *seen;
	size_t count, room;
	bool bad, hinted;
};

/* The values that no kernel file gives; NULL: none. */
static const char *contradiction(const struct fields *meminfo)
{
	int64_t total = fields_number(meminfo, "MemTotal");

	/* Memory cannot be explained without these. */
	if (!fields_find(meminfo, "MemTotal") || !fields_find(meminfo, "MemFree"))
		return NULL;
	if (total <= 0)
		return "MemTotal is 0";
	if (fields_number(meminfo, "MemFree") > total)
		return "MemFree is more than MemTotal";
	return NULL;
}

static void take_host(void *data, struct snapshot *host)
{
	struct machines *machines = data;
	const char *why = contradiction(&host->machine.meminfo), *lacks;
	struct text name = { 0 };
	struct machine_seen *seen;

	text_printf(&name, "%s/allocinfo", host->host ? host->host : "?");
	/* FILE@N, which other commands take, would not choose among the other files of the machine. */
	if (host->info.copies > 1) {
		warning("%s has %zu copies of " ALLOCINFO_PATH ": this is the last one", name.s,
			host->info.copies);
		hint("Keep the copy that was saved together with meminfo.");
		host->info.copies = 1;
		machines->bad = true;
	}
	if (!snapshot_complete(host, name.s))
		machines->bad = true;
	if (host->info.part) {
		warning("%s is a part of a list: call sites are missing", name.s);
		machines->bad = true;
	}
	text_free(&name);
	if (why) {
		warning("%s: the meminfo contradicts itself: %s", host->host ? host->host : "?", why);
		snapshot_free(host);
		machines->bad = true;
		return;
	}
	GROW(machines->seen, machines->count, machines->room);
	seen = &machines->seen[machines->count];
	*seen = (struct machine_seen){ .host = *host, .count = 1 };
	lacks = meminfo_lacks(&host->machine.meminfo);
	if (explain(&seen->at[0], &host->info, &host->machine)) {
		if (lacks)
			warning("%s: the meminfo lacks the line %s, which each kernel has: kinds of memory can be wrong",
				host->host ? host->host : "?", lacks);
		machines->count++;
		return;
	}
	warning("%s: there is no meminfo of this machine, so its memory cannot be explained",
		host->host ? host->host : "?");
	/* Once, not for each of many files */
	if (!machines->hinted)
		hint("%s", host->info.count ?
		     "'codetag report' lists its call sites. To have all memory explained, save /proc/meminfo, "
		     "zoneinfo, vmstat and slabinfo beside allocinfo, or use 'codetag record'." :
		     "Save /proc/meminfo, zoneinfo, vmstat and slabinfo, too, or use 'codetag record'.");
	machines->hinted = true;
	snapshot_free(host);
	machines->bad = true;
}

#ifdef HAVE_SQLITE
/* The allocations and frees from snapshot @first to the last one. */
static bool read_activity(struct machine_seen *seen, struct recording *recording, size_t first,
			  const char *path)
{
	size_t last = recording_count(recording) - 1;
	struct allocinfo info;

	if (!recording_load_since(recording, first, last, &info)) {
		warning("%s: %s", path, recording_error(recording));
		return false;
	}
	allocinfo_free(&seen->host.info);
	seen->host.info = info;
	if (activity_recent_known(&info))
		seen->seconds = (double)(recording_time(recording, last) - recording_time(recording, first)) / 1000;
	return true;
}

/* Reads the snapshots before the last one: which kinds grew, and how steadily. */
static bool read_past(struct machine_seen *seen, const char *path)
{
	struct explanation last = seen->at[0];
	struct recording *recording = open_recording(path);
	size_t all, first, take;
	bool good = recording != NULL;

	if (!good)
		return false;
	all = recording_count(recording);
	first = recorded_since_boot(recording, path);
	take = all - first < MOMENTS ? all - first : MOMENTS;
	seen->count = 0;
	for (size_t k = 0; good && k + 1 < take; k++) {
		size_t i = recording_pick(recording, first, k, take);
		struct snapshot moment = { 0 };

		good = load_recorded(recording, i, &moment.info) &&
		       recording_load_machine(recording, i, &moment.machine) &&
		       explain(&seen->at[seen->count], &moment.info, &moment.machine);
		if (!good)
			warning("%s: snapshot %zu cannot be explained", path, i + 1);
		if (good && !seen->count++) {
			seen->ms = recording_time(recording, all - 1) - recording_time(recording, i);
			seen->first = moment;
		} else {
			snapshot_free(&moment);
		}
	}
	seen->at[seen->count++] = last;
	good = good && read_activity(seen, recording, first, path);
	recording_close(recording);
	return good;
}
#endif

static bool read_machines(struct machines *machines, const struct where *where)
{
	bool good = true;

	for (size_t i = 0; i < where->paths; i++) {
		size_t before = machines->count;

		good = host_read(where->path[i], take_host, machines) && good;
#ifdef HAVE_SQLITE
		/* "night.db@3" is that moment alone. */
		if (where->paths == 1 && machines->count == before + 1 &&
		    source_is_recording(where->path[i]) && !access(where->path[i], F_OK))
			good = read_past(&machines->seen[before], where->path[i]) && good;
#else
		(void)before;
#endif
	}
	return good && !machines->bad;
}

static void free_machines(struct machines *machines)
{
	for (size_t i = 0; i < machines->count; i++) {
		snapshot_free(&machines->seen[i].host);
		snapshot_free(&machines->seen[i].first);
	}
	free(machines->seen);
}

static int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	return size.ws_col;
}

static struct history history_of(const struct machine_seen *seen)
{
	return (struct history){
		.at = seen->at, .count = seen->count, .ms = seen->ms,
		.first = &seen->first, .last = &seen->host,
	};
}

static void owners_json(const struct where *where, const struct snapshot *host,
			enum memory_kind_id id, struct json *json)
{
	struct owners owners;

	owners_find(&owners, host, id, owners_best(host, id));
	json_string(json, "owners_are", owner_words(owners.by));
	json_array(json, "owners");
	for (size_t i = 0; i < owners.count && i < where->owners; i++) {
		json_object(json, NULL);
		json_string(json, "name", owners.owner[i].name);
		json_int(json, "size", owners.owner[i].bytes);
		json_int(json, "count", owners.owner[i].count);
		json_bool(json, "ambiguous", owners.owner[i].ambiguous);
		json_end_object(json);
	}
	json_end_array(json);
	owners_free(&owners);
}

static void busiest_json(const struct where *where, const struct machine_seen *seen, struct json *json)
{
	struct owners owners;

	json_object(json, "busiest");
	json_real(json, "seconds", seen->seconds);
	json_array(json, "sites");
	owners_find_busy(&owners, &seen->host, MEMORY_KINDS, OWNER_SITES, false);
	for (size_t i = 0; i < owners.count && i < where->owners; i++) {
		const struct owner *owner = &owners.owner[i];

		json_object(json, NULL);
		json_string(json, "name", owner->name);
		json_int(json, "size", owner->bytes);
		if (activity_whole(&owner->recent)) {
			json_int(json, "allocs_recent", owner->recent.allocs);
			json_int(json, "frees_recent", owner->recent.frees);
			json_real(json, "allocs_rate", (double)owner->recent.allocs / seen->seconds);
			json_real(json, "frees_rate", (double)owner->recent.frees / seen->seconds);
		} else {
			json_null(json, "allocs_recent");
			json_null(json, "frees_recent");
			json_null(json, "allocs_rate");
			json_null(json, "frees_rate");
		}
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
	owners_free(&owners);
}

static void find_missing(const struct where *where, const struct machine_seen *seen, struct text *lines)
{
	missing_find(lines, &seen->at[seen->count - 1], &seen->host);
	if (where->delay > 0 && !seen->seconds)
		text_puts(lines, "Allocations and frees are not known: that needs root, and a kernel with codetag.\n");
	if (seen->seconds > 0)
		where_uncounted(&seen->host, lines);
}

static void boot_lines_json(const struct holders *lines, struct json *json)
{
	json_array(json, "boot_lines");
	for (size_t i = 0; i < lines->count; i++) {
		json_object(json, NULL);
		json_string(json, "name", lines->holder[i].name);
		json_string(json, "what", boot_part_words(boot_part_of(lines->holder[i].name)));
		json_int(json, "size", lines->holder[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
}

static void machine_json(const struct where *where, const struct machine_seen *seen,
			 const struct remarks *remarks, struct json *json, const char *key)
{
	static const char *const profiling[] = {
		[PROFILING_UNKNOWN] = "unknown", [PROFILING_NONE] = "none",
		[PROFILING_OFF] = "off", [PROFILING_ON] = "on",
	};
	const struct explanation *e = &seen->at[seen->count - 1];
	struct text missing = { 0 };

	json_object(json, key);
	json_string(json, "host", seen->host.host ? seen->host.host : "");
	json_string(json, "kernel", seen->host.kernel ? seen->host.kernel : "");
	json_real(json, "time", (double)seen->host.time / 1000);
	json_string(json, "profiling", profiling[seen->host.machine.profiling]);
	memory_fields_json(e, json);
	if (seen->count > 1)
		json_int(json, "since_ms", seen->ms);
	json_array(json, "kinds");
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		json_object(json, NULL);
		memory_kind_json(e, i, json);
		if (seen->count > 1)
			json_int(json, "change", sub64(e->kind[i], seen->at[0].kind[i]));
		owners_json(where, &seen->host, i, json);
		json_end_object(json);
	}
	json_end_array(json);
	if (seen->seconds > 0)
		busiest_json(where, seen, json);
	boot_lines_json(&seen->host.machine.boot, json);
	json_array(json, "unusual");
	for (size_t i = 0; i < remarks->count; i++) {
		json_object(json, NULL);
		json_string(json, "what", unusual_name(remarks->remark[i].what));
		json_string(json, "kind", memory_kind(remarks->remark[i].kind)->name);
		json_string(json, "text", remarks->remark[i].text);
		json_end_object(json);
	}
	json_end_array(json);
	find_missing(where, seen, &missing);
	json_array(json, "missing");
	for (char *at = missing.s, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		json_string(json, NULL, at);
	}
	json_end_array(json);
	text_free(&missing);
	json_end_object(json);
}

static int one(const struct where *where, const struct machine_seen *seen)
{
	int width = terminal_width();
	struct history history = history_of(seen);
	struct where_view view = {
		.host = &seen->host, .e = &seen->at[seen->count - 1],
		.before = seen->count > 1 ? &seen->at[0] : NULL, .before_ms = seen->ms,
		.seconds = seen->seconds, .history = &history,
		.owners = width >= WHERE_TWO_OWNERS ? 2 : 1, .width = width,
		.human = output_human(&where->output) || !where->output.bytes,
	};
	struct json json = { .out = stdout };
	enum memory_kind_id order[MEMORY_KINDS];
	struct text lines = { 0 }, line = { 0 }, missing = { 0 };
	struct remarks remarks;
	size_t count = where_order(view.e, order);
	int status;

	unusual_find(&remarks, &history);
	status = remarks.count ? STATUS_FOUND : STATUS_OK;
	if (where->output.json) {
		machine_json(where, seen, &remarks, &json, NULL);
		remarks_free(&remarks);
		return status;
	}
	if (!where->output.no_headings) {
		where_head(&view, &lines);
		where_headings(&view, &line);
		text_printf(&lines, "%s\n", line.s);
	}
	for (size_t i = 0; i < count; i++) {
		text_clear(&line);
		where_row(&view, order[i], &line);
		text_printf(&lines, "%s\n", line.s);
	}
	if (view.e->boot) {
		text_clear(&line);
		where_boot_row(&view, &line);
		text_printf(&lines, "%s\n", line.s);
	}
	if (!where->output.no_headings) {
		where_busiest(&view, &lines);
		find_missing(where, seen, &missing);
		for (char *at = missing.s, *end; *at; at = end + 1) {
			end = strchr(at, '\n');
			*end = '\0';
			where_wrap(&lines, at, view.width);
		}
		for (size_t i = 0; i < remarks.count; i++)
			where_wrap(&lines, remarks.remark[i].text, view.width);
		if (!remarks.count)
			where_wrap(&lines, "Nothing is unusual.", view.width);
	}
	fputs(lines.s, stdout);
	text_free(&lines);
	text_free(&line);
	text_free(&missing);
	remarks_free(&remarks);
	return status;
}

static const char *name_of(const struct machine_seen *seen)
{
	return seen->host.host && *seen->host.host ? seen->host.host : "?";
}

static void size_cell(struct table *table, int64_t bytes, const struct where *where, bool sign)
{
	char text[SIZE_TEXT + 1] = "+";
	bool plus = sign && bytes > 0;

	size_format(text + plus, bytes, output_human(&where->output) || !where->output.bytes);
	table_cell(table, text);
}

static void compare_line(struct table *table, const char *what, int64_t a, int64_t b,
			 const struct where *where)
{
	size_cell(table, a, where, false);
	size_cell(table, b, where, false);
	size_cell(table, sub64(b, a), where, true);
	table_cell(table, what);
}

static int compare(const struct where *where, const struct machine_seen *a,
		   const struct machine_seen *b)
{
	const struct explanation *x = &a->at[0], *y = &b->at[0];
	bool same = !strcmp(name_of(a), name_of(b));
	const struct table_column columns[] = {
		{ same ? "BEFORE" : name_of(a), true, NULL, false },
		{ same ? "NOW" : name_of(b), true, NULL, false },
		{ same ? "CHANGE" : "MORE", true, NULL, false }, { "WHAT", false, NULL, false },
	};
	struct table table = { .column = columns, .columns = 4 };
	const struct memory_kind *most = NULL;
	char size[SIZE_TEXT];
	int64_t grown = 0;

	compare_line(&table, "installed", x->installed, y->installed, where);
	compare_line(&table, "kept at boot", x->boot, y->boot, where);
	compare_line(&table, "free", x->free, y->free, where);
	compare_line(&table, "free, on the lists of CPUs", x->cpu_lists, y->cpu_lists, where);
	compare_line(&table, "used", x->used, y->used, where);
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		int64_t more = sub64(y->kind[i], x->kind[i]);

		if (x->kind[i] || y->kind[i])
			compare_line(&table, memory_kind(i)->words, x->kind[i], y->kind[i], where);
		/* The unaccounted rest is unusual only if it can be known. */
		if (i == MEMORY_UNACCOUNTED && !(x->has_sites && y->has_sites))
			continue;
		if (y->droppable[i] < y->kind[i] / 2 && more > grown) {
			grown = more;
			most = memory_kind(i);
		}
	}
	table_print(&table, stdout, !where->output.no_headings, output_colour());
	table_free(&table);
	if (!most || percent(grown, y->installed) < GROWN_PERCENT) {
		if (!where->output.no_headings)
			puts("Nothing is unusual: no kind that cannot be dropped differs by 1% of the memory.");
		return STATUS_OK;
	}
	if (!where->output.no_headings)
		printf("%s more of %s in %s, which cannot be dropped.\n",
		       size_format(size, grown, true), most->words, same ? "the second" : name_of(b));
	return STATUS_FOUND;
}

/* A fleet whose "call sites" are the kinds of memory. */
static void add_kinds(struct fleet *fleet, const struct machine_seen *seen)
{
	struct site sites[MEMORY_KINDS];
	struct allocinfo info = { .site = sites, .count = MEMORY_KINDS };

	for (unsigned int i = 0; i < MEMORY_KINDS; i++)
		sites[i] = (struct site){
			.file = memory_kind(i)->name, .func = "",
			.bytes = seen->at[seen->count - 1].kind[i], .calls = 1,
		};
	fleet_add(fleet, name_of(seen), seen->host.kernel, &info);
}

/* An outlier holds this share of its machine's memory more than the median. */
#define OUTLIER_PART 100

/* As many outliers of a kind are printed with their owners. */
#define MOST_TOLD 5

static void kind_json(struct json *json, const struct fleet *fleet, unsigned int kind,
		      const struct spread *spread)
{
	json_object(json, NULL);
	json_string(json, "name", memory_kind(kind)->name);
	json_string(json, "what", memory_kind(kind)->words);
	json_int(json, "size", fleet->group[kind].sum.bytes);
	json_int(json, "median", spread->median);
	json_int(json, "largest", spread->ranked[0].bytes);
	json_string(json, "largest_host", fleet->host[spread->ranked[0].host].name);
	json_array(json, "outliers");
	for (size_t i = 0; i < spread->outliers; i++) {
		json_object(json, NULL);
		json_string(json, "host", fleet->host[spread->ranked[i].host].name);
		json_int(json, "size", spread->ranked[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void kind_cells(struct table *table, const struct fleet *fleet, unsigned int kind,
		       const struct spread *spread, const struct where *where)
{
	struct text names = { 0 };

	text_clear(&names);
	for (size_t i = 0; i < spread->outliers; i++)
		text_printf(&names, "%s%s", i ? " " : "", fleet->host[spread->ranked[i].host].name);
	size_cell(table, fleet->group[kind].sum.bytes, where, false);
	size_cell(table, spread->median, where, false);
	size_cell(table, spread->ranked[0].bytes, where, false);
	table_cell(table, fleet->host[spread->ranked[0].host].name);
	table_cell(table, memory_kind(kind)->words);
	table_cell(table, names.s);
	text_free(&names);
}

/* The memory of a kind that an outlier has, and its largest owner */
static void tell_outlier(const struct fleet *fleet, unsigned int kind, const struct spread *spread, size_t rank,
			 const struct machines *machines, struct text *told)
{
	const struct ranked_host *ranked = &spread->ranked[rank];
	const struct snapshot *host = &machines->seen[ranked->host].host;
	char bytes[SIZE_TEXT], median[SIZE_TEXT], of_owner[SIZE_TEXT];
	struct owners owners;

	text_printf(told, "%s: %s of %s (median %s)", fleet->host[ranked->host].name,
		    size_format(bytes, ranked->bytes, true), memory_kind(kind)->words,
		    size_format(median, spread->median, true));
	owners_find(&owners, host, kind, owners_best(host, kind));
	if (owners.count) {
		text_printf(told, ", mostly %s", owners.owner[0].name);
		/* The lists of a machine are not read at one moment. */
		if (owners.owner[0].bytes <= ranked->bytes)
			text_printf(told, " with %s", size_format(of_owner, owners.owner[0].bytes, true));
	}
	text_puts(told, "\n");
	owners_free(&owners);
}

static void tell_outliers(const struct fleet *fleet, unsigned int kind, const struct spread *spread,
			  const struct machines *machines, struct text *told)
{
	for (size_t rank = 0; rank < spread->outliers && rank < MOST_TOLD; rank++)
		tell_outlier(fleet, kind, spread, rank, machines, told);
	if (spread->outliers > MOST_TOLD)
		text_printf(told, "%zu more machines have much %s.\n", spread->outliers - MOST_TOLD,
			    memory_kind(kind)->words);
}

static int many(const struct where *where, const struct machines *machines)
{
	static const struct table_column columns[] = {
		{ "SUM", true, NULL, false }, { "MEDIAN", true, NULL, false },
		{ "LARGEST", true, NULL, false }, { "ON", false, NULL, false },
		{ "WHAT", false, NULL, false }, { "UNLIKE THE OTHERS", false, NULL, false },
	};
	struct table table = { .column = columns, .columns = 6 };
	struct json json = { .out = stdout };
	struct fleet fleet = { .by = { .by = BY_FILE } };
	struct text told = { 0 };
	int64_t installed = 0;
	bool outliers = false;

	text_clear(&told);
	for (size_t i = 0; i < machines->count; i++) {
		add_kinds(&fleet, &machines->seen[i]);
		installed = add64(installed, machines->seen[i].at[0].installed);
	}
	if (where->output.json) {
		json_object(&json, NULL);
		json_int(&json, "hosts", (int64_t)machines->count);
		json_int(&json, "installed", installed);
		json_array(&json, "kinds");
	}
	for (unsigned int i = 0; i < MEMORY_KINDS; i++) {
		struct spread spread;

		spread_find(&spread, &fleet, i, installed / (int64_t)machines->count / OUTLIER_PART);
		outliers |= spread.outliers > 0;
		if (where->output.json)
			kind_json(&json, &fleet, i, &spread);
		else if (fleet.group[i].sum.bytes)
			kind_cells(&table, &fleet, i, &spread, where);
		if (!where->output.json)
			tell_outliers(&fleet, i, &spread, machines, &told);
		spread_free(&spread);
	}
	if (where->output.json) {
		json_end_array(&json);
		json_end_object(&json);
	} else {
		char size[SIZE_TEXT];

		if (!where->output.no_headings)
			printf("%zu machines with %s installed\n", machines->count,
			       size_format(size, installed, true));
		table_print(&table, stdout, !where->output.no_headings, output_colour());
		if (!where->output.no_headings)
			fputs(outliers ? told.s : "No machine is unlike the others.\n", stdout);
	}
	text_free(&told);
	table_free(&table);
	fleet_free(&fleet);
	return outliers ? STATUS_FOUND : STATUS_OK;
}

static int compare_json(const struct where *where, const struct machines *machines)
{
	struct json json = { .out = stdout };
	int status = STATUS_OK;

	json_array(&json, NULL);
	for (size_t i = 0; i < machines->count; i++) {
		struct history history = history_of(&machines->seen[i]);
		struct remarks remarks;

		unusual_find(&remarks, &history);
		machine_json(where, &machines->seen[i], &remarks, &json, NULL);
		if (remarks.count)
			status = STATUS_FOUND;
		remarks_free(&remarks);
	}
	json_end_array(&json);
	return status;
}

static int show_files(const struct where *where)
{
	struct machines machines = { 0 };
	bool good = read_machines(&machines, where);
	int status = STATUS_TROUBLE;

	if (machines.count == 1)
		status = one(where, &machines.seen[0]);
	else if (machines.count == 2 && where->output.json)
		status = compare_json(where, &machines);
	else if (machines.count == 2)
		status = compare(where, &machines.seen[0], &machines.seen[1]);
	else if (machines.count)
		status = many(where, &machines);
	free_machines(&machines);
	return good ? status : STATUS_TROUBLE;
}

static int64_t installed_here(void)
{
	return mul64(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE));
}

/* Rates need two readings. Returns false if the user has interrupted it. */
static bool wait_delay(const struct where *where, struct snapshot *before)
{
	const struct host_options read = { .activity = true };
	struct interval interval;

	if (!(where->delay > 0))
		return true;
	interval_start(&interval, where->delay);
	host_read_live(before, &read);
	if (interval_wait(&interval))
		return true;
	snapshot_free(before);
	return false;
}

static int show_live(const struct where *where)
{
	const struct host_options read = {
		.recount = where->recount == RECOUNT_ALWAYS ||
			   (where->recount == RECOUNT_IF_SMALL && installed_here() <= RECOUNT_MOST),
		.holders = true,
		.activity = true,
		.pss = where->pss,
	};
	struct machine_seen seen = { .count = 1 };
	struct snapshot before = { 0 };
	int status;

#ifdef HAVE_NCURSES
	/* The screen always has headings. */
	if (!where->once && !where->output.json && !where->output.no_headings && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		return where_live(&read, where->delay > 0 ? where->delay : 5,
				  output_human(&where->output));
#endif
	if (!wait_delay(where, &before))
		return STATUS_TROUBLE;
	host_read_live(&seen.host, &read);
	seen.seconds = host_activity(&seen.host, &before);
	snapshot_free(&before);
	if (!explain(&seen.at[0], &seen.host.info, &seen.host.machine)) {
		warning("cannot read /proc/meminfo");
		status = STATUS_TROUBLE;
	} else {
		status = one(where, &seen);
	}
	snapshot_free(&seen.host);
	return status;
}

int cmd_where(int argc, char **argv)
{
	struct where where = { .owners = 10 };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &where);
	status = where.paths ? show_files(&where) : show_live(&where);
	free(where.path);
	return status;
}
