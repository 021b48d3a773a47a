// SPDX-License-Identifier: GPL-2.0-only
#include "model/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "read/query.h"

/* Sets @number[row] to the group of each row that the query selects. */
static void number_groups(struct fleet *fleet, const struct allocinfo *info,
			  uint32_t *number)
{
	struct text name = { 0 };

	if (fleet->by.by == BY_SITE) {
		match_rows(&fleet->matcher, info, number);
		return;
	}
	for (size_t row = 0; row < info->count; row++) {
		if (!query_match(fleet->query, &info->site[row]))
			continue;
		group_name(&name, fleet->by, &info->site[row]);
		number[row] = strmap_add(&fleet->names, name.s, name.len);
	}
	text_free(&name);
}

static void make_groups(struct fleet *fleet)
{
	size_t count = fleet->by.by == BY_SITE ? fleet->matcher.count : fleet->names.count;

	while (fleet->groups < count) {
		GROW(fleet->group, fleet->groups, fleet->groups_room);
		fleet->group[fleet->groups++] = (struct fleet_group){ 0 };
	}
}

void fleet_add(struct fleet *fleet, const char *host, const char *kernel,
	       const struct allocinfo *info)
{
	uint32_t *number = xcalloc(info->count, sizeof(*number));
	struct fleet_host *h;

	number_groups(fleet, info, number);
	make_groups(fleet);
	fleet->values += fleet->groups;
	if (fleet->values > FLEET_VALUES)
		die("too many: %zu hosts with %zu groups", fleet->count + 1, fleet->groups);
	GROW(fleet->host, fleet->count, fleet->room);
	h = &fleet->host[fleet->count++];
	if (!kernel)
		kernel = "";
	*h = (struct fleet_host){
		.name = arena_copy(&fleet->strings, host, strlen(host)),
		.kernel = arena_copy(&fleet->strings, kernel, strlen(kernel)),
		.value = xcalloc(fleet->groups, sizeof(*h->value)),
		.off = xcalloc(fleet->groups, sizeof(*h->off)),
		.groups = fleet->groups,
	};
	for (size_t row = 0; row < info->count; row++) {
		const struct site *site = &info->site[row];
		const struct sum sum = { site->bytes, site->calls, 1 };
		struct fleet_value *value = &h->value[number[row]];

		if (!query_match(fleet->query, site))
			continue;
		value->bytes = add64(value->bytes, sum.bytes);
		value->calls = add64(value->calls, sum.calls);
		sum_add(&h->sum, &sum);
		sum_add(&fleet->sum, &sum);
		sum_add(&fleet->group[number[row]].sum, &sum);
		h->off[number[row]] |= (site->flags & SITE_DISABLED) != 0;
		fleet->group[number[row]].flags |= site->flags;
	}
	free(number);
}

struct fleet_value fleet_value(const struct fleet *fleet, size_t h, size_t g)
{
	const struct fleet_host *host = &fleet->host[h];

	return g < host->groups ? host->value[g] : (struct fleet_value){ 0 };
}

struct site fleet_site(const struct fleet *fleet, size_t g)
{
	const struct matched_site *site = &fleet->matcher.site[g];

	return (struct site){
		.file = site->file,
		.module = site->module,
		.func = site->func,
		.line = site->line,
		.namesake = site->namesake,
		.flags = fleet->group[g].flags,
		.bytes = fleet->group[g].sum.bytes,
		.calls = fleet->group[g].sum.calls,
	};
}

void fleet_name(struct text *name, const struct fleet *fleet, size_t g)
{
	struct site site;

	text_clear(name);
	if (fleet->by.by == BY_SITE) {
		site = fleet_site(fleet, g);
		group_name(name, fleet->by, &site);
	} else {
		text_puts(name, fleet->names.entry[g].key);
	}
}

void fleet_total(const struct fleet *fleet, struct allocinfo *info)
{
	*info = (struct allocinfo){ 0 };
	for (size_t g = 0; g < fleet->groups; g++) {
		struct site site = fleet_site(fleet, g);
		const char **const name[] = { &site.file, &site.module, &site.func };

		if (!fleet->group[g].sum.rows)	/* not selected */
			continue;
		for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
			if (*name[i])
				*name[i] = arena_copy(&info->strings, *name[i],
						      strlen(*name[i]));
		site.notes = site_notes(site.flags);
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = site;
	}
}

void fleet_free(struct fleet *fleet)
{
	for (size_t h = 0; h < fleet->count; h++) {
		free(fleet->host[h].value);
		free(fleet->host[h].off);
	}
	free(fleet->host);
	free(fleet->group);
	matcher_free(&fleet->matcher);
	strmap_free(&fleet->names);
	arena_free(&fleet->strings);
	*fleet = (struct fleet){ 0 };
}
