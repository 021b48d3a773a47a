// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings, fleets and saved traces: sound ones whose rows and tables the input changes by
 * SQL, and files of any bytes. The first byte says which.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "recording/recording.h"
#include "source/fleet_db.h"
#include "trace/kmem_db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum kind { RECORDING, FLEET, TRACE, KINDS };

static char dir[] = "/dev/shm/codetag-fuzz-XXXXXX";
static char sound[KINDS][sizeof(dir) + 16], hostile[sizeof(dir) + 16];

/* The rest of the input. */
struct bytes {
	const uint8_t *at, *end;
};

static uint8_t take(struct bytes *bytes)
{
	return bytes->at < bytes->end ? *bytes->at++ : 0;
}

static void remove_all(void)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char name[sizeof(hostile) + 16];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", hostile, suffixes[i]);
		unlink(name);
	}
}

static void at_end(void)
{
	remove_all();
	for (int i = 0; i < KINDS; i++)
		unlink(sound[i]);
	rmdir(dir);
}

static void make_recording(const char *path)
{
	static char contexts[] = "# contexts - version: 1.0\n"
		"# site: 0 0 0 a.c:1 func:f keys=stack max=9 contexts=1\n"
		"10 1 1 a.c:1 func:f size=10\n f+0x1/0x2\n";
	struct site site[] = {
		{ .file = "a.c", .line = 1, .func = "f", .bytes = 10, .calls = 1,
		  .all = { .allocs = 4294967290, .frees = 7, .known = true } },
		{ .file = "b.c", .line = 2, .func = "g", .module = "m", .bytes = 20, .calls = 2,
		  .all = { .allocs = 3, .frees = 1, .known = true } },
	};
	struct allocinfo info = { .major = 1, .site = site, .count = 2 };
	struct field field = { .name = "MemTotal", .number = 1, .is_number = true };
	struct fields fields = { .field = &field, .count = 1 };
	struct moment moment = { .info = &info, .meminfo = &fields, .contexts = contexts };
	struct recording *rec = recording_create(path, "6.12", false);

	for (moment.time = 1; moment.time < 4; moment.time++) {
		site[0].bytes += 10;
		site[0].all.allocs = (uint32_t)(site[0].all.allocs + 4);
		field.number++;
		if (!recording_add(rec, &moment))
			abort();
	}
	recording_close(rec);
}

static void make_fleet(const char *path)
{
	struct site site = { .file = "a.c", .line = 1, .func = "f", .bytes = 10, .calls = 1 };
	struct allocinfo info = { .site = &site, .count = 1 };
	struct fleet fleet = { 0 };
	struct fleet_db *db;

	fleet_add(&fleet, "one", "6.12", &info);
	fleet_add(&fleet, "two", "6.12", &info);
	close(outfile_create_now(path));
	db = fleet_db_create(path);
	if (!fleet_db_write(db, &fleet, 1))
		abort();
	fleet_db_close(db);
	fleet_free(&fleet);
}

static void make_trace(const char *path)
{
	struct kmem kmem = { 0 };
	struct kmem_use use = { .caller = kmem_caller_number(&kmem, "f", 1), .calls = 1 };

	use.cache = kmem_cache_number(&kmem, "dentry", 6);
	kmem_add_use(&kmem, &use);
	close(outfile_create_now(path));
	if (kmem_save(&kmem, path))
		abort();
	kmem_free(&kmem);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!mkdtemp(dir))
		abort();
	for (int i = 0; i < KINDS; i++)
		snprintf(sound[i], sizeof(sound[i]), "%s/sound%d", dir, i);
	snprintf(hostile, sizeof(hostile), "%s/hostile", dir);
	make_recording(sound[RECORDING]);
	make_fleet(sound[FLEET]);
	make_trace(sound[TRACE]);
	atexit(at_end);
	return 0;
}

static void copy(const char *from, const char *to)
{
	char buffer[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t len;

	while ((len = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)len) != len)
			abort();
	close(in);
	close(out);
}

static void put_value(sqlite3_str *sql, struct bytes *bytes)
{
	static const char *const edges[] = {
		"NULL", "0", "-1", "9223372036854775807", "-9223372036854775808", "4294967295",
		"1e308", "x'00ff00'", "''", "zeroblob(100000)", "2147483648", "char(27,155,8238,10)",
		"'=1' || char(10) || '=2' || char(10)",
	};
	uint8_t what = take(bytes);
	char text[16];
	size_t len = 0;

	if (what < 200) {
		sqlite3_str_appendall(sql, edges[what % (sizeof(edges) / sizeof(*edges))]);
		return;
	}
	while (len < sizeof(text) - 1 && len < what % 16u)
		text[len++] = (char)take(bytes);
	text[len] = '\0';
	sqlite3_str_appendf(sql, "%Q", text);
}

/* Changes a row, a table, or SQLite's schema of the tables. */
static void change(sqlite3 *db, struct bytes *bytes)
{
	static const char *const tables[KINDS + 1][9] = {
		{ "meta", "snapshot", "site", "row", "gauge", "sample", "stack", "contexts", "activity" },
		{ "meta", "host", "site", "value", "spread", "outlier", "meta", "host", "site" },
		{ "meta", "caller", "use", "finding", "meta", "caller", "use", "finding", "meta" },
	};
	static const char *const columns[] = {
		"id", "key", "value", "name", "file", "line", "module", "func", "site", "snapshot",
		"bytes", "calls", "notes", "source", "gauge", "time", "major", "frames", "text",
		"caller", "cache", "frees", "count", "allocator", "host", "size", "kernel", "rowid",
		"allocs",
	};
	sqlite3_str *sql = sqlite3_str_new(db);
	const char *table = tables[take(bytes) % KINDS][take(bytes) % 9];
	const char *column = columns[take(bytes) % (sizeof(columns) / sizeof(*columns))];
	char *text;

	switch (take(bytes) % 9) {
	case 0:
	case 1:
	case 2:
		sqlite3_str_appendf(sql, "UPDATE OR IGNORE %w SET %w = ", table, column);
		put_value(sql, bytes);
		break;
	case 3:
		sqlite3_str_appendf(sql, "DELETE FROM %w WHERE rowid %% 2", table);
		break;
	case 4:
		sqlite3_str_appendf(sql, "DROP TABLE %w", table);
		break;
	case 5:
		sqlite3_str_appendf(sql, "ALTER TABLE %w RENAME TO old; CREATE VIEW %w AS SELECT * FROM"
				    " old, old, old", table, table);
		break;
	case 6:
		sqlite3_str_appendf(sql, "INSERT OR IGNORE INTO %w (%w) VALUES (", table, column);
		put_value(sql, bytes);
		sqlite3_str_appendall(sql, ")");
		break;
	case 7:
		sqlite3_str_appendf(sql, "ALTER TABLE %w ADD COLUMN more AS (hex(zeroblob(1000)))",
				    table);
		break;
	default:
		sqlite3_str_appendf(sql, "UPDATE sqlite_master SET rootpage = 1 + %d WHERE name = %Q",
				    take(bytes) % 12, table);
	}
	text = sqlite3_str_finish(sql);
	if (text)
		sqlite3_exec(db, text, NULL, NULL, NULL);
	sqlite3_free(text);
}

static void change_all(struct bytes *bytes)
{
	sqlite3 *db;

	if (sqlite3_open(hostile, &db) != SQLITE_OK)
		abort();
	sqlite3_exec(db, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;"
		     " PRAGMA writable_schema = ON; BEGIN", NULL, NULL, NULL);
	for (int i = 0; i < 8 && bytes->at < bytes->end; i++)
		change(db, bytes);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
}

/* Changes bytes at some places of the file. */
static void damage(struct bytes *bytes)
{
	int fd = open(hostile, O_WRONLY);
	struct stat st;

	while (bytes->at < bytes->end && !fstat(fd, &st) && st.st_size) {
		off_t place = (take(bytes) | take(bytes) << 8) % st.st_size;
		uint8_t byte = take(bytes);

		if (pwrite(fd, &byte, 1, place) != 1)
			abort();
	}
	close(fd);
}

static bool keep(void *context, const struct site *site)
{
	(void)context;
	return site->file && site->func;
}

static void read_recording(void)
{
	struct recording *rec = recording_open(hostile);

	for (size_t i = 0; !recording_error(rec) && i < recording_count(rec) && i < 4; i++) {
		struct allocinfo info;
		struct machine machine;
		struct text text = { 0 };

		if (recording_load_since(rec, 0, i, &info))
			allocinfo_free(&info);
		if (recording_load_machine(rec, i, &machine))
			machine_free(&machine);
		recording_load_contexts(rec, i, &text);
		text_free(&text);
	}
	if (!recording_error(rec) && recording_count(rec)) {
		const struct recording_choice choice = { .keep = keep, .by = { BY_ROW, 0 } };
		size_t at = recording_count(rec) - 1;
		struct series series = { .columns = 1 };
		struct gauges gauges = { 0 };

		recording_series(rec, &series, &at, &choice);
		series_free(&series);
		recording_load_gauges(rec, "*", &gauges);
		gauges_free(&gauges);
	}
	recording_close(rec);
}

/* Then goes on with it, as record --append does. */
static void append(void)
{
	struct site site = { .file = "c.c", .line = 3, .func = "h", .bytes = 1, .calls = 1 };
	struct allocinfo info = { .major = 1, .site = &site, .count = 1 };
	const struct moment moment = { .time = 9, .info = &info };
	struct recording *rec = recording_create(hostile, "", true);

	if (!recording_error(rec))
		recording_add(rec, &moment);
	recording_close(rec);
}

static void read_fleet(void)
{
	struct fleet_db *db;

	if (!fleet_db_is(hostile))
		return;
	db = fleet_db_open(hostile);
	while (!fleet_db_error(db)) {
		struct snapshot snapshot = { 0 };
		bool more = fleet_db_next(db, &snapshot);

		snapshot_free(&snapshot);
		if (!more)
			break;
	}
	fleet_db_close(db);
}

static void read_trace(void)
{
	struct kmem kmem = { 0 };

	free(kmem_load(&kmem, hostile));
	kmem_free(&kmem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = { data, data + size };
	uint8_t how = take(&bytes);

	remove_all();
	if (how & 0x80) {
		int fd = outfile_create_now(hostile);

		if (write(fd, bytes.at, (size_t)(bytes.end - bytes.at)) < 0)
			abort();
		close(fd);
	} else {
		copy(sound[how % KINDS], hostile);
		if (how & 0x40)
			damage(&bytes);
		else
			change_all(&bytes);
	}
	read_recording();
	read_fleet();
	read_trace();
	if (how & 0x20)
		append();
	return 0;
}
