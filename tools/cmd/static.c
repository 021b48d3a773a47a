// SPDX-License-Identifier: GPL-2.0-only
/* codetag static: the size of the code and data of a built kernel. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "output.h"
#include "words.h"
#include "base/glob.h"
#include "base/message.h"
#include "base/number.h"
#include "image/objects.h"
#include "model/group.h"
#include "model/subsystem.h"
#include "write/json.h"
#include "write/table.h"

enum key { TOTAL, TEXT, RODATA, DATA, BSS, INIT, TAGS, NAME, KEYS };

enum { KEY_START = 0x200 };

static const char *const key_names[KEYS] = {
	[TOTAL] = "total", [TEXT] = "text", [RODATA] = "rodata", [DATA] = "data",
	[BSS] = "bss", [INIT] = "init", [TAGS] = "tags", [NAME] = "name",
};

struct options {
	const char *dir;
	const char *branch;	/* only objects below this directory; NULL: all */
	struct grouping by;
	bool by_symbol;		/* instead */
	enum key key;
	size_t top;
	struct output output;
};

static const struct argp_option options[] = {
	{ "sort", 's', "KEY", 0,
	  "Sort by %s (default: total)", 0 },
	{ "group", 'g', "BY", 0,
	  "Sum by %s (default: file)", 0 },
	{ "start-branch", KEY_START, "DIR", 0, "Only files below DIR", 0 },
	{ "top", 'n', "N", 0, "Only the first N", 0 },
	{ "columns", 'o', "LIST", 0,
	  "Columns: %s", 9 },
	{ 0 }
};

static const struct table_column columns[] = {
	{ "TOTAL", true, "total", false }, { "TEXT", true, "text", false },
	{ "RODATA", true, "rodata", false }, { "DATA", true, "data", false },
	{ "BSS", true, "bss", false }, { "INIT", true, "init", false }, { "TAGS", true, "tags", false },
	{ "OBJECTS", true, "objects", true }, { "NAME", false, "name", false },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

static const char *const own_groups[] = { "symbol" };

static const struct group_words groups = {
	BIT_OF(BY_FILE) | BIT_OF(BY_DIR) | BIT_OF(BY_SUBSYSTEM) | BIT_OF(BY_MODULE),
	WORDS(own_groups, ),
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 's' ? words_help(text, WORDS(key_names, ), ", ") :
	       key == 'g' ? group_help(text, groups) :
	       key == 'o' ? words_help(text, WORDS(columns, .name), ", ") : (char *)text;
}

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case 's':
		o->key = argument_word(arg, WORDS(key_names, ), "sort key", state);
		return 0;
	case 'g':
		o->by_symbol = argument_group(&o->by, arg, groups, state) == 0;
		return 0;
	case KEY_START:
		o->branch = arg;
		return 0;
	case 'n':
		o->top = argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case 'o':
		o->output.columns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->dir)
			argp_error(state, "one tree at a time, '%s' is a second one", arg);
		o->dir = arg;
		return 0;
	case ARGP_KEY_END:
		output_check_columns(&o->output, columns, COUNT, state);
		if (!o->dir)
			argp_error(state, "BUILD or FILE is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "BUILD|FILE",
	"Shows the static footprint of a built kernel tree, modules included, from its object "
	"files: code, constants, data, zeroed data, and the sections .init and .exit, which count in "
	"no other column. The column tags is the part of the data that allocation tags take. For a "
	"single FILE (an object, a module or a vmlinux), tags are known only if it has symbols (else '-')."
	"\vObjects are counted as the compiler made them: the linker drops, merges and adds "
	"some. Those linked from other objects are not counted again.\n\n"
	"Examples:\n"
	"  codetag static ~/linux-build --group subsystem\n"
	"  codetag static ~/linux-build -s tags -n 20\n"
	"  codetag static ~/linux-build --group symbol --start-branch fs/ext4 -n 20\n"
	"  codetag static ~/linux-build/vmlinux\n"
	"  codetag chart --attr static ~/linux-build -o static.svg\n\n"
	"Exit status: 0 success, 1 nothing is below DIR, 2 trouble.",
	children, help, NULL
};

struct row {
	const char *name;
	struct footprint size;
	size_t objects;
};

struct rows {
	struct row *row;
	size_t count, room;
	struct strmap names;
	struct footprint total, symbols;
	const char *branch;
	size_t objects;		/* The objects below the directory. */
};

static void add_to_row(struct rows *rows, const struct text *name, const struct footprint *size)
{
	size_t at = strmap_add(&rows->names, name->s, name->len);

	if (at == rows->count) {
		GROW(rows->row, rows->count, rows->room);
		rows->row[rows->count++] = (struct row){ .name = rows->names.entry[at].key };
	}
	footprint_add(&rows->row[at].size, size);
	rows->row[at].objects++;
}

/* Called while objects are read, for sums by symbol. */
static void add_symbol(void *context, const char *symbol, const struct footprint *size,
		       const char *path)
{
	struct rows *rows = context;
	struct text name = { 0 };

	if (!path_is_below(path, rows->branch))
		return;
	text_printf(&name, "%s:%s", path, symbol);
	add_to_row(rows, &name, size);
	footprint_add(&rows->symbols, size);
	text_free(&name);
}

/* Strings, tables and the gaps between symbols belong to no symbol. */
static void add_rest(struct rows *rows)
{
	static const struct text name = { .s = "(no symbol)", .len = sizeof("(no symbol)") - 1 };
	const struct footprint *all = &rows->total, *symbols = &rows->symbols;
	const struct footprint rest = {
		sub64(all->text, symbols->text), sub64(all->rodata, symbols->rodata),
		sub64(all->data, symbols->data), sub64(all->bss, symbols->bss),
		sub64(all->init, symbols->init), sub64(all->tags, symbols->tags),
	};

	if (footprint_total(&rest))
		add_to_row(rows, &name, &rest);
}

static void group_objects(struct rows *rows, const struct objects *objects,
			  const struct options *o)
{
	struct text name = { 0 };

	for (size_t i = 0; i < objects->count; i++) {
		const struct object_file *object = &objects->object[i];
		const struct site site = { .file = object->path, .module = object->module };

		if (!path_is_below(object->path, o->branch))
			continue;
		footprint_add(&rows->total, &object->size);
		rows->objects++;
		if (o->by_symbol)
			continue;
		group_name(&name, o->by, &site);
		add_to_row(rows, &name, &object->size);
	}
	if (o->by_symbol)
		add_rest(rows);
	text_free(&name);
}

static int64_t weight(const struct row *row, enum key key)
{
	switch (key) {
	case TOTAL:
		return footprint_total(&row->size);
	case TEXT:
		return row->size.text;
	case RODATA:
		return row->size.rodata;
	case DATA:
		return row->size.data;
	case BSS:
		return row->size.bss;
	case INIT:
		return row->size.init;
	case TAGS:
		return row->size.tags;
	case NAME:
	case KEYS:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *key)
{
	int64_t x = weight(a, *(enum key *)key), y = weight(b, *(enum key *)key);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static void add_cells(struct table *table, const struct footprint *size, size_t objects,
		      bool human, const char *name)
{
	const int64_t values[] = {
		footprint_total(size), size->text, size->rodata, size->data, size->bss,
		size->init, size->tags,
	};
	char text[SIZE_TEXT];

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		table_cell(table, i == TAGS && size->tags < 0 ? "-" :
			   size_format(text, values[i], human));
	table_cell(table, size_format(text, objects, false));
	table_cell(table, name);
}

static void print_table(const struct rows *rows, size_t count, const struct output *output)
{
	struct table table = { .column = columns, .columns = COUNT };
	bool human = output_human(output);

	for (size_t i = 0; i < count; i++)
		add_cells(&table, &rows->row[i].size, rows->row[i].objects, human,
			  rows->row[i].name);
	if (!output->no_headings)
		add_cells(&table, &rows->total, rows->objects, human, "all");
	output_table(&table, output);
	if (!output->no_headings)
		printf("\n%zu object%s\n", rows->objects, rows->objects == 1 ? "" : "s");
}

static void json_size(struct json *json, const struct footprint *size)
{
	json_int(json, "total", footprint_total(size));
	json_int(json, "text", size->text);
	json_int(json, "rodata", size->rodata);
	json_int(json, "data", size->data);
	json_int(json, "bss", size->bss);
	json_int(json, "init", size->init);
	if (size->tags < 0)
		json_null(json, "tags");
	else
		json_int(json, "tags", size->tags);
}

static void print_json(const struct rows *rows, size_t count, const struct options *o)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_string(&json, "source", o->dir);
	json_string(&json, "group", o->by_symbol ? "symbol" : grouping_name(o->by.by));
	json_int(&json, "objects", rows->objects);
	json_object(&json, "total");
	json_size(&json, &rows->total);
	json_end_object(&json);
	json_rows(&json, "rows", o->output.columns);
	for (size_t i = 0; i < count; i++) {
		json_object(&json, NULL);
		json_string(&json, "name", rows->row[i].name);
		json_int(&json, "objects", rows->row[i].objects);
		json_size(&json, &rows->row[i].size);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

int cmd_static(int argc, char **argv)
{
	struct options o = { .by = { BY_FILE, 0 } };
	struct objects objects = { 0 };
	struct rows rows = { 0 };
	int status = STATUS_OK;
	size_t count;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	rows.branch = o.branch;
	objects.context = &rows;
	if (o.by_symbol)
		objects.symbol = add_symbol;
	if (!objects_read(&objects, o.dir)) {
		warning("cannot read %s: %s", o.dir, strerror(errno));
		if (!objects.single)
			hint("It has to be the directory that the kernel was built in (O=).");
		status = STATUS_TROUBLE;
	} else if (!objects.count && objects.bitcode) {
		if (objects.single)
			warning("%s is LLVM bitcode", o.dir);
		else
			warning("%zu object file%s in %s %s LLVM bitcode, and there is no vmlinux.o",
				objects.bitcode, objects.bitcode == 1 ? "" : "s", o.dir,
				objects.bitcode == 1 ? "is" : "are");
		hint("Build it to its end: with link time optimisation only vmlinux.o has code.");
		status = STATUS_TROUBLE;
	} else if (!objects.count && objects.single) {
		warning("%s is not an object file, module or vmlinux", o.dir);
		status = STATUS_TROUBLE;
	} else if (!objects.count) {
		warning("there are no object files in %s", o.dir);
		hint("It has to be the directory that the kernel was built in (O=).");
		status = STATUS_TROUBLE;
	} else {
		group_objects(&rows, &objects, &o);
		if (!rows.objects) {
			warning("no object file of %s is below %s", o.dir, o.branch);
			status = STATUS_FOUND;
		}
		if (rows.count)
			qsort_r(rows.row, rows.count, sizeof(*rows.row), compare, &o.key);
		count = o.top && o.top < rows.count ? o.top : rows.count;
		if (o.output.json)
			print_json(&rows, count, &o);
		else
			print_table(&rows, count, &o.output);
	}
	if (objects.bitcode && objects.count)
		warning("%s was built with link time optimisation: all that is built in is "
			"one row, vmlinux.o", o.dir);
	if (objects.unreadable && !objects.single) {
		warning("%s: %zu file%s named .o %s no object file%s", o.dir, objects.unreadable,
			objects.unreadable == 1 ? "" : "s", objects.unreadable == 1 ? "is" : "are",
			objects.unreadable == 1 ? "" : "s");
		status = STATUS_TROUBLE;
	}
	free(rows.row);
	strmap_free(&rows.names);
	objects_free(&objects);
	return status;
}
