// SPDX-License-Identifier: GPL-2.0
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/database.h"
#include "base/memory.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/outfile.h"
#include "base/strmap.h"
#include "model/group.h"
#include "read/contexts.h"

#define FORMAT "1"

static const char meta_schema[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;";

/* site.name and gauge.name tell apart what has the same place. */
static const char schema[] =
	"CREATE TABLE snapshot (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,"
	" major INTEGER NOT NULL, minor INTEGER NOT NULL);"
	"CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" file TEXT NOT NULL, line INTEGER NOT NULL, module TEXT,"
	" func TEXT NOT NULL);"
	"CREATE TABLE row (site INTEGER NOT NULL REFERENCES site,"
	" snapshot INTEGER NOT NULL REFERENCES snapshot, bytes INTEGER,"
	" calls INTEGER, notes TEXT, PRIMARY KEY (site, snapshot)) WITHOUT ROWID;"
	"CREATE TABLE gauge (id INTEGER PRIMARY KEY, source TEXT NOT NULL,"
	" name TEXT NOT NULL, UNIQUE (source, name));"
	"CREATE TABLE sample (gauge INTEGER NOT NULL REFERENCES gauge,"
	" snapshot INTEGER NOT NULL REFERENCES snapshot, value INTEGER NOT NULL,"
	" PRIMARY KEY (gauge, snapshot)) WITHOUT ROWID;";

/* Recordings of before have none of these; they get them when something is added. */
static const char contexts_schema[] =
	"CREATE TABLE IF NOT EXISTS stack (id INTEGER PRIMARY KEY,"
	" frames TEXT NOT NULL UNIQUE);"
	"CREATE TABLE IF NOT EXISTS contexts ("
	"snapshot INTEGER PRIMARY KEY REFERENCES snapshot, text TEXT NOT NULL);";

/* In the text of contexts: "=17" stands for the frames of stack 17. */
#define STACK_MARK '='

enum statement {
	ADD_SNAPSHOT, ADD_SITE, ADD_ROW, ADD_GAUGE, ADD_SAMPLE, LOAD, STATEMENTS
};

static const char *const sql[STATEMENTS] = {
	[ADD_SNAPSHOT] = "INSERT INTO snapshot VALUES (?, ?, ?, ?)",
	[ADD_SITE] = "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?)",
	[ADD_ROW] = "INSERT INTO row VALUES (?, ?, ?, ?, ?)",
	[ADD_GAUGE] = "INSERT INTO gauge VALUES (?, ?, ?)",
	[ADD_SAMPLE] = "INSERT INTO sample VALUES (?, ?, ?)",
	/* By its key the last row of each site is found without reading all. */
	[LOAD] = "SELECT file, line, module, func, bytes, calls, notes, id FROM site"
		 " JOIN row ON site = id AND snapshot = (SELECT max(snapshot)"
		 "  FROM row WHERE site = id AND snapshot <= ?)"
		 " WHERE bytes IS NOT NULL ORDER BY id",
};

/* The last stored state of a row, by the number of its site. */
struct state {
	int64_t bytes, calls;
	char *notes;
	bool present;
	size_t seen;	/* the last snapshot that had it */
};

/* The last stored value of a gauge, by its number. */
struct sample {
	int64_t value;
	int64_t seen;	/* the last snapshot that had it */
};

struct recording {
	sqlite3 *db;
	int lock;	/* of who writes it, else -1 */
	char *created;	/* the file, if it was made now and is empty as yet */
	sqlite3_stmt *statement[STATEMENTS];
	char *error;
	const char *hint;
	char *kernel;
	struct snapshot_head {
		int64_t id, time;
		unsigned int major, minor;
	} *snapshot;
	size_t count, room;

	/* For writing; the index is the id less 1. */
	struct strmap sites, gauges;
	struct state *state;
	size_t state_room;
	struct sample *sample;
	size_t sample_room;
};

static const char damaged[] = "damaged: its rows are not in their order";

static bool fail(struct recording *rec)
{
	if (!rec->error)
		rec->error = xstrdup(rec->db ? database_error(rec->db) : "out of memory");
	return false;
}

static bool fail_with(struct recording *rec, const char *why)
{
	if (!rec->error)
		rec->error = xstrdup(why);
	return false;
}

static bool run(struct recording *rec, const char *text)
{
	return sqlite3_exec(rec->db, text, NULL, NULL, NULL) == SQLITE_OK ||
	       fail(rec);
}

/* Runs a statement that is bound and returns nothing. */
static bool step(struct recording *rec, enum statement i)
{
	bool good = sqlite3_step(rec->statement[i]) == SQLITE_DONE;

	if (!good)
		fail(rec);
	sqlite3_reset(rec->statement[i]);
	sqlite3_clear_bindings(rec->statement[i]);
	return good;
}

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
	if (text)
		sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

const char *recording_error(const struct recording *rec)
{
	return rec->error;
}

const char *recording_hint(const struct recording *rec)
{
	return rec->hint;
}

size_t recording_count(const struct recording *rec)
{
	return rec->count;
}

int64_t recording_time(const struct recording *rec, size_t i)
{
	return rec->snapshot[i].time;
}

const char *recording_kernel(const struct recording *rec)
{
	return rec->kernel ? rec->kernel : "";
}

/* And, if it was @opened, what SQLite could not put into it. */
static void remove_file(const char *path, bool opened)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	struct text name = { 0 };

	for (size_t i = 0; i < (opened ? sizeof(suffixes) / sizeof(*suffixes) : 1); i++) {
		text_clear(&name);
		text_printf(&name, "%s%s", path, suffixes[i]);
		unlink(name.s);
	}
	text_free(&name);
}

void recording_close(struct recording *rec)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(rec->statement[i]);
	sqlite3_close(rec->db);
	if (rec->created)
		remove_file(rec->created, rec->db);
	free(rec->created);
	/* Not before: SQLite's own locks on the file would be gone with it. */
	if (rec->lock >= 0)
		close(rec->lock);
	for (size_t i = 0; i < rec->state_room; i++)
		free(rec->state[i].notes);
	free(rec->state);
	free(rec->sample);
	free(rec->snapshot);
	free(rec->error);
	free(rec->kernel);
	strmap_free(&rec->sites);
	strmap_free(&rec->gauges);
	free(rec);
}

static bool prepare(struct recording *rec)
{
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(rec->db, sql[i], -1,
				       SQLITE_PREPARE_PERSISTENT,
				       &rec->statement[i], NULL) != SQLITE_OK)
			return fail(rec);
	return true;
}

static sqlite3_stmt *query(struct recording *rec, const char *text)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(rec->db, text, -1, &s, NULL) != SQLITE_OK)
		fail(rec);
	return s;
}

/* Ends a query; @result is what its last step returned. */
static bool query_end(struct recording *rec, sqlite3_stmt *s, int result)
{
	/* What it failed for is told again: another query may have gone well since. */
	sqlite3_finalize(s);
	return result == SQLITE_DONE || fail(rec);
}

static bool load_meta(struct recording *rec)
{
	sqlite3_stmt *s;
	bool known = false, ours = false;
	int result;

	if (!database_has(rec->db, meta_schema)) {
		/* No such table, or no database at all; what else there is, SQLite says. */
		int code = sqlite3_errcode(rec->db);

		if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_NOTADB)
			return fail(rec);
		return fail_with(rec, "not a recording of codetag");
	}
	s = query(rec, "SELECT key, value FROM meta");
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *key = database_column(s, 0);
		const char *value = database_column(s, 1);

		if (!key || !value)
			continue;
		if (!strcmp(key, "format")) {
			ours = true;
			known = !strcmp(value, FORMAT);
		}
		else if (!strcmp(key, "kernel") && !rec->kernel)
			rec->kernel = xstrdup(value);
	}
	if (rec->kernel)
		text_clean(rec->kernel);
	if (!query_end(rec, s, result))
		return false;
	return known || fail_with(rec, ours ? "a recording of another version of codetag" :
					 "not a recording of codetag");
}

static bool load_snapshots(struct recording *rec)
{
	sqlite3_stmt *s = query(rec, "SELECT id, time, major, minor FROM snapshot"
				       " ORDER BY id");
	int64_t last = 0;
	int result;

	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		if (!database_ascends(&last, sqlite3_column_int64(s, 0)) || last == INT64_MAX) {
			sqlite3_finalize(s);
			return fail_with(rec, damaged);
		}
		GROW(rec->snapshot, rec->count, rec->room);
		rec->snapshot[rec->count++] = (struct snapshot_head){
			sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
			sqlite3_column_int(s, 2), sqlite3_column_int(s, 3),
		};
	}
	return query_end(rec, s, result);
}

static bool has_contexts(struct recording *rec)
{
	sqlite3_stmt *s = query(rec, "SELECT 1 FROM sqlite_master WHERE name IN ('contexts', 'stack')");
	bool has = s && sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	return has;
}

static bool open_database(struct recording *rec, const char *path, enum database_use use)
{
	rec->db = database_open(path, use, &rec->error);
	return rec->db;
}

/* Whether the tables are those of a recording; that of contexts may be missing. */
static bool check_tables(struct recording *rec)
{
	return (database_has(rec->db, schema) &&
		(!has_contexts(rec) || database_has(rec->db, contexts_schema))) ||
	       fail_with(rec, "damaged: its tables are not those of a recording");
}

static struct recording *new_recording(void)
{
	struct recording *rec = xcalloc(1, sizeof(*rec));

	rec->lock = -1;
	return rec;
}

/* An index is computed for each row that is appended, at any cost; codetag makes none. */
static bool check_indexes(struct recording *rec)
{
	sqlite3_stmt *s = query(rec, "SELECT 1 FROM sqlite_master WHERE type = 'index' AND sql NOT NULL");
	bool has = s && sqlite3_step(s) == SQLITE_ROW;

	sqlite3_finalize(s);
	return s && (!has || fail_with(rec, "it has an index of its own: drop that first, "
				       "or take another name"));
}

static bool open_existing(struct recording *rec, const char *path, enum database_use use)
{
	return open_database(rec, path, use) && load_meta(rec) && check_tables(rec) &&
	       (use != DATABASE_APPEND || check_indexes(rec)) && load_snapshots(rec) && prepare(rec);
}

struct recording *recording_open(const char *path)
{
	struct recording *rec = new_recording();

	open_existing(rec, path, DATABASE_READ);
	return rec;
}

/* Room for the state of site number @i. */
static struct state *state_of(struct recording *rec, size_t i)
{
	while (rec->state_room <= i) {
		size_t old = rec->state_room;

		GROW(rec->state, old, rec->state_room);
		memset(rec->state + old, 0,
		       (rec->state_room - old) * sizeof(*rec->state));
	}
	return &rec->state[i];
}

static struct sample *sample_of(struct recording *rec, size_t i)
{
	while (rec->sample_room <= i)
		GROW(rec->sample, rec->sample_room, rec->sample_room);
	return &rec->sample[i];
}

static void set_state(struct state *state, int64_t bytes, int64_t calls,
		      const char *notes)
{
	state->bytes = bytes;
	state->calls = calls;
	state->present = true;
	free(state->notes);
	state->notes = notes ? xstrdup(notes) : NULL;
}

/* What an earlier run wrote last, so that only changes are appended. */
static bool load_states(struct recording *rec)
{
	sqlite3_stmt *s = query(rec,
		"SELECT name, bytes, calls, notes, id FROM site LEFT JOIN"
		" (SELECT site, max(snapshot), bytes, calls, notes FROM row"
		"  GROUP BY site) ON site = id ORDER BY id");
	int64_t last = INT64_MIN;
	int result;

	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 0);
		size_t i = strmap_add(&rec->sites, name ? name : "",
				      name ? strlen(name) : 0);

		if (!database_ascends(&last, sqlite3_column_int64(s, 4))) {
			fail_with(rec, damaged);
			break;
		}
		if (sqlite3_column_type(s, 1) == SQLITE_NULL)
			state_of(rec, i);
		else
			set_state(state_of(rec, i), sqlite3_column_int64(s, 1),
				  sqlite3_column_int64(s, 2),
				  database_column(s, 3));
	}
	if (!query_end(rec, s, result))
		return false;
	s = query(rec,
		"SELECT source || '.' || name, value FROM gauge JOIN"
		" (SELECT gauge, max(snapshot), value FROM sample GROUP BY gauge)"
		" ON gauge = id ORDER BY id");
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 0);
		size_t i = strmap_add(&rec->gauges, name ? name : "",
				      name ? strlen(name) : 0);

		*sample_of(rec, i) = (struct sample){ sqlite3_column_int64(s, 1), 0 };
	}
	return query_end(rec, s, result);
}

/* Behind the bytes from 1 GiB on that SQLite locks in its files. */
#define LOCK_BYTE 0x40000200

/*
 * Who writes knows what was written last, so there may be one only. The lock is one of an
 * open file, which those that SQLite has for the process do not disturb.
 */
static bool lock_file(struct recording *rec, const char *path, bool create)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1
	};
	struct stat st;

	rec->lock = create ? outfile_create_now(path) :
			     open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (rec->lock < 0)
		return fail_with(rec, strerror(errno));
	if (!fstat(rec->lock, &st) && !S_ISREG(st.st_mode))
		return fail_with(rec, "it is no ordinary file");
	if (!fcntl(rec->lock, F_OFD_SETLK, &lock))
		return true;
	if (errno != EAGAIN && errno != EACCES)
		return fail_with(rec, strerror(errno));
	rec->hint = "Wait for it, end it, or take another name.";
	return fail_with(rec, "being written by another codetag record");
}

/* Of another kernel the same places are other call sites. */
static bool same_kernel(struct recording *rec, const char *kernel)
{
	struct text why = { 0 };

	if (!*kernel || !*recording_kernel(rec) || !strcmp(kernel, recording_kernel(rec)))
		return true;
	text_printf(&why, "recorded on Linux %s, and this is %s", recording_kernel(rec), kernel);
	fail_with(rec, why.s);
	text_free(&why);
	rec->hint = "Begin a new recording: take another name.";
	return false;
}

static int64_t pragma(struct recording *rec, const char *text)
{
	sqlite3_stmt *s = query(rec, text);
	int64_t value = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;

	sqlite3_finalize(s);
	return value;
}

/*
 * Puts what was committed from the file -wal into the recording itself: who copies that alone
 * gets all snapshots. Room is made first, as on a full disk the file would be left half old and
 * half new; that is why SQLite does not do it by itself. What a reader keeps back goes with the next
 * snapshot.
 */
static bool settle(struct recording *rec)
{
	off_t size = pragma(rec, "PRAGMA page_count") * pragma(rec, "PRAGMA page_size");
	struct stat st;
	int result;

	if (fstat(rec->lock, &st))
		return fail_with(rec, strerror(errno));
	sqlite3_db_config(rec->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	result = st.st_size < size ? posix_fallocate(rec->lock, 0, size) : 0;
	if (result)
		return fail_with(rec, strerror(result));
	result = sqlite3_wal_checkpoint_v2(rec->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (result != SQLITE_OK && result != SQLITE_BUSY)
		return fail(rec);
	sqlite3_db_config(rec->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return true;
}

struct recording *recording_create(const char *path, const char *kernel, bool append)
{
	struct recording *rec = new_recording();
	sqlite3_stmt *s;

	if (append) {
		if (lock_file(rec, path, false) && open_existing(rec, path, DATABASE_APPEND) &&
		    same_kernel(rec, kernel) &&
		    run(rec, "PRAGMA wal_autocheckpoint = 0") && run(rec, contexts_schema))
			load_states(rec);
		return rec;
	}
	/* Never a file that another has made meanwhile: one without a snapshot is removed. */
	if (!lock_file(rec, path, true))
		return rec;
	rec->created = xstrdup(path);
	if (!open_database(rec, path, DATABASE_NEW))
		return rec;
	if (!run(rec, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
			"PRAGMA wal_autocheckpoint = 0;"
			"BEGIN;") ||
	    !run(rec, meta_schema) || !run(rec, schema) || !run(rec, contexts_schema) ||
	    !run(rec, "INSERT INTO meta VALUES ('format', '" FORMAT "')"))
		return rec;
	s = query(rec, "INSERT INTO meta VALUES ('kernel', ?)");
	if (!s)
		return rec;
	bind_text(s, 1, kernel);
	if (query_end(rec, s, sqlite3_step(s)) && run(rec, "COMMIT") && settle(rec)) {
		rec->kernel = xstrdup(kernel);
		prepare(rec);
	}
	return rec;
}

void recording_do_not_sync(struct recording *rec)
{
	if (!rec->error)
		run(rec, "PRAGMA synchronous = OFF");
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool add_site(struct recording *rec, size_t i, const struct group *group)
{
	sqlite3_stmt *s = rec->statement[ADD_SITE];

	sqlite3_bind_int64(s, 1, (int64_t)i + 1);
	bind_text(s, 2, group->name);
	bind_text(s, 3, group->site->file);
	sqlite3_bind_int64(s, 4, group->site->line);
	bind_text(s, 5, group->site->module);
	bind_text(s, 6, group->site->func);
	return step(rec, ADD_SITE);
}

/* @site NULL: the row has vanished. */
static bool add_row(struct recording *rec, size_t i, int64_t snapshot,
		    const struct site *site)
{
	sqlite3_stmt *s = rec->statement[ADD_ROW];

	sqlite3_bind_int64(s, 1, (int64_t)i + 1);
	sqlite3_bind_int64(s, 2, snapshot);
	if (site) {
		sqlite3_bind_int64(s, 3, site->bytes);
		sqlite3_bind_int64(s, 4, site->calls);
		bind_text(s, 5, site->notes);
	}
	return step(rec, ADD_ROW);
}

static bool add_rows(struct recording *rec, int64_t snapshot,
		     const struct allocinfo *info)
{
	struct groups groups = { .by = { BY_ROW, 0 } };
	size_t known = rec->sites.count;
	bool good = true;

	groups_add(&groups, info, NULL);
	for (size_t g = 0; g < groups.count && good; g++) {
		const struct group *group = &groups.group[g];
		const struct site *site = group->site;
		size_t i = strmap_add(&rec->sites, group->name,
				      strlen(group->name));
		struct state *state = state_of(rec, i);

		state->seen = snapshot;
		if (i >= known) {
			good = add_site(rec, i, group);
			known = rec->sites.count;
		} else if (state->present && state->bytes == site->bytes &&
			   state->calls == site->calls &&
			   same_text(state->notes, site->notes)) {
			continue;
		}
		good = good && add_row(rec, i, snapshot, site);
		set_state(state, site->bytes, site->calls, site->notes);
	}
	for (size_t i = 0; i < rec->sites.count && good; i++) {
		struct state *state = &rec->state[i];

		if (state->present && state->seen != (size_t)snapshot) {
			good = add_row(rec, i, snapshot, NULL);
			state->present = false;
		}
	}
	groups_free(&groups);
	return good;
}

static bool put_sample(struct recording *rec, size_t i, int64_t snapshot, int64_t value)
{
	sqlite3_stmt *s = rec->statement[ADD_SAMPLE];

	*sample_of(rec, i) = (struct sample){ value, snapshot };
	sqlite3_bind_int64(s, 1, (int64_t)i + 1);
	sqlite3_bind_int64(s, 2, snapshot);
	sqlite3_bind_int64(s, 3, value);
	return step(rec, ADD_SAMPLE);
}

static bool add_sample(struct recording *rec, int64_t snapshot, const char *source,
		       const char *name, int64_t value)
{
	size_t known = rec->gauges.count, i;
	struct text key = { 0 };
	struct sample *last;
	sqlite3_stmt *s;

	text_printf(&key, "%s.%s", source, name);
	i = strmap_add(&rec->gauges, key.s, key.len);
	text_free(&key);
	last = sample_of(rec, i);
	if (i == known) {
		s = rec->statement[ADD_GAUGE];
		sqlite3_bind_int64(s, 1, (int64_t)i + 1);
		bind_text(s, 2, source);
		bind_text(s, 3, name);
		if (!step(rec, ADD_GAUGE))
			return false;
	} else if (last->seen == snapshot || last->value == value) {
		/* Twice in one file: the first counts, as for who reads the file. */
		last->seen = snapshot;
		return true;
	}
	return put_sample(rec, i, snapshot, value);
}

static bool add_fields(struct recording *rec, int64_t snapshot, const char *source,
		       const struct fields *fields)
{
	for (size_t i = 0; fields && i < fields->count; i++) {
		const struct field *field = &fields->field[i];

		if (field->is_number && !add_sample(rec, snapshot, source,
						    field->name, field->number))
			return false;
	}
	return true;
}

static const struct {
	const char *name;
	size_t offset;	/* in a slab_cache */
	bool counts;	/* has a sum */
} slab_columns[] = {
	{ "active", offsetof(struct slab_cache, active), true },
	{ "objects", offsetof(struct slab_cache, objects), true },
	{ "object_size", offsetof(struct slab_cache, object_size), false },
	{ "objects_per_slab", offsetof(struct slab_cache, objects_per_slab), false },
	{ "pages_per_slab", offsetof(struct slab_cache, pages_per_slab), false },
	{ "active_slabs", offsetof(struct slab_cache, active_slabs), true },
	{ "slabs", offsetof(struct slab_cache, slabs), true },
};

#define SLAB_COLUMNS (sizeof(slab_columns) / sizeof(*slab_columns))

static int64_t *slab_column(const struct slab_cache *cache, size_t column)
{
	return (int64_t *)((char *)cache + slab_columns[column].offset);
}

/*
 * Rows of one name are one cache, as for 'slabs --diff': counts are summed, and sizes,
 * which are the same where a driver has a cache for each device, are those of the last.
 */
static void sum_slabs(struct slabinfo *sums, const struct slabinfo *slabs)
{
	struct strmap names = { 0 };

	for (size_t i = 0; i < slabs->count; i++) {
		struct slab_cache cache = slabs->cache[i];
		size_t at = strmap_add(&names, cache.name, strlen(cache.name));

		if (at == sums->count) {
			GROW(sums->cache, sums->count, sums->room);
			sums->cache[sums->count++] = cache;
			continue;
		}
		for (size_t k = 0; k < SLAB_COLUMNS; k++)
			if (slab_columns[k].counts)
				*slab_column(&cache, k) =
					add64(*slab_column(&cache, k),
					      *slab_column(&sums->cache[at], k));
		sums->cache[at] = cache;
	}
	strmap_free(&names);
}

#define SLABS "slabinfo"

/* What is not in the snapshot is gone, and has 0 from now on. */
static bool end_gone(struct recording *rec, int64_t snapshot, const char *source)
{
	size_t len = strlen(source);
	bool good = true;

	for (size_t i = 0; i < rec->gauges.count && good; i++) {
		const struct sample *last = sample_of(rec, i);

		if (last->seen != snapshot && last->value &&
		    !strncmp(rec->gauges.entry[i].key, source, len) &&
		    rec->gauges.entry[i].key[len] == '.')
			good = put_sample(rec, i, snapshot, 0);
	}
	return good;
}

static bool add_slabs(struct recording *rec, int64_t snapshot,
		      const struct slabinfo *slabs)
{
	struct slabinfo sums = { 0 };
	struct text name = { 0 };
	bool good = true;

	if (slabs)
		sum_slabs(&sums, slabs);
	for (size_t i = 0; i < sums.count && good; i++) {
		const struct slab_cache *c = &sums.cache[i];

		for (size_t k = 0; k < SLAB_COLUMNS && good; k++) {
			text_clear(&name);
			text_printf(&name, "%s/%s", c->name, slab_columns[k].name);
			good = add_sample(rec, snapshot, SLABS, name.s,
					  *slab_column(c, k));
		}
	}
	/* A cache that is there has a size. */
	if (good && sums.count && !slabs->bad.count)
		good = end_gone(rec, snapshot, SLABS);
	text_free(&name);
	slabinfo_free(&sums);
	return good;
}

#define PAGES "zoneinfo"

static bool add_pages(struct recording *rec, int64_t snapshot, const struct zone_pages *pages)
{
	return !pages || !pages->free ||
	       (add_sample(rec, snapshot, PAGES, "free", pages->free) &&
		add_sample(rec, snapshot, PAGES, "percpu", pages->percpu) &&
		add_sample(rec, snapshot, PAGES, "present", pages->present) &&
		add_sample(rec, snapshot, PAGES, "managed", pages->managed));
}

#define PROCESSES "process"

/* More would only make the file large: these are the largest. */
#define MOST_PROCESSES 30

static bool add_processes(struct recording *rec, int64_t snapshot,
			  const struct holders *processes)
{
	if (!processes || !processes->count)
		return true;
	for (size_t i = 0; i < processes->count && i < MOST_PROCESSES; i++)
		if (!add_sample(rec, snapshot, PROCESSES, processes->holder[i].name,
				processes->holder[i].bytes))
			return false;
	return end_gone(rec, snapshot, PROCESSES);
}

/* The number of a stack, which is added if it is a new one; 0: failed. */
static int64_t stack_number(struct recording *rec, const char *frames, size_t len)
{
	sqlite3_stmt *add = query(rec, "INSERT OR IGNORE INTO stack (frames) VALUES (?)"), *find;
	int64_t number = 0;

	if (!add)
		return 0;
	sqlite3_bind_text(add, 1, frames, (int)len, SQLITE_TRANSIENT);
	if (!query_end(rec, add, sqlite3_step(add)))
		return 0;
	find = query(rec, "SELECT id FROM stack WHERE frames = ?");
	if (!find)
		return 0;
	sqlite3_bind_text(find, 1, frames, (int)len, SQLITE_TRANSIENT);
	if (sqlite3_step(find) == SQLITE_ROW)
		number = sqlite3_column_int64(find, 0);
	else
		fail(rec);
	sqlite3_finalize(find);
	return number;
}

/* Stacks come again in each snapshot and for each age: only their numbers are in the text. */
static bool add_contexts(struct recording *rec, int64_t snapshot, const char *contexts)
{
	struct text text = { 0 };
	sqlite3_stmt *s;
	bool good = true;

	if (!contexts)
		return true;
	for (const char *end, *line = contexts; *line && good; line = end) {
		end = strchrnul(line, '\n');
		end += *end == '\n';
		if (!contexts_is_frame(line)) {
			text_add(&text, line, (size_t)(end - line));
			continue;
		}
		while (contexts_is_frame(end)) {
			end = strchrnul(end, '\n');
			end += *end == '\n';
		}
		text_printf(&text, "%c%lld\n", STACK_MARK,
			    (long long)stack_number(rec, line, (size_t)(end - line)));
		good = !rec->error;
	}
	s = good ? query(rec, "INSERT INTO contexts VALUES (?, ?)") : NULL;
	if (s) {
		sqlite3_bind_int64(s, 1, snapshot);
		sqlite3_bind_text(s, 2, text.s, (int)text.len, SQLITE_TRANSIENT);
		good = query_end(rec, s, sqlite3_step(s));
	}
	text_free(&text);
	return good && s;
}

bool recording_add(struct recording *rec, const struct moment *moment)
{
	int64_t id = rec->count ? rec->snapshot[rec->count - 1].id + 1 : 1;
	sqlite3_stmt *s = rec->statement[ADD_SNAPSHOT];

	if (!run(rec, "BEGIN"))
		return false;
	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, moment->time);
	sqlite3_bind_int64(s, 3, moment->info->major);
	sqlite3_bind_int64(s, 4, moment->info->minor);
	if (!step(rec, ADD_SNAPSHOT) || !add_rows(rec, id, moment->info) ||
	    !add_fields(rec, id, "meminfo", moment->meminfo) ||
	    !add_fields(rec, id, "vmstat", moment->vmstat) ||
	    !add_slabs(rec, id, moment->slabinfo) ||
	    !add_pages(rec, id, moment->pages) ||
	    !add_processes(rec, id, moment->processes) ||
	    !add_contexts(rec, id, moment->contexts) || !run(rec, "COMMIT") || !settle(rec))
		return false;
	GROW(rec->snapshot, rec->count, rec->room);
	rec->snapshot[rec->count++] = (struct snapshot_head){
		id, moment->time, moment->info->major, moment->info->minor
	};
	free(rec->created);
	rec->created = NULL;
	return true;
}

size_t recording_pick(const struct recording *rec, size_t k, size_t take)
{
	size_t last = rec->count - 1;

	return take > 1 ? k * last / (take - 1) : last;
}

/* Rows come in the order of their key: site after site, and in that by time. */
struct pass {
	struct recording *rec;
	sqlite3_stmt *rows;
	int result;		/* of the last step */
	const size_t *at;
	size_t columns;
};

/* Adds the rows of @site to @sums, which may be NULL: each holds until the next one. */
static void add_site_rows(struct pass *pass, int64_t site, struct sum *sums)
{
	struct sum state = { 0 };
	size_t column = 0;

	for (;;) {
		bool row = pass->result == SQLITE_ROW &&
			   sqlite3_column_int64(pass->rows, 0) == site;
		int64_t until = row ? sqlite3_column_int64(pass->rows, 1) : INT64_MAX;

		for (; sums && column < pass->columns &&
		       pass->rec->snapshot[pass->at[column]].id < until; column++)
			sum_add(&sums[column], &state);
		if (!row)
			return;
		state = (struct sum){ 0 };
		if (sqlite3_column_type(pass->rows, 2) != SQLITE_NULL)
			state = (struct sum){
				sqlite3_column_int64(pass->rows, 2),
				sqlite3_column_int64(pass->rows, 3), 1,
			};
		pass->result = sqlite3_step(pass->rows);
	}
}

bool recording_series(struct recording *rec, struct series *series, const size_t *at,
		      const struct recording_choice *choice)
{
	sqlite3_stmt *sites = query(rec, "SELECT id, name, file, line, module, func"
					 " FROM site ORDER BY id");
	struct pass pass = {
		.rec = rec, .at = at, .columns = series->columns,
		.rows = query(rec, "SELECT site, snapshot, bytes, calls FROM row"
				   " ORDER BY site, snapshot"),
	};
	struct text name = { 0 };
	int64_t last = INT64_MIN;
	int result = SQLITE_ERROR;

	if (!sites || !pass.rows)
		goto out;
	pass.result = sqlite3_step(pass.rows);
	while ((result = sqlite3_step(sites)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(sites, 0);
		struct arena names = { 0 };
		const char *row = database_text(&names, sites, 1);
		struct site site = {
			.file = database_text(&names, sites, 2),
			.line = (uint32_t)sqlite3_column_int64(sites, 3),
			.module = site_module(database_text(&names, sites, 4)),
			.func = database_text(&names, sites, 5),
		};
		struct sum *sums = NULL;

		if (!database_ascends(&last, id)) {
			fail_with(rec, damaged);
			arena_free(&names);
			break;
		}
		/* In a damaged file there may be rows of no site. */
		while (pass.result == SQLITE_ROW &&
		       sqlite3_column_int64(pass.rows, 0) < id)
			pass.result = sqlite3_step(pass.rows);
		if (site.file && site.func &&
		    (!choice->keep || choice->keep(choice->context, &site))) {
			text_clear(&name);
			if (choice->together)
				text_puts(&name, "all");
			else if (choice->by.by == BY_ROW && row)
				text_puts(&name, row);
			else
				group_name(&name, choice->by, &site);
			sums = series_group(choice->into ? choice->into(choice->context, &site) :
					    series, name.s, name.len);
		}
		add_site_rows(&pass, id, sums);
		arena_free(&names);
	}
	/* Rows behind the last site are left unread. */
	if (pass.result == SQLITE_ROW)
		pass.result = SQLITE_DONE;
out:
	text_free(&name);
	if (pass.rows && sites) {
		bool good = query_end(rec, pass.rows, pass.result);

		return query_end(rec, sites, result) && good;
	}
	sqlite3_finalize(sites);
	sqlite3_finalize(pass.rows);
	return false;
}

static const char *copy_column(struct allocinfo *info, sqlite3_stmt *s, int i)
{
	return database_text(&info->strings, s, i);
}

bool recording_load(struct recording *rec, size_t i, struct allocinfo *info)
{
	sqlite3_stmt *s = rec->statement[LOAD];
	int64_t last = INT64_MIN;
	int result;

	*info = (struct allocinfo){
		.major = rec->snapshot[i].major,
		.minor = rec->snapshot[i].minor,
	};
	sqlite3_bind_int64(s, 1, rec->snapshot[i].id);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		struct site site = {
			.file = copy_column(info, s, 0),
			.line = (uint32_t)sqlite3_column_int64(s, 1),
			.module = site_module(copy_column(info, s, 2)),
			.func = copy_column(info, s, 3),
			.bytes = sqlite3_column_int64(s, 4),
			.calls = sqlite3_column_int64(s, 5),
			.notes = copy_column(info, s, 6),
		};

		if (!database_ascends(&last, sqlite3_column_int64(s, 7))) {
			fail_with(rec, damaged);
			break;
		}
		if (!site.file || !site.func)
			continue;
		site.flags = site.notes ? site_flags(site.notes) : 0;
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = site;
	}
	if (result != SQLITE_DONE)
		fail(rec);
	sqlite3_reset(s);
	if (result != SQLITE_DONE)
		allocinfo_free(info);
	return result == SQLITE_DONE;
}

bool recording_unprofiled(struct recording *rec, const struct recording_choice *choice,
			  struct allocinfo *info, size_t *all)
{
	sqlite3_stmt *s = query(rec, "SELECT file, line, module, func, EXISTS (SELECT 1 FROM row"
				     " WHERE site = id AND notes LIKE '%disabled:yes%') FROM site"
				     " ORDER BY id");
	int result;

	*info = (struct allocinfo){ 0 };
	*all = 0;
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		struct site site = {
			.file = copy_column(info, s, 0),
			.line = (uint32_t)sqlite3_column_int64(s, 1),
			.module = copy_column(info, s, 2),
			.func = copy_column(info, s, 3),
			.flags = SITE_DISABLED,
		};

		if (!site.file || !site.func || site_reserved(&site) ||
		    (choice->keep && !choice->keep(choice->context, &site)))
			continue;
		++*all;
		if (!sqlite3_column_int(s, 4))
			continue;
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = site;
	}
	return query_end(rec, s, result);
}

/* The last values up to snapshot @i of what is from @source, each by @add. */
static bool load_samples(struct recording *rec, size_t i, const char *source,
			 void (*add)(void *data, const char *name, int64_t value),
			 void *data)
{
	sqlite3_stmt *s = query(rec,
		"SELECT name, value, id FROM gauge JOIN"
		" (SELECT gauge, max(snapshot), value FROM sample WHERE snapshot <= ?"
		"  GROUP BY gauge) ON gauge = id WHERE source = ? ORDER BY id");
	int64_t last = INT64_MIN;
	int result;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, rec->snapshot[i].id);
	bind_text(s, 2, source);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 0);

		if (!database_ascends(&last, sqlite3_column_int64(s, 2))) {
			fail_with(rec, damaged);
			break;
		}
		if (name)
			add(data, name, sqlite3_column_int64(s, 1));
	}
	return query_end(rec, s, result);
}

static void add_field(void *data, const char *name, int64_t value)
{
	struct text *text = data;
	size_t at = text->len;

	text_puts(text, name);
	text_clean(text->s + at);
	text->len = strlen(text->s);
	text_printf(text, ": %lld\n", (long long)value);
}

static bool load_fields(struct recording *rec, size_t i, const char *source,
			struct fields *fields)
{
	struct text text = { 0 };

	text_clear(&text);
	if (!load_samples(rec, i, source, add_field, &text)) {
		text_free(&text);
		return false;
	}
	fields_parse(fields, text.s, text.len);
	return true;
}

/* "cache/column": those of a cache are stored one after the other. */
static void add_cache(void *data, const char *name, int64_t value)
{
	struct slabinfo *slabs = data;
	const char *slash = strrchr(name, '/');
	struct slab_cache *cache = slabs->count ? &slabs->cache[slabs->count - 1] : NULL;
	size_t len;

	if (!slash)
		return;
	len = (size_t)(slash - name);
	if (!cache || strncmp(cache->name, name, len) || cache->name[len]) {
		GROW(slabs->cache, slabs->count, slabs->room);
		cache = &slabs->cache[slabs->count++];
		*cache = (struct slab_cache){
			.name = arena_copy(&slabs->strings, name, len)
		};
	}
	for (size_t c = 0; c < SLAB_COLUMNS; c++)
		if (!strcmp(slash + 1, slab_columns[c].name))
			*slab_column(cache, c) = value;
}

static void leave_out_gone(struct slabinfo *slabs)
{
	size_t kept = 0;

	for (size_t i = 0; i < slabs->count; i++) {
		const struct slab_cache *cache = &slabs->cache[i];
		bool there = false;

		for (size_t k = 0; k < SLAB_COLUMNS; k++)
			there = there || *slab_column(cache, k);
		if (there)
			slabs->cache[kept++] = *cache;
	}
	slabs->count = kept;
}

static void add_holder(void *data, const char *name, int64_t value)
{
	if (value > 0)
		holders_add(data, name, strlen(name), value, 1);
}

bool recording_load_machine(struct recording *rec, size_t i, struct machine *machine)
{
	struct fields pages = { 0 };

	*machine = (struct machine){ 0 };
	if (load_fields(rec, i, "meminfo", &machine->meminfo) &&
	    load_fields(rec, i, "vmstat", &machine->vmstat) &&
	    load_samples(rec, i, SLABS, add_cache, &machine->slabinfo) &&
	    load_fields(rec, i, PAGES, &pages) &&
	    load_samples(rec, i, PROCESSES, add_holder, &machine->processes)) {
		leave_out_gone(&machine->slabinfo);
		holders_sort(&machine->processes);
		zoneinfo_from_fields(&machine->pages, &pages);
		fields_free(&pages);
		return true;
	}
	fields_free(&pages);
	machine_free(machine);
	return false;
}

/*
 * A short text can name a long stack again and again. So much longer than it is stored, or than
 * this, no kernel's contexts are.
 */
#define MOST_LONGER 1024
#define MOST_CONTEXTS (256 << 20)

/* One that is not there, in a damaged file, has no frames. */
static bool put_stack(struct recording *rec, struct text *text, int64_t number, size_t most)
{
	sqlite3_stmt *s = query(rec, "SELECT frames FROM stack WHERE id = ?");
	int result;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, number);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *frames = database_column(s, 0);

		if (frames && text->len + strlen(frames) > most) {
			fail_with(rec, "damaged: contexts that are longer than any kernel's");
			break;
		}
		text_puts(text, frames ? frames : "");
	}
	return query_end(rec, s, result);
}

bool recording_load_contexts(struct recording *rec, size_t i, struct text *text)
{
	sqlite3_stmt *s;
	int result;

	text_clear(text);
	if (!has_contexts(rec))
		return !rec->error;
	s = query(rec, "SELECT text FROM contexts WHERE snapshot = ?");
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, rec->snapshot[i].id);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *line = database_column(s, 0);
		size_t len = line ? strlen(line) : 0;
		size_t most = len < MOST_CONTEXTS / MOST_LONGER ? len * MOST_LONGER : MOST_CONTEXTS;

		while (line && *line) {
			const char *end = strchrnul(line, '\n');

			end += *end == '\n';
			if (*line != STACK_MARK)
				text_add(text, line, (size_t)(end - line));
			else if (!put_stack(rec, text, atoll(line + 1), most))
				break;
			line = end;
		}
	}
	return query_end(rec, s, result) && !rec->error;
}

static struct gauge *add_gauge(struct gauges *gauges, const char *name, size_t snapshots)
{
	char *copy = arena_copy(&gauges->strings, name, strlen(name));
	struct gauge *gauge;

	GROW(gauges->gauge, gauges->count, gauges->room);
	gauge = &gauges->gauge[gauges->count++];
	text_clean(copy);
	*gauge = (struct gauge){
		.name = copy,
		.value = xcalloc(snapshots, sizeof(*gauge->value)),
		.first = snapshots,
	};
	return gauge;
}

/* A value stays what it was until it changes. */
static void fill(struct gauge *gauge, size_t from, size_t to)
{
	for (size_t i = from; i && i < to; i++)
		gauge->value[i] = gauge->value[i - 1];
}

/* Adds a gauge if it has ever had a value. */
static bool load_gauge(struct recording *rec, sqlite3_stmt *samples, struct gauges *gauges,
		       const char *name)
{
	struct gauge *gauge = NULL;
	size_t i = 0, filled = 0;
	int result;

	while ((result = sqlite3_step(samples)) == SQLITE_ROW) {
		if (!gauge)
			gauge = add_gauge(gauges, name, rec->count);
		while (i < rec->count && rec->snapshot[i].id < sqlite3_column_int64(samples, 0))
			i++;
		if (i == rec->count)
			continue;
		if (i < gauge->first)
			gauge->first = i;
		fill(gauge, filled, i);
		gauge->value[i] = sqlite3_column_int64(samples, 1);
		filled = i + 1;
	}
	if (gauge)
		fill(gauge, filled, rec->count);
	sqlite3_reset(samples);
	return result == SQLITE_DONE || fail(rec);
}

/*
 * How many values there may be: each gauge has one for each snapshot, although few are stored.
 * Of the gauges of a machine, at least one in this many changes between two snapshots.
 */
#define GAUGES_A_SAMPLE 128
#define FEW_VALUES (4 << 20)

/* Not count(*): SQLite would never ask whether it has worked for too long. */
static bool most_values(struct recording *rec, size_t *most)
{
	sqlite3_stmt *s = query(rec, "SELECT total(1) FROM sample");
	int result = s ? sqlite3_step(s) : SQLITE_ERROR;

	if (result == SQLITE_ROW) {
		*most = FEW_VALUES + GAUGES_A_SAMPLE * (size_t)sqlite3_column_int64(s, 0);
		result = sqlite3_step(s);
	}
	return query_end(rec, s, result);
}

bool recording_load_gauges(struct recording *rec, const char *glob, struct gauges *gauges)
{
	sqlite3_stmt *s = query(rec, "SELECT id, source || '.' || name FROM gauge ORDER BY id");
	sqlite3_stmt *samples = query(rec, "SELECT snapshot, value FROM sample WHERE gauge = ?"
					   " ORDER BY snapshot");
	bool good = s && samples;
	int64_t last = INT64_MIN;
	int result = SQLITE_DONE;
	size_t most = 0;

	good = good && most_values(rec, &most);
	while (good && (result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 1);

		if (!database_ascends(&last, sqlite3_column_int64(s, 0)))
			good = fail_with(rec, damaged);
		else if (name && glob_match(glob, name) &&
			 most / (gauges->count + 1) < rec->count)
			good = fail_with(rec, "damaged: more gauges than change");
		else if (name && glob_match(glob, name)) {
			sqlite3_bind_int64(samples, 1, last);
			good = load_gauge(rec, samples, gauges, name);
		}
	}
	sqlite3_finalize(samples);
	return query_end(rec, s, result) && good;
}

void gauges_free(struct gauges *gauges)
{
	for (size_t i = 0; i < gauges->count; i++)
		free(gauges->gauge[i].value);
	free(gauges->gauge);
	arena_free(&gauges->strings);
	*gauges = (struct gauges){ 0 };
}
