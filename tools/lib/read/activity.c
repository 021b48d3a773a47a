// SPDX-License-Identifier: GPL-2.0-only
#include "read/activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/strmap.h"
#include "read/input.h"

/* ---- rows of one call site in two lists --------------------------------------------------- */

static uint32_t grown(int64_t before, int64_t now)
{
	return (uint32_t)now - (uint32_t)before;
}

/* It cannot have grown by so much: it went back, or wrapped around. */
static bool is_far(uint32_t step)
{
	return step >> 31;
}

/*
 * How far the row @now of an unloaded module is from @before, NO_ROW if that is another row. Such a
 * module only frees.
 */
static size_t distance(const struct site *before, const struct site *now)
{
	uint32_t allocs = grown(before->all.allocs, now->all.allocs);
	uint32_t frees = grown(before->all.frees, now->all.frees);

	if (!before->all.known || !now->all.known)
		return (size_t)llabs(sub64(before->calls, now->calls)) / 2;
	if (is_far(allocs) || is_far(frees) || (allocs && before->flags & SITE_UNLOADED))
		return ACTIVITY_NO_ROW;
	return (size_t)allocs + frees;
}

/* The nearest row of those that are, or are not, of an unloaded module. */
static size_t nearest(const struct site *now, const struct site *const *before, size_t count,
		      const bool *taken, bool unloaded)
{
	size_t least = ACTIVITY_NO_ROW, found = ACTIVITY_NO_ROW;

	for (size_t i = 0; i < count; i++) {
		size_t far = ACTIVITY_NO_ROW;

		if (!taken[i] && !(before[i]->flags & SITE_UNLOADED) == !unloaded)
			far = distance(before[i], now);
		if (far < least) {
			least = far;
			found = i;
		}
	}
	return found;
}

void activity_match(const struct site *const *now, size_t count, const struct site *const *before,
		    size_t count_before, size_t *row)
{
	bool *taken = xcalloc(count_before, sizeof(*taken));
	bool unloads = false;
	size_t next = 0;

	for (size_t i = 0; i < count; i++)
		row[i] = ACTIVITY_NO_ROW;
	/* First the rows that were unloaded before, then those that are since. */
	for (int since = 0; since < 2; since++) {
		for (size_t i = 0; i < count; i++) {
			if (!(now[i]->flags & SITE_UNLOADED) || row[i] != ACTIVITY_NO_ROW)
				continue;
			row[i] = nearest(now[i], before, count_before, taken, !since);
			if (row[i] == ACTIVITY_NO_ROW)
				continue;
			taken[row[i]] = true;
			unloads |= since;
		}
	}
	/* If the module was unloaded since, one that is loaded now is another one. */
	for (size_t i = 0; i < count && !unloads; i++) {
		if (now[i]->flags & SITE_UNLOADED)
			continue;
		while (next < count_before && before[next]->flags & SITE_UNLOADED)
			next++;
		if (next < count_before)
			row[i] = next++;
	}
	free(taken);
}

/* The rows of a list by their call site, in their order */
struct sites {
	struct strmap names;
	size_t *first, *next;	/* by name; by row */
};

static void sites_init(struct sites *sites, const struct allocinfo *info)
{
	struct text name = { 0 };

	*sites = (struct sites){
		.first = xcalloc(info->count, sizeof(size_t)), .next = xcalloc(info->count, sizeof(size_t)),
	};
	for (size_t i = info->count; i-- > 0; ) {
		size_t known = sites->names.count, n;

		text_clear(&name);
		site_name(&info->site[i], &name);
		n = strmap_add(&sites->names, name.s, name.len);
		sites->next[i] = n < known ? sites->first[n] : ACTIVITY_NO_ROW;
		sites->first[n] = i;
	}
	text_free(&name);
}

static void sites_free(struct sites *sites)
{
	strmap_free(&sites->names);
	free(sites->first);
	free(sites->next);
}

/* The rows from @i on; returns how many. */
static size_t collect(const struct sites *sites, const struct allocinfo *info, size_t i,
		      const struct site **rows)
{
	size_t count = 0;

	for (; i != ACTIVITY_NO_ROW; i = sites->next[i])
		rows[count++] = &info->site[i];
	return count;
}

/* For each row of @now its row in @before. The caller frees it. */
static size_t *match(const struct allocinfo *now, const struct allocinfo *before)
{
	const struct site **rows = xcalloc(now->count, sizeof(*rows));
	const struct site **old = xcalloc(before->count, sizeof(*old));
	size_t *row = xcalloc(now->count, sizeof(*row)), *found = xcalloc(now->count, sizeof(*found));
	struct sites sites, olds;

	sites_init(&sites, now);
	sites_init(&olds, before);
	for (size_t n = 0; n < sites.names.count; n++) {
		const struct strmap_entry *name = &sites.names.entry[n];
		size_t was = strmap_find(&olds.names, name->key, strlen(name->key));
		size_t count = collect(&sites, now, sites.first[n], rows);
		size_t count_before = was == STRMAP_NONE ? 0 : collect(&olds, before, olds.first[was], old);

		activity_match(rows, count, old, count_before, found);
		for (size_t i = 0; i < count; i++)
			row[rows[i] - now->site] = found[i] == ACTIVITY_NO_ROW ? ACTIVITY_NO_ROW :
						   (size_t)(old[found[i]] - before->site);
	}
	sites_free(&sites);
	sites_free(&olds);
	free(rows);
	free(old);
	free(found);
	return row;
}

/* ---- the file ----------------------------------------------------------------------------- */

static bool read_count(const char **s, int64_t *value)
{
	*s += strspn(*s, " ");
	return number_read(s, value) && *value >= 0 && *value <= UINT32_MAX && **s == ' ';
}

/* Returns the error in the line, NULL if it is right. */
static const char *parse_row(struct site *site, char *line, size_t len)
{
	const char *s = line;
	int64_t parts;

	if (!read_count(&s, &site->all.allocs) || !read_count(&s, &site->all.frees) ||
	    !read_count(&s, &parts))
		return "a line does not begin with three numbers of 32 bits";
	site->all.known = true;
	site->calls = (int32_t)(uint32_t)(site->all.allocs + parts - site->all.frees);
	s += strspn(s, " ");
	return site_parse(site, (char *)s, len - (size_t)(s - line));
}

bool activity_parse(struct allocinfo *info, char *text, size_t len, const char **why)
{
	static const char header[] = "# activity - version: 1.";
	struct allocinfo rows = { 0 };
	char *at = text, *line;
	size_t line_len, *row;
	bool complete;

	*why = strncmp(text, header, strlen(header)) ? "it does not begin with \"# activity - version: 1.\"" : NULL;
	while (!*why && (line = input_line(&at, text + len, &line_len, &complete))) {
		struct site site = { 0 };

		if (*line == '#')
			continue;
		*why = complete ? parse_row(&site, line, line_len) : "it is cut";
		GROW(rows.site, rows.count, rows.room);
		rows.site[rows.count++] = site;
	}
	if (!*why) {
		/* It was read later: a module can have been unloaded meanwhile. */
		row = match(&rows, info);
		for (size_t i = 0; i < rows.count; i++)
			if (row[i] != ACTIVITY_NO_ROW)
				info->site[row[i]].all = rows.site[i].all;
		free(row);
		activity_find_missing(info, false);
	}
	free(rows.site);
	return !*why;
}

bool activity_read(struct allocinfo *info, const char *path, const char **why)
{
	size_t len;
	char *text;
	bool good;

	*why = NULL;
	if (!input_read(path, &text, &len))
		return false;
	good = activity_parse(info, text, len, why);
	free(text);
	if (good && !strcmp(path, ACTIVITY_PATH))
		activity_find_missing(info, true);
	return good;
}

/* ---- between two readings ------------------------------------------------------------------- */

size_t activity_missing(const struct allocinfo *info, bool but_modules)
{
	size_t count = 0;

	for (size_t i = 0; i < info->count; i++)
		count += !info->site[i].all.known && !(but_modules && info->site[i].module);
	return count;
}

void activity_find_missing(struct allocinfo *info, bool but_modules)
{
	info->uncounted = activity_missing(info, but_modules);
	info->uncounted_of = info->count;
}

bool activity_known(const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->site[i].all.known)
			return true;
	return false;
}

bool activity_recent_known(const struct allocinfo *info)
{
	for (size_t i = 0; i < info->count; i++)
		if (info->site[i].recent.known)
			return true;
	return false;
}

struct activity activity_step(const struct activity *before, const struct activity *now,
			      enum activity_row kind)
{
	bool back = false;

	if (before) {
		uint32_t allocs = grown(before->allocs, now->allocs);
		uint32_t frees = grown(before->frees, now->frees);

		back = kind != ROW_STAYS && ((is_far(allocs) && now->allocs < before->allocs) ||
					     (is_far(frees) && now->frees < before->frees));
		if (!back)
			return (struct activity){ allocs, frees, .known = true };
	}
	if (kind == ROW_UNLOADED)
		return (struct activity){ .known = true };
	return (struct activity){ now->allocs, now->frees, .known = true, .restarts = back };
}

void activity_between(struct allocinfo *now, const struct allocinfo *before, enum activity_time time)
{
	/* After a boot the kernel counts from 0. */
	bool booted = now->boot && before->boot && now->boot != before->boot;
	bool one_boot = time == ACTIVITY_LIVE || (now->boot && now->boot == before->boot);
	bool back = time == ACTIVITY_BACKWARDS;
	const struct allocinfo *late = back ? before : now, *early = back ? now : before;
	size_t *row;

	if (!activity_known(now) || !activity_known(before))
		return;
	row = match(late, early);
	for (size_t i = 0; i < now->count; i++)
		now->site[i].recent = (struct activity){ .known = back && now->site[i].all.known };
	for (size_t i = 0; i < late->count; i++) {
		const struct site *site = &late->site[i];
		const struct site *was = row[i] == ACTIVITY_NO_ROW ? NULL : &early->site[row[i]];
		struct activity step;

		/* A row that is not new, and whose number was missing, has not counted from 0 since. */
		if (!site->all.known || (was ? !was->all.known : back))
			continue;
		step = activity_step(was && !booted ? &was->all : NULL, &site->all,
				     activity_row(site, one_boot));
		step.restarts |= booted && was;
		now->site[back ? row[i] : i].recent = step;
	}
	free(row);
}

enum activity_row activity_row(const struct site *site, bool one_boot)
{
	return site->flags & SITE_UNLOADED ? ROW_UNLOADED : site->module || !one_boot ? ROW_CAN_RESTART :
	       ROW_STAYS;
}

void activity_add(struct activity *to, const struct activity *more)
{
	to->allocs = add64(to->allocs, more->allocs);
	to->frees = add64(to->frees, more->frees);
	to->restarts += more->restarts;
	to->known |= more->known;
	to->partial |= more->partial || !more->known;
}

bool activity_whole(const struct activity *activity)
{
	return activity->known && !activity->partial;
}
