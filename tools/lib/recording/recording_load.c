// SPDX-License-Identifier: GPL-2.0-only
#include "recording/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/group.h"
#include "read/activity.h"
#include "read/contexts.h"
#include "recording/site_row.h"

const struct store_column slab_columns[SLAB_COLUMNS] = {
	{ "active", offsetof(struct slab_cache, active), true },
	{ "objects", offsetof(struct slab_cache, objects), true },
	{ "object_size", offsetof(struct slab_cache, object_size), false },
	{ "objects_per_slab", offsetof(struct slab_cache, objects_per_slab), false },
	{ "pages_per_slab", offsetof(struct slab_cache, pages_per_slab), false },
	{ "active_slabs", offsetof(struct slab_cache, active_slabs), true },
	{ "slabs", offsetof(struct slab_cache, slabs), true },
};

int64_t *slab_column(const struct slab_cache *cache, size_t column)
{
	return (int64_t *)((char *)cache + slab_columns[column].offset);
}

size_t recording_pick(const struct recording *rec, size_t first, size_t k, size_t take)
{
	size_t last = rec->count - 1;

	return take > 1 ? first + k * (last - first) / (take - 1) : last;
}

/* Rows come in the order of their key: by site, and for each site by time. */
struct pass {
	struct recording *rec;
	sqlite3_stmt *rows;
	int result;		/* result of the last step */
	const size_t *at;
	size_t columns;
};

/* Adds the rows of @site to @sums, which may be NULL: each row holds until the next one. */
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
	sqlite3_stmt *sites = store_query(rec, "SELECT id, name, file, line, module, func"
					 " FROM site ORDER BY id");
	struct pass pass = {
		.rec = rec, .at = at, .columns = series->columns,
		.rows = store_query(rec, "SELECT site, snapshot, bytes, calls FROM row"
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
			store_fail_with(rec, store_damaged);
			arena_free(&names);
			break;
		}
		/* A damaged file may have rows without a site. */
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
	/* Rows after the last site are left unread. */
	if (pass.result == SQLITE_ROW)
		pass.result = SQLITE_DONE;
out:
	text_free(&name);
	if (pass.rows && sites) {
		bool good = store_query_end(rec, pass.rows, pass.result);

		return store_query_end(rec, sites, result) && good;
	}
	sqlite3_finalize(sites);
	sqlite3_finalize(pass.rows);
	return false;
}

/* Reads the rows of snapshot @i. *@id, to be freed, are the numbers of their sites. */
static bool load_rows(struct recording *rec, size_t i, struct allocinfo *info, int64_t **id)
{
	sqlite3_stmt *s = rec->statement[LOAD];
	int64_t last = INT64_MIN;
	const char *name;
	size_t room = 0;
	int result;

	*id = NULL;
	*info = (struct allocinfo){
		.major = rec->snapshot[i].major,
		.minor = rec->snapshot[i].minor,
		.boot = rec->snapshot[i].boot,
	};
	sqlite3_bind_int64(s, 1, rec->snapshot[i].id);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		if (!database_ascends(&last, sqlite3_column_int64(s, 7))) {
			store_fail_with(rec, store_damaged);
			break;
		}
		GROW((*id), info->count, room);
		(*id)[info->count] = last;
		name = database_column(s, 8);
		if (site_row_add(info, s))
			info->site[info->count - 1].row = name ? group_row_number(name) : 1;
	}
	info->areas = info->count && !strcmp(info->site[0].file, "vmallocinfo");
	allocinfo_find_part(info);
	if (result != SQLITE_DONE)
		store_fail(rec);
	sqlite3_reset(s);
	if (result != SQLITE_DONE)
		allocinfo_free(info);
	return result == SQLITE_DONE;
}

/* The last snapshot up to the one with this id. */
static size_t snapshot_at(const struct recording *rec, int64_t id)
{
	size_t low = 0, high = rec->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (rec->snapshot[middle].id <= id)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Whether row @site was there in snapshot @snapshot; *@flags are its flags then. */
static bool was_there(sqlite3_stmt *s, int64_t site, int64_t snapshot, unsigned int *flags)
{
	const char *notes;
	bool there = false;

	*flags = 0;
	sqlite3_bind_int64(s, 1, site);
	sqlite3_bind_int64(s, 2, snapshot);
	if (sqlite3_step(s) == SQLITE_ROW) {
		notes = database_column(s, 0);
		*flags = notes ? site_flags(notes) : 0;
		there = sqlite3_column_type(s, 1) != SQLITE_NULL;
	}
	sqlite3_reset(s);
	return there;
}

/*
 * Sets the activity of the rows of @info, whose sites are @id, up to snapshot @to, and the recent
 * activity from snapshot @from on. It is the sum of all steps in between, so a number may wrap
 * around as often as it likes. After a boot the kernel counts from 0. A row whose activity was
 * missing in snapshot @from has no recent one. Where it was missing in between, one step leads from
 * the snapshot before to the one after.
 */
static bool load_activity(struct recording *rec, size_t from, size_t to, struct allocinfo *info,
			  const int64_t *id)
{
	int64_t start = rec->snapshot[from].id, last_site = INT64_MIN;
	struct activity before = { 0 };
	bool any = false, *counted;	/* rows whose activity is known at the start */
	unsigned int flags;
	sqlite3_stmt *s, *rows;
	size_t row = 0, last = 0;
	int result;

	if (!store_has_activity(rec))
		return !rec->error;
	s = store_query(rec, "SELECT site, snapshot, allocs, frees FROM activity WHERE snapshot <= ?"
			" ORDER BY site, snapshot");
	rows = store_query(rec, "SELECT notes, bytes FROM row WHERE site = ? AND snapshot <= ?"
			   " ORDER BY snapshot DESC LIMIT 1");
	if (!s || !rows) {
		sqlite3_finalize(s);
		sqlite3_finalize(rows);
		return false;
	}
	counted = xcalloc(info->count, sizeof(*counted));
	sqlite3_bind_int64(s, 1, rec->snapshot[to].id);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t site_id = sqlite3_column_int64(s, 0), snapshot = sqlite3_column_int64(s, 1);
		struct activity now = {
			.allocs = (uint32_t)sqlite3_column_int64(s, 2),
			.frees = (uint32_t)sqlite3_column_int64(s, 3),
			.known = sqlite3_column_type(s, 2) != SQLITE_NULL,
		}, step = { 0 };
		size_t at = snapshot_at(rec, snapshot);
		bool booted = false;

		if (site_id != last_site || rec->snapshot[at].since > last) {
			booted = site_id == last_site && before.known;
			before = (struct activity){ 0 };
		}
		last_site = site_id;
		last = at;
		while (row < info->count && id[row] < site_id)
			row++;
		any |= snapshot <= start;
		if (row < info->count && id[row] == site_id) {
			struct site *site = &info->site[row];

			if (now.known && snapshot > start)
				step = activity_step(before.known ? &before : NULL, &now,
						     site->module || !rec->snapshot[at].boot ? ROW_CAN_RESTART :
						     ROW_STAYS);
			if (site->module && (!before.known || step.restarts) &&
			    was_there(rows, site_id, snapshot, &flags) && flags & SITE_UNLOADED)
				step = (struct activity){ 0 };
			step.restarts |= booted && step.known;
			site->all = now;
			activity_add(&site->recent, &step);
			if (snapshot <= start)
				counted[row] = now.known;
		}
		if (now.known || !was_there(rows, site_id, snapshot, &flags))
			before = now;
	}
	for (size_t i = 0; i < info->count; i++) {
		struct site *site = &info->site[i];

		site->recent.partial = false;
		site->recent.restarts = site->recent.restarts > 0;
		site->recent.known = any && from < to && site->all.known &&
				     (counted[i] || !was_there(rows, id[i], start, &flags));
	}
	sqlite3_finalize(rows);
	free(counted);
	return store_query_end(rec, s, result);
}

bool recording_load_since(struct recording *rec, size_t from, size_t i, struct allocinfo *info)
{
	int64_t *id;
	bool good = load_rows(rec, i, info, &id);

	if (good && !load_activity(rec, from, i, info, id)) {
		allocinfo_free(info);
		good = false;
	}
	free(id);
	return good;
}

bool recording_load(struct recording *rec, size_t i, struct allocinfo *info)
{
	return recording_load_since(rec, i, i, info);
}

bool recording_unprofiled(struct recording *rec, const struct recording_choice *choice,
			  struct allocinfo *info, size_t *all)
{
	sqlite3_stmt *s = store_query(rec, "SELECT file, line, module, func, EXISTS (SELECT 1 FROM row"
				     " WHERE site = id AND notes LIKE '%disabled:yes%') FROM site"
				     " ORDER BY id");
	int result;

	*info = (struct allocinfo){ 0 };
	*all = 0;
	if (!s)
		return false;
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		struct site site = {
			.file = database_text(&info->strings, s, 0),
			.line = (uint32_t)sqlite3_column_int64(s, 1),
			.module = database_text(&info->strings, s, 2),
			.func = database_text(&info->strings, s, 3),
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
	return store_query_end(rec, s, result);
}

/* Passes the last values up to snapshot @i of the gauges from @source to @add. */
static bool load_samples(struct recording *rec, size_t i, const char *source,
			 void (*add)(void *data, const char *name, int64_t value),
			 void *data)
{
	sqlite3_stmt *s = store_query(rec,
		"SELECT name, value, id FROM gauge JOIN"
		" (SELECT gauge, max(snapshot), value FROM sample WHERE snapshot <= ?"
		"  GROUP BY gauge) ON gauge = id WHERE source = ? ORDER BY id");
	int64_t last = INT64_MIN;
	int result;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, rec->snapshot[i].id);
	store_bind_text(s, 2, source);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = database_column(s, 0);

		if (!database_ascends(&last, sqlite3_column_int64(s, 2))) {
			store_fail_with(rec, store_damaged);
			break;
		}
		if (name)
			add(data, name, sqlite3_column_int64(s, 1));
	}
	return store_query_end(rec, s, result);
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

/* "cache/column": the columns of a cache are stored one after the other. */
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
	    load_samples(rec, i, PROCESSES, add_holder, &machine->processes) &&
	    load_samples(rec, i, BOOT, add_holder, &machine->boot)) {
		leave_out_gone(&machine->slabinfo);
		holders_sort(&machine->processes);
		holders_sort(&machine->boot);
		zoneinfo_from_fields(&machine->pages, &pages);
		fields_free(&pages);
		return true;
	}
	fields_free(&pages);
	machine_free(machine);
	return false;
}

/*
 * A short text can name a long stack again and again. No kernel's contexts are so much longer
 * than their stored form, or longer than this.
 */
#define MOST_LONGER 1024
#define MOST_CONTEXTS (256 << 20)

/* A stack that does not exist, in a damaged file, has no frames. */
static bool put_stack(struct recording *rec, struct text *text, int64_t number, size_t most)
{
	sqlite3_stmt *s = store_query(rec, "SELECT frames FROM stack WHERE id = ?");
	int result;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, number);
	while ((result = sqlite3_step(s)) == SQLITE_ROW) {
		const char *frames = database_column(s, 0);

		if (frames && text->len + strlen(frames) > most) {
			store_fail_with(rec, "damaged: contexts that are longer than any kernel's");
			break;
		}
		text_puts(text, frames ? frames : "");
	}
	return store_query_end(rec, s, result);
}

bool recording_load_contexts(struct recording *rec, size_t i, struct text *text)
{
	sqlite3_stmt *s;
	int result;

	text_clear(text);
	if (!store_has_contexts(rec))
		return !rec->error;
	s = store_query(rec, "SELECT text FROM contexts WHERE snapshot = ?");
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
	return store_query_end(rec, s, result) && !rec->error;
}
