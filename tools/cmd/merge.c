// SPDX-License-Identifier: GPL-2.0-only
/* codetag merge: what many machines hold, and which of them are unlike the others. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "progress.h"
#include "selection.h"
#include "show.h"
#include "model/spread.h"
#include "words.h"
#include "base/message.h"
#include "base/number.h"
#include "base/outfile.h"
#include "model/container.h"
#include "read/profiling.h"
#include "source/source.h"
#include "write/export.h"
#include "write/json.h"
#ifdef HAVE_SQLITE
#include "source/fleet_db.h"
#endif

enum sort { SORT_SIZE, SORT_CALLS, SORT_HOSTS, SORT_MEDIAN, SORT_P99, SORT_LARGEST,
	    SORT_OUTLIERS, SORT_NAME };

static const char *const sort_names[] = {
	"size", "calls", "hosts", "median", "p99", "largest", "outliers", "name",
};

struct merge {
	struct selection selection;
	struct output output;
	enum sort sort;
	int64_t least;		/* least distance of an outlier from the median */
	const char *sqlite;
	bool sorted;		/* the option was given */

	struct fleet fleet;
	struct strmap hosts;	/* their names */
	size_t unprofiled;	/* hosts with call sites that are not profiled … */
	char *first_unprofiled;	/* … and one of them */
	struct sum left_out;
	struct sum twice;	/* of a database: slab pages and percpu chunks */
	size_t negative;	/* rows with a negative size */
	bool complete;
};

enum { KEY_OUTLIER = 0x200, KEY_CSV, KEY_SQLITE };

static const struct argp_option options[] = {
	{ "sort", 's', "KEY", 0,
	  "Sort by %s (default: size)", 2 },
	{ "outlier", KEY_OUTLIER, "SIZE", 0,
	  "An outlier has to be SIZE above the median (default: 1M)", 2 },
	{ "columns", 'o', "LIST", 0,
	  "Columns: %s", 9 },
	{ "csv", KEY_CSV, NULL, 0, "Write CSV", 10 },
#ifdef HAVE_SQLITE
	{ "sqlite", KEY_SQLITE, "FILE", 0,
	  "Write an SQLite database with the values of all hosts", 10 },
#endif
	{ 0 }
};

static const struct table_column columns[] = {
	{ "SIZE", true, "size", false }, { "CALLS", true, "calls", false },
	{ "HOSTS", true, "hosts", false }, { "MEDIAN", true, "median", false },
	{ "P99", true, "p99", false }, { "LARGEST", true, "largest", false },
	{ "ON", false, "largest_host", false }, { "OUTLIERS", false, "outliers", false },
	{ "NAME", false, "name", false }, { "FILE", false, "file", true },
	{ "LINE", true, "line", true }, { "MODULE", false, "module", true },
	{ "FUNC", false, "func", true },
};

#define COLUMN_COUNT (sizeof(columns) / sizeof(*columns))

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 's' ? words_help(text, WORDS(sort_names, ), ", ") :
	       key == 'o' ? words_help(text, WORDS(columns, .name), ", ") : (char *)text;
}

static const struct argp_child children[] = {
	{ &selection_merge_argp, 0, NULL, 1 },
	{ &hosts_argp, 0, NULL, 1 },
	{ &selection_raw_only_argp, 0, NULL, 2 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static void check(struct merge *merge, struct argp_state *state)
{
	const struct selection *selection = &merge->selection;
	const struct output *output = &merge->output;
	const struct conflict conflicts[] = {
		{ !selection->paths_count, "which files?", NULL },
		{ output->csv + output->json + (merge->sqlite != NULL) > 1,
		  "choose one of --csv, --json and --sqlite", NULL },
		{ merge->sqlite && selection->by.by != BY_SITE,
		  "a database is of call sites: --group goes without --sqlite", NULL },
		{ merge->sqlite && (selection->top || selection->has_min || selection->all ||
				    selection->raw || merge->sorted || output->columns),
		  "a database has everything: --top, --min, --all, --raw, --sort and --columns go "
		  "without --sqlite", NULL },
		{ output->csv && output->columns,
		  "CSV has all columns: --columns goes without --csv", NULL },
	};

	selection_finish(&merge->selection, state);
	output_check_columns(&merge->output, columns, COLUMN_COUNT, state);
	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct merge *merge = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &merge->selection;
		state->child_inputs[1] = &merge->selection;
		state->child_inputs[2] = &merge->selection;
		state->child_inputs[3] = &merge->output;
		return 0;
	case 's':
		merge->sort = argument_word(arg, WORDS(sort_names, ), "sort key", state);
		merge->sorted = true;
		return 0;
	case KEY_OUTLIER:
		merge->least = argument_size(arg, state);
		return 0;
	case KEY_CSV:
		merge->output.csv = true;
		return 0;
	case KEY_SQLITE:
		merge->sqlite = argument_database(arg, state);
		return 0;
	case 'o':
		merge->output.columns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!selection_argument(&merge->selection, arg))
			argp_error(state, "'%s' is one argument too many", arg);
		return 0;
	case ARGP_KEY_END:
		check(merge, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "FILE… [QUERY…]",
	"Sums up the snapshots of many hosts and shows the spread of their memory: the median, the "
	"value that 99 of 100 hosts do not exceed, the largest one with its host, and "
	"the outliers. A FILE is a copy of /proc/allocinfo, compressed or not, an archive such "
	"as a sosreport, a recording, or a directory with such files. Call sites are matched "
	"where kernels differ."
	"\vAn outlier is beyond the upper quartile by more than three times the distance between "
	"the quartiles, and 1M or more above the median. A host without a call site holds 0 "
	"of it.\n\n"
	"Examples:\n"
	"  codetag merge fleet/ -n 20\n"
	"  codetag merge --label host=web1 a.gz --label host=web2 b.gz module nf_tables\n"
	"  codetag merge fleet/ --group subsystem --sort outliers\n"
	"  codetag where fleet/            # by kind of memory: which hosts are unlike the others\n"
	"  codetag merge fleet/*.tar.xz --sqlite fleet.db && codetag report fleet.db --tree\n\n"
	PROFILING_STATUS,
	children, help, NULL
};

static void add_host(void *data, struct snapshot *snapshot)
{
	struct merge *merge = data;
	struct allocinfo *info = &snapshot->info;
	struct profiled profiling;
	struct sum left_out = { 0 };

	/* A database is for other commands, which take out what they do not want. */
	if (!merge->sqlite)
		selection_take_out(&merge->selection, info, &left_out);
	sum_add(&merge->left_out, &left_out);
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if (!query_match(merge->selection.query, site))
			continue;
		merge->negative += site->bytes < 0;
		if (merge->sqlite && site_contains(site))
			sum_add(&merge->twice, &(struct sum){ site->bytes, site->calls, 1 });
	}
	profiling_count(&profiling, &snapshot->info, merge->selection.query);
	if (profiling.off && !merge->unprofiled++)
		merge->first_unprofiled = xstrdup(snapshot->host);
	if (source_host_again(&merge->hosts, snapshot->host))
		merge->complete = false;
	fleet_add(&merge->fleet, snapshot->host, snapshot->kernel, &snapshot->info);
	merge->complete = source_host_complete(snapshot) && merge->complete;
	snapshot_free(snapshot);
}

static void read_hosts(struct merge *merge)
{
	const struct selection *selection = &merge->selection;
	struct progress progress = { .what = "files" };
	struct source_list list = { 0 };

	merge->fleet.by = selection->by;
	merge->fleet.query = selection->query;
	merge->complete = true;
	for (size_t i = 0; i < selection->paths_count; i++)
		if (!source_list_add(&list, selection->paths[i], selection->labels[i]))
			merge->complete = false;
	progress.all = list.count;
	for (size_t i = 0; i < list.count; i++) {
		if (!source_read(list.path[i], list.label[i], add_host, merge))
			merge->complete = false;
		progress_step(&progress);
	}
	progress_end(&progress);
	source_list_free(&list);
}

/* A row of the result. */
struct line {
	size_t group;
	char *name;
	struct spread spread;
	int64_t weight;
};

static int64_t weight(const struct merge *merge, const struct line *line)
{
	const struct sum *sum = &merge->fleet.group[line->group].sum;

	switch (merge->sort) {
	case SORT_SIZE:
		return sum->bytes;
	case SORT_CALLS:
		return sum->calls;
	case SORT_HOSTS:
		return (int64_t)line->spread.hosts;
	case SORT_MEDIAN:
		return line->spread.median;
	case SORT_P99:
		return line->spread.p99;
	case SORT_LARGEST:
		return line->spread.ranked[0].bytes;
	case SORT_OUTLIERS:
		return (int64_t)line->spread.outliers;
	case SORT_NAME:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* All rows to show, sorted; *@count is their number. */
static struct line *make_lines(const struct merge *merge, size_t *count)
{
	const struct selection *selection = &merge->selection;
	struct line *lines = xcalloc(merge->fleet.groups + 1, sizeof(*lines));
	struct text name = { 0 };

	*count = 0;
	for (size_t g = 0; g < merge->fleet.groups; g++) {
		const struct sum *sum = &merge->fleet.group[g].sum;
		struct line *line = &lines[*count];

		if (!sum->rows || (!selection->all && !sum->bytes && !sum->calls) ||
		    (selection->has_min && sum->bytes < selection->min))
			continue;
		fleet_name(&name, &merge->fleet, g);
		line->group = g;
		line->name = xstrdup(name.s);
		spread_find(&line->spread, &merge->fleet, g, merge->least);
		line->weight = weight(merge, line);
		++*count;
	}
	text_free(&name);
	qsort(lines, *count, sizeof(*lines), compare);
	return lines;
}

static void free_lines(struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(lines[i].name);
		spread_free(&lines[i].spread);
	}
	free(lines);
}

/* "2: web7 web9", the first three by name. */
static void outliers_text(struct text *text, const struct merge *merge,
			  const struct spread *spread)
{
	text_clear(text);
	if (!spread->outliers)
		return;
	text_printf(text, "%zu:", spread->outliers);
	for (size_t i = 0; i < spread->outliers && i < 3; i++)
		text_printf(text, " %s", merge->fleet.host[spread->ranked[i].host].name);
	if (spread->outliers > 3)
		text_puts(text, " …");
}

static struct site site_of(const struct merge *merge, size_t group)
{
	return merge->fleet.by.by == BY_SITE ? fleet_site(&merge->fleet, group) :
	       (struct site){ 0 };
}

static void size_cell(struct table *table, int64_t size, bool human)
{
	char text[SIZE_TEXT];

	table_cell(table, size_format(text, size, human));
}

/* The number of hosts by kernel; "" stands for an unknown kernel. */
static size_t count_kernels(const struct fleet *fleet, struct strmap *kernels, size_t **hosts)
{
	*hosts = xcalloc(fleet->count + 1, sizeof(**hosts));
	for (size_t h = 0; h < fleet->count; h++) {
		const char *kernel = fleet->host[h].kernel;

		(*hosts)[strmap_add(kernels, kernel, strlen(kernel))]++;
	}
	return kernels->count;
}

static size_t count_moved(const struct fleet *fleet)
{
	size_t moved = 0;

	for (size_t i = 0; i < fleet->matcher.count; i++)
		moved += fleet->matcher.site[i].moved && fleet->group[i].sum.rows;
	return moved;
}

static void print_summary(const struct merge *merge)
{
	const struct fleet *fleet = &merge->fleet;
	bool human = output_human(&merge->output);
	struct strmap kernels = { 0 };
	char total[SIZE_TEXT];
	size_t *hosts, count = count_kernels(fleet, &kernels, &hosts);

	printf("%zu %s %s%s in %" PRId64 " allocations", fleet->count,
	       fleet->count == 1 ? "host holds" : "hosts hold",
	       size_format(total, fleet->sum.bytes, human), human ? "" : " bytes", fleet->sum.calls);
	for (size_t i = 0; i < count && (count > 1 || *kernels.entry[0].key); i++)
		printf("%s%s on %zu", i ? ", " : "; kernels: ",
		       *kernels.entry[i].key ? kernels.entry[i].key : "not known", hosts[i]);
	putchar('\n');
	show_left_out(&merge->left_out, &merge->output);
	if (merge->twice.bytes)
		printf("slab pages and percpu chunks of %s%s are in this sum, and so is their content: commands "
		       "that read the database leave these pages out\n",
		       size_format(total, merge->twice.bytes, human), human ? "" : " bytes");
	show_negative(merge->negative);
	if (count_moved(fleet))
		printf("call sites that have another line on some of them: %zu\n",
		       count_moved(fleet));
	free(hosts);
	strmap_free(&kernels);
}

static void print_table(const struct merge *merge, const struct line *lines, size_t count)
{
	struct table table = { .column = columns, .columns = COLUMN_COUNT };
	bool human = output_human(&merge->output);
	struct text text = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct spread *spread = &lines[i].spread;
		const struct sum *sum = &merge->fleet.group[lines[i].group].sum;
		struct site site = site_of(merge, lines[i].group);

		size_cell(&table, sum->bytes, human);
		size_cell(&table, sum->calls, false);
		size_cell(&table, (int64_t)spread->hosts, false);
		size_cell(&table, spread->median, human);
		size_cell(&table, spread->p99, human);
		size_cell(&table, spread->ranked[0].bytes, human);
		table_cell(&table, merge->fleet.host[spread->ranked[0].host].name);
		outliers_text(&text, merge, spread);
		table_cell(&table, text.s);
		table_cell(&table, lines[i].name);
		table_cell(&table, site.file ? site.file : "");
		if (site.file)
			size_cell(&table, site.line, false);
		else
			table_cell(&table, "");
		table_cell(&table, site.module ? site.module : "");
		table_cell(&table, site.func ? site.func : "");
	}
	output_table(&table, &merge->output);
	text_free(&text);
	if (merge->output.no_headings)
		return;
	if (count)
		putchar('\n');
	print_summary(merge);
}

static void print_csv(const struct merge *merge, const struct line *lines, size_t count)
{
	bool by_site = merge->fleet.by.by == BY_SITE;
	struct text outliers = { 0 };

	if (!merge->output.no_headings)
		printf("size,calls,hosts,median,p99,largest,largest_host,outliers,%s\r\n",
		       by_site ? "file,line,module,func" : "name");
	for (size_t i = 0; i < count; i++) {
		const struct spread *spread = &lines[i].spread;
		const struct sum *sum = &merge->fleet.group[lines[i].group].sum;
		struct site site = site_of(merge, lines[i].group);

		printf("%" PRId64 ",%" PRId64 ",%zu,%" PRId64 ",%" PRId64 ",%" PRId64 ",",
		       sum->bytes, sum->calls, spread->hosts, spread->median, spread->p99,
		       spread->ranked[0].bytes);
		csv_text(stdout, merge->fleet.host[spread->ranked[0].host].name);
		text_clear(&outliers);
		for (size_t o = 0; o < spread->outliers; o++)
			text_printf(&outliers, "%s%s", o ? " " : "",
				    merge->fleet.host[spread->ranked[o].host].name);
		putchar(',');
		csv_text(stdout, outliers.s);
		putchar(',');
		if (by_site) {
			csv_text(stdout, site.file);
			printf(",%u,", site.line);
			csv_text(stdout, site.module ? site.module : "");
			putchar(',');
			csv_text(stdout, site.func);
		} else {
			csv_text(stdout, lines[i].name);
		}
		fputs("\r\n", stdout);
	}
	text_free(&outliers);
}

static void json_text(struct json *json, const char *key, const char *text)
{
	if (text)
		json_string(json, key, text);
	else
		json_null(json, key);
}

static void json_line(struct json *json, const struct merge *merge, const struct line *line)
{
	const struct spread *spread = &line->spread;
	const struct sum *sum = &merge->fleet.group[line->group].sum;
	struct site site = site_of(merge, line->group);

	json_object(json, NULL);
	json_int(json, "size", sum->bytes);
	json_int(json, "calls", sum->calls);
	json_int(json, "hosts", (int64_t)spread->hosts);
	json_int(json, "median", spread->median);
	json_int(json, "p99", spread->p99);
	json_int(json, "largest", spread->ranked[0].bytes);
	json_string(json, "largest_host", merge->fleet.host[spread->ranked[0].host].name);
	json_array(json, "outliers");
	for (size_t i = 0; i < spread->outliers; i++) {
		json_object(json, NULL);
		json_string(json, "host", merge->fleet.host[spread->ranked[i].host].name);
		json_int(json, "size", spread->ranked[i].bytes);
		json_end_object(json);
	}
	json_end_array(json);
	json_string(json, "name", line->name);
	if (site.file) {
		json_string(json, "file", site.file);
		json_int(json, "line", site.line);
		json_text(json, "module", site.module);
		json_string(json, "func", site.func);
	}
	json_end_object(json);
}

static void print_json(const struct merge *merge, const struct line *lines, size_t count,
		       size_t shown)
{
	const struct fleet *fleet = &merge->fleet;
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_string(&json, "group", grouping_name(fleet->by.by));
	json_object(&json, "total");
	json_int(&json, "size", fleet->sum.bytes);
	json_int(&json, "calls", fleet->sum.calls);
	json_int(&json, "negative_rows", merge->negative);
	json_end_object(&json);
	json_object(&json, "left_out");
	json_int(&json, "size", merge->left_out.bytes);
	json_int(&json, "calls", merge->left_out.calls);
	json_int(&json, "rows", merge->left_out.rows);
	json_end_object(&json);
	json_array(&json, "hosts");
	for (size_t h = 0; h < fleet->count; h++) {
		const struct fleet_host *host = &fleet->host[h];

		json_object(&json, NULL);
		json_string(&json, "host", host->name);
		json_text(&json, "kernel", *host->kernel ? host->kernel : NULL);
		json_int(&json, "size", host->sum.bytes);
		json_int(&json, "calls", host->sum.calls);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_int(&json, "moved", (int64_t)count_moved(fleet));
	json_int(&json, "groups", (int64_t)count);
	json_rows(&json, "rows", merge->output.columns);
	for (size_t i = 0; i < shown; i++)
		json_line(&json, merge, &lines[i]);
	json_end_array(&json);
	json_end_object(&json);
}

static void print(const struct merge *merge)
{
	size_t count, shown;
	struct line *lines = make_lines(merge, &count);

	shown = merge->selection.top && merge->selection.top < count ?
		merge->selection.top : count;
	if (merge->output.json)
		print_json(merge, lines, count, shown);
	else if (merge->output.csv)
		print_csv(merge, lines, shown);
	else
		print_table(merge, lines, shown);
	free_lines(lines, count);
}

#ifdef HAVE_SQLITE
static bool write_database(const struct merge *merge)
{
	struct outfile file;
	struct fleet_db *db;
	bool good;

	if (!outfile_create(&file, merge->sqlite)) {
		warning("cannot create %s: %s", merge->sqlite, strerror(errno));
		if (errno == EEXIST)
			hint("Take another name, or remove it first.");
		return false;
	}
	db = fleet_db_create(file.temporary);
	good = fleet_db_write(db, &merge->fleet, merge->least);
	if (!good)
		warning("cannot write %s: %s", merge->sqlite, fleet_db_error(db));
	fleet_db_close(db);
	good = outfile_end(&file, merge->sqlite, good);
	if (good && !merge->output.no_headings)
		print_summary(merge);
	return good;
}
#else
static bool write_database(const struct merge *merge)
{
	(void)merge;
	return false;
}
#endif

int cmd_merge(int argc, char **argv)
{
	struct merge merge = { .selection = SELECTION_INIT, .least = 1 << 20 };
	bool good = true;

	merge.selection.many = true;
	/* Rows cannot be matched between hosts. */
	merge.selection.groups &= ~BIT_OF(BY_ROW);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &merge);
	read_hosts(&merge);
	if (!merge.fleet.count)
		good = false;
	else if (merge.sqlite)
		good = write_database(&merge);
	else
		print(&merge);
	if (merge.fleet.count && !merge.fleet.sum.rows)
		selection_warn_none(&merge.selection);
	good = profiling_complete_hosts(merge.unprofiled, merge.fleet.count, merge.first_unprofiled) && good;
	free(merge.first_unprofiled);
	strmap_free(&merge.hosts);
	fleet_free(&merge.fleet);
	selection_free(&merge.selection);
	return good && merge.complete ? STATUS_OK : STATUS_TROUBLE;
}
