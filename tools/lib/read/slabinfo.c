// SPDX-License-Identifier: GPL-2.0
#include "read/slabinfo.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "read/input.h"

/*
 * name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>
 * : tunables … : slabdata <active_slabs> <num_slabs> <sharedavail>
 */
static bool parse_cache(struct slab_cache *cache, char *line, size_t len)
{
	int64_t *const before[] = {
		&cache->active, &cache->objects, &cache->object_size,
		&cache->objects_per_slab, &cache->pages_per_slab,
	}, *const after[] = { &cache->active_slabs, &cache->slabs };
	const char *s = line + strcspn(line, " ");

	if (strlen(line) != len || s == line)
		return false;
	for (const char *c = line; c < s; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		s += strspn(s, " ");
		if (!number_read(&s, before[i]) || *before[i] < 0)
			return false;
	}
	s = strstr(s, ": slabdata");
	if (!s)
		return false;
	s += strlen(": slabdata");
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
		s += strspn(s, " ");
		if (!number_read(&s, after[i]) || *after[i] < 0)
			return false;
	}
	line[strcspn(line, " ")] = '\0';
	cache->name = line;
	return true;
}

void slabinfo_parse(struct slabinfo *info, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len;
	bool complete;

	*info = (struct slabinfo){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct slab_cache cache;

		if (!line_len || line[0] == '#' ||
		    !strncmp(line, "slabinfo - version", 18))
			continue;
		if (!parse_cache(&cache, line, line_len)) {
			info->bad_lines++;
			continue;
		}
		GROW(info->cache, info->count, info->room);
		info->cache[info->count++] = cache;
	}
}

bool slabinfo_read(struct slabinfo *info, const char *path)
{
	size_t len;
	char *text;

	*info = (struct slabinfo){ 0 };
	if (!input_read_proc(path, "slabinfo", &text, &len))
		return false;
	slabinfo_parse(info, text, len);
	return true;
}

int64_t slabinfo_object_bytes(const struct slabinfo *info)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < info->count; i++)
		bytes = add64(bytes, mul64(info->cache[i].active,
					   info->cache[i].object_size));
	return bytes;
}

void slabinfo_free(struct slabinfo *info)
{
	free(info->cache);
	free(info->text);
	arena_free(&info->strings);
	*info = (struct slabinfo){ 0 };
}
