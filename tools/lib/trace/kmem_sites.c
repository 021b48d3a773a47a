// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_sites.h"

#include <string.h>

#include "base/number.h"

/* "foo+0x33 [ext4]" is function foo in module ext4. @strings gets the strings. */
static struct site site_of(const struct kmem_caller *caller, struct arena *strings)
{
	const char *name = caller->name, *open = strstr(name, " [");
	size_t len = open ? (size_t)(open - name) : strlen(name);
	const char *close = open ? strchr(open, ']') : NULL;
	const char *plus = strstr(name, " < ") ? NULL : memchr(name, '+', len);
	struct site site = {
		.func = arena_copy(strings, name, plus ? (size_t)(plus - name) : len),
	};

	if (close)
		site.module = arena_copy(strings, open + 2, close - open - 2);
	if (caller->path && *caller->path)
		site.file = arena_copy(strings, caller->path, strlen(caller->path));
	else
		site.file = close ? arena_copy(strings, open + 1, close - open) : "vmlinux";
	return site;
}

void kmem_sites(const struct kmem *kmem, enum kmem_key key, struct allocinfo *info)
{
	for (size_t i = 0; i < kmem->callers; i++) {
		const struct kmem_caller *c = &kmem->caller[i];
		struct site site;

		if (!c->allocs)
			continue;
		site = site_of(c, &info->strings);
		site.bytes = kmem_weight(c, key);
		site.calls = key == CURRENT_DYNAMIC ? sub64(c->allocs, c->freed) : c->allocs;
		GROW(info->site, info->count, info->room);
		info->site[info->count++] = site;
	}
}

static void add_caller(struct kmem_caller *to, const struct kmem_caller *c)
{
	to->total_req = add64(to->total_req, c->total_req);
	to->total_alloc = add64(to->total_alloc, c->total_alloc);
	to->current_req = add64(to->current_req, c->current_req);
	to->current_alloc = add64(to->current_alloc, c->current_alloc);
	to->allocs = add64(to->allocs, c->allocs);
	to->freed = add64(to->freed, c->freed);
	to->frees = add64(to->frees, c->frees);
	to->remote_freed = add64(to->remote_freed, c->remote_freed);
}

void kmem_group(struct kmem *to, const struct kmem *kmem, struct grouping by)
{
	struct arena strings = { 0 };
	struct text name = { 0 };

	*to = (struct kmem){ 0 };
	for (size_t i = 0; i < kmem->callers; i++) {
		const struct kmem_caller *c = &kmem->caller[i];
		struct site site;
		uint32_t group;

		if (!c->allocs && !c->frees)
			continue;
		site = site_of(c, &strings);
		group_name(&name, by, &site);
		group = kmem_caller_number(to, name.s, name.len);
		add_caller(&to->caller[group], c);
	}
	text_free(&name);
	arena_free(&strings);
}

void kmem_group_sizes(struct kmem *to, const struct kmem *kmem, const struct kmem_filter *filter)
{
	char size[SIZE_TEXT];

	*to = (struct kmem){ 0 };
	for (size_t i = 0; i < kmem->uses; i++) {
		const struct kmem_use *use = &kmem->use[i];
		uint32_t group;

		if (use->is_free || !use->calls || !kmem_selects(kmem, use, filter))
			continue;
		size_format(size, use->asked, false);
		group = kmem_caller_number(to, size, strlen(size));
		kmem_caller_add(kmem, &to->caller[group], use);
	}
}
