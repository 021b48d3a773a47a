// SPDX-License-Identifier: GPL-2.0
/* codetag slabs: the caches of /proc/slabinfo. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "base/glob.h"
#include "read/input.h"
#include "trace/kmem.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "trace/kmem_db.h"
#endif
#include "output.h"
#include "analysis/slab_sites.h"
#include "base/message.h"
#include "base/number.h"
#include "read/slabinfo.h"
#include "source/source.h"
#include "write/table.h"

struct options {
	const char *path, *pattern;
	struct output output;
	char key;
	bool all, given;
	size_t top;
	int64_t page_size;
	size_t sites;		/* of each cache, 0: none */
	const char *allocinfo, *trace_db;
};

enum { KEY_PAGE_SIZE = 0x200, KEY_SITES, KEY_ALLOCINFO, KEY_TRACE_DB };

static const struct argp_option options[] = {
	{ "slabinfo", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: /proc/slabinfo)", 1 },
	{ "sort", 's', "KEY", 0,
	  "As in slabtop: a active objects, b objects per slab, c cache size (default), "
	  "l slabs, n name, o objects, p pages per slab, s object size, u use, "
	  "v active slabs", 2 },
	{ "top", 'n', "N", 0, "Only the first N", 2 },
	{ "all", 'a', NULL, 0, "Also caches without a slab", 2 },
	{ "columns", 'o', "LIST", 0,
	  "Columns: objects, active, use, object_size, slabs, objects_per_slab, size, "
	  "pages_per_slab, active_slabs, name", 9 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that FILE is from (default: of this machine)", 2 },
	{ "sites", KEY_SITES, "N", OPTION_ARG_OPTIONAL,
	  "Below each cache the N (default: 3) call sites that hold most of it, as far as "
	  "that can be told: see below", 3 },
	{ "allocinfo", KEY_ALLOCINFO, "FILE", 0,
	  "Call sites by size, from FILE (default: " ALLOCINFO_PATH ")", 3 },
#ifdef HAVE_SQLITE
	{ "trace-db", KEY_TRACE_DB, "FILE", 0,
	  "Callers from the trace that codetag trace --save-db has put into FILE", 3 },
#endif
	{ 0 }
};

static const struct table_column columns[] = {
	{ "OBJS", true, "objects", false }, { "ACTIVE", true, "active", false },
	{ "USE", true, "use", false }, { "OBJ SIZE", true, "object_size", false },
	{ "SLABS", true, "slabs", false }, { "OBJ/SLAB", true, "objects_per_slab", false },
	{ "CACHE SIZE", true, "size", false },
	{ "PAGES/SLAB", true, "pages_per_slab", true },
	{ "ACTIVE SLABS", true, "active_slabs", true }, { "NAME", false, "name", false },
};

#define COUNT (sizeof(columns) / sizeof(*columns))

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
	case 'f':
		o->path = arg;
		o->given = true;
		return 0;
	case 's':
		if (strlen(arg) != 1 || !strchr("abclnopsuv", *arg))
			argp_error(state, "cannot sort by '%s', but by a, b, c, l, n, o, p, s, u "
				   "or v", arg);
		o->key = *arg;
		return 0;
	case 'n':
		o->top = argument_number(arg, 1, INT32_MAX, state);
		return 0;
	case 'a':
		o->all = true;
		return 0;
	case 'o':
		o->output.columns = arg;
		return 0;
	case KEY_PAGE_SIZE:
		o->page_size = argument_size(arg, state);
		if (o->page_size < 1024 || o->page_size & (o->page_size - 1))
			argp_error(state, "'%s' is not a page size", arg);
		return 0;
	case KEY_SITES:
		o->sites = arg ? argument_number(arg, 1, INT32_MAX, state) : 3;
		return 0;
	case KEY_ALLOCINFO:
		o->allocinfo = arg;
		return 0;
	case KEY_TRACE_DB:
		o->trace_db = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->pattern)
			argp_error(state, "one pattern at a time, '%s' is a second one", arg);
		o->pattern = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->allocinfo && o->trace_db)
			argp_error(state, "either --allocinfo or --trace-db");
		else if (o->sites && o->given && !o->allocinfo && !o->trace_db)
			argp_error(state, "--sites of a saved slabinfo needs --allocinfo "
				   "or --trace-db of that machine");
		else if (!o->sites && (o->allocinfo || o->trace_db))
			o->sites = 3;
		output_check_columns(&o->output, columns, COUNT, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[GLOB]",
	"Shows the slab caches: how many objects and slabs each has and how well they are "
	"used. GLOB selects them by name."
	"\vThe kernel does not record which call site an object in a cache is from. What "
	"--sites shows with a ~ is concluded from sizes: each allocation of the call site "
	"has the size of the cache's objects, and it holds no more of them than there are. "
	"A trace knows the cache of what was allocated while it ran.\n\n"
	"Examples:\n"
	"  codetag slabs -n 20\n"
	"  codetag slabs -s u 'kmalloc-*'\n"
	"  codetag slabs --sites dentry\n\n"
	"Exit status: 0 success, 1 no cache has such a name, 2 trouble.",
	children, NULL, NULL
};

static int64_t size_of(const struct slab_cache *c, const struct options *o)
{
	return mul64(mul64(c->slabs, c->pages_per_slab), o->page_size);
}

/* Objects in use of those there is room for. */
static double use_of(const struct slab_cache *c)
{
	return percent(c->active, c->objects);
}

static int order(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const void *a, const void *b, void *context)
{
	const struct slab_cache *x = a, *y = b;
	const struct options *o = context;
	int result = 0;

	switch (o->key) {
	case 'a':
		result = order(x->active, y->active);
		break;
	case 'b':
		result = order(x->objects_per_slab, y->objects_per_slab);
		break;
	case 'c':
		result = order(size_of(x, o), size_of(y, o));
		break;
	case 'l':
		result = order(x->slabs, y->slabs);
		break;
	case 'o':
		result = order(x->objects, y->objects);
		break;
	case 'p':
		result = order(x->pages_per_slab, y->pages_per_slab);
		break;
	case 's':
		result = order(x->object_size, y->object_size);
		break;
	case 'u':
		result = (use_of(x) < use_of(y)) - (use_of(x) > use_of(y));
		break;
	case 'v':
		result = order(x->active_slabs, y->active_slabs);
		break;
	}
	return result ? result : strcmp(x->name, y->name);
}

/* Drops what is not to be shown. */
static void select_caches(struct slabinfo *info, const struct options *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < info->count; i++) {
		const struct slab_cache *c = &info->cache[i];

		if ((o->all || c->slabs) &&
		    (!o->pattern || glob_match(o->pattern, c->name)))
			info->cache[kept++] = *c;
	}
	info->count = kept;
}

struct totals {
	int64_t active, objects, active_slabs, slabs, size, used;
	int64_t active_caches, min, max;
};

static void add_up(const struct slabinfo *info, const struct options *o,
		   struct totals *t)
{
	*t = (struct totals){ 0 };
	for (size_t i = 0; i < info->count; i++) {
		const struct slab_cache *c = &info->cache[i];

		t->active = add64(t->active, c->active);
		t->objects = add64(t->objects, c->objects);
		t->active_slabs = add64(t->active_slabs, c->active_slabs);
		t->slabs = add64(t->slabs, c->slabs);
		t->size = add64(t->size, size_of(c, o));
		t->active_caches += c->active > 0;
		if (!i || c->object_size < t->min)
			t->min = c->object_size;
		if (c->object_size > t->max)
			t->max = c->object_size;
	}
	t->used = slabinfo_object_bytes(info);
}

static void print_head(const struct slabinfo *info, const struct totals *t, bool human)
{
	char used[SIZE_TEXT], size[SIZE_TEXT], min[SIZE_TEXT], avg[SIZE_TEXT],
	     max[SIZE_TEXT];

	printf("objects: %" PRId64 " of %" PRId64 " in use (%.1f%%)\n", t->active,
	       t->objects, percent(t->active, t->objects));
	printf("slabs: %" PRId64 " of %" PRId64 " in use (%.1f%%)\n", t->active_slabs,
	       t->slabs, percent(t->active_slabs, t->slabs));
	printf("caches: %" PRId64 " of %zu in use\n", t->active_caches, info->count);
	printf("size: %s of %s in use (%.1f%%)\n", size_format(used, t->used, human),
	       size_format(size, t->size, human), percent(t->used, t->size));
	printf("object size: %s min, %s avg, %s max\n\n", size_format(min, t->min, human),
	       size_format(avg, t->active ? t->used / t->active : 0, human),
	       size_format(max, t->max, human));
}

/* Objects and bytes in the columns that a cache has them in. */
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

/* Returns whether anything in it is a conclusion. */
static bool print_table(const struct slabinfo *info, size_t count,
			const struct slab_holders *holders, const struct options *o)
{
	struct table table = { .column = columns, .columns = COUNT };
	bool human = output_human(&o->output), concluded = false;
	char text[SIZE_TEXT];

	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];
		const struct slab_holder *holder;
		size_t held;

		table_cell(&table, size_format(text, c->objects, false));
		table_cell(&table, size_format(text, c->active, false));
		table_cell(&table, percent_format(text, use_of(c)));
		table_cell(&table, size_format(text, c->object_size, human));
		table_cell(&table, size_format(text, c->slabs, false));
		table_cell(&table, size_format(text, c->objects_per_slab, false));
		table_cell(&table, size_format(text, size_of(c, o), human));
		table_cell(&table, size_format(text, c->pages_per_slab, false));
		table_cell(&table, size_format(text, c->active_slabs, false));
		table_cell(&table, c->name);
		holder = slab_holders_find(holders, c, &held);
		for (size_t k = 0; k < held && k < o->sites; k++) {
			add_holder(&table, &holder[k], human);
			concluded = concluded || !holder[k].certain;
		}
	}
	output_table(&table, &o->output);
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

static void print_json(const struct slabinfo *info, size_t count, const struct totals *t,
		       const struct slab_holders *holders, const struct options *o)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_object(&json, "total");
	json_int(&json, "active", t->active);
	json_int(&json, "objects", t->objects);
	json_int(&json, "active_slabs", t->active_slabs);
	json_int(&json, "slabs", t->slabs);
	json_int(&json, "used", t->used);
	json_int(&json, "size", t->size);
	json_int(&json, "caches", info->count);
	json_end_object(&json);
	json_rows(&json, "rows", o->output.columns);
	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];
		const struct slab_holder *holder;
		size_t held;

		json_object(&json, NULL);
		json_string(&json, "name", c->name);
		json_int(&json, "active", c->active);
		json_int(&json, "objects", c->objects);
		json_real(&json, "use", use_of(c));
		json_int(&json, "object_size", c->object_size);
		json_int(&json, "objects_per_slab", c->objects_per_slab);
		json_int(&json, "pages_per_slab", c->pages_per_slab);
		json_int(&json, "active_slabs", c->active_slabs);
		json_int(&json, "slabs", c->slabs);
		json_int(&json, "size", size_of(c, o));
		if (o->sites) {
			holder = slab_holders_find(holders, c, &held);
			json.only = NULL;	/* --sites is what asks for them */
			json_holders(&json, holder, held < o->sites ? held : o->sites);
			json.only = o->output.columns;
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

/* What the names of the holders are in. */
struct known {
	struct allocinfo info;
	struct kmem kmem;
};

static bool find_by_trace(struct slab_holders *holders, const struct slabinfo *slabs,
			  struct known *known, const char *path)
{
#ifdef HAVE_SQLITE
	char *why = kmem_load(&known->kmem, path);

	if (!why) {
		const struct kmem *kmem = &known->kmem;

		slab_holders_by_trace(holders, slabs, kmem);
		if (kmem->lost || kmem->overwritten || kmem->bad || kmem->cut)
			warning("%s: events are missing in this trace, so that what it says of call "
				"sites may be wrong", path);
		return true;
	}
	warning("cannot read %s: %s", path, why);
	hint("Such files are made by 'codetag trace --save-db'.");
	free(why);
#else
	(void)holders, (void)slabs, (void)known, (void)path;
#endif
	return false;
}

/* Has to see all caches: which of them fit is the question. */
static bool find_holders(struct slab_holders *holders, const struct slabinfo *slabs,
			 struct known *known, const struct options *o)
{
	const char *path = o->allocinfo ? o->allocinfo : ALLOCINFO_PATH;

	if (!o->sites)
		return true;
	if (o->trace_db)
		return find_by_trace(holders, slabs, known, o->trace_db);
	if (!allocinfo_read(&known->info, path))
		return false;
	slab_holders_by_size(holders, slabs, &known->info, o->page_size);
	return allocinfo_complete(&known->info, path);
}

static void show(struct slabinfo *info, const struct slab_holders *holders,
		 const struct options *o)
{
	struct totals totals;
	size_t count;

	select_caches(info, o);
	add_up(info, o, &totals);
	if (info->count)
		qsort_r(info->cache, info->count, sizeof(*info->cache), compare,
			(void *)o);
	count = o->top && o->top < info->count ? o->top : info->count;
	if (o->output.json) {
		print_json(info, count, &totals, holders, o);
	} else if (info->count) {
		if (!o->output.no_headings)
			print_head(info, &totals, output_human(&o->output));
		if (print_table(info, count, holders, o) && !o->output.no_headings)
			puts("\n~ concluded from the size of its allocations, not recorded");
	}
}

/* Of a recording. */
static void take_slabinfo(void *data, struct snapshot *snapshot)
{
	struct slabinfo *info = data;

	*info = snapshot->machine.slabinfo;
	snapshot->machine.slabinfo = (struct slabinfo){ 0 };
	snapshot_free(snapshot);
}

int cmd_slabs(int argc, char **argv)
{
	struct options o = {
		.path = "/proc/slabinfo", .key = 'c', .page_size = sysconf(_SC_PAGESIZE),
	};
	struct slab_holders holders = { 0 };
	struct known known = { 0 };
	struct slabinfo info;
	int status = STATUS_OK;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (source_is_recording(o.path)) {
		if (!source_read(o.path, take_slabinfo, &info))
			return STATUS_TROUBLE;
	} else if (!slabinfo_read(&info, o.path)) {
		int why = errno;

		input_complain(o.path, why);
		if (o.given && why == ENOENT)
			hint("Without --slabinfo, /proc/slabinfo is read.");
		return STATUS_TROUBLE;
	}
	if (info.bad_lines || !info.count) {
		warning("%s: %s", input_name(o.path), info.count ?
			"some of its lines not understood" :
			"not in the format of /proc/slabinfo");
		status = STATUS_TROUBLE;
	}
	if (!find_holders(&holders, &info, &known, &o))
		status = STATUS_TROUBLE;
	show(&info, &holders, &o);
	if (!info.count && o.pattern && !status) {
		warning("no cache is called '%s'%s", o.pattern,
			o.all ? "" : ", or none that has a slab (--all)");
		if (strchr(o.pattern, '/'))
			hint("A file is read with --slabinfo.");
		status = STATUS_FOUND;
	}
	slab_holders_free(&holders);
	kmem_free(&known.kmem);
	allocinfo_free(&known.info);
	slabinfo_free(&info);
	return status;
}
