// SPDX-License-Identifier: GPL-2.0-only
#include "chart/material.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"
#include "base/message.h"
#include "base/number.h"
#include "model/container.h"

bool material_wants(void *context, const struct site *site)
{
	const struct chart_wish *wish = context;

	return query_match(wish->query, site) && path_is_below(site->file, wish->start);
}

bool material_counts(void *context, const struct site *site)
{
	const struct chart_wish *wish = context;

	return material_wants(context, site) && (wish->raw || !site_contains(site));
}

/* Sites that contain other allocations are drawn only if no other site is left. */
static void take_out_containers(struct material *m, struct chart_wish *wish)
{
	bool only = true;

	for (size_t k = 0; k < m->count; k++)
		only = only && containers_only(&m->info[k], material_wants, wish);
	for (size_t k = 0; k < m->count && !only; k++)
		containers_take_out(&m->info[k], material_wants, wish, &m->left_out);
}

/* Only sites below --start-branch. */
static bool keep_branch(struct material *m, struct chart_wish *wish)
{
	size_t kept = 0;

	for (size_t k = 0; k < m->count; k++) {
		struct allocinfo *info = &m->info[k];
		size_t own = 0;

		for (size_t i = 0; i < info->count; i++)
			if (material_wants(wish, &info->site[i]))
				info->site[own++] = info->site[i];
		info->count = own;
		kept += own;
	}
	if (!kept)
		warning("nothing is below %s", wish->start);
	return kept;
}

bool material_narrow(struct material *m, struct chart_wish *wish)
{
	if (wish->start && !keep_branch(m, wish))
		return false;
	if (!wish->raw)
		take_out_containers(m, wish);
	return true;
}

int64_t material_value(const struct chart_wish *wish, const struct group *group)
{
	switch (wish->attribute) {
	case CALLS:
		return group->now.calls;
	case GROWTH:
		return group_growth(group);
	case CURRENT:
	case STATIC:
	case OF_TRACE:
		break;
	}
	return group->now.bytes;
}

void material_groups(struct groups *groups, const struct material *m,
		     const struct chart_wish *wish, struct grouping by)
{
	*groups = (struct groups){ .by = by };
	if (wish->attribute == GROWTH)
		groups_add_before(groups, &m->info[0], wish->query);
	groups_add(groups, &m->info[m->count - 1], wish->query);
}

/* The tree goes down to functions. Sites that have shrunk cannot be drawn in it. */
void material_tree(struct material *m, const struct chart_wish *wish)
{
	struct groups groups;
	struct text path = { 0 };

	material_groups(&groups, m, wish, (struct grouping){ BY_SITE, 0 });
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = &groups.group[i];
		struct sum sum = { .bytes = material_value(wish, group), .rows = 1 };

		if (sum.bytes <= 0)
			continue;
		text_clear(&path);
		text_puts(&path, group->site->file);
		if (wish->attribute != STATIC)
			text_printf(&path, "/%s", group->site->func);
		if (group->site->line)
			text_printf(&path, ":%u", group->site->line);
		tree_add(&m->tree, path.s, &sum);
	}
	tree_sort(&m->tree, ORDER_SIZE);
	text_free(&path);
	groups_free(&groups);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static int compare(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	/* Sites that shrank by much matter as much. */
	if (magnitude(x->value) != magnitude(y->value))
		return magnitude(x->value) < magnitude(y->value) ? 1 : -1;
	return x->i < y->i ? -1 : 1;
}

size_t material_rank(const struct chart_wish *wish, const struct groups *groups,
		     struct weighed **ranked, size_t usual)
{
	size_t top = wish->top ? wish->top : usual, count = 0;

	*ranked = xcalloc(groups->count, sizeof(**ranked));
	for (size_t i = 0; i < groups->count; i++) {
		int64_t value = material_value(wish, &groups->group[i]);

		if (value)
			(*ranked)[count++] = (struct weighed){ value, i };
	}
	qsort(*ranked, count, sizeof(**ranked), compare);
	return count < top ? count : top;
}

/* ", grown by 2.0M at 30 sites, shrunk by 1.0M at 12 (not drawn)" */
static void describe_growth(const struct chart_wish *wish, const struct groups *groups,
			    struct text *text)
{
	struct movement all = { 0 };
	char size[SIZE_TEXT];

	for (size_t i = 0; i < groups->count; i++)
		movement_add(&all, groups->group[i].before.bytes, groups->group[i].now.bytes);
	text_printf(text, ", grown by %s at %zu sites", size_format(size, all.grown, true),
		    all.grew);
	if (all.shrank)
		text_printf(text, ", shrunk by %s at %zu%s",
			    size_format(size, all.shrunk, true), all.shrank,
			    wish->kind == BARS ? "" : " (not drawn)");
}

const char *material_title(const struct chart_wish *wish)
{
	static const char *const titles[] = {
		[CURRENT] = "Kernel memory by call site",
		[CALLS] = "Kernel allocations by call site",
		[GROWTH] = "Growth of kernel memory by call site",
		[STATIC] = "Static size of the kernel by object file",
	}, *const pages_titles[] = {
		[TOTAL_DYNAMIC] = "Pages ever allocated, by caller",
		[CURRENT_DYNAMIC] = "Pages by caller",
		[WASTE] = "Pages wasted now, by caller",
		[TOTAL_WASTE] = "Pages ever wasted, by caller",
		[REMOTE_FREED] = "Pages freed on another CPU, by caller",
	}, *const trace_titles[] = {
		[TOTAL_DYNAMIC] = "Slab memory ever allocated, by caller",
		[CURRENT_DYNAMIC] = "Slab memory by caller",
		[WASTE] = "Slab memory that rounding up wastes now, by caller",
		[TOTAL_WASTE] = "Slab memory ever wasted by rounding up, by caller",
		[REMOTE_FREED] = "Slab objects freed on another CPU, by caller",
	};

	if (wish->attribute == OF_TRACE)
		return (wish->pages ? pages_titles : trace_titles)[wish->key];
	if (wish->trace)
		return wish->pages ? "Static memory and pages by caller" :
				     "Static and slab memory by caller";
	return titles[wish->attribute];
}

void material_describe(struct text *text, const struct material *m,
		       const struct chart_wish *wish)
{
	double when = m->count ? m->time[m->count - 1] : 0;
	struct groups groups;
	char total[SIZE_TEXT];

	text_clear(text);
	if (m->kernel[0])
		text_printf(text, "Linux %s \xc2\xb7 ", m->kernel);
	/* A page with a slider shows the time and the sum beside it. */
	if (when > 0 && !(wish->moments && m->count > 1)) {
		time_t seconds = (time_t)when;
		char date[32] = "";
		struct tm tm;

		if (localtime_r(&seconds, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
		text_printf(text, "%s \xc2\xb7 ", date);
	}
	material_groups(&groups, m, wish, (struct grouping){ BY_SITE, 0 });
	if (!wish->moments || m->count < 2)
		text_printf(text, "%s in ", size_format(total, groups.now.bytes, !wish->objects));
	if (wish->moments && m->count > 1)
		text_printf(text, "%zu snapshots", m->count);
	else if (wish->attribute == STATIC)
		text_printf(text, "%zu objects", groups.now.rows);
	else
		text_printf(text, "%" PRId64 " allocations", groups.now.calls);
	if (wish->attribute == GROWTH)
		describe_growth(wish, &groups, text);
	if (m->left_out.bytes)
		text_printf(text, " \xc2\xb7 without %s of slab pages and percpu chunks: "
			    "their objects are counted", size_format(total, m->left_out.bytes, true));
	if (wish->start)
		text_printf(text, " \xc2\xb7 %.80s", wish->start);
	if (*wish->query_text)
		text_printf(text, " \xc2\xb7 %.80s", wish->query_text);
	groups_free(&groups);
}

void material_free(struct material *m)
{
	for (size_t i = 0; i < m->count; i++)
		allocinfo_free(&m->info[i]);
	free(m->info);
	free(m->time);
	free(m->moment);
	free(m->snapshot);
#ifdef HAVE_SQLITE
	gauges_free(&m->gauges);
#endif
	series_free(&m->series);
	tree_free(&m->tree);
}
