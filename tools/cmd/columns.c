// SPDX-License-Identifier: GPL-2.0-only
#include "columns.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/activity.h"
#include "write/export.h"
#include "write/json.h"
#include "base/outfile.h"
#include "write/table.h"
#ifdef HAVE_SQLITE
#include "write/rows_db.h"
#endif

static const struct {
	const char *name, *heading;
	bool right;
} properties[COLUMNS] = {
	[COL_SIZE] = { "size", "SIZE", true },
	[COL_CALLS] = { "calls", "CALLS", true },
	[COL_AVG] = { "avg", "AVG", true },
	[COL_SHARE] = { "share", "SHARE", true },
	[COL_ROWS] = { "rows", "ROWS", true },
	[COL_FLAGS] = { "flags", "FLAGS", false },
	[COL_PEAK] = { "peak", "PEAK", true },
	[COL_ALLOCS] = { "allocs", "ALLOCS", true },
	[COL_FREES] = { "frees", "FREES", true },
	[COL_ALLOCS_RECENT] = { "allocs_recent", "RECENT ALLOCS", true },
	[COL_FREES_RECENT] = { "frees_recent", "RECENT FREES", true },
	[COL_ALLOCS_RATE] = { "allocs_rate", "ALLOCS/S", true },
	[COL_FREES_RATE] = { "frees_rate", "FREES/S", true },
	[COL_BEFORE] = { "before", "BEFORE", true },
	[COL_GROWTH] = { "growth", "GROWTH", true },
	[COL_CALLS_BEFORE] = { "calls_before", "CALLS BEFORE", true },
	[COL_CALLS_GROWTH] = { "calls_growth", "CALLS", true },
	[COL_STATE] = { "state", "STATE", false },
	[COL_LINE_BEFORE] = { "line_before", "WAS", true },
	[COL_NAME] = { "name", "NAME", false },
	[COL_FILE] = { "file", "FILE", false },
	[COL_LINE] = { "line", "LINE", true },
	[COL_MODULE] = { "module", "MODULE", false },
	[COL_FUNC] = { "func", "FUNC", false },
};

static_assert(COLUMNS <= TABLE_COLUMNS, "all of them can be shown");

struct words columns_words(void)
{
	return WORDS(properties, .name);
}

bool columns_parse(struct columns *columns, const char *list, const char **bad)
{
	columns->count = 0;
	for (;;) {
		size_t len = strcspn(list, ","), c = words_find(columns_words(), list, len);

		*bad = list;
		if (c == COLUMNS || columns->count == COLUMNS)
			return false;
		columns->column[columns->count++] = c;
		if (!list[len])
			return true;
		list += len + 1;
	}
}

static bool any_between(const struct columns *columns, enum column first, enum column last)
{
	for (size_t c = 0; c < columns->count; c++)
		if (columns->column[c] >= first && columns->column[c] <= last)
			return true;
	return false;
}

bool columns_have(const struct columns *columns, enum column column)
{
	return any_between(columns, column, column);
}

bool columns_of_activity(const struct columns *columns)
{
	return any_between(columns, COL_ALLOCS, COL_FREES_RATE);
}

bool columns_since_boot(const struct columns *columns)
{
	return any_between(columns, COL_ALLOCS, COL_FREES);
}

bool columns_of_rates(const struct columns *columns)
{
	return any_between(columns, COL_ALLOCS_RECENT, COL_FREES_RATE);
}

bool columns_of_growth(const struct columns *columns)
{
	return any_between(columns, COL_BEFORE, COL_LINE_BEFORE);
}

/* The value of a cell, before it becomes text or JSON. */
struct value {
	enum { NONE, MISSING, NUMBER, REAL, RATE, STRING, WORDS } kind;
	bool size;	/* bytes, for people … */
	bool sign;	/* … and with a plus sign if they grew */
	int64_t number;
	double real;
	const char *string;
};

static struct value number(int64_t n)
{
	return (struct value){ .kind = NUMBER, .number = n };
}

static struct value size(int64_t n)
{
	return (struct value){ .kind = NUMBER, .number = n, .size = true };
}

static struct value growth(int64_t now, int64_t before)
{
	return (struct value){
		.kind = NUMBER, .number = sub64(now, before), .size = true, .sign = true
	};
}

static struct value rate(int64_t n, double seconds)
{
	return (struct value){ .kind = RATE, .real = (double)n / seconds };
}

static struct value string(const char *s)
{
	return (struct value){ .kind = s ? STRING : NONE, .string = s };
}

static const char *flags_text(struct text *text, const struct groups *groups,
			      const struct group *group)
{
	text_clear(text);
	/* The notes of one row as they were read, including unknown ones. */
	if (group->site && group->site->notes && group->now.rows == 1 &&
	    (groups->by.by == BY_SITE || groups->by.by == BY_ROW)) {
		text_puts(text, group->site->notes);
		return text->s;
	}
	if (group->flags & SITE_INACCURATE)
		text_puts(text, " accurate:no");
	if (group->flags & SITE_UNLOADED)
		text_puts(text, " unloaded:yes");
	if (group->flags & SITE_DISABLED)
		text_puts(text, " disabled:yes");
	return text->len ? text->s + 1 : "";
}

static const char *group_state(const struct group *group)
{
	/* The list left out one of its rows: the size is an upper bound. */
	if (group->flags & SITE_BOUND)
		return group->now.bytes < group->before.bytes ? "at most" : "at least";
	if (!group->before.rows)
		return "new";
	if (!group->now.rows)
		return "gone";
	if (group->line_before)
		return "moved";
	return group->now.bytes == group->before.bytes &&
	       group->now.calls == group->before.calls ? "same" : "changed";
}

/* Whether @column is the same for all rows of a group. */
static bool makes_sense(enum column column, const struct groups *groups)
{
	enum group_by by = groups->by.by;
	bool site = by == BY_SITE || by == BY_ROW, place = site || by == BY_PLACE;

	switch (column) {
	case COL_PEAK:
		return groups->peak_snapshots;
	case COL_ALLOCS:
	case COL_FREES:
		return groups->all.known;
	case COL_ALLOCS_RECENT:
	case COL_FREES_RECENT:
		return groups->recent.known;
	case COL_ALLOCS_RATE:
	case COL_FREES_RATE:
		return groups->recent.known && groups->seconds > 0;
	case COL_BEFORE:
	case COL_GROWTH:
	case COL_CALLS_BEFORE:
	case COL_CALLS_GROWTH:
	case COL_STATE:
		return groups->compared;
	case COL_FILE:
		return place || by == BY_FILE;
	case COL_LINE:
		return site;
	case COL_LINE_BEFORE:
		return site && groups->compared;
	case COL_MODULE:
		return place || by == BY_MODULE;
	case COL_FUNC:
		return place || by == BY_FUNC;
	default:
		return true;
	}
}

/* A number that is missing is none, and not 0. */
static struct value counted(const struct activity *activity, int64_t n)
{
	return activity_whole(activity) ? number(n) : (struct value){ .kind = MISSING };
}

static struct value counted_rate(const struct activity *activity, int64_t n, double seconds)
{
	return activity_whole(activity) ? rate(n, seconds) : (struct value){ .kind = MISSING };
}

static struct value value_of(enum column column, const struct groups *groups,
			     const struct group *group, struct text *scratch)
{
	if (!makes_sense(column, groups))
		return (struct value){ .kind = column >= COL_ALLOCS && column <= COL_FREES_RATE ? MISSING : NONE };
	switch (column) {
	case COL_SIZE:
		return size(group->now.bytes);
	/* A row that is not there has an upper bound of its size, and no other value. */
	case COL_CALLS:
		if (group->flags & SITE_BOUND)
			break;
		return number(group->now.calls);
	case COL_AVG:
		if (group->flags & SITE_BOUND)
			break;
		return size(sum_average(&group->now));
	case COL_SHARE:
		/* Shares of a negative sum make no sense. */
		return (struct value){
			.kind = groups->now.bytes < 0 ? NONE : REAL,
			.real = percent(group->now.bytes, groups->now.bytes)
		};
	case COL_ROWS:
		return number(group->now.rows);
	case COL_FLAGS:
		return (struct value){
			.kind = WORDS,
			.string = flags_text(scratch, groups, group)
		};
	case COL_PEAK:
		return size(group->peak);
	case COL_ALLOCS:
		return counted(&group->all, group->all.allocs);
	case COL_FREES:
		return counted(&group->all, group->all.frees);
	case COL_ALLOCS_RECENT:
		return counted(&group->recent, group->recent.allocs);
	case COL_FREES_RECENT:
		return counted(&group->recent, group->recent.frees);
	case COL_ALLOCS_RATE:
		return counted_rate(&group->recent, group->recent.allocs, groups->seconds);
	case COL_FREES_RATE:
		return counted_rate(&group->recent, group->recent.frees, groups->seconds);
	case COL_BEFORE:
		return size(group->before.bytes);
	case COL_GROWTH:
		return growth(group->now.bytes, group->before.bytes);
	case COL_CALLS_BEFORE:
		if (group->flags & SITE_BOUND)
			break;
		return number(group->before.calls);
	case COL_CALLS_GROWTH:
		if (group->flags & SITE_BOUND)
			break;
		return growth(group->now.calls, group->before.calls);
	case COL_STATE:
		return string(group_state(group));
	case COL_LINE_BEFORE:
		return group->line_before ? number(group->line_before) : string(NULL);
	case COL_NAME:
		return string(group->name);
	case COL_FILE:
		return string(group->site->file);
	case COL_LINE:
		return number(group->site->line);
	case COL_MODULE:
		return string(group->site->module);
	case COL_FUNC:
		return string(group->site->func);
	case COLUMNS:
		break;
	}
	return (struct value){ .kind = NONE };
}

static void add_cell(struct table *table, struct value value, bool human)
{
	char number_text[SIZE_TEXT + 1];
	bool plus;

	switch (value.kind) {
	case NONE:
		table_cell(table, "");
		break;
	case MISSING:
		table_cell(table, ACTIVITY_MISSING);
		break;
	case NUMBER:
		plus = value.sign && value.number > 0;
		number_text[0] = '+';
		size_format(number_text + plus, value.number, human && value.size);
		table_cell(table, number_text);
		break;
	case REAL:
		table_cell(table, percent_format(number_text, value.real));
		break;
	case RATE:
		snprintf(number_text, sizeof(number_text), "%.1f", value.real);
		table_cell(table, number_text);
		break;
	case STRING:
	case WORDS:
		table_cell(table, value.string);
		break;
	}
}

static void json_words(struct json *json, const char *words)
{
	struct text word = { 0 };

	while (*words) {
		size_t len = strcspn(words, " ");

		text_clear(&word);
		text_add(&word, words, len);
		json_string(json, NULL, word.s);
		words += len;
		words += strspn(words, " ");
	}
	text_free(&word);
}

static void add_json(struct json *json, const char *key, struct value value)
{
	switch (value.kind) {
	case NONE:
	case MISSING:
		json_null(json, key);
		break;
	case NUMBER:
		json_int(json, key, value.number);
		break;
	case REAL:
	case RATE:
		json_real(json, key, value.real);
		break;
	case STRING:
		json_string(json, key, value.string);
		break;
	case WORDS:
		json_array(json, key);
		json_words(json, value.string);
		json_end_array(json);
		break;
	}
}

void columns_table(const struct columns *columns, const struct groups *groups,
		   size_t count, const struct output *output)
{
	struct table_column head[COLUMNS];
	struct table table = { .column = head, .columns = columns->count };
	struct text scratch = { 0 };
	bool human = output_human(output);

	for (size_t c = 0; c < columns->count; c++)
		head[c] = (struct table_column){
			.heading = properties[columns->column[c]].heading,
			.right = properties[columns->column[c]].right
		};
	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < columns->count; c++)
			add_cell(&table,
				 value_of(columns->column[c], groups,
					  &groups->group[i], &scratch),
				 human);
	output_table(&table, output);
	text_free(&scratch);
}

/* The columns that were asked for, or else all that make sense. */
static struct columns or_all(const struct columns *columns, const struct groups *groups)
{
	struct columns all = { .count = 0 };

	if (columns->count)
		return *columns;
	for (enum column c = 0; c < COLUMNS; c++)
		if (makes_sense(c, groups))
			all.column[all.count++] = c;
	return all;
}

static void csv_cell(FILE *out, struct value value)
{
	switch (value.kind) {
	case NONE:
	case MISSING:
		break;
	case NUMBER:
		fprintf(out, "%" PRId64, value.number);
		break;
	case REAL:
	case RATE:
		fprintf(out, "%.17g", value.real);
		break;
	case STRING:
	case WORDS:
		csv_text(out, value.string);
		break;
	}
}

void columns_csv(const struct columns *columns, const struct groups *groups, size_t count,
		 bool headings, FILE *out)
{
	const struct columns all = or_all(columns, groups);
	struct text scratch = { 0 };

	for (size_t c = 0; c < all.count && headings; c++)
		fprintf(out, "%s%s", c ? "," : "", properties[all.column[c]].name);
	if (headings)
		fputs("\r\n", out);
	for (size_t i = 0; i < count; i++) {
		for (size_t c = 0; c < all.count; c++) {
			if (c)
				putc(',', out);
			csv_cell(out, value_of(all.column[c], groups, &groups->group[i],
					       &scratch));
		}
		fputs("\r\n", out);
	}
	text_free(&scratch);
}

#ifdef HAVE_SQLITE
static void database_cell(struct rows_db *db, int column, struct value value)
{
	switch (value.kind) {
	case NONE:
	case MISSING:
		break;
	case NUMBER:
		rows_db_int(db, column, value.number);
		break;
	case REAL:
	case RATE:
		rows_db_real(db, column, value.real);
		break;
	case STRING:
	case WORDS:
		rows_db_text(db, column, value.string);
		break;
	}
}

/* Returns an error message, or NULL. */
static char *write_database(const struct columns *all, const struct groups *groups,
			    size_t count, const char *path)
{
	struct text names = { 0 }, scratch = { 0 };
	struct rows_db *db;

	for (size_t c = 0; c < all->count; c++)
		text_printf(&names, "%s%s %s", c ? ", " : "", properties[all->column[c]].name,
			    all->column[c] == COL_SHARE || all->column[c] == COL_ALLOCS_RATE ||
			    all->column[c] == COL_FREES_RATE ? "REAL" :
			    properties[all->column[c]].right ? "INTEGER" : "TEXT");
	db = rows_db_create(path, names.s, (int)all->count);
	for (size_t i = 0; i < count; i++) {
		for (size_t c = 0; c < all->count; c++)
			database_cell(db, (int)c, value_of(all->column[c], groups,
							   &groups->group[i], &scratch));
		rows_db_add(db);
	}
	text_free(&names);
	text_free(&scratch);
	return rows_db_finish(db);
}
#else
static char *write_database(const struct columns *all, const struct groups *groups,
			    size_t count, const char *path)
{
	(void)all, (void)groups, (void)count, (void)path;
	return xstrdup("this build has no sqlite3");
}
#endif

bool columns_database(const struct columns *columns, const struct groups *groups,
		      size_t count, const char *path, bool must_be_new)
{
	const struct columns all = or_all(columns, groups);
	struct outfile file;
	char *error;

	if (!(must_be_new ? outfile_create : outfile_open)(&file, path)) {
		warning("cannot create %s: %s", path, strerror(errno));
		return false;
	}
	error = file.temporary ? write_database(&all, groups, count, file.temporary) :
				 xstrdup("a database is an ordinary file");
	if (error)
		outfile_abandon(&file);
	else if (!outfile_finish(&file))
		error = xstrdup(strerror(errno));
	if (error)
		warning("cannot write %s: %s", path, error);
	free(error);
	return !error;
}

void columns_json(const struct columns *columns, const struct groups *groups,
		  size_t count, struct json *json, const char *key)
{
	const struct columns all = or_all(columns, groups);
	struct text scratch = { 0 };

	json_array(json, key);
	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		for (size_t c = 0; c < all.count; c++)
			add_json(json, properties[all.column[c]].name,
				 value_of(all.column[c], groups,
					  &groups->group[i], &scratch));
		json_end_object(json);
	}
	json_end_array(json);
	text_free(&scratch);
}
