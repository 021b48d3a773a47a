// SPDX-License-Identifier: GPL-2.0-only
#include "model/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/group.h"

#define NONE UINT32_MAX

/* The lines of a function's sites in some snapshot, and the numbers of these sites. */
struct shape {
	struct shape *next;
	bool listed;	/* all of them */
	size_t count;
	struct shape_line {
		uint32_t line, site;
	} line[];
};

struct match_function {
	struct shape *shapes;
	bool listed;		/* all sites were in the list once */
	size_t count, room;
	struct known_site {
		int64_t line;	/* the lines as if they were in the first snapshot */
		uint32_t site;
	} *known;		/* in the order of lines */
	uint32_t first;		/* rows of the current snapshot, + 1 */
};

/* The kernel's whole list has sites that hold nothing. */
static bool lists_all(const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		if (!info->site[i].bytes && !info->site[i].calls)
			return true;
	return false;
}

/* How many lines of @shape belong to known sites if all moved by @shift lines. */
static size_t hits(const struct match_function *f, const struct shape *shape,
		   int64_t shift)
{
	size_t k = 0, found = 0;

	for (size_t i = 0; i < shape->count; i++) {
		int64_t line = shape->line[i].line - shift;

		while (k < f->count && f->known[k].line < line)
			k++;
		if (k < f->count && f->known[k].line == line) {
			found++;
			k++;
		}
	}
	return found;
}

static int64_t distance(int64_t shift)
{
	return shift < 0 ? -shift : shift;
}

/* The number of lines by which most sites moved; of equal numbers the smallest. */
static int64_t common_shift(const struct match_function *f, const struct shape *shape)
{
	size_t most = hits(f, shape, 0);
	int64_t best = 0;

	/* No function of a kernel has more. */
	if (f->count * shape->count > 10000)
		return 0;
	for (size_t i = 0; i < shape->count; i++) {
		for (size_t k = 0; k < f->count; k++) {
			int64_t shift = shape->line[i].line - f->known[k].line;
			size_t found = hits(f, shape, shift);

			if (found > most ||
			    (found == most && distance(shift) < distance(best))) {
				most = found;
				best = shift;
			}
		}
	}
	return best;
}

/* Matches lines [i, i_end) of @shape with the known sites [k, k_end), in order. */
static void pair(const struct match_function *f, struct shape *shape,
		 size_t i, size_t i_end, size_t k, size_t k_end)
{
	while (i < i_end && k < k_end)
		shape->line[i++].site = f->known[k++].site;
}

/* Finds the known sites for the lines of @shape. */
static void align(const struct match_function *f, struct shape *shape)
{
	bool in_order = f->listed && shape->listed;
	int64_t shift = in_order ? common_shift(f, shape) : 0;
	size_t i_done = 0, k_done = 0, k = 0;

	if (in_order && f->count == shape->count) {
		pair(f, shape, 0, shape->count, 0, f->count);
		return;
	}
	for (size_t i = 0; i < shape->count; i++) {
		int64_t line = shape->line[i].line - shift;

		while (k < f->count && f->known[k].line < line)
			k++;
		if (k == f->count || f->known[k].line != line)
			continue;
		shape->line[i].site = f->known[k].site;
		if (in_order)
			pair(f, shape, i_done, i, k_done, k);
		i_done = i + 1;
		k_done = ++k;
	}
	if (in_order)
		pair(f, shape, i_done, shape->count, k_done, f->count);
}

static int compare_known(const void *a, const void *b)
{
	const struct known_site *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

static const char *copy(struct matcher *m, const char *s)
{
	return s ? arena_copy(&m->strings, s, strlen(s)) : NULL;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The lines of the known sites, sorted. */
static uint32_t *lines_of(const struct matcher *m, const struct match_function *f)
{
	uint32_t *line = xcalloc(f->count + 1, sizeof(*line));

	for (size_t k = 0; k < f->count; k++)
		line[k] = m->site[f->known[k].site].line;
	qsort(line, f->count, sizeof(*line), compare_numbers);
	return line;
}

/* @like is a row of the function. */
static void number_shape(struct matcher *m, struct match_function *f,
			 struct shape *shape, const struct site *like)
{
	uint32_t *used = lines_of(m, f);
	size_t known = f->count, at = 0;
	int64_t shift = 0;

	for (size_t i = 0; i < shape->count; i++)
		shape->line[i].site = NONE;
	align(f, shape);
	for (size_t i = 0; i < shape->count; i++) {
		struct shape_line *line = &shape->line[i];
		uint32_t namesake = 0;

		if (line->site != NONE) {
			struct matched_site *site = &m->site[line->site];

			shift = line->line - site->known;
			if (site->line != line->line)
				site->moved = line->line;
			continue;
		}
		/* Both are sorted. */
		while (at < known && used[at] < line->line)
			at++;
		while (at + namesake < known && used[at + namesake] == line->line)
			namesake++;
		GROW(m->site, m->count, m->room);
		m->site[m->count] = (struct matched_site){
			.namesake = namesake,
			.file = copy(m, like->file),
			.module = copy(m, like->module),
			.func = copy(m, like->func),
			.line = line->line,
			.known = line->line - shift,
		};
		line->site = m->count++;
		GROW(f->known, f->count, f->room);
		f->known[f->count++] = (struct known_site){ line->line - shift, line->site };
	}
	if (f->count > known)
		qsort(f->known, f->count, sizeof(*f->known), compare_known);
	f->listed |= shape->listed;
	free(used);
}

static int compare_lines(const void *a, const void *b)
{
	const struct shape_line *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/* Stores @shape, whose lines are sorted, or finds an equal one. */
static const struct shape *find_shape(struct matcher *m, struct match_function *f,
				      struct shape *shape, const struct site *like)
{
	for (struct shape *s = f->shapes; s; s = s->next) {
		size_t i = 0;

		if (s->count != shape->count || s->listed != shape->listed)
			continue;
		while (i < s->count && s->line[i].line == shape->line[i].line)
			i++;
		if (i == s->count) {
			free(shape);
			return s;
		}
	}
	number_shape(m, f, shape, like);
	shape->next = f->shapes;
	f->shapes = shape;
	return shape;
}

static struct match_function *function_of(struct matcher *m, struct text *key,
					  const struct site *site, size_t *number)
{
	text_clear(key);
	text_puts(key, site->file);
	text_add(key, "\n", 1);
	text_puts(key, site->module ? site->module : "");
	text_add(key, "\n", 1);
	text_puts(key, site->func);
	*number = strmap_add(&m->functions, key->s, key->len);
	while (m->function_room <= *number) {
		size_t old = m->function_room;

		GROW(m->function, old, m->function_room);
		memset(m->function + old, 0,
		       (m->function_room - old) * sizeof(*m->function));
	}
	return &m->function[*number];
}

/* Numbers the rows of one function, which are linked by @next. */
static void number_rows(struct matcher *m, struct match_function *f,
			const struct allocinfo *info, const uint32_t *next,
			bool listed, uint32_t *number)
{
	struct shape *lines;
	const struct shape *shape;
	size_t count = 0, kept = 0;

	for (uint32_t row = f->first; row; row = next[row - 1])
		count++;
	lines = xmalloc(sizeof(*lines) + count * sizeof(*lines->line));
	for (uint32_t row = f->first; row; row = next[row - 1])
		lines->line[kept++].line = info->site[row - 1].line;
	qsort(lines->line, count, sizeof(*lines->line), compare_lines);
	lines->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!i || lines->line[i].line != lines->line[i - 1].line)
			lines->line[lines->count++].line = lines->line[i].line;
	lines->listed = listed;
	shape = find_shape(m, f, lines, &info->site[f->first - 1]);
	for (uint32_t row = f->first; row; row = next[row - 1]) {
		struct shape_line key = { info->site[row - 1].line, 0 };
		const struct shape_line *found = bsearch(&key, shape->line, shape->count,
							 sizeof(key), compare_lines);

		number[row - 1] = found->site;
	}
	f->first = 0;
}

void match_rows(struct matcher *m, const struct allocinfo *info, uint32_t *number)
{
	uint32_t *next = xcalloc(info->count, sizeof(*next));
	size_t *touched = xcalloc(info->count, sizeof(*touched)), count = 0;
	bool listed = lists_all(info);
	struct text key = { 0 };

	for (size_t row = 0; row < info->count; row++) {
		size_t n;
		struct match_function *f = function_of(m, &key, &info->site[row], &n);

		if (!f->first)
			touched[count++] = n;
		next[row] = f->first;
		f->first = row + 1;
	}
	for (size_t i = 0; i < count; i++)
		number_rows(m, &m->function[touched[i]], info, next, listed, number);
	text_free(&key);
	free(touched);
	free(next);
}

void matcher_free(struct matcher *m)
{
	for (size_t i = 0; i < m->functions.count; i++) {
		struct match_function *f = &m->function[i];

		while (f->shapes) {
			struct shape *shape = f->shapes;

			f->shapes = shape->next;
			free(shape);
		}
		free(f->known);
	}
	free(m->function);
	free(m->site);
	strmap_free(&m->functions);
	arena_free(&m->strings);
	*m = (struct matcher){ 0 };
}

void match_moved(struct allocinfo *old, const struct allocinfo *new)
{
	uint32_t *number = xcalloc(old->count > new->count ? old->count : new->count,
				   sizeof(*number));
	struct matcher m = { 0 };

	match_rows(&m, new, number);
	match_rows(&m, old, number);
	for (size_t row = 0; row < old->count; row++) {
		const struct matched_site *known = &m.site[number[row]];
		struct site *site = &old->site[row];

		site->namesake = known->namesake;
		if (known->line == site->line)
			continue;
		site->line_before = site->line;
		site->line = known->line;
	}
	matcher_free(&m);
	free(number);
}

/* ---- rows of one call site ---------------------------------------------------------------- */

/* Built-in code or a module: its call sites in two lists */
struct section {
	uint64_t order[2];	/* a hash of their names, in their order */
	size_t last[2];		/* the name before, + 1 */
};

/* The rows with one name */
struct namesakes {
	uint32_t rows[2];
	size_t section;
	bool module;
	bool unloaded;		/* one of them is of an unloaded module */
	bool adjacent;		/* one of them follows another */
	bool together;		/* nothing tells them apart */
};

struct row_names {
	struct strmap sections, names;
	struct section *section;
	struct namesakes *name;
	size_t section_room, name_room;
};

static uint64_t mix(uint64_t hash, size_t value)
{
	return (hash ^ value) * 0x100000001b3;	/* FNV-1a */
}

static struct section *section_of(struct row_names *r, const struct site *site, size_t *number)
{
	const char *module = site->module ? site->module : "";
	size_t known = r->sections.count;

	*number = strmap_add(&r->sections, module, strlen(module));
	if (*number == known) {
		GROW(r->section, known, r->section_room);
		r->section[known] = (struct section){ 0 };
	}
	return &r->section[*number];
}

/* Counts the rows of list @k, 0 or 1; returns the number of the name of each. */
static size_t *collect_rows(struct row_names *r, const struct allocinfo *info, int k)
{
	const struct grouping by = { .by = BY_SITE };
	size_t *number = xcalloc(info->count, sizeof(*number));
	struct text text = { 0 };

	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];
		size_t known = r->names.count, n, s;
		struct section *section = section_of(r, site, &s);
		bool unloaded = site->flags & SITE_UNLOADED;

		group_name(&text, by, site);
		n = number[i] = strmap_add(&r->names, text.s, text.len);
		if (n == known) {
			GROW(r->name, known, r->name_room);
			r->name[n] = (struct namesakes){ .section = s, .module = site->module };
		}
		r->name[n].rows[k]++;
		r->name[n].unloaded |= unloaded;
		r->name[n].adjacent |= section->last[k] == n + 1;
		if (unloaded)
			continue;
		/* A line that has moved is of another kernel. */
		section->order[k] = mix(mix(section->order[k], n + 1), site->line_before);
		section->last[k] = n + 1;
	}
	text_free(&text);
	return number;
}

static void set_rows(const struct row_names *r, struct allocinfo *info, const size_t *number,
		     enum rows_from from)
{
	uint32_t *times = xcalloc(r->names.count, sizeof(*times));

	for (size_t i = 0; i < info->count; i++)
		if (r->name[number[i]].together || from != ROWS_RECORDED)
			info->site[i].row = r->name[number[i]].together ? 1 : ++times[number[i]];
	free(times);
}

/* A list that is sorted by names has the rows of a call site one after the other. */
static bool tells_apart(const struct row_names *r, const struct namesakes *name, enum rows_from from,
			bool whole)
{
	const struct section *section = &r->section[name->section];

	if (from == ROWS_RECORDED)
		return name->module || name->rows[0] == name->rows[1];
	return section->order[0] == section->order[1] && !name->unloaded &&
	       (from == ROWS_LIVE || (whole && !name->adjacent));
}

size_t match_same_rows(struct allocinfo *old, struct allocinfo *new, enum rows_from from)
{
	bool whole = lists_all(old) && lists_all(new) && !allocinfo_sorted(old) && !allocinfo_sorted(new);
	struct row_names r = { 0 };
	size_t *before = collect_rows(&r, old, 0), *now = collect_rows(&r, new, 1), count = 0;

	for (size_t i = 0; i < r.names.count; i++) {
		struct namesakes *name = &r.name[i];

		name->together = (name->rows[0] > 1 || name->rows[1] > 1) && !tells_apart(&r, name, from, whole);
		count += name->together;
	}
	set_rows(&r, old, before, from);
	set_rows(&r, new, now, from);
	strmap_free(&r.sections);
	strmap_free(&r.names);
	free(r.section);
	free(r.name);
	free(before);
	free(now);
	return count;
}
