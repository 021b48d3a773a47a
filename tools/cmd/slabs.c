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
#include "glob.h"
#include "input.h"
#include "json.h"
#include "message.h"
#include "number.h"
#include "output.h"
#include "slabinfo.h"
#include "table.h"

struct options {
	const char *path, *pattern;
	struct output output;
	char key;
	bool all, given;
	size_t top;
	int64_t page_size;
};

enum { KEY_PAGE_SIZE = 0x200 };

static const struct argp_option options[] = {
	{ "slabinfo", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: /proc/slabinfo)", 1 },
	{ "sort", 's', "KEY", 0,
	  "a active objects, c cache size (default), l slabs, n name, o objects, "
	  "p objects per slab, s object size, u use", 2 },
	{ "top", 'n', "N", 0, "Only the first N", 2 },
	{ "all", 'a', NULL, 0, "Also caches without a slab", 2 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that FILE is from (default: of this machine)", 2 },
	{ 0 }
};

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
		if (strlen(arg) != 1 || !strchr("aclnopsu", *arg))
			argp_error(state, "cannot sort by '%s'", arg);
		o->key = *arg;
		return 0;
	case 'n':
		o->top = argument_number(arg, 1, INT32_MAX, state);
		return 0;
	case 'a':
		o->all = true;
		return 0;
	case KEY_PAGE_SIZE:
		o->page_size = argument_size(arg, state);
		if (o->page_size < 1024 || o->page_size & (o->page_size - 1))
			argp_error(state, "'%s' is not a page size", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->pattern)
			argp_error(state, "one pattern at a time, '%s' is a second one", arg);
		o->pattern = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[GLOB]",
	"Shows the slab caches: how many objects and slabs each has and how well they are "
	"used. GLOB selects them by name."
	"\vExamples:\n"
	"  codetag slabs -n 20\n"
	"  codetag slabs -s u 'kmalloc-*'\n\n"
	"Exit status: 0 success, 2 trouble.",
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
		result = order(x->objects_per_slab, y->objects_per_slab);
		break;
	case 's':
		result = order(x->object_size, y->object_size);
		break;
	case 'u':
		result = (use_of(x) < use_of(y)) - (use_of(x) > use_of(y));
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

static void print_table(const struct slabinfo *info, size_t count,
			const struct options *o)
{
	static const struct table_column columns[] = {
		{ "OBJS", true }, { "ACTIVE", true }, { "USE", true },
		{ "OBJ SIZE", true }, { "SLABS", true }, { "OBJ/SLAB", true },
		{ "CACHE SIZE", true }, { "NAME", false },
	};
	struct table table = { .column = columns, .columns = 8 };
	bool human = output_human(&o->output);
	char text[SIZE_TEXT];

	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];

		table_cell(&table, size_format(text, c->objects, false));
		table_cell(&table, size_format(text, c->active, false));
		table_cell(&table, percent_format(text, use_of(c)));
		table_cell(&table, size_format(text, c->object_size, human));
		table_cell(&table, size_format(text, c->slabs, false));
		table_cell(&table, size_format(text, c->objects_per_slab, false));
		table_cell(&table, size_format(text, size_of(c, o), human));
		table_cell(&table, c->name);
	}
	output_table(&table, &o->output);
}

static void print_json(const struct slabinfo *info, size_t count,
		       const struct totals *t, const struct options *o)
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
	json_array(&json, "rows");
	for (size_t i = 0; i < count; i++) {
		const struct slab_cache *c = &info->cache[i];

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
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

int cmd_slabs(int argc, char **argv)
{
	struct options o = {
		.path = "/proc/slabinfo", .key = 'c', .page_size = sysconf(_SC_PAGESIZE),
	};
	struct slabinfo info;
	struct totals totals;
	int status = STATUS_OK;
	size_t count;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (!slabinfo_read(&info, o.path)) {
		int why = errno;

		warning("cannot read %s: %s", input_name(o.path), strerror(why));
		if (!o.given && why == EACCES)
			hint("Only root may read it.");
		return STATUS_TROUBLE;
	}
	if (info.bad_lines || !info.count) {
		warning("%s: %s", input_name(o.path), info.count ?
			"some of its lines not understood" :
			"not in the format of /proc/slabinfo");
		status = STATUS_TROUBLE;
	}
	select_caches(&info, &o);
	add_up(&info, &o, &totals);
	if (info.count)
		qsort_r(info.cache, info.count, sizeof(*info.cache), compare,
			&o);
	count = o.top && o.top < info.count ? o.top : info.count;
	if (o.output.json) {
		print_json(&info, count, &totals, &o);
	} else if (info.count) {
		if (!o.output.no_headings)
			print_head(&info, &totals, output_human(&o.output));
		print_table(&info, count, &o);
	}
	slabinfo_free(&info);
	return status;
}
