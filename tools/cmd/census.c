// SPDX-License-Identifier: GPL-2.0-only
/* codetag census: the memory that call sites hold, by kind, place and owner. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "debugfs.h"
#include "image.h"
#include "words.h"
#include "base/message.h"
#include "base/number.h"
#include "base/strmap.h"
#include "memory_image/contexts.h"
#include "memory_image/groups.h"
#include "memory_image/report.h"
#include "read/allocinfo.h"
#include "read/census.h"
#include "read/input.h"
#include "read/query.h"
#include "write/json.h"

#define KEY_BY 0x500

/* As many rows as the kernel's file has at most. The memory that then has no row is "others". */
#define MAX_ROWS 57344
#define QUOTED(number) #number
#define AS_TEXT(number) QUOTED(number)
#define OTHERS "others"

enum by { BY_KIND, BY_NODE, BY_ZONE, BY_MIGRATETYPE, BY_ORDER, BY_CACHE, BY_CGROUP,
	  BY_AGE, BY_SITE, BY_COUNT };

/* A word of --by, the heading of its column, and the name of its JSON field. */
static const struct table_column by_columns[BY_COUNT] = {
	[BY_KIND] = { "KIND", false, "kind", false },
	[BY_NODE] = { "NODE", false, "node", false },
	[BY_ZONE] = { "ZONE", false, "zone", false },
	[BY_MIGRATETYPE] = { "MIGRATETYPE", false, "migratetype", false },
	[BY_ORDER] = { "ORDER", true, "order", false },
	[BY_CACHE] = { "CACHE", false, "cache", false },
	[BY_CGROUP] = { "CGROUP", false, "cgroup", false },
	[BY_AGE] = { "AGE", true, "age", false },
	[BY_SITE] = { "NAME", false, "site", false },
};

struct row {
	uint64_t bytes, calls;
	const char *field[BY_COUNT];
};

struct census {
	struct image_input input;
	struct debugfs_dir dir;
	struct output output;
	enum by by[BY_COUNT];
	size_t columns;
	struct text query_text;
	struct query *query;

	struct strmap keys;
	struct text key;
	struct row *row;
	size_t rows, room, top;
	struct row others;
	struct image_groups *groups;
	struct arena strings;
	bool known[IMAGE_IDS], wanted[IMAGE_IDS];
	char *site[IMAGE_IDS];
	char *age[IMAGE_IDS];	/* of contexts that have one */
	char zone[16][16], type[16][24];
};

static const struct argp_option options[] = {
	IMAGE_FILE_OPTION,
	{ "by", KEY_BY, "LIST", 0, "Break it down by %s (default: kind)", 2 },
	{ "top", 'n', "N", 0, "Only the N largest rows", 2 },
	DEBUGFS_DIR_OPTION,
	{ 0 }
};

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == KEY_BY ? words_help(text, WORDS(by_columns, .name), ", ") : (char *)text;
}

static void read_by(struct census *c, const char *list, struct argp_state *state)
{
	const struct words words = WORDS(by_columns, .name);

	c->columns = 0;
	while (*list) {
		size_t len = strcspn(list, ","), i = words_find(words, list, len);

		if (i == BY_COUNT)
			words_refuse(words, list, len, "word to break down by", state);
		for (size_t k = 0; k < c->columns; k++)
			if (c->by[k] == i)
				argp_error(state, "--by has '%s' twice", by_columns[i].name);
		c->by[c->columns++] = (enum by)i;
		list += len + (list[len] == ',');
	}
	if (!c->columns)
		argp_error(state, "--by needs something");
}

/* The first argument can be a file. */
static void add_word(struct census *c, char *arg, struct argp_state *state)
{
	bool is_query = strpbrk(arg, " ;\n") || query_keyword(arg, strlen(arg));

	if (!c->query_text.len && !is_query) {
		if (c->input.path)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		c->input.path = arg;
		return;
	}
	if (c->query_text.len)
		text_puts(&c->query_text, " ");
	text_puts(&c->query_text, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct census *c = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &c->output;
		return 0;
	case KEY_IMAGE_FILE:
		argument_image(arg, state);
		if (c->input.path)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		c->input.path = arg;
		return 0;
	case KEY_BY:
		read_by(c, arg, state);
		return 0;
	case 'n':
		c->top = (size_t)argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case KEY_DEBUGFS:
		c->dir.path = arg;
		c->dir.given = true;
		return 0;
	case ARGP_KEY_ARG:
		add_word(c, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (c->dir.given && c->input.path)
			argp_error(state, "--debugfs is for the file that is not named");
		c->query = argument_query(c->query_text.len ? c->query_text.s : "", state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[FILE] [QUERY…]",
	"Breaks down all memory that call sites hold, or the memory of the call sites that QUERY "
	"selects. It counts pages, slab objects and percpu memory themselves, and does not read "
	"counters. Pages of slabs and percpu chunks are counted in addition to their content, as in "
	"/proc/allocinfo. The kernel runs on meanwhile, so memory that is allocated or freed "
	"during the count may be counted or not. FILE is an "
	"image of a machine's memory, such as a dump of kdump, or a copy of the kernel's file "
	"census. Control groups are known for pages, and for objects if the kernel or the image tells "
	"them. Ages, in seconds, are known only in an image, for call sites split by age. A census "
	"has at most " AS_TEXT(MAX_ROWS) " rows. Memory of further rows is added up in the row " OTHERS "."
	"\vExamples:\n"
	"  codetag census --by node,zone\n"
	"  codetag census --by cgroup,kind\n"
	"  codetag census --image vmcore --by cache module nf_conntrack\n"
	"  codetag census vmcore --by migratetype,order,site file 'fs/*'\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, help, NULL
};

/* Whether the query selects the call site with this id. */
static bool wanted(struct census *c, uint16_t id)
{
	struct text name = { 0 };
	struct site site = { 0 };
	char *copy;

	if (c->known[id])
		return c->wanted[id];
	c->known[id] = true;
	if (!image_site_text(c->input.sites, id, &name)) {
		text_clear(&name);
		text_puts(&name, "an id that no tag has");
		c->wanted[id] = query_is_empty(c->query);
	} else {
		copy = xstrdup(name.s);
		c->wanted[id] = !site_parse(&site, copy, name.len) && query_match(c->query, &site);
		free(copy);
	}
	c->site[id] = name.s;
	return c->wanted[id];
}

static const char *field(struct census *c, enum by by, const struct holding *h, char number[24])
{
	static const char *const kinds[] = {
		[HOLDER_PAGES] = "pages", [HOLDER_OBJECT] = "slab", [HOLDER_PERCPU] = "percpu",
	};
	const uint64_t *n = c->input.image->n;
	bool page = h->holder != HOLDER_PERCPU;

	switch (by) {
	case BY_KIND:
		return kinds[h->holder];
	case BY_NODE:
		if (!page)
			break;
		snprintf(number, 24, "%u", (unsigned int)(h->flags >> n[N_NODE_SHIFT] & n[N_NODE_MASK]));
		return number;
	case BY_ZONE:
		return page ? c->zone[(h->flags >> n[N_ZONE_SHIFT] & n[N_ZONE_MASK]) & 15] : "-";
	case BY_MIGRATETYPE:
		return page ? c->type[image_migratetype(&c->input.recount, h->pfn)] : "-";
	case BY_ORDER:
		if (!page)
			break;
		snprintf(number, 24, "%u", h->order);
		return number;
	case BY_CACHE:
		return h->cache ? h->cache->name : "-";
	case BY_CGROUP:
		return page ? image_group_path(c->groups, h->group) : "none";
	case BY_AGE:
		return c->age[h->id] ? c->age[h->id] : "-";
	case BY_SITE:
		return c->site[h->id];
	case BY_COUNT:
		break;
	}
	return "-";
}

/* Adds to the row with these values. */
static void add(struct census *c, const char *const *fields, uint64_t bytes, uint64_t calls)
{
	size_t i;

	text_clear(&c->key);
	for (i = 0; i < c->columns; i++)
		text_add(&c->key, fields[i], strlen(fields[i]) + 1);
	i = strmap_find(&c->keys, c->key.s, c->key.len);
	if (i == STRMAP_NONE && c->rows == MAX_ROWS) {
		c->others.bytes += bytes;
		c->others.calls += calls;
		return;
	}
	if (i == STRMAP_NONE) {
		i = strmap_add(&c->keys, c->key.s, c->key.len);
		struct row row = { 0 };

		for (size_t k = 0; k < c->columns; k++)
			row.field[k] = arena_copy(&c->strings, fields[k], strlen(fields[k]));
		GROW(c->row, c->rows, c->room);
		c->row[c->rows++] = row;
	}
	c->row[i].bytes += bytes;
	c->row[i].calls += calls;
}

static void count(void *data, const struct holding *h)
{
	struct census *c = data;
	const char *fields[BY_COUNT];
	char number[BY_COUNT][24];

	if (!wanted(c, h->id))
		return;
	for (size_t i = 0; i < c->columns; i++)
		fields[i] = field(c, c->by[i], h, number[i]);
	add(c, fields, h->bytes, 1);
}

/* Names of zones and migratetypes, from the kernel's own tables. */
static void read_names(struct census *c)
{
	struct image *image = c->input.image;
	const uint64_t *n = image->n;
	uint64_t node = n[N_ONE_NODE];

	for (uint64_t i = 0; n[N_NODE_DATA] && !node && i < image->layout.nr_nodes; i++)
		node = image_u64(image, n[N_NODE_DATA] + 8 * i);
	for (size_t i = 0; i < 16; i++) {
		uint64_t zone = node + n[N_NODE_ZONES] + i * n[N_ZONE_SIZE];

		snprintf(c->zone[i], sizeof(c->zone[i]), "zone %zu", i);
		snprintf(c->type[i], sizeof(c->type[i]), "type %zu", i);
		if (i < n[N_NR_ZONES] && node)
			image_string(image, image_u64(image, zone + n[N_ZONE_NAME]), c->zone[i],
				     sizeof(c->zone[i]));
		if (i < n[N_NR_TYPES])
			image_string(image, image_u64(image, n[N_TYPE_NAMES] + 8 * i), c->type[i],
				     sizeof(c->type[i]));
	}
}

static void keep_age(void *data, uint16_t id, const char *age)
{
	struct census *c = data;

	c->age[id] = xstrdup(age);
}

static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void print_json(const struct census *c)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	if (c->input.image)
		json_int(&json, "pages", (int64_t)c->input.recount.pages);
	json_rows(&json, "rows", c->output.columns);
	for (size_t i = 0; i < rows_shown(c->rows, c->top); i++) {
		json_object(&json, NULL);
		json_int(&json, "size", (int64_t)c->row[i].bytes);
		json_int(&json, "calls", (int64_t)c->row[i].calls);
		for (size_t k = 0; k < c->columns; k++)
			json_string(&json, by_columns[c->by[k]].name, c->row[i].field[k]);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct census *c)
{
	struct table_column columns[2 + BY_COUNT] = {
		{ "SIZE", true, "size", false }, { "CALLS", true, "calls", false },
	};
	struct table table = { .column = columns, .columns = 2 + c->columns };
	bool human = output_human(&c->output);
	char number[SIZE_TEXT];

	for (size_t k = 0; k < c->columns; k++)
		columns[2 + k] = by_columns[c->by[k]];
	for (size_t i = 0; i < rows_shown(c->rows, c->top); i++) {
		table_cell(&table, size_format(number, (int64_t)c->row[i].bytes, human));
		table_cell(&table, size_format(number, (int64_t)c->row[i].calls, false));
		for (size_t k = 0; k < c->columns; k++)
			table_cell(&table, c->row[i].field[k]);
	}
	output_table(&table, &c->output);
}

/* ---- of an image, of this machine, of a file ------------------------------------------- */

static bool is_by(const struct census *c, enum by by)
{
	for (size_t i = 0; i < c->columns; i++)
		if (c->by[i] == by)
			return true;
	return false;
}

static int read_image(struct census *c)
{
	int status = STATUS_TROUBLE;

	if (image_input_open(&c->input)) {
		c->input.recount.groups = is_by(c, BY_CGROUP);
		if (c->input.recount.groups)
			c->groups = image_groups_open(c->input.image);
		if (c->input.recount.groups && !c->groups) {
			warning("%s does not tell control groups: its kernel has none, or an older layout "
				"table. Leave out cgroup", c->input.path);
			return status;
		}
		if (is_by(c, BY_AGE) && !image_context_ages(c->input.sites, keep_age, c)) {
			warning("%s does not tell ages: its kernel has no contexts, or an older layout "
				"table. Leave out age", c->input.path);
			return status;
		}
		read_names(c);
		c->input.recount.visit = count;
		c->input.recount.data = c;
		recount_all(&c->input.recount);
		status = image_input_status(&c->input);
	}
	return status;
}

/* Writes the keys to the kernel's file, which starts the count, and reads the result. */
static bool count_live(const struct census *c, char **text, size_t *len)
{
	struct text keys = { 0 };
	bool site = query_is_empty(c->query), opened;
	int error;

	for (size_t i = 0; i < c->columns; i++) {
		text_printf(&keys, "%s%s", i ? "," : "", by_columns[c->by[i]].name);
		site |= c->by[i] == BY_SITE;
	}
	if (!site)
		text_puts(&keys, ",site");
	error = debugfs_write(&c->dir, "census", keys.s, &opened);
	text_free(&keys);
	if (error) {
		debugfs_dir_complain(&c->dir, "census", error);
		return false;
	}
	return debugfs_read(&c->dir, "census", text, len);
}

static bool chosen(const struct census *c, const struct census_line *line)
{
	const char *name = census_value(line, "site");
	struct site site = { 0 };
	char *copy;
	bool yes;

	if (query_is_empty(c->query))
		return true;
	if (!name)
		return false;
	copy = xstrdup(name);
	yes = !site_parse(&site, copy, strlen(copy)) && query_match(c->query, &site);
	free(copy);
	return yes;
}

/* Returns false if the file lacks a key of --by. */
static bool add_lines(struct census *c, const struct census_file *file, const char *path)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct census_line *line = &file->line[i];
		const char *fields[BY_COUNT];

		if (!query_is_empty(c->query) && line->keys && !census_value(line, "site")) {
			warning("%s was not counted by site, so a query chooses nothing there",
				input_name(path));
			return false;
		}
		if (!line->keys) {
			c->others.bytes += (uint64_t)line->bytes;
			c->others.calls += (uint64_t)line->calls;
			continue;
		}
		if (!chosen(c, line))
			continue;
		for (size_t k = 0; k < c->columns; k++) {
			const char *name = by_columns[c->by[k]].name;

			fields[k] = census_value(line, name);
			if (!fields[k]) {
				warning("%s was not counted by %s", input_name(path), name);
				return false;
			}
		}
		add(c, fields, (uint64_t)line->bytes, (uint64_t)line->calls);
	}
	return true;
}

static int read_census(struct census *c)
{
	const char *path = c->input.path ? c->input.path : "the kernel's census";
	struct census_file file;
	bool good;
	size_t len;
	char *text;

	if (is_by(c, BY_AGE)) {
		warning("only an image of memory is broken down by age");
		hint("codetag contexts --group age does so on this machine, for call sites that are split by age.");
		return STATUS_TROUBLE;
	}
	if (!c->input.path) {
		if (!count_live(c, &text, &len))
			return STATUS_TROUBLE;
	} else if (!input_read(c->input.path, &text, &len)) {
		input_complain(c->input.path, errno);
		return STATUS_TROUBLE;
	}
	census_parse(&file, text, len);
	good = bad_lines_none(&file.bad, path);
	if (good && !file.known) {
		warning(file.none ? "%s: no census has run" : "%s is neither a census nor an image of memory",
			input_name(path));
		good = false;
	}
	good = add_lines(c, &file, path) && good;
	census_free(&file);
	return good ? STATUS_OK : STATUS_TROUBLE;
}

/* Adds the row "others" behind all other rows, which are sorted. */
static void add_others(struct census *c)
{
	struct row row = c->others;

	if (!row.calls)
		return;
	if (c->input.image || query_is_empty(c->query)) {
		for (size_t k = 0; k < c->columns; k++)
			row.field[k] = OTHERS;
		GROW(c->row, c->rows, c->room);
		c->row[c->rows++] = row;
		warning("more than %d rows: the last row, " OTHERS ", has %" PRIu64 " bytes", MAX_ROWS, row.bytes);
	} else {
		warning("the kernel found more than %d rows: the query chooses nothing of %" PRIu64 " bytes of others",
			MAX_ROWS, row.bytes);
	}
	hint("Break it down by less: leave out a word of --by.");
}

int cmd_census(int argc, char **argv)
{
	struct census *c = xcalloc(1, sizeof(*c));
	int status;

	c->by[0] = BY_KIND;
	c->columns = 1;
	c->dir = (struct debugfs_dir)DEBUGFS_DIR_INIT;
	argp_parse(&argp, argc, argv, 0, NULL, c);
	if (c->input.path && image_file(c->input.path))
		status = read_image(c);
	else
		status = read_census(c);
	if (c->rows)
		qsort(c->row, c->rows, sizeof(*c->row), by_size);
	add_others(c);
	if (c->rows || status == STATUS_OK) {
		if (c->output.json)
			print_json(c);
		else
			print_table(c);
	}
	if (!c->rows && status == STATUS_OK && !query_is_empty(c->query))
		warning("no memory is of call sites that match '%s'", c->query_text.s);
	image_groups_free(c->groups);
	image_input_close(&c->input);
	text_free(&c->key);
	for (size_t i = 0; i < IMAGE_IDS; i++) {
		free(c->site[i]);
		free(c->age[i]);
	}
	query_free(c->query);
	text_free(&c->query_text);
	strmap_free(&c->keys);
	arena_free(&c->strings);
	free(c->row);
	free(c);
	return status;
}
