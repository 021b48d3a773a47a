// SPDX-License-Identifier: GPL-2.0-only
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/number.h"
#include "base/strmap.h"
#include "base/text.h"
#include "memory_image/report.h"
#include "model/fleet.h"
#include "read/allocinfo_ioctl.h"
#include "read/copies.h"
#include "read/input.h"
#include "read/profiling.h"
#include "read/unpack.h"
#include "source/archive.h"
#include "source/sections.h"
#ifdef HAVE_SQLITE
#include "source/fleet_db.h"
#include "source/open_recording.h"
#endif

/* The largest depth of directories. */
#define DEPTH 8

static const char sqlite_magic[] = "SQLite format 3";

static bool is_sqlite(const char *path)
{
	return input_begins(path, sqlite_magic, sizeof(sqlite_magic));
}

/* FILE without @N: its last snapshot or copy. */
#define NO_NUMBER INT64_MIN

/* "night.db@3": cuts the number off and returns it, unless a file has that name. */
static int64_t cut_number(char *path)
{
	char *at = strrchr(path, '@');
	const char *end = at ? at + 1 : NULL;
	int64_t number;

	if (!at || !access(path, F_OK) || !number_read(&end, &number) || *end || number == NO_NUMBER)
		return NO_NUMBER;
	*at = '\0';
	return number;
}

/*
 * The index of @number, which counts from 1, or from -1 backwards. Returns -1 after a message if
 * @path has no such @what ("snapshot").
 */
static int64_t index_of(int64_t number, int64_t count, const char *path, const char *what)
{
	int64_t at = number == NO_NUMBER ? count - 1 : number < 0 ? count + number : number - 1;

	if (at >= 0 && at < count)
		return at;
	warning("%s: there is no %s %" PRId64 ": they are numbered from 1 to %" PRId64
		", or from -1 backwards", path, what, number, count);
	return -1;
}

/* @path is of many hosts. */
static bool takes_no_number(const char *path, int64_t number)
{
	if (number == NO_NUMBER)
		return true;
	warning("%s@%" PRId64 ": a number chooses a snapshot of a recording, or a copy in a file with several",
		path, number);
	return false;
}

bool source_is_recording(const char *path)
{
	char *file = xstrdup(path);
	bool is;

	cut_number(file);
	is = is_sqlite(file);
	free(file);
	return is;
}

static void add_path(struct source_list *list, char *path, const char *label)
{
	GROW(list->path, list->count, list->room);
	GROW(list->label, list->count, list->labels_room);
	list->label[list->count] = label;
	list->path[list->count++] = path;
}

/* Whether a file or directory was visited before, by this name or another one. */
static bool seen_before(struct strmap *seen, const struct stat *st)
{
	size_t count = seen->count;
	char key[48];

	snprintf(key, sizeof(key), "%jx:%jx", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
	return strmap_add(seen, key, strlen(key)) < count;
}

/* The walk through one argument */
struct search {
	struct source_list *list;
	const char *label;
	struct strmap seen;
};

static bool add_directory(struct search *search, const char *path, unsigned int depth);

static bool add_entry(struct search *search, const char *path, unsigned int depth)
{
	struct stat st;

	if (stat(path, &st)) {
		/* The reader of the file reports it. */
		add_path(search->list, xstrdup(path), search->label);
		return true;
	}
	if (seen_before(&search->seen, &st))
		return true;
	if (input_leads_into_kernel(path)) {
		warning("%s is left out: it leads to files of the kernel", path);
		return true;
	}
	if (S_ISDIR(st.st_mode))
		return !depth || add_directory(search, path, depth - 1);
	if (!S_ISREG(st.st_mode)) {
		warning("%s is left out: it is not an ordinary file", path);
		return true;
	}
	add_path(search->list, xstrdup(path), search->label);
	return true;
}

static bool add_directory(struct search *search, const char *path, unsigned int depth)
{
	struct dirent **entry;
	int count = scandir(path, &entry, NULL, alphasort);
	bool good = count >= 0;

	if (!good)
		input_complain(path, errno);
	/* Links come last, so that a target in the same directory keeps its own name. */
	for (int i = 0; i < 2 * count; i++) {
		const struct dirent *e = entry[i % count];
		struct text text = { 0 };

		/* A name that begins with a dot belongs to a file that is being written. */
		if (e->d_name[0] == '.' || (e->d_type == DT_LNK) != (i >= count))
			continue;
		text_printf(&text, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
			    e->d_name);
		good = add_entry(search, text.s, depth) && good;
		text_free(&text);
	}
	for (int i = 0; i < count; i++)
		free(entry[i]);
	if (count >= 0)
		free(entry);
	return good;
}

/* "allocinfo", "allocinfo.gz" */
static bool is_allocinfo(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strncmp(name, "allocinfo", 9) && (!name[9] || name[9] == '.');
}

bool source_list_add(struct source_list *list, const char *path, const char *label)
{
	struct search search = { .list = list, .label = label };
	size_t first = list->count, kept = first;
	bool good, any = false;
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode)) {
		add_path(list, xstrdup(path), label);
		return true;
	}
	if (input_leads_into_kernel(path)) {
		warning("%s is left out: it leads to files of the kernel", path);
		hint("Name the file: " ALLOCINFO_PATH);
		return false;
	}
	seen_before(&search.seen, &st);
	good = add_directory(&search, path, DEPTH);
	strmap_free(&search.seen);
	/* In a directory with files called allocinfo, the other files are something else. */
	for (size_t i = first; i < list->count; i++)
		any |= is_allocinfo(list->path[i]);
	for (size_t i = first; i < list->count; i++) {
		if (any && !is_allocinfo(list->path[i]))
			free(list->path[i]);
		else
			list->path[kept++] = list->path[i];
	}
	list->count = kept;
	if (label && kept - first > 1) {
		warning("%s has %zu files, and the label %s is for one", path, kept - first, label);
		while (list->count > first)
			free(list->path[--list->count]);
		return false;
	}
	if (kept == first && good) {
		warning("there is no file in %s", path);
		good = false;
	}
	return good;
}

void source_list_free(struct source_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->path[i]);
	free(list->path);
	free(list->label);
	*list = (struct source_list){ 0 };
}

/* The path without its suffix @suffix, if it has that. */
static bool cut_suffix(char *name, const char *suffix)
{
	size_t len = strlen(name), cut = strlen(suffix);

	if (len <= cut || strcmp(name + len - cut, suffix))
		return false;
	name[len - cut] = '\0';
	return true;
}

/* web1 of fleet/web1.allocinfo.gz, fleet/web1/proc/allocinfo, web1.db … */
static char *host_of(const char *path)
{
	static const char *const suffixes[] = {
		".gz", ".bz2", ".xz", ".zst", ".tar", ".tgz", ".txz", ".txt", ".db",
		".allocinfo",
	};
	char *all = xstrdup(path), *slash, *name;
	bool more = true;

	while ((slash = strrchr(all, '/'))) {
		name = slash + 1;
		if (strcmp(name, "proc") && *name && !is_allocinfo(all))
			break;
		if (slash == all)
			break;
		*slash = '\0';
	}
	slash = strrchr(all, '/');
	name = xstrdup(slash ? slash + 1 : all);
	free(all);
	while (more) {
		more = false;
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
			more |= cut_suffix(name, suffixes[i]);
	}
	return name;
}

void snapshot_free(struct snapshot *snapshot)
{
	allocinfo_free(&snapshot->info);
	machine_free(&snapshot->machine);
	free(snapshot->host);
	free(snapshot->identity);
	free(snapshot->kernel);
	*snapshot = (struct snapshot){ 0 };
}

bool snapshot_complete(const struct snapshot *snapshot, const char *path)
{
	return allocinfo_complete(&snapshot->info, path) && !snapshot->incomplete;
}

struct visit {
	const char *label;	/* label of the host, NULL: as the source says */
	bool every;		/* every copy in a file with several, not only the last one */
	bool incomplete;	/* parts of the file are missing, which was reported */
	void (*visit)(void *data, struct snapshot *snapshot);
	void *data;
};

static void hand_over(const struct visit *visit, struct snapshot *snapshot, const char *path)
{
	if (visit->label) {
		free(snapshot->host);
		snapshot->host = xstrdup(visit->label);
	}
	snapshot->identity = snapshot->host ? xstrdup(snapshot->host) : realpath(path, NULL);
	if (!snapshot->identity)
		snapshot->identity = xstrdup(path);
	if (!snapshot->host)
		snapshot->host = host_of(path);
	snapshot->hosts = 1;
	snapshot->incomplete |= visit->incomplete;
	visit->visit(visit->data, snapshot);
}

#ifdef HAVE_SQLITE
/*
 * Returns NULL after a message; *@i is the snapshot @number, counted from 1 or, if negative,
 * from the end.
 */
static struct recording *open_at(const char *path, int64_t number, size_t *i)
{
	struct recording *recording = open_recording(path);
	int64_t at;

	if (!recording)
		return NULL;
	at = index_of(number, (int64_t)recording_count(recording), path, "snapshot");
	if (at < 0) {
		recording_close(recording);
		return NULL;
	}
	*i = (size_t)at;
	return recording;
}

bool source_contexts(const char *path, char **contexts, size_t *len)
{
	char *file = xstrdup(path);
	int64_t number = cut_number(file);
	struct text text = { 0 };
	size_t i = 0;
	struct recording *recording = open_at(file, number, &i);
	bool good = recording && recording_load_contexts(recording, i, &text);

	if (recording && !good) {
		warning("%s: %s", file, recording_error(recording));
	} else if (good && !text.len) {
		warning("%s: there are no contexts in snapshot %zu: no call site was split", file,
			i + 1);
		good = false;
	}
	*len = text.len;
	*contexts = text.s;
	if (!good)
		text_free(&text);
	if (recording)
		recording_close(recording);
	free(file);
	return good;
}

bool source_same_recording(const char *a, const char *b)
{
	char *x = xstrdup(a), *y = xstrdup(b);
	bool same;

	cut_number(x);
	cut_number(y);
	same = !strcmp(x, y) && is_sqlite(x) && !fleet_db_is(x);
	free(x);
	free(y);
	return same;
}

bool source_since(const char *from, const char *to, struct allocinfo *info)
{
	char *old = xstrdup(from), *new = xstrdup(to);
	int64_t old_number = cut_number(old), new_number = cut_number(new);
	struct recording *recording = NULL;
	bool good = false;
	size_t i;

	if (source_same_recording(from, to))
		recording = open_at(new, old_number, &i);
	if (recording) {
		int64_t last = index_of(new_number, (int64_t)recording_count(recording), new, "snapshot");
		struct allocinfo since;

		good = (int64_t)i < last && recording_load_since(recording, i, (size_t)last, &since);
		if (good) {
			allocinfo_free(info);
			*info = since;
		}
		recording_close(recording);
	}
	free(old);
	free(new);
	return good;
}

static bool is_chosen(void *query, const struct site *site)
{
	return query_match(query, site);
}

/* Snapshots of one pass over the file: more need more memory, fewer more passes. */
#define PASS 256

bool source_peaks(const char *path, const struct query *query, struct groups *groups)
{
	const struct recording_choice choice = { is_chosen, (void *)query, .by = groups->by };
	char *file = xstrdup(path);
	int64_t number = cut_number(file);
	struct recording *recording = NULL;
	size_t last = 0, at[PASS];
	bool good;

	if (is_sqlite(file) && !fleet_db_is(file))
		recording = open_at(file, number, &last);
	else
		warning("%s: only a recording has peaks", path);
	free(file);
	good = recording;
	for (size_t from = 0; good && from <= last; from += PASS) {
		struct series series = { 0 };

		for (; series.columns < PASS && from + series.columns <= last; series.columns++)
			at[series.columns] = from + series.columns;
		good = load_series(recording, &series, at, &choice);
		for (size_t i = 0; good && i < series.names.count; i++) {
			const char *name = series.names.entry[i].key;
			size_t g = strmap_find(&groups->names, name, strlen(name));

			for (size_t c = 0; g != STRMAP_NONE && c < series.columns; c++) {
				int64_t bytes = series_sums(&series, i)[c].bytes;

				if (bytes > groups->group[g].peak)
					groups->group[g].peak = bytes;
			}
		}
		series_free(&series);
	}
	groups->peak_snapshots = good ? last + 1 : 0;
	if (recording)
		recording_close(recording);
	return good;
}

static bool read_recording(const char *path, int64_t number, const struct visit *visit)
{
	struct snapshot snapshot = { 0 };
	size_t i = 0;
	struct recording *recording = open_at(path, number, &i);
	bool good;

	if (!recording)
		return false;
	good = load_recorded(recording, i, &snapshot.info);
	if (good && !recording_load_machine(recording, i, &snapshot.machine)) {
		warning("%s: %s", path, recording_error(recording));
		good = false;
	}
	if (good) {
		if (*recording_kernel(recording))
			snapshot.kernel = xstrdup(recording_kernel(recording));
		snapshot.time = recording_time(recording, i);
		hand_over(visit, &snapshot, path);
	} else {
		snapshot_free(&snapshot);
	}
	recording_close(recording);
	return good;
}

static bool read_database(const char *path, int64_t number, const struct visit *visit)
{
	bool good, any = false, many = false;
	struct snapshot first = { 0 };
	struct fleet_db *db;

	if (!fleet_db_is(path))
		return read_recording(path, number, visit);
	if (!takes_no_number(path, number))
		return false;
	db = fleet_db_open(path);
	while (!fleet_db_error(db) && !many) {
		struct snapshot snapshot = { 0 };

		if (!fleet_db_next(db, &snapshot)) {
			snapshot_free(&snapshot);
			break;
		}
		/* A label is for one host. */
		many = any && visit->label;
		any = true;
		if (many)
			snapshot_free(&snapshot);
		else if (visit->label)
			first = snapshot;
		else
			hand_over(visit, &snapshot, path);
	}
	if (many) {
		warning("%s has several hosts, and the label %s is for one", path, visit->label);
		snapshot_free(&first);
	} else if (any && visit->label) {
		hand_over(visit, &first, path);
	}
	if (fleet_db_error(db))
		warning("%s: %s", path, fleet_db_error(db));
	else if (!any)
		warning("%s: there is no host in it", path);
	good = any && !many && !fleet_db_error(db);
	fleet_db_close(db);
	return good;
}
#else
bool source_peaks(const char *path, const struct query *query, struct groups *groups)
{
	(void)query, (void)groups;
	warning("%s: only a recording has peaks, and this build reads none (sqlite3)", path);
	return false;
}

bool source_same_recording(const char *a, const char *b)
{
	(void)a, (void)b;
	return false;
}

bool source_since(const char *from, const char *to, struct allocinfo *info)
{
	(void)from, (void)to, (void)info;
	return false;
}

bool source_contexts(const char *path, char **text, size_t *len)
{
	(void)text;
	(void)len;
	warning("%s is a database, and this build cannot read it (sqlite3)", path);
	return false;
}

static bool read_database(const char *path, int64_t number, const struct visit *visit)
{
	(void)number;
	(void)visit;
	warning("%s is a database, and this build cannot read it (sqlite3)", path);
	return false;
}
#endif

static void visit_member(void *data, struct snapshot *s, const char *name)
{
	hand_over(data, s, name);
}

/* The files beside an allocinfo in an unpacked archive; none of them has to exist. */
static void read_beside(struct snapshot *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || !is_allocinfo(path) || !strncmp(path, "/proc/", 6))
		return;
	for (enum member m = 0; m < MEMBERS; m++) {
		struct text file = { 0 };
		size_t len;
		char *text;

		if (m == ALLOCINFO || strcmp(member_files[m].dir, "proc"))
			continue;
		text_printf(&file, "%.*s/%s", (int)(slash - path), path, member_files[m].name);
		if (input_read_found(file.s, &text, &len))
			s->incomplete |= !member_take(s, m, text, len, file.s);
		text_free(&file);
	}
}

static void of_this_machine(struct snapshot *s)
{
	struct utsname names;
	struct timespec now;

	if (!uname(&names)) {
		s->host = xstrdup(names.nodename);
		s->kernel = xstrdup(names.release);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	s->time = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Takes over @text, which was written at @time. Reads its last copy, copy @number, or all of
 * them. @sections has the other files of the machine, maybe none.
 */
static bool read_copies(const char *path, int64_t number, char *text, size_t len, int64_t time,
			struct sections *sections, const struct visit *visit)
{
	struct copies copies;
	int64_t count, first, end;
	bool good;

	copies_find(&copies, text, len);
	count = (int64_t)copies.count;
	first = visit->every ? 0 : index_of(number, count, path, "copy");
	end = visit->every ? count : first + 1;
	good = first >= 0;
	for (int64_t i = first; good && i < end; i++) {
		const struct copy *copy = &copies.copy[i];
		struct snapshot s = { .time = copy->time ? copy->time : time };

		good = allocinfo_take_copy(&s.info, text + copy->start, copy->len, copy->line, path);
		if (!good)
			break;
		/* The user has not chosen it. */
		if (number == NO_NUMBER && !visit->every)
			s.info.copies = copies.count;
		if (!strcmp(path, ALLOCINFO_PATH))
			of_this_machine(&s);
		/* Nothing tells to which of several copies they belong. */
		if (count == 1) {
			bool has[MEMBERS] = { false };

			read_beside(&s, path);
			sections_take(sections, &s, path, has);
		}
		hand_over(visit, &s, path);
	}
	copies_free(&copies);
	free(text);
	return good;
}

/* The file was written when the snapshot was taken, or shortly after. */
static int64_t time_of(const char *path)
{
	int64_t time = copies_time_of_name(path);
	struct stat st;

	if (time || !strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return time;
	return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

/* Takes over @text. */
static bool read_plain(const char *path, int64_t number, char *text, size_t len,
		       const struct visit *visit)
{
	struct sections sections;
	bool good;

	if (!lines_plain(&text, &len)) {
		input_complain(path, errno);
		free(text);
		return false;
	}
	if (sections_cut(&sections, text, len) && sections.of[ALLOCINFO].len) {
		free(text);
		text = sections.of[ALLOCINFO].s;
		len = sections.of[ALLOCINFO].len;
		sections.of[ALLOCINFO] = (struct text){ 0 };
	} else {
		sections_free(&sections);
	}
	good = read_copies(path, number, text, len, time_of(path), &sections, visit);
	sections_free(&sections);
	return good;
}

static bool read_unpacked(const char *path, int64_t number, char *text, size_t len,
			  const struct visit *visit)
{
	struct unpacked unpacked;
	bool good = unpack(&unpacked, text, len, is_member, NULL);
	int why = errno;

	free(text);
	if (!good) {
		input_complain(path, why);
		return false;
	}
	if (unpacked.count == 1 && !*unpacked.member[0].path) {
		struct unpacked_member *m = &unpacked.member[0];

		if (m->len > 15 && !memcmp(m->text, sqlite_magic, 16)) {
			warning("%s is a compressed database", input_name(path));
			hint("SQLite needs it unpacked.");
			good = false;
		} else {
			char *taken = m->text;

			m->text = NULL;
			good = read_plain(path, number, taken, m->len, visit);
		}
	} else {
		good = takes_no_number(path, number) &&
		       archive_read(&unpacked, path, ALLOCINFO, visit_member, (void *)visit);
	}
	unpacked_free(&unpacked);
	return good;
}

bool source_running(struct snapshot *s, const char *func, const char *module)
{
	*s = (struct snapshot){ .hosts = 1 };
	if (!allocinfo_read_some(&s->info, func, module))
		return false;
	profiling_mark(&s->info, ALLOCINFO_PATH);
	of_this_machine(s);
	if (!s->host)
		s->host = host_of(ALLOCINFO_PATH);
	return true;
}

/*
 * Reads the whole file; for an image of memory, the text that allocinfo would have had. NULL
 * after a message.
 */
static char *read_text(const char *path, size_t *len, bool *incomplete)
{
	struct text report = { 0 };
	char *text;

	if (image_file(path)) {
		if (image_report(path, &report, incomplete)) {
			*len = report.len;
			return report.s;
		}
		text_free(&report);
	} else if (input_read_raw(path, &text, len)) {
		return text;
	} else {
		allocinfo_complain(path, errno);
	}
	return NULL;
}

static bool read_path(const char *path, int64_t number, const struct visit *visit)
{
	struct visit v = *visit;
	size_t len;
	char *text;

	if (is_sqlite(path))
		return read_database(path, number, visit);
	text = read_text(path, &len, &v.incomplete);
	if (!text)
		return false;
	if (unpack_is_packed(text, len))
		return read_unpacked(path, number, text, len, &v);
	return read_plain(path, number, text, len, &v);
}

bool source_read(const char *path, const char *label,
		 void (*visit)(void *data, struct snapshot *snapshot), void *data)
{
	const struct visit v = { .label = label, .visit = visit, .data = data };
	char *file = xstrdup(path);
	int64_t number = cut_number(file);
	struct stat st;
	bool good = (number == NO_NUMBER || stat(file, &st) || !S_ISDIR(st.st_mode) ||
		     takes_no_number(file, number)) && read_path(file, number, &v);

	free(file);
	return good;
}

bool source_take(const char *path, char *text, size_t len,
		 void (*visit)(void *data, struct snapshot *snapshot), void *data)
{
	const struct visit v = { .visit = visit, .data = data };

	return read_plain(path, NO_NUMBER, text, len, &v);
}

bool source_read_every(const char *path, void (*visit)(void *data, struct snapshot *snapshot),
		       void *data)
{
	const struct visit v = { .every = true, .visit = visit, .data = data };

	return read_path(path, NO_NUMBER, &v);
}

struct total {
	struct snapshot *snapshot;
	struct fleet fleet;
	struct strmap names;
	void (*each)(void *data, const struct allocinfo *info);
	void *each_data;
	bool complete;
};

bool source_host_complete(const struct snapshot *s)
{
	if (s->info.part)
		warning("%s: only a part of a list, so call sites are missing and count as 0", s->host);
	return snapshot_complete(s, s->host) && !s->info.part;
}

static void add_host(struct total *total, struct snapshot *s)
{
	fleet_add(&total->fleet, s->host, s->kernel, &s->info);
	total->complete = source_host_complete(s) && total->complete;
}

static bool is_again(struct strmap *names, const char *name)
{
	size_t count = names->count;

	if (strmap_add(names, name, strlen(name)) == count)
		return false;
	warning("%s was read more than once: its memory counts each time", name);
	return true;
}

/* A single snapshot stays as it is; from the second one on they are added up. */
static void visit_total(void *data, struct snapshot *s)
{
	struct total *total = data;
	struct snapshot *sum = total->snapshot;

	total->complete = !is_again(&total->names, s->identity) && total->complete;
	if (total->each)
		total->each(total->each_data, &s->info);
	if (!sum->hosts++) {
		*sum = *s;
		return;
	}
	if (sum->hosts == 2) {
		add_host(total, sum);
		machine_free(&sum->machine);
		sum->time = 0;
	}
	add_host(total, s);
	if (sum->kernel && (!s->kernel || strcmp(s->kernel, sum->kernel))) {
		free(sum->kernel);
		sum->kernel = NULL;
	}
	snapshot_free(s);
}

static bool read_all(const struct source_files *files,
		     void (*visit)(void *data, struct snapshot *snapshot), void *data)
{
	struct source_list list = { 0 };
	bool good = true;

	for (size_t i = 0; i < files->count; i++)
		good = source_list_add(&list, files->path[i],
				       files->label ? files->label[i] : NULL) && good;
	for (size_t i = 0; i < list.count; i++) {
		good = source_read(list.path[i], list.label[i], visit, data) && good;
		if (files->step)
			files->step(i + 1, list.count);
	}
	if (files->step)
		files->step(0, list.count);
	source_list_free(&list);
	return good;
}

bool source_total(struct snapshot *snapshot, const struct source_files *files)
{
	struct total total = {
		.snapshot = snapshot, .complete = true, .each = files->each, .each_data = files->each_data,
	};
	bool good;

	*snapshot = (struct snapshot){ 0 };
	good = read_all(files, visit_total, &total);
	if (snapshot->hosts > 1) {
		struct allocinfo first = snapshot->info;

		fleet_total(&total.fleet, &snapshot->info);
		snapshot->info.major = first.major;
		snapshot->info.minor = first.minor;
		allocinfo_free(&first);
	}
	fleet_free(&total.fleet);
	strmap_free(&total.names);
	snapshot->incomplete |= !good || !total.complete;
	return snapshot->hosts > 0;
}

bool source_host_again(struct strmap *hosts, const char *name)
{
	if (!is_again(hosts, name))
		return false;
	hint("If these are several hosts: --label host=NAME before a file names its host.");
	return true;
}

struct hosts {
	struct snapshot *all;
	struct strmap names;
	struct site (*sum)(void *data, struct snapshot *snapshot);
	void *data;
};

static void visit_host(void *data, struct snapshot *s)
{
	struct hosts *hosts = data;
	struct allocinfo *all = &hosts->all->info;
	struct site site;

	hosts->all->incomplete |= !source_host_complete(s);
	hosts->all->incomplete |= source_host_again(&hosts->names, s->host);
	site = hosts->sum(hosts->data, s);
	site.file = arena_copy(&all->strings, s->host, strlen(s->host));
	site.func = "";
	GROW(all->site, all->count, all->room);
	all->site[all->count++] = site;
	if (!hosts->all->hosts++) {
		all->major = s->info.major;
		all->minor = s->info.minor;
	}
	snapshot_free(s);
}

bool source_hosts(struct snapshot *all, const struct source_files *files,
		  struct site (*sum)(void *data, struct snapshot *snapshot), void *data)
{
	struct hosts hosts = { .all = all, .sum = sum, .data = data };

	*all = (struct snapshot){ 0 };
	if (!read_all(files, visit_host, &hosts))
		all->incomplete = true;
	strmap_free(&hosts.names);
	return all->hosts > 0;
}
