// SPDX-License-Identifier: GPL-2.0-only
#include "chart/page_draw.h"

#include "base/message.h"
#ifdef HAVE_D3
#include "chart/page.h"

bool page_draw(const struct chart_wish *wish, const struct material *m,
	       const struct chart *chart, FILE *out)
{
	static const char *const views[] = {
		[RING] = "ring", [TREEMAP] = "treemap", [FLAME] = "flame",
	};
	bool calls = wish->attribute == CALLS, objects = wish->attribute == STATIC;
	struct page page = {
		.title = chart->title,
		.subtitle = chart->subtitle,
		.what = objects ? "object files" : wish->trace ? "callers" : "call sites",
		.view = views[wish->kind],
		.shown = calls,
		.growth = wish->attribute == GROWTH,
		.attribute = {
			{ "size", wish->objects ? "objects" : "size", chart->bytes || calls },
			{ "calls", "allocations", false },
		},
		.attributes = objects ? 1 : 2,
	};
	bool good;

	for (size_t i = 0; i < m->count; i++) {
		page_time(&page, m->time[i]);
		page_add_sites(&page, &m->info[i], wish->query, objects ? BY_FILE : BY_SITE);
	}
	if (m->of)
		text_printf(&page.notes, "%zu of %zu snapshots.\n", m->count, m->of);
	good = page.sites;
	if (!good)
		warning("there is nothing to draw");
	good = good && page_write(&page, out);
	page_free(&page);
	return good;
}

bool page_draw_stacks(const struct groups *groups, const struct chart *chart, FILE *out)
{
	struct page page = {
		.title = chart->title, .subtitle = chart->subtitle, .what = "stacks",
		.view = "flame", .shown = !chart->bytes,
		.attribute = { { "size", "size", true }, { "calls", "allocations", false } },
		.attributes = 2,
	};
	bool good;

	page_time(&page, 0);
	page_add_groups(&page, groups);
	good = page_write(&page, out);
	page_free(&page);
	return good;
}
#else
static bool without_d3(void)
{
	warning("this build cannot make pages, it was made without d3");
	hint("Try .svg or .png.");
	return false;
}

bool page_draw(const struct chart_wish *wish, const struct material *m,
	       const struct chart *chart, FILE *out)
{
	(void)wish, (void)m, (void)chart, (void)out;
	return without_d3();
}

bool page_draw_stacks(const struct groups *groups, const struct chart *chart, FILE *out)
{
	(void)groups, (void)chart, (void)out;
	return without_d3();
}
#endif
