// SPDX-License-Identifier: GPL-2.0-only
#include "growth.h"

#include <stdlib.h>

#include "drop.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "model/kind.h"
#include "read/allocinfo.h"

static bool counts(const struct site *site)
{
	enum kind kind = site_kind(site);

	return !site_reserved(site) && (kind == KIND_KERNEL || kind == KIND_CACHE);
}

static struct growth_site *find_site(struct growth *growth, const struct site *site,
				     struct text *name)
{
	size_t i;

	text_clear(name);
	site_name(site, name);
	i = strmap_add(&growth->names, name->s, name->len);
	while (growth->sites <= i) {
		GROW(growth->site, growth->sites, growth->room);
		growth->site[growth->sites++] = (struct growth_site){ 0 };
	}
	return &growth->site[i];
}

bool growth_measure(struct growth *growth)
{
	struct allocinfo info = { 0 };
	struct text name = { 0 };
	bool good;

	if (!drop_caches(DROP_PATH) || !allocinfo_read(&info, ALLOCINFO_PATH))
		return false;
	for (size_t i = 0; i < growth->sites; i++) {
		growth->site[i].grown = -growth->site[i].held;
		growth->site[i].held = 0;
	}
	for (size_t i = 0; i < info.count; i++) {
		struct growth_site *site;

		if (!counts(&info.site[i]))
			continue;
		site = find_site(growth, &info.site[i], &name);
		site->grown = add64(site->grown, info.site[i].bytes);
		site->held = add64(site->held, info.site[i].bytes);
	}
	good = allocinfo_complete(&info, ALLOCINFO_PATH);
	text_free(&name);
	allocinfo_free(&info);
	return good;
}

void growth_is_noise(struct growth *growth)
{
	for (size_t i = 0; i < growth->sites; i++)
		if (growth->site[i].grown > growth->site[i].noise)
			growth->site[i].noise = growth->site[i].grown;
}

void growth_begin(struct growth *growth)
{
	for (size_t i = 0; i < growth->sites; i++) {
		growth->site[i].times = 0;
		growth->site[i].sum = 0;
		growth->site[i].least = INT64_MAX;
	}
}

bool growth_add(struct growth *growth, unsigned int runs)
{
	int64_t bytes;

	for (size_t i = 0; i < growth->sites; i++) {
		struct growth_site *site = &growth->site[i];

		if (site->grown <= 0)
			continue;
		/* The site may be new, in a module that was not loaded before. */
		if (!site->times++ || site->grown < site->least)
			site->least = site->grown;
		site->sum = add64(site->sum, site->grown);
	}
	return growth_leak(growth, runs, &bytes);
}

const char *growth_leak(const struct growth *growth, unsigned int runs, int64_t *bytes)
{
	const char *name = NULL;

	*bytes = 0;
	for (size_t i = 0; i < growth->sites; i++) {
		const struct growth_site *site = &growth->site[i];

		if (site->times < runs || site->least <= site->noise || site->sum / runs <= *bytes)
			continue;
		*bytes = site->sum / runs;
		name = growth->names.entry[i].key;
	}
	return name;
}

void growth_free(struct growth *growth)
{
	strmap_free(&growth->names);
	free(growth->site);
}
