// SPDX-License-Identifier: GPL-2.0-only
#include "model/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "model/subsystem.h"
#include "read/activity.h"
#include "read/query.h"

static const char *const by_names[] = {
	[BY_SITE] = "site",
	[BY_ROW] = "row",
	[BY_PLACE] = "place",
	[BY_FUNC] = "func",
	[BY_FILE] = "file",
	[BY_DIR] = "dir",
	[BY_MODULE] = "module",
	[BY_SUBSYSTEM] = "subsystem",
	[BY_HOST] = "host",
};

const char *grouping_name(enum group_by by)
{
	return by_names[by];
}

bool grouping_parse(struct grouping *by, const char *text)
{
	size_t len = strcspn(text, ":");

	by->depth = 0;
	for (size_t i = 0; i < BY_HOST; i++) {
		if (strlen(by_names[i]) != len || memcmp(text, by_names[i], len))
			continue;
		by->by = i;
		text += len;
		if (*text == ':' && i == BY_DIR) {
			int64_t depth;

			text++;
			if (!number_read(&text, &depth) || depth < 1 || depth > 99)
				return false;
			by->depth = depth;
		}
		return !*text;
	}
	return false;
}

/* Length of the first @depth directories of @file, 0: of all of them. */
static size_t dir_length(const char *file, unsigned int depth)
{
	const char *slash = file[0] == '/' ? file : NULL;
	const char *next = slash ? slash + 1 : file;

	for (unsigned int i = 0; (next = strchr(next, '/')); next++) {
		slash = next;
		if (++i == depth)
			break;
	}
	return slash ? (size_t)(slash - file) : 0;
}

void group_name(struct text *name, struct grouping by, const struct site *site)
{
	char line[SIZE_TEXT];
	size_t len;

	text_clear(name);
	switch (by.by) {
	case BY_SITE:
	case BY_ROW:
	case BY_PLACE:
		text_puts(name, site->file);
		/* Callers in traces have no line. */
		if (by.by != BY_PLACE && site->line) {
			text_add(name, ":", 1);
			text_add(name, line, number_format(line, site->line));
		}
		if (site->module) {
			text_puts(name, " [");
			text_puts(name, site->module);
			text_puts(name, "]");
		}
		text_puts(name, " func:");
		text_puts(name, site->func);
		if (site->namesake && by.by != BY_PLACE)
			text_printf(name, " (other kernel %u)", site->namesake);
		break;
	case BY_FUNC:
		text_puts(name, site->func);
		break;
	case BY_FILE:
	case BY_HOST:
		text_puts(name, site->file);
		break;
	case BY_DIR:
		len = dir_length(site->file, by.depth);
		if (len)
			text_add(name, site->file, len);
		else
			text_puts(name, site_reserved(site) ? "codetag" : ".");
		break;
	case BY_MODULE:
		text_puts(name, site->module ? site->module : "vmlinux");
		break;
	case BY_SUBSYSTEM:
		subsystem_name(name, site);
		break;
	}
}

void group_number_row(struct text *name, size_t k)
{
	if (k > 1)
		text_printf(name, " #%zu", k);
}

uint32_t group_row_number(const char *name)
{
	const char *mark = strrchr(name, '#');
	int64_t number;

	if (!mark)
		return 1;
	mark++;
	if (!number_read(&mark, &number) || *mark || number < 1 || number > UINT32_MAX)
		return 1;
	return (uint32_t)number;
}

/*
 * Each row of a site is a group of its own. A number of model/match.h or of a recording goes
 * before the place in the list.
 */
static void number_row(struct groups *groups, const struct site *site, struct text *name)
{
	size_t i;

	if (site->row) {
		group_number_row(name, site->row);
		return;
	}
	i = strmap_add(&groups->seen, name->s, name->len);
	while (groups->times_room <= i) {
		size_t old = groups->times_room;

		GROW(groups->times, old, groups->times_room);
		memset(groups->times + old, 0,
		       (groups->times_room - old) * sizeof(*groups->times));
	}
	group_number_row(name, ++groups->times[i]);
}

int64_t group_growth(const struct group *group)
{
	return sub64(group->now.bytes, group->before.bytes);
}

int64_t sum_average(const struct sum *sum)
{
	return sum->calls > 0 ? sum->bytes / sum->calls : 0;
}

void sum_add(struct sum *to, const struct sum *more)
{
	to->bytes = add64(to->bytes, more->bytes);
	to->calls = add64(to->calls, more->calls);
	to->rows += more->rows;
}

static void add(struct groups *groups, const struct allocinfo *info,
		const struct query *query, bool before)
{
	struct text name = { 0 };

	groups->compared |= before;
	if (groups->times)
		memset(groups->times, 0,
		       groups->times_room * sizeof(*groups->times));
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];
		struct sum sum = { site->bytes, site->calls, 1 };
		struct group *group;
		size_t at;

		if (!query_match(query, site))
			continue;
		group_name(&name, groups->by, site);
		if (groups->by.by == BY_ROW)
			number_row(groups, site, &name);
		at = strmap_add(&groups->names, name.s, name.len);
		if (at == groups->count) {
			GROW(groups->group, groups->count, groups->room);
			groups->group[groups->count++] = (struct group){
				.name = groups->names.entry[at].key,
				.site = site,
			};
		}
		group = &groups->group[at];
		sum_add(before ? &group->before : &group->now, &sum);
		sum_add(before ? &groups->before : &groups->now, &sum);
		if (!before) {
			activity_add(&group->all, &site->all);
			activity_add(&group->recent, &site->recent);
			activity_add(&groups->all, &site->all);
			activity_add(&groups->recent, &site->recent);
		}
		group->flags |= before ? site->flags & SITE_BOUND : site->flags;
		if (before && (groups->by.by == BY_SITE || groups->by.by == BY_ROW))
			group->line_before = site->line_before;
	}
	text_free(&name);
}

void groups_add(struct groups *groups, const struct allocinfo *info,
		const struct query *query)
{
	add(groups, info, query, false);
}

void groups_add_before(struct groups *groups, const struct allocinfo *info,
		       const struct query *query)
{
	add(groups, info, query, true);
}

void groups_free(struct groups *groups)
{
	free(groups->group);
	free(groups->times);
	strmap_free(&groups->names);
	strmap_free(&groups->seen);
	*groups = (struct groups){ 0 };
}

const char *const order_names[ORDERS] = {
	[ORDER_SIZE] = "size",
	[ORDER_CALLS] = "calls",
	[ORDER_AVERAGE] = "avg",
	[ORDER_NAME] = "name",
	[ORDER_GROWTH] = "growth",
	[ORDER_ALLOCS] = "allocs",
	[ORDER_FREES] = "frees",
};

bool order_is_activity(enum order order)
{
	return order == ORDER_ALLOCS || order == ORDER_FREES;
}

static int64_t weight(const struct group *group, enum order order)
{
	int64_t growth;

	switch (order) {
	case ORDER_SIZE:
		return group->now.bytes;
	case ORDER_CALLS:
		return group->now.calls;
	case ORDER_AVERAGE:
		return sum_average(&group->now);
	case ORDER_GROWTH:
		growth = group_growth(group);
		return growth < 0 ? sub64(0, growth) : growth;
	case ORDER_ALLOCS:
		return group->recent.known ? group->recent.allocs : group->all.allocs;
	case ORDER_FREES:
		return group->recent.known ? group->recent.frees : group->all.frees;
	case ORDER_NAME:
	case ORDERS:
		break;
	}
	return 0;
}

struct ranked {
	int64_t weight;
	struct group group;
};

/* Equal groups are sorted by name, so that the same input always gives the same output. */
static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->group.name, y->group.name);
}

void groups_sort(struct groups *groups, enum order order)
{
	struct ranked *ranked = xcalloc(groups->count, sizeof(*ranked));

	for (size_t i = 0; i < groups->count; i++)
		ranked[i] = (struct ranked){
			weight(&groups->group[i], order), groups->group[i]
		};
	qsort(ranked, groups->count, sizeof(*ranked), compare);
	for (size_t i = 0; i < groups->count; i++)
		groups->group[i] = ranked[i].group;
	free(ranked);
}
