// SPDX-License-Identifier: GPL-2.0-only
#include "base/database.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/message.h"
#include "base/text.h"

/* ---- how SQLite uses files -------------------------------------------------------- */

/*
 * SQLite must never roll back a journal of another process; the callers refuse the file and say
 * why.
 */
static int see_no_journal(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	(void)vfs;
	if (flags == SQLITE_ACCESS_EXISTS && text_ends_with(name, "-journal")) {
		*result = 0;
		return SQLITE_OK;
	}
	return usual->xAccess(usual, name, flags, result);
}

/* Deletes only SQLite's files beside the database: any other name would come from a journal. */
static int remove_own(sqlite3_vfs *vfs, const char *name, int sync)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	(void)vfs;
	if (!text_ends_with(name, "-wal") && !text_ends_with(name, "-journal"))
		return SQLITE_IOERR_DELETE;
	return usual->xDelete(usual, name, sync);
}

static const char *careful_vfs(void)
{
	static sqlite3_vfs vfs;

	if (!vfs.zName) {
		vfs = *sqlite3_vfs_find(NULL);
		vfs.pNext = NULL;
		vfs.zName = "codetag";
		vfs.xAccess = see_no_journal;
		vfs.xDelete = remove_own;
		sqlite3_vfs_register(&vfs, 0);
	}
	return vfs.zName;
}

/* ---- limits on the work for a file ------------------------------------------------ */

/* Instructions of SQLite between two checks of the limit. */
#define TURN 1000000

/* The limits of an open file; freed when SQLite closes it. */
struct guard {
	struct guard *next;
	sqlite3 *db;
	int fd;			/* keeps a lock, or -1 */
	uint64_t turns, left;	/* of the current statement */
	uint64_t most_text;	/* bytes that one run of a statement can return */
	struct text_use {
		const sqlite3_stmt *statement;
		uint64_t bytes;
	} *use;
	size_t uses, room;
};

static struct guard *guards;

/* The text that @statement has returned since it was started. */
static struct text_use *text_use(struct guard *guard, const sqlite3_stmt *statement)
{
	for (size_t i = 0; i < guard->uses; i++)
		if (guard->use[i].statement == statement)
			return &guard->use[i];
	GROW(guard->use, guard->uses, guard->room);
	guard->use[guard->uses] = (struct text_use){ .statement = statement };
	return &guard->use[guard->uses++];
}

static void free_guard(struct guard *guard)
{
	struct guard **at = &guards;

	while (*at != guard)
		at = &(*at)->next;
	*at = guard->next;
	if (guard->fd >= 0)
		close(guard->fd);
	free(guard->use);
	free(guard);
}

static int spend(void *data)
{
	struct guard *guard = data;

	return guard->left-- <= 1;
}

/* Each statement may use all turns; statements within another one share its turns. */
static int watch(unsigned int what, void *data, void *object, void *unused)
{
	struct guard *guard = data;
	sqlite3_stmt *s = NULL;
	sqlite3 *db;

	(void)unused;
	if (what == SQLITE_TRACE_CLOSE) {
		free_guard(guard);
		return 0;
	}
	text_use(guard, object)->bytes = 0;
	db = sqlite3_db_handle(object);
	while ((s = sqlite3_next_stmt(db, s)))
		if (s != object && sqlite3_stmt_busy(s))
			return 0;
	guard->left = guard->turns;
	return 0;
}

static void distrust(sqlite3 *db, int fd, off_t size)
{
	struct guard *guard = xcalloc(1, sizeof(*guard));

	guard->next = guards;
	guards = guard;
	guard->db = db;
	guard->fd = fd;
	/* UTF-16 becomes longer as UTF-8. */
	guard->most_text = 2 * (uint64_t)size + 65536;
	guard->turns = guard->left = 100 + (uint64_t)size / 5000;
	sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE, watch, guard);
	sqlite3_progress_handler(db, TURN, spend, guard);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	/* The longest text is that of the contexts of a snapshot. */
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 256 << 20);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 100000);
	sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 64);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 50);
	sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 5);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

/* Rows of a damaged file can all use the pages of one long text. */
const char *database_column(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);
	sqlite3 *db = sqlite3_db_handle(s);
	struct guard *guard = guards;
	struct text_use *use;

	while (guard && guard->db != db)
		guard = guard->next;
	if (!text || !guard)
		return text;
	use = text_use(guard, s);
	use->bytes += (uint64_t)sqlite3_column_bytes(s, column);
	if (use->bytes <= guard->most_text)
		return text;
	sqlite3_interrupt(db);
	return NULL;
}

const char *database_text(struct arena *arena, sqlite3_stmt *s, int column)
{
	const char *text = database_column(s, column);
	char *copy = text ? arena_copy(arena, text, strlen(text)) : NULL;

	if (copy)
		text_clean(copy);
	return copy;
}

bool database_ascends(int64_t *last, int64_t id)
{
	bool good = id > *last;

	*last = id;
	return good;
}

/* ---- tables ------------------------------------------------------------------------ */

/* The statement that made a table, with single blanks. */
static void normalise(struct text *text, const unsigned char *sql)
{
	text_clear(text);
	for (const char *s = (const char *)sql; s && *s; s++)
		if (!isspace((unsigned char)*s))
			text_add(text, s, 1);
		else if (text->len && text->s[text->len - 1] != ' ')
			text_add(text, " ", 1);
}

static bool same_table(sqlite3_stmt *find, sqlite3_stmt *want)
{
	struct text a = { 0 }, b = { 0 };
	bool same = false;

	sqlite3_bind_text(find, 1, (const char *)sqlite3_column_text(want, 0), -1,
			  SQLITE_TRANSIENT);
	if (sqlite3_step(find) == SQLITE_ROW) {
		normalise(&a, sqlite3_column_text(want, 1));
		normalise(&b, sqlite3_column_text(find, 0));
		same = !strcmp(a.s, b.s) && sqlite3_step(find) == SQLITE_DONE;
	}
	sqlite3_reset(find);
	text_free(&a);
	text_free(&b);
	return same;
}

bool database_has(sqlite3 *db, const char *schema)
{
	sqlite3_stmt *want = NULL, *find = NULL;
	sqlite3 *model = NULL;
	bool good;

	good = sqlite3_open(":memory:", &model) == SQLITE_OK &&
	       sqlite3_exec(model, schema, NULL, NULL, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(model, "SELECT name, sql FROM sqlite_master WHERE sql NOT NULL",
				  -1, &want, NULL) == SQLITE_OK &&
	       sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE"
				  " AND type IN ('table', 'view')", -1, &find, NULL) == SQLITE_OK;
	while (good && sqlite3_step(want) == SQLITE_ROW)
		good = same_table(find, want);
	sqlite3_finalize(want);
	sqlite3_finalize(find);
	sqlite3_close(model);
	return good;
}

const char *database_error(sqlite3 *db)
{
	if (sqlite3_errcode(db) == SQLITE_INTERRUPT)
		return "damaged: it takes more work than a file of its size can";
	return sqlite3_errmsg(db);
}

/* ---- opening ----------------------------------------------------------------------- */

static sqlite3 *refuse(char **why, const char *before, const char *name, const char *after)
{
	struct text text = { 0 };

	text_puts(&text, before);
	text_puts(&text, name);
	text_puts(&text, after);
	*why = text.s;
	return NULL;
}

/* Finds the file @real with @suffix, which may be empty. */
static bool beside(const char *real, const char *suffix, struct stat *st)
{
	struct text name = { 0 };
	bool there;

	text_printf(&name, "%s%s", real, suffix);
	there = !lstat(name.s, st);
	text_free(&name);
	return there;
}

/* There is a journal with content, unless it is not a journal at all. */
static bool unfinished(const char *real)
{
	struct stat st;

	return beside(real, "-journal", &st) && (st.st_size || !S_ISREG(st.st_mode));
}

/* Only this user, or root, can have written it. */
static bool trusted(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 &&
	       (st->st_uid == geteuid() || st->st_uid == 0);
}

static sqlite3 *open_as(const char *real, const char *how, int flags)
{
	struct text uri = { 0 };
	sqlite3 *db = NULL;

	text_puts(&uri, "file:");
	for (const char *c = real; *c; c++)
		text_printf(&uri, isalnum((unsigned char)*c) || *c == '/' ? "%c" : "%%%02X",
			    (unsigned char)*c);
	text_puts(&uri, how);
	if (sqlite3_open_v2(uri.s, &db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOFOLLOW,
			    careful_vfs()) != SQLITE_OK && !db)
		die("out of memory");
	sqlite3_extended_result_codes(db, 0);
	sqlite3_busy_timeout(db, 5000);
	text_free(&uri);
	return db;
}

static int try(sqlite3 *db)
{
	int result = sqlite3_errcode(db);

	return result ? result : sqlite3_exec(db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL,
					      NULL, NULL);
}

/*
 * No process writes the file: it needs no lock and no file beside it, except SQLite's shared
 * lock.
 */
static sqlite3 *open_quiet(const char *real, int fd, off_t size)
{
	struct flock shared = {
		.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0x40000002, .l_len = 510
	};
	sqlite3 *db = open_as(real, "?immutable=1", SQLITE_OPEN_READONLY);

	/*
	 * A process that appends meanwhile writes to the file -wal. The lock keeps it from
	 * moving that into this file.
	 */
	fcntl(fd, F_OFD_SETLK, &shared);
	distrust(db, fd, size);
	return db;
}

/*
 * Part of the data is in the file -wal: a process writes it, or was killed. Readers of such a
 * file share the file -shm, which is made if it does not exist.
 */
static sqlite3 *open_written(const char *real, off_t size, bool shared)
{
	sqlite3 *db = open_as(real, shared ? "?readonly_shm=1" : "", SQLITE_OPEN_READONLY);
	int result = try(db);

	if (shared && (result == SQLITE_READONLY || result == SQLITE_CANTOPEN)) {
		sqlite3_close(db);
		db = open_as(real, "", SQLITE_OPEN_READONLY);
	}
	distrust(db, -1, size);
	return db;
}

static sqlite3 *open_to_read(const char *real, int fd, const struct stat *st, char **why)
{
	struct stat wal, shm;
	bool shared;

	if (unfinished(real)) {
		close(fd);
		return refuse(why, "its last change was not finished, as ", real,
			      "-journal tells: let its owner open it with sqlite3 first");
	}
	if (!beside(real, "-wal", &wal) || (S_ISREG(wal.st_mode) && !wal.st_size))
		return open_quiet(real, fd, st->st_size);
	/* Closed before SQLite opens it: closing it later would drop SQLite's own locks. */
	close(fd);
	shared = beside(real, "-shm", &shm);
	if (!trusted(st) || !trusted(&wal) || (shared && !trusted(&shm)))
		return refuse(why, "it is being written, or its writer was killed, and it or ", real,
			      "-wal or -shm belongs to another user");
	return open_written(real, st->st_size + wal.st_size, shared && shm.st_size);
}

/* SQLite trusts the files beside a file that it writes. */
static sqlite3 *open_to_write(const char *real, const struct stat *st, bool append, char **why)
{
	static const char *const suffixes[] = { "-wal", "-shm" };
	off_t size = st->st_size;
	struct stat other;
	sqlite3 *db;

	if (append && unfinished(real))
		return refuse(why, "its last change was not finished, as ", real,
			      "-journal tells: take another name");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!beside(real, suffixes[i], &other))
			continue;
		else if (trusted(&other))
			size += other.st_size;
		else
			return refuse(why, "", real, "-wal or -shm belongs to another user: "
				      "take another name");
	db = open_as(real, "", SQLITE_OPEN_READWRITE);
	if (append)
		distrust(db, -1, size);
	return db;
}

/* Finds the file behind symbolic links, and refuses anything but an ordinary file. */
static int find(const char *path, char real[PATH_MAX], struct stat *st, char **why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), error;
	char link[32];
	ssize_t len;

	if (fd < 0) {
		refuse(why, "", strerror(errno), "");
		return -1;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	error = fstat(fd, st) ? errno : 0;
	len = readlink(link, real, PATH_MAX - 1);
	real[len > 0 ? len : 0] = '\0';
	if (!error && S_ISREG(st->st_mode) && (len > 0 || realpath(path, real)))
		return fd;
	close(fd);
	refuse(why, "", error ? strerror(error) : "it is not an ordinary file", "");
	return -1;
}

sqlite3 *database_open(const char *path, enum database_use use, char **why)
{
	char real[PATH_MAX];
	struct stat st;
	sqlite3 *db;
	int fd = -1;

	if (use == DATABASE_READ) {
		fd = find(path, real, &st, why);
		if (fd < 0)
			return NULL;
		db = open_to_read(real, fd, &st, why);
	} else {
		/*
		 * The file is not opened here: closing it would drop the locks of this process.
		 */
		if (!realpath(path, real) || stat(real, &st))
			return refuse(why, "", strerror(errno), "");
		db = open_to_write(real, &st, use == DATABASE_APPEND, why);
	}
	if (db && sqlite3_errcode(db) != SQLITE_OK) {
		*why = xstrdup(sqlite3_errmsg(db));
		sqlite3_close(db);
		return NULL;
	}
	return db;
}
