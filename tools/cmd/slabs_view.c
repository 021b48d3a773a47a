// SPDX-License-Identifier: GPL-2.0-only
#include "slabs_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "write/export.h"
#include "write/json.h"
#include "write/table.h"

static const struct table_column usual[] = {
	{ "OBJS", true, "objects", false }, { "ACTIVE", true, "active", false },
	{ "USE", true, "use", false }, { "OBJ SIZE", true, "object_size", false },
	{ "SLABS", true, "slabs", false }, { "OBJ/SLAB", true, "objects_per_slab", false },
	{ "CACHE SIZE", true, "size", false },
	{ "PAGES/SLAB", true, "pages_per_slab", true },
	{ "ACTIVE SLABS", true, "active_slabs", true }, { "NAME", false, "name", false },
};

static const struct table_column changes_columns[] = {
	{ "GROWTH", true, "growth", false }, { "BEFORE", true, "size_before", false },
	{ "CACHE SIZE", true, "size", false }, { "OBJS", true, "objects_growth", false },
	{ "ACTIVE", true, "active_growth", false }, { "SLABS", true, "slabs_growth", false },
	{ "STATE", false, "state", false }, { "NAME", false, "name", false },
};

#define CHANGES_COUNT (sizeof(changes_columns) / sizeof(*changes_columns))
#define COUNT (sizeof(usual) / sizeof(*usual))

static void print_head(const struct slabinfo *info, const struct slab_totals *t, bool human)
{
	char used[SIZE_TEXT], size[SIZE_TEXT], min[SIZE_TEXT], avg[SIZE_TEXT],
	     max[SIZE_TEXT];

	if (info->from == SLABINFO_LOG) {
		printf("size: %s of %s in use (%.1f%%) in %zu caches that cannot be reclaimed\n\n",
		       size_format(used, t->used, human), size_format(size, t->size, human),
		       percent(t->used, t->size), info->count);
		return;
	}
	printf("objects: %" PRId64 " of %" PRId64 " in use (%.1f%%)\n", t->active,
	       t->objects, percent(t->active, t->objects));
	printf("slabs: %" PRId64 " of %" PRId64 " in use (%.1f%%)\n", t->active_slabs,
	       t->slabs, percent(t->active_slabs, t->slabs));
	printf("caches: %" PRId64 " of %zu in use\n", t->active_caches, info->count);
	printf("size: %s of %s in use (%.1f%%)\n", size_format(used, t->used, human),
	       size_format(size, t->size, human), percent(t->used, t->size));
	printf("object size: %s min, %s avg, %s max\n\n", size_format(min, t->min, human),
	       size_format(avg, t->avg, human),
	       size_format(max, t->max, human));
}

/* Objects and bytes in the columns of a cache. */
static void add_holder(struct table *table, const struct slab_holder *holder, bool human)
{
	struct text name = { 0 };
	char text[SIZE_TEXT];

	text_printf(&name, "  %s%s", holder->certain ? "" : "~ ", holder->name);
	if (holder->others)
		text_printf(&name, " (or %u other%s%s)", holder->others,
			    holder->others > 1 ? "s" : "", holder->pages ? ", or pages" : "");
	else if (holder->pages)
		text_puts(&name, " (or pages)");
	table_cell(table, "");
	table_cell(table, size_format(text, holder->objects, false));
	for (int i = 0; i < 4; i++)
		table_cell(table, "");
	table_cell(table, size_format(text, holder->bytes, human));
	table_cell(table, "");
	table_cell(table, "");
	table_cell(table, name.s);
	text_free(&name);
}

/* The kernel's list has only bytes, and slabtop's has no pages. */
static void known_cell(struct table *table, int64_t number, bool unknown)
{
	char text[SIZE_TEXT];

	table_cell(table, unknown ? "" : size_format(text, number, false));
}

static void known_json(struct json *json, const char *name, int64_t number, bool unknown)
{
	if (unknown)
		json_null(json, name);
	else
		json_int(json, name, number);
}

/* Returns whether any number in it is inferred. */
static bool print_table(const struct slabinfo *info, size_t count,
			const struct slab_holders *holders, const struct slabs_view *o)
{
	struct table table = { .column = usual, .columns = COUNT };
	bool human = output_human(o->output), concluded = false, log = info->from == SLABINFO_LOG;
	char text[SIZE_TEXT];

	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];
		const struct slab_holder *holder;
		size_t held;

		known_cell(&table, c->objects, log);
		known_cell(&table, c->active, log);
		table_cell(&table, percent_format(text, slab_use(c)));
		table_cell(&table, log ? "" : size_format(text, c->object_size, human));
		known_cell(&table, c->slabs, log);
		known_cell(&table, c->objects_per_slab, log);
		table_cell(&table, size_format(text, slab_size(c, o->page_size), human));
		known_cell(&table, c->pages_per_slab, info->from != SLABINFO_PROC);
		known_cell(&table, c->active_slabs, info->from != SLABINFO_PROC);
		table_cell(&table, c->name);
		holder = slab_holders_find(holders, c, &held);
		for (size_t k = 0; k < held && k < o->sites; k++) {
			add_holder(&table, &holder[k], human);
			concluded = concluded || !holder[k].certain;
		}
	}
	output_table(&table, o->output);
	return concluded;
}

static void json_holders(struct json *json, const struct slab_holder *holder, size_t count)
{
	json_array(json, "sites");
	for (size_t i = 0; i < count; i++) {
		json_object(json, NULL);
		json_string(json, "name", holder[i].name);
		json_int(json, "active", holder[i].objects);
		json_int(json, "size", holder[i].bytes);
		json_bool(json, "certain", holder[i].certain);
		json_int(json, "others", holder[i].others);
		json_bool(json, "pages", holder[i].pages);
		json_end_object(json);
	}
	json_end_array(json);
}

static void print_json(const struct slabinfo *info, size_t count, const struct slab_totals *t,
		       const struct slab_holders *holders, const struct slabs_view *o)
{
	bool log = info->from == SLABINFO_LOG, rounded = info->from != SLABINFO_PROC;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_bool(&json, "rounded", rounded);
	json_object(&json, "total");
	json_int(&json, "active", t->active);
	json_int(&json, "objects", t->objects);
	json_int(&json, "active_slabs", t->active_slabs);
	json_int(&json, "slabs", t->slabs);
	json_int(&json, "used", t->used);
	json_int(&json, "size", t->size);
	json_int(&json, "caches", info->count);
	json_end_object(&json);
	json_rows(&json, "rows", o->output->columns);
	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];
		const struct slab_holder *holder;
		size_t held;

		json_object(&json, NULL);
		json_string(&json, "name", c->name);
		known_json(&json, "active", c->active, log);
		known_json(&json, "objects", c->objects, log);
		json_real(&json, "use", slab_use(c));
		known_json(&json, "object_size", c->object_size, log);
		known_json(&json, "objects_per_slab", c->objects_per_slab, log);
		known_json(&json, "pages_per_slab", c->pages_per_slab, rounded);
		known_json(&json, "active_slabs", c->active_slabs, rounded);
		known_json(&json, "slabs", c->slabs, log);
		json_int(&json, "size", slab_size(c, o->page_size));
		if (o->sites) {
			holder = slab_holders_find(holders, c, &held);
			json.only = NULL;	/* shown only with --sites */
			json_holders(&json, holder, held < o->sites ? held : o->sites);
			json.only = o->output->columns;
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

void slabs_check_columns(const struct output *output, bool diff, struct argp_state *state)
{
	output_check_columns(output, diff ? changes_columns : usual,
			     diff ? CHANGES_COUNT : COUNT, state);
}

void slabs_show(const struct slabinfo *info, const struct slab_holders *holders,
		const struct slabs_view *o)
{
	size_t count = o->top && o->top < info->count ? o->top : info->count;
	bool quiet = o->output->no_headings || o->output->csv;
	struct slab_totals totals;

	slab_add_up(&totals, info, o->page_size);
	if (o->output->json) {
		print_json(info, count, &totals, holders, o);
	} else if (info->count) {
		if (!o->output->no_headings && !o->output->csv)
			print_head(info, &totals, output_human(o->output));
		if (print_table(info, count, holders, o) && !quiet)
			puts("\n~ concluded from the size of its allocations, not recorded");
		if (!quiet && info->from == SLABINFO_SLABTOP)
			puts("\nFrom slabtop, which rounds sizes: those of objects can be wrong by 5 "
			     "bytes, those of caches by 512.");
		else if (!quiet && info->from == SLABINFO_LOG)
			puts("\nFrom a kernel log, which rounds down to 1024 bytes and has no "
			     "reclaimable caches.");
	}
}

static int64_t series_size(const struct slab_cache *c, int64_t page_size)
{
	return slab_size(c, page_size);
}

static int64_t series_used(const struct slab_cache *c, int64_t page_size)
{
	(void)page_size;
	return slab_cache_used(c);
}

static int64_t series_objects(const struct slab_cache *c, int64_t page_size)
{
	(void)page_size;
	return c->objects;
}

static int64_t series_active(const struct slab_cache *c, int64_t page_size)
{
	(void)page_size;
	return c->active;
}

/* Rows with one name are one cache: a series may occur only once. */
static void print_series(const struct slabinfo *info, const char *name, int64_t page_size,
			 int64_t (*value)(const struct slab_cache *c, int64_t page_size))
{
	for (size_t i = 0; i < info->count; i++) {
		const char *cache = info->cache[i].name;
		bool first = true, before = false;
		int64_t sum = 0;

		for (size_t k = 0; k < i && !before; k++)
			before = !strcmp(info->cache[k].name, cache);
		if (before)
			continue;
		for (size_t k = i; k < info->count; k++)
			if (!strcmp(info->cache[k].name, cache))
				sum = add64(sum, value(&info->cache[k], page_size));
		fputs(name, stdout);
		prometheus_label(stdout, &first, "cache", cache);
		printf("} %" PRId64 "\n", sum);
	}
}

void slabs_prometheus(const struct slabinfo *info, int64_t page_size)
{
	static const struct {
		const char *name, *help;
		int64_t (*value)(const struct slab_cache *c, int64_t page_size);
		bool counted;	/* not in the kernel's list */
	} series[] = {
		{ "codetag_slab_bytes", "Memory of one slab cache", series_size, false },
		{ "codetag_slab_used_bytes", "Memory of the objects in use of one slab cache",
		  series_used, false },
		{ "codetag_slab_objects", "Objects that one slab cache has room for",
		  series_objects, true },
		{ "codetag_slab_active_objects", "Objects in use of one slab cache",
		  series_active, true },
	};

	for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++) {
		if (series[i].counted && info->from == SLABINFO_LOG)
			continue;
		prometheus_head(stdout, series[i].name, series[i].help, "");
		print_series(info, series[i].name, page_size, series[i].value);
	}
}

static const char *state_of(const struct slab_change *c)
{
	return !c->was ? "new" : !c->is ? "gone" :
	       slab_unchanged(c) ? "same" : "changed";
}

static void growth_cell(struct table *table, int64_t now, int64_t before, bool human)
{
	char text[SIZE_TEXT + 1] = "+";
	int64_t growth = sub64(now, before);

	size_format(text + (growth > 0), growth, human);
	table_cell(table, text);
}

static void json_change(struct json *json, const struct slab_change *c, int64_t page_size)
{
	int64_t size = slab_size(&c->now, page_size), before = slab_size(&c->before, page_size);

	json_object(json, NULL);
	json_string(json, "name", c->name);
	json_string(json, "state", state_of(c));
	json_int(json, "size", size);
	json_int(json, "size_before", before);
	json_int(json, "growth", sub64(size, before));
	json_int(json, "objects_growth", sub64(c->now.objects, c->before.objects));
	json_int(json, "active_growth", sub64(c->now.active, c->before.active));
	json_int(json, "slabs_growth", sub64(c->now.slabs, c->before.slabs));
	json_end_object(json);
}

static void changes_json(const struct slab_changes *changes, size_t count,
			 const struct slabs_view *o)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_int(&json, "caches", changes->count);
	json_int(&json, "not_known", changes->left_out);
	json_rows(&json, "rows", o->output->columns);
	for (size_t i = 0; i < count; i++)
		json_change(&json, &changes->change[i], o->page_size);
	json_end_array(&json);
	json_end_object(&json);
}

/* "41 caches grew by 2.0M, 3 shrank by 4.0K" */
static void changes_summary(const struct slab_changes *changes, const struct slabs_view *o)
{
	bool human = output_human(o->output);
	struct movement all = { 0 };
	char up[SIZE_TEXT], down[SIZE_TEXT];

	for (size_t i = 0; i < changes->count; i++) {
		const struct slab_change *c = &changes->change[i];

		movement_add(&all, slab_size(&c->before, o->page_size),
			     slab_size(&c->now, o->page_size));
	}
	printf("%s%zu caches grew by %s%s, %zu shrank by %s%s\n", changes->count ? "\n" : "",
	       all.grew, size_format(up, all.grown, human), human ? "" : " bytes",
	       all.shrank, size_format(down, all.shrunk, human), human ? "" : " bytes");
	if (changes->left_out)
		printf("A list is a part: %zu caches that only the other one has are not compared.\n",
		       changes->left_out);
}

void slabs_show_changes(const struct slab_changes *changes, const struct slabs_view *o)
{
	struct table table = { .column = changes_columns, .columns = CHANGES_COUNT };
	size_t count = o->top && o->top < changes->count ? o->top : changes->count;
	bool human = output_human(o->output);
	char text[SIZE_TEXT];

	if (o->output->json) {
		changes_json(changes, count, o);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct slab_change *c = &changes->change[i];
		int64_t size = slab_size(&c->now, o->page_size);
		int64_t before = slab_size(&c->before, o->page_size);

		growth_cell(&table, size, before, human);
		table_cell(&table, size_format(text, before, human));
		table_cell(&table, size_format(text, size, human));
		growth_cell(&table, c->now.objects, c->before.objects, false);
		growth_cell(&table, c->now.active, c->before.active, false);
		growth_cell(&table, c->now.slabs, c->before.slabs, false);
		table_cell(&table, state_of(c));
		table_cell(&table, c->name);
	}
	output_table(&table, o->output);
	if (!o->output->no_headings && !o->output->csv)
		changes_summary(changes, o);
}
