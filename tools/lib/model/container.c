// SPDX-License-Identifier: GPL-2.0-only
#include "model/container.h"

#include <string.h>

/* Linux 6.10 to 7.x. */
static const struct {
	const char *file, *func;	/* NULL: any */
	enum container contains;
} rules[] = {
	{ "mm/slub.c", "alloc_slab_page", SLAB_PAGES },
	{ "mm/slub.c", "allocate_slab", SLAB_PAGES },
	{ "mm/percpu-vm.c", NULL, PERCPU_CHUNKS },
	{ "mm/percpu-km.c", NULL, PERCPU_CHUNKS },
};

enum container site_contains(const struct site *site)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!strcmp(rules[i].file, site->file) &&
		    (!rules[i].func || !strcmp(rules[i].func, site->func)))
			return rules[i].contains;
	return NO_CONTAINER;
}

bool containers_only(const struct allocinfo *info,
		     bool (*keep)(void *context, const struct site *site), void *context)
{
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if ((site->bytes || site->calls) && (!keep || keep(context, site)) &&
		    !site_contains(site))
			return false;
	}
	return true;
}

void containers_take_out(struct allocinfo *info,
			 bool (*keep)(void *context, const struct site *site),
			 void *context, struct sum *out)
{
	size_t left = 0;

	*out = (struct sum){ 0 };
	for (size_t i = 0; i < info->count; i++) {
		const struct site *site = &info->site[i];

		if (site_contains(site) && (!keep || keep(context, site)))
			sum_add(out, &(struct sum){ site->bytes, site->calls, 1 });
		else
			info->site[left++] = *site;
	}
	info->count = left;
}
