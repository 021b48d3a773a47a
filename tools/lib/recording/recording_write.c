// SPDX-License-Identifier: GPL-2.0-only
#include "recording/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/outfile.h"
#include "model/group.h"
#include "read/activity.h"
#include "read/contexts.h"

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

/* Reads the last state that an earlier run stored, so that only changes are appended. */
static bool load_states(struct recording *rec)
{
	sqlite3_stmt *s = store_query(rec,
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
			store_fail_with(rec, store_damaged);
			break;
		}
		if (sqlite3_column_type(s, 1) == SQLITE_NULL)
			state_of(rec, i);
		else
			set_state(state_of(rec, i), sqlite3_column_int64(s, 1),
				  sqlite3_column_int64(s, 2),
				  database_column(s, 3));
	}
	if (!store_query_end(rec, s, result))
		return false;
	s = store_query(rec, "SELECT site, max(snapshot), allocs, frees FROM activity GROUP BY site");
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t site = sqlite3_column_int64(s, 0);

		if (site > 0 && site <= (int64_t)rec->sites.count)
			state_of(rec, (size_t)site - 1)->activity = (struct activity){
				.allocs = (uint32_t)sqlite3_column_int64(s, 2),
				.frees = (uint32_t)sqlite3_column_int64(s, 3),
				.known = sqlite3_column_type(s, 2) != SQLITE_NULL,
			};
	}
	if (!store_query_end(rec, s, result))
		return false;
	s = store_query(rec,
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
	return store_query_end(rec, s, result);
}

/* After the bytes from 1 GiB on that SQLite locks in its files. */
#define LOCK_BYTE 0x40000200

/*
 * A writer relies on the state that it stored last, so there may be only one. The lock belongs
 * to the open file: SQLite's locks, which belong to the process, do not affect it.
 */
static bool lock_file(struct recording *rec, const char *path, bool create)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1
	};
	struct stat st;

	rec->lock = create ? outfile_create_now(path) : outfile_open_now(path);
	if (rec->lock < 0)
		return store_fail_with(rec, strerror(errno));
	if (!fstat(rec->lock, &st) && !S_ISREG(st.st_mode))
		return store_fail_with(rec, "it is not an ordinary file");
	if (!fcntl(rec->lock, F_OFD_SETLK, &lock))
		return true;
	if (errno != EAGAIN && errno != EACCES)
		return store_fail_with(rec, strerror(errno));
	rec->hint = "Wait for it, end it, or take another name.";
	return store_fail_with(rec, "being written by another codetag record");
}

/* In another kernel the same lines are other call sites. */
static bool same_kernel(struct recording *rec, const char *kernel)
{
	struct text why = { 0 };

	if (!*kernel || !*recording_kernel(rec) || !strcmp(kernel, recording_kernel(rec)))
		return true;
	text_printf(&why, "recorded on Linux %s, and this is %s", recording_kernel(rec), kernel);
	store_fail_with(rec, why.s);
	text_free(&why);
	rec->hint = "Begin a new recording: take another name.";
	return false;
}

static int64_t pragma(struct recording *rec, const char *text)
{
	sqlite3_stmt *s = store_query(rec, text);
	int64_t value = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;

	sqlite3_finalize(s);
	return value;
}

/*
 * Moves committed data from the file -wal to the recording itself, so that a copy of that file
 * alone has all snapshots. Space is reserved first, because a full disk would leave the file
 * half old and half new. For that reason SQLite does not do this by itself. Data that a
 * reader holds back follows with the next snapshot.
 */
static bool settle(struct recording *rec)
{
	off_t size = pragma(rec, "PRAGMA page_count") * pragma(rec, "PRAGMA page_size");
	struct stat st;
	int result;

	if (fstat(rec->lock, &st))
		return store_fail_with(rec, strerror(errno));
	sqlite3_db_config(rec->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	result = st.st_size < size ? posix_fallocate(rec->lock, 0, size) : 0;
	if (result)
		return store_fail_with(rec, strerror(result));
	result = sqlite3_wal_checkpoint_v2(rec->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (result != SQLITE_OK && result != SQLITE_BUSY)
		return store_fail(rec);
	sqlite3_db_config(rec->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return true;
}

struct recording *recording_create(const char *path, const char *kernel, bool append)
{
	struct recording *rec = store_new();
	sqlite3_stmt *s;

	if (append) {
		if (lock_file(rec, path, false) && store_open_existing(rec, path, DATABASE_APPEND) &&
		    same_kernel(rec, kernel) &&
		    store_run(rec, "PRAGMA wal_autocheckpoint = 0") && store_run(rec, store_contexts_schema) &&
		    store_run(rec, store_activity_schema) && store_prepare(rec))
			load_states(rec);
		return rec;
	}
	/*
	 * The file has to be new: a recording without a snapshot is removed, which must not hit
	 * another's file.
	 */
	if (!lock_file(rec, path, true))
		return rec;
	rec->created = xstrdup(path);
	if (!store_open(rec, path, DATABASE_NEW))
		return rec;
	if (!store_run(rec, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
			"PRAGMA wal_autocheckpoint = 0;"
			"BEGIN;") ||
	    !store_run(rec, store_meta_schema) || !store_run(rec, store_schema) ||
	    !store_run(rec, store_contexts_schema) || !store_run(rec, store_activity_schema) ||
	    !store_run(rec, "INSERT INTO meta VALUES ('format', '" STORE_FORMAT "')"))
		return rec;
	s = store_query(rec, "INSERT INTO meta VALUES ('kernel', ?)");
	if (!s)
		return rec;
	store_bind_text(s, 1, kernel);
	if (store_query_end(rec, s, sqlite3_step(s)) && store_run(rec, "COMMIT") && settle(rec)) {
		rec->kernel = xstrdup(kernel);
		store_prepare(rec);
	}
	return rec;
}

void recording_do_not_sync(struct recording *rec)
{
	if (!rec->error)
		store_run(rec, "PRAGMA synchronous = OFF");
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool add_site(struct recording *rec, size_t i, const struct site *site)
{
	sqlite3_stmt *s = rec->statement[ADD_SITE];

	sqlite3_bind_int64(s, 1, (int64_t)i + 1);
	store_bind_text(s, 2, rec->sites.entry[i].key);
	store_bind_text(s, 3, site->file);
	sqlite3_bind_int64(s, 4, site->line);
	store_bind_text(s, 5, site->module);
	store_bind_text(s, 6, site->func);
	return store_step(rec, ADD_SITE);
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
		store_bind_text(s, 5, site->notes);
	}
	return store_step(rec, ADD_ROW);
}

/* @now is not known if the row has vanished, or if its activity is missing. */
static bool add_activity(struct recording *rec, size_t i, int64_t snapshot, const struct activity *now)
{
	struct activity *last = &state_of(rec, i)->activity;
	sqlite3_stmt *s = rec->statement[ADD_ACTIVITY];

	if (last->known == now->known && last->allocs == now->allocs && last->frees == now->frees)
		return true;
	*last = *now;
	sqlite3_bind_int64(s, 1, (int64_t)i + 1);
	sqlite3_bind_int64(s, 2, snapshot);
	if (now->known) {
		sqlite3_bind_int64(s, 3, now->allocs);
		sqlite3_bind_int64(s, 4, now->frees);
	}
	return store_step(rec, ADD_ACTIVITY);
}

/* The name of the @k-th row of a call site, whose first row has the name @site */
static void row_name(struct text *name, const char *site, size_t k)
{
	text_clear(name);
	text_puts(name, site);
	group_number_row(name, k);
}

/* The numbers in @names of the rows of a call site, from its first row on; returns how many. */
static size_t find_rows(const struct strmap *names, const char *site, size_t **row)
{
	struct text name = { 0 };
	size_t count = 0, room = 0, i;

	*row = NULL;
	for (;;) {
		row_name(&name, site, count + 1);
		i = strmap_find(names, name.s, name.len);
		if (i == STRMAP_NONE)
			break;
		GROW((*row), count, room);
		(*row)[count++] = i;
	}
	text_free(&name);
	return count;
}

/*
 * Sets the number of each row of one call site of a module. A row keeps its number of the last
 * snapshot. The k-th row is another one once a row of an unloaded module has vanished. A new row
 * gets a number that the last snapshot did not have.
 */
static void number_site(struct recording *rec, const struct groups *groups, const char *name, size_t *number)
{
	size_t *now_row, *known, count = find_rows(&groups->names, name, &now_row);
	size_t all = find_rows(&rec->sites, name, &known), olds = 0, k = 0;
	const struct site **now = xcalloc(count, sizeof(*now)), **before = xcalloc(all, sizeof(*before));
	struct site *last = xcalloc(all, sizeof(*last));
	size_t *match = xcalloc(count, sizeof(*match)), *old = xcalloc(all, sizeof(*old));
	struct text text = { 0 };

	for (size_t i = 0; i < count; i++)
		now[i] = groups->group[now_row[i]].site;
	for (size_t i = 0; i < all; i++) {
		const struct state *state = state_of(rec, known[i]);

		if (!state->present)
			continue;
		last[olds] = (struct site){
			.flags = state->notes ? site_flags(state->notes) : 0, .calls = state->calls,
			.all = state->activity,
		};
		/* Of before a boot */
		last[olds].all.known &= state->activity.allocs >= 0;
		before[olds] = &last[olds];
		old[olds++] = known[i];
	}
	activity_match(now, count, before, olds, match);
	for (size_t i = 0; i < count; i++) {
		if (match[i] != ACTIVITY_NO_ROW) {
			number[now_row[i]] = old[match[i]];
			continue;
		}
		while (k < all && state_of(rec, known[k])->present)
			k++;
		k++;
		row_name(&text, name, k);
		number[now_row[i]] = strmap_add(&rec->sites, text.s, text.len);
	}
	text_free(&text);
	free(now_row);
	free(known);
	free(now);
	free(before);
	free(last);
	free(match);
	free(old);
}

/* The number of the recorded row for each row of @groups, which is added if it is new */
static size_t *number_rows(struct recording *rec, const struct groups *groups)
{
	size_t *number = xcalloc(groups->count, sizeof(*number));

	for (size_t g = 0; g < groups->count; g++) {
		const char *name = groups->group[g].name;

		if (!groups->group[g].site->module)
			number[g] = strmap_add(&rec->sites, name, strlen(name));
		else if (group_row_number(name) == 1)
			number_site(rec, groups, name, number);
	}
	return number;
}

static bool add_rows(struct recording *rec, int64_t snapshot,
		     const struct allocinfo *info)
{
	struct groups groups = { .by = { BY_ROW, 0 } };
	size_t known = rec->sites.count, *number;
	bool good = true;

	groups_add(&groups, info, NULL);
	number = number_rows(rec, &groups);
	for (size_t g = 0; g < groups.count && good; g++) {
		const struct site *site = groups.group[g].site;
		size_t i = number[g];
		struct state *state = state_of(rec, i);

		state->seen = snapshot;
		if (i >= known)
			good = add_site(rec, i, site);
		if (good)
			good = add_activity(rec, i, snapshot, &site->all);
		if (state->present && state->bytes == site->bytes && state->calls == site->calls &&
		    same_text(state->notes, site->notes))
			continue;
		good = good && add_row(rec, i, snapshot, site);
		set_state(state, site->bytes, site->calls, site->notes);
	}
	for (size_t i = 0; i < rec->sites.count && good; i++) {
		struct state *state = &rec->state[i];

		if (state->present && state->seen != (size_t)snapshot) {
			good = add_row(rec, i, snapshot, NULL) &&
			       add_activity(rec, i, snapshot, &(struct activity){ 0 });
			state->present = false;
		}
	}
	free(number);
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
	return store_step(rec, ADD_SAMPLE);
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
		store_bind_text(s, 2, source);
		store_bind_text(s, 3, name);
		if (!store_step(rec, ADD_GAUGE))
			return false;
	} else if (last->seen == snapshot || last->value == value) {
		/*
		 * If a file has a name twice the first counts, as for all readers of the file.
		 */
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

/*
 * Rows with one name are one cache, as for 'slabs --diff'. Counts are summed. Sizes are those
 * of the last row; they are the same if a driver has a cache for each device.
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

/* Gauges that are not in the snapshot are gone, and have 0 from now on. */
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
	/* A cache that exists has a size other than 0, so 0 marks one that is gone. */
	if (good && sums.count && !slabs->bad.count)
		good = end_gone(rec, snapshot, SLABS);
	text_free(&name);
	slabinfo_free(&sums);
	return good;
}

static bool add_pages(struct recording *rec, int64_t snapshot, const struct zone_pages *pages)
{
	return !pages || !pages->free ||
	       (add_sample(rec, snapshot, PAGES, "free", pages->free) &&
		add_sample(rec, snapshot, PAGES, "percpu", pages->percpu) &&
		add_sample(rec, snapshot, PAGES, "present", pages->present) &&
		add_sample(rec, snapshot, PAGES, "managed", pages->managed));
}

/* More would only make the file larger: these are the largest. */
#define MOST_PROCESSES 30

static bool add_holders(struct recording *rec, int64_t snapshot, const char *of,
			const struct holders *holders, size_t most)
{
	if (!holders || !holders->count)
		return true;
	for (size_t i = 0; i < holders->count && i < most; i++)
		if (!add_sample(rec, snapshot, of, holders->holder[i].name, holders->holder[i].bytes))
			return false;
	return end_gone(rec, snapshot, of);
}

/* The number of a stack, which is added if it is new; 0: failure. */
static int64_t stack_number(struct recording *rec, const char *frames, size_t len)
{
	sqlite3_stmt *add = store_query(rec, "INSERT OR IGNORE INTO stack (frames) VALUES (?)"), *find;
	int64_t number = 0;

	if (!add)
		return 0;
	sqlite3_bind_text(add, 1, frames, (int)len, SQLITE_TRANSIENT);
	if (!store_query_end(rec, add, sqlite3_step(add)))
		return 0;
	find = store_query(rec, "SELECT id FROM stack WHERE frames = ?");
	if (!find)
		return 0;
	sqlite3_bind_text(find, 1, frames, (int)len, SQLITE_TRANSIENT);
	if (sqlite3_step(find) == SQLITE_ROW)
		number = sqlite3_column_int64(find, 0);
	else
		store_fail(rec);
	sqlite3_finalize(find);
	return number;
}

/* Stacks occur again in each snapshot and for each age, so the text has only their numbers. */
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
	s = good ? store_query(rec, "INSERT INTO contexts VALUES (?, ?)") : NULL;
	if (s) {
		sqlite3_bind_int64(s, 1, snapshot);
		sqlite3_bind_text(s, 2, text.s, (int)text.len, SQLITE_TRANSIENT);
		good = store_query_end(rec, s, sqlite3_step(s));
	}
	text_free(&text);
	return good && s;
}

/* Counts of before a boot differ from those after it, even if they are equal; none is negative. */
static void forget_activity(struct recording *rec)
{
	for (size_t i = 0; i < rec->sites.count; i++)
		if (state_of(rec, i)->activity.known)
			state_of(rec, i)->activity.allocs = -1;
}

bool recording_add(struct recording *rec, const struct moment *moment)
{
	const struct snapshot_head *last = rec->count ? &rec->snapshot[rec->count - 1] : NULL;
	int64_t id = last ? last->id + 1 : 1;
	int64_t boot = moment->boot_number || !last ? moment->boot_number : last->boot;
	size_t since = store_since(rec, rec->count, boot);
	sqlite3_stmt *s = rec->statement[ADD_SNAPSHOT];

	if (!store_run(rec, "BEGIN"))
		return false;
	if (since == rec->count)
		forget_activity(rec);
	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, moment->time);
	sqlite3_bind_int64(s, 3, moment->info->major);
	sqlite3_bind_int64(s, 4, moment->info->minor);
	if (!store_step(rec, ADD_SNAPSHOT) || !add_rows(rec, id, moment->info) ||
	    !add_fields(rec, id, "meminfo", moment->meminfo) ||
	    !add_fields(rec, id, "vmstat", moment->vmstat) ||
	    !add_slabs(rec, id, moment->slabinfo) ||
	    !add_pages(rec, id, moment->pages) ||
	    !add_holders(rec, id, PROCESSES, moment->processes, MOST_PROCESSES) ||
	    !add_holders(rec, id, BOOT, moment->boot, SIZE_MAX) ||
	    (moment->boot_number && !add_sample(rec, id, MACHINE, BOOT_NUMBER, moment->boot_number)) ||
	    !add_contexts(rec, id, moment->contexts) || !store_run(rec, "COMMIT") || !settle(rec))
		return false;
	GROW(rec->snapshot, rec->count, rec->room);
	rec->snapshot[rec->count++] = (struct snapshot_head){
		id, moment->time, moment->info->major, moment->info->minor, boot, since
	};
	free(rec->created);
	rec->created = NULL;
	return true;
}
