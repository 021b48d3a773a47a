// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_db.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/database.h"
#include "base/memory.h"

#define FORMAT 2

static const char schema[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
	"CREATE TABLE caller (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	"CREATE TABLE use (caller INTEGER NOT NULL REFERENCES caller,"
	" cache TEXT, several_caches INTEGER, kmalloc INTEGER, frees INTEGER,"
	" object_size INTEGER, calls INTEGER, requested INTEGER,"
	" requested_now INTEGER, freed INTEGER, remote_freed INTEGER);"
	"CREATE TABLE finding (key TEXT PRIMARY KEY, count INTEGER,"
	" allocator INTEGER REFERENCES caller, freer INTEGER REFERENCES caller)"
	" WITHOUT ROWID;";

/* The members of the structures in the order of the columns. */
static const size_t use_members[] = {
	offsetof(struct kmem_use, size),
	offsetof(struct kmem_use, calls),
	offsetof(struct kmem_use, requested),
	offsetof(struct kmem_use, requested_now),
	offsetof(struct kmem_use, freed),
	offsetof(struct kmem_use, remote_freed),
};

#define USE_MEMBERS (sizeof(use_members) / sizeof(*use_members))

static const struct member {
	const char *key;
	size_t offset;
} meta_members[] = {
	{ "pages", offsetof(struct kmem, pages) },
	{ "by_task", offsetof(struct kmem, by_task) },
	{ "requested_unknown", offsetof(struct kmem, unasked) },
	{ "events", offsetof(struct kmem, events) },
	{ "not_understood", offsetof(struct kmem, bad) },
	{ "lost", offsetof(struct kmem, lost) },
	{ "overwritten", offsetof(struct kmem, overwritten) },
	{ "failed", offsetof(struct kmem, failed) },
	{ "cut", offsetof(struct kmem, cut) },
	{ "most_objects", offsetof(struct kmem, most_objects) },
}, finding_members[] = {
	{ "remote_frees", offsetof(struct kmem, remote) },
	{ "wrong_function", offsetof(struct kmem, wrong_function) },
	{ "wrong_cache", offsetof(struct kmem, wrong_cache) },
	{ "too_small", offsetof(struct kmem, too_small) },
	{ "unknown_frees", offsetof(struct kmem, unknown) },
	{ "missed_frees", offsetof(struct kmem, reused) },
	{ "part_frees", offsetof(struct kmem, in_parts) },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static char *failure(sqlite3 *db)
{
	return xstrdup(database_error(db));
}

static int64_t *number_at(void *base, size_t offset)
{
	return (int64_t *)((char *)base + offset);
}

/* Runs a statement with a text, which may be NULL, and numbers bound to it. */
static bool insert(sqlite3 *db, const char *sql, const char *text,
		   const int64_t *numbers, size_t count)
{
	sqlite3_stmt *s;
	bool good;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
	for (size_t i = 0; i < count; i++)
		sqlite3_bind_int64(s, (int)i + 2, numbers[i]);
	good = sqlite3_step(s) == SQLITE_DONE;
	return sqlite3_finalize(s) == SQLITE_OK && good;
}

/* The numbers of callers in the file start from 1; 0 means none. */
static int64_t to_id(uint32_t caller)
{
	return caller == KMEM_NOBODY ? 0 : (int64_t)caller + 1;
}

static bool write_use(sqlite3 *db, const struct kmem *kmem, const struct kmem_use *use)
{
	int64_t numbers[4 + USE_MEMBERS] = {
		to_id(use->caller), use->several, use->is_malloc, use->is_free,
	};
	const char *cache = use->cache == KMEM_NO_CACHE ? NULL :
			    kmem->caches.entry[use->cache].key;

	for (size_t m = 0; m < USE_MEMBERS; m++)
		numbers[4 + m] = *number_at((void *)use, use_members[m]);
	return insert(db, "INSERT INTO use VALUES"
		      " (?2, ?1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
		      cache, numbers, 4 + USE_MEMBERS);
}

static bool write_all(sqlite3 *db, const struct kmem *kmem)
{
	int64_t numbers[3] = { FORMAT };
	void *base = (void *)kmem;
	bool good = sqlite3_exec(db, "PRAGMA journal_mode = OFF; BEGIN", NULL, NULL,
				 NULL) == SQLITE_OK &&
		    sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
		    insert(db, "INSERT INTO meta VALUES (?1, ?2)", "trace_format",
			   numbers, 1);

	for (size_t i = 0; i < COUNT(meta_members) && good; i++)
		good = insert(db, "INSERT INTO meta VALUES (?1, ?2)",
			      meta_members[i].key,
			      number_at(base, meta_members[i].offset), 1);
	for (size_t i = 0; i < COUNT(finding_members) && good; i++) {
		const struct kmem_finding *f =
			(void *)((char *)base + finding_members[i].offset);

		numbers[0] = f->count;
		numbers[1] = f->count ? to_id(f->allocator) : 0;
		numbers[2] = f->count ? to_id(f->freer) : 0;
		good = insert(db, "INSERT INTO finding VALUES (?1, ?2, ?3, ?4)",
			      finding_members[i].key, numbers, 3);
	}
	for (size_t i = 0; i < kmem->callers && good; i++) {
		numbers[0] = to_id(i);
		good = insert(db, "INSERT INTO caller VALUES (?2, ?1)",
			      kmem->caller[i].name, numbers, 1);
	}
	for (size_t i = 0; i < kmem->uses && good; i++)
		good = write_use(db, kmem, &kmem->use[i]);
	return good && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

char *kmem_save(const struct kmem *kmem, const char *path)
{
	char *why = NULL;
	sqlite3 *db = database_open(path, DATABASE_NEW, &why);

	if (db && !write_all(db, kmem))
		why = failure(db);
	sqlite3_close(db);
	return why;
}

static bool read_callers(sqlite3 *db, struct kmem *kmem, bool *whole)
{
	struct arena names = { 0 };
	int64_t last = INT64_MIN;
	sqlite3_stmt *s;
	int result;

	if (sqlite3_prepare_v2(db, "SELECT name, id FROM caller ORDER BY id", -1, &s,
			       NULL) != SQLITE_OK)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_text(&names, s, 0);

		if (!database_ascends(&last, sqlite3_column_int64(s, 1))) {
			*whole = false;
			break;
		}
		name = name ? name : "";
		kmem_caller_number(kmem, name, strlen(name));
	}
	sqlite3_finalize(s);
	arena_free(&names);
	return result == SQLITE_DONE || !*whole;
}

/* A number that belongs to no caller means none. */
static uint32_t from_id(const struct kmem *kmem, int64_t id)
{
	return id > 0 && id <= (int64_t)kmem->callers ? (uint32_t)(id - 1) :
							KMEM_NOBODY;
}

static bool read_uses(sqlite3 *db, struct kmem *kmem, bool *whole)
{
	struct arena names = { 0 };
	int64_t last = INT64_MIN;
	sqlite3_stmt *s;
	int result;

	if (sqlite3_prepare_v2(db, "SELECT caller, cache, several_caches, kmalloc, frees,"
			       " object_size, calls, requested, requested_now, freed,"
			       " remote_freed, rowid FROM use ORDER BY rowid", -1, &s,
			       NULL) != SQLITE_OK)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *cache = database_text(&names, s, 1);
		struct kmem_use use = {
			.caller = from_id(kmem, sqlite3_column_int64(s, 0)),
			.cache = kmem_cache_number(kmem, cache,
						   cache ? strlen(cache) : 0),
			.several = sqlite3_column_int(s, 2),
			.is_malloc = sqlite3_column_int(s, 3),
			.is_free = sqlite3_column_int(s, 4),
		};

		for (size_t m = 0; m < USE_MEMBERS; m++)
			*number_at(&use, use_members[m]) =
				sqlite3_column_int64(s, (int)m + 5);
		/* All have one size; a file of an earlier version has the mean. */
		if (!use.is_free && use.calls > 0)
			use.asked = use.requested / use.calls;
		*whole &= database_ascends(&last, sqlite3_column_int64(s, (int)USE_MEMBERS + 5)) &&
			  use.caller != KMEM_NOBODY;
		if (!*whole)
			break;
		kmem_add_use(kmem, &use);
	}
	sqlite3_finalize(s);
	arena_free(&names);
	return result == SQLITE_DONE || !*whole;
}

static bool read_rest(sqlite3 *db, struct kmem *kmem, bool *known)
{
	sqlite3_stmt *s;
	int result;

	if (sqlite3_prepare_v2(db, "SELECT key, value, NULL, NULL FROM meta UNION ALL"
			       " SELECT key, count, allocator, freer FROM finding",
			       -1, &s, NULL) != SQLITE_OK)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *key = database_column(s, 0);
		int64_t value = sqlite3_column_int64(s, 1);

		if (key && !strcmp(key, "trace_format"))
			*known = value == FORMAT;
		for (size_t i = 0; key && i < COUNT(meta_members); i++)
			if (!strcmp(key, meta_members[i].key))
				*number_at(kmem, meta_members[i].offset) = value;
		for (size_t i = 0; key && i < COUNT(finding_members); i++) {
			struct kmem_finding *f =
				(void *)((char *)kmem + finding_members[i].offset);

			if (strcmp(key, finding_members[i].key))
				continue;
			f->count = value;
			f->allocator = from_id(kmem, sqlite3_column_int64(s, 2));
			f->freer = from_id(kmem, sqlite3_column_int64(s, 3));
		}
	}
	sqlite3_finalize(s);
	return result == SQLITE_DONE;
}

static const char no_trace[] = "not the accounts of a trace, or of another version";

char *kmem_load(struct kmem *kmem, const char *path)
{
	bool known = false, whole = true;
	char *why = NULL;
	sqlite3 *db = database_open(path, DATABASE_READ, &why);

	if (!db)
		return why;
	/* Findings contain the numbers of callers, so the callers come first. */
	if (!database_has(db, schema))
		why = xstrdup(sqlite3_errcode(db) == SQLITE_CORRUPT ? database_error(db) : no_trace);
	else if (!read_callers(db, kmem, &whole) || !read_rest(db, kmem, &known))
		why = failure(db);
	else if (!known)
		why = xstrdup(no_trace);
	else if (whole && !read_uses(db, kmem, &whole))
		why = failure(db);
	else if (!whole)
		why = xstrdup("damaged: accounts of callers that are not there, or twice");
	sqlite3_close(db);
	return why;
}
