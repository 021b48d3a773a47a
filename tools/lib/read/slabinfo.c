// SPDX-License-Identifier: GPL-2.0-only
#include "read/slabinfo.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/strmap.h"
#include "read/input.h"

/*
 * name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>
 * : tunables … : slabdata <active_slabs> <num_slabs> <sharedavail>
 */
/* Returns the error in the line, NULL if there is none. */
static const char *parse_cache(struct slab_cache *cache, char *line, size_t len)
{
	int64_t *const before[] = {
		&cache->active, &cache->objects, &cache->object_size,
		&cache->objects_per_slab, &cache->pages_per_slab,
	}, available, *const after[] = { &cache->active_slabs, &cache->slabs, &available };
	const char *s = line + strcspn(line, " ");

	if (strlen(line) != len)
		return "control character";
	if (s == line)
		return "no name";
	for (const char *c = line; c < s; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return "control character";
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		s += strspn(s, " ");
		if (!number_read(&s, before[i]) || *before[i] < 0)
			return "a number of objects is missing";
	}
	if (cache->active > cache->objects)
		return "more objects in use than there are";
	s = strstr(s, ": slabdata");
	if (!s)
		return "no slabdata";
	s += strlen(": slabdata");
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
		s += strspn(s, " ");
		if (!number_read(&s, after[i]) || *after[i] < 0)
			return "a number of slabs is missing";
	}
	line[strcspn(line, " ")] = '\0';
	cache->name = line;
	return NULL;
}

/* " 0.19K" of slabtop, rounded to the nearest: object_size() finds the multiple of 8 bytes. */
static bool read_kilobytes(const char **s, double *kb)
{
	char *end;

	*s += strspn(*s, " ");
	if (!isdigit((unsigned char)**s))
		return false;
	*kb = strtod(*s, &end);
	if (*end != 'K' || !(*kb < 1e12))
		return false;
	*s = end + 1;
	return true;
}

static int64_t object_size(double kb)
{
	int64_t bytes = llround(kb * 1024), eight = (bytes + 4) / 8 * 8;

	return fabs((double)eight / 1024 - kb) <= 0.00501 ? eight : bytes;
}

/* "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME" */
static const char *parse_slabtop(struct slab_cache *cache, char *line)
{
	const char *s = line;
	double size, cache_size;

	s += strspn(s, " ");
	if (!number_read(&s, &cache->objects))
		return "no number of objects";
	s += strspn(s, " ");
	if (!number_read(&s, &cache->active))
		return "no number of active objects";
	s += strspn(s, " ");
	s += strspn(s, "0123456789.");
	if (*s != '%')
		return "no use in per cent";
	s++;
	if (!read_kilobytes(&s, &size))
		return "no size of an object";
	s += strspn(s, " ");
	if (!number_read(&s, &cache->slabs))
		return "no number of slabs";
	s += strspn(s, " ");
	if (!number_read(&s, &cache->objects_per_slab))
		return "no number of objects per slab";
	if (!read_kilobytes(&s, &cache_size))
		return "no size of the cache";
	s += strspn(s, " ");
	line[strcspn(line, "\r")] = '\0';
	for (size_t n = strlen(line); n && line[n - 1] == ' '; )
		line[--n] = '\0';
	if (!*s || cache->objects < 0 || cache->active < 0 || cache->slabs < 0)
		return "no name";
	cache->name = s;
	cache->object_size = object_size(size);
	cache->active_slabs = cache->slabs;
	cache->kb = llround(cache_size);
	return NULL;
}

/* "Name                      Used          Total" of a log: "ext4_inode 120KB 240KB" */
static const char *parse_log(struct slab_cache *cache, char *line)
{
	char *s = line + strcspn(line, " ");
	char *end = s;
	const char *at;

	if (s == line || !*s)
		return "no name";
	at = s + strspn(s, " ");
	if (!number_read(&at, &cache->kb_used) || cache->kb_used < 0)
		return "no size in use";
	at += strspn(at, " ");
	if (strncmp(at, "KB", 2))
		return "no unit";
	at += 2 + strspn(at + 2, " ");
	if (!number_read(&at, &cache->kb) || cache->kb < 0)
		return "no size";
	at += strspn(at, " ");
	if (strncmp(at, "KB", 2) || at[2 + strspn(at + 2, " ")])
		return "no unit";
	*end = '\0';
	cache->name = line;
	return NULL;
}

/* The kind of a line by itself; @from is the source of the list that it is in. */
static bool begins_list(const char *line, enum slabinfo_from *from)
{
	if (!strncmp(line, "slabinfo - version", 18)) {
		*from = SLABINFO_PROC;
		return true;
	}
	if (!strncmp(line, "Unreclaimable slab info:", 24)) {
		*from = SLABINFO_LOG;
		return true;
	}
	line += strspn(line, " ");
	if (strncmp(line, "OBJS ACTIVE ", 12))
		return false;
	*from = SLABINFO_SLABTOP;
	return true;
}

/* Whether it is a line that slabtop prints above its list. */
static bool is_summary(const char *line)
{
	line += strspn(line, " ");
	return !strncmp(line, "Active / Total ", 15) || !strncmp(line, "Minimum / Average ", 18);
}

/* A few caches can have one name. Where a third of the names were there before, lists have been joined. */
static void find_joined(struct slabinfo *info)
{
	struct strmap seen = { 0 };
	size_t repeated = 0;

	for (size_t i = 0; i < info->count; i++) {
		size_t known = seen.count;

		repeated += strmap_add(&seen, info->cache[i].name, strlen(info->cache[i].name)) < known;
	}
	if (repeated >= 2 && repeated * 3 >= info->count)
		bad_lines_add(&info->bad, 1, "the same caches come again, so there are several lists");
	strmap_free(&seen);
}

void slabinfo_parse(struct slabinfo *info, char *text, size_t len)
{
	char *at = text, *line;
	size_t line_len, number = 0;
	bool complete, ended = false;

	*info = (struct slabinfo){ .text = text };
	while ((line = input_line(&at, text + len, &line_len, &complete))) {
		struct slab_cache cache;
		const char *why;

		number++;
		if (!line_len || line[0] == '#')
			continue;
		if (begins_list(line, &info->from)) {
			/* Of several lists the last counts. */
			info->lists++;
			info->count = 0;
			info->bad = (struct bad_lines){ 0 };
			ended = false;
			continue;
		}
		if (ended || is_summary(line))
			continue;
		cache = (struct slab_cache){ 0 };
		if (info->from == SLABINFO_LOG) {
			if (!strncmp(line, "Name ", 5))
				continue;
			why = parse_log(&cache, line);
			/* Any other message of the kernel ends the list. */
			ended = why && complete;
			if (ended)
				continue;
		} else if (info->from == SLABINFO_SLABTOP) {
			why = parse_slabtop(&cache, line);
		} else {
			why = parse_cache(&cache, line, line_len);
			/* Lines of slabtop without their heading. */
			if (why && !info->count && !parse_slabtop(&cache, line)) {
				info->from = SLABINFO_SLABTOP;
				why = NULL;
			}
		}
		/*
		 * The last number of /proc/slabinfo is not needed, but if it is there the
		 * others are whole.
		 */
		if (!complete && (why || info->from == SLABINFO_SLABTOP)) {
			info->bad.cut = number;
			break;
		}
		if (why) {
			bad_lines_add(&info->bad, number, why);
			continue;
		}
		GROW(info->cache, info->count, info->room);
		info->cache[info->count++] = cache;
	}
	find_joined(info);
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

bool slabinfo_part(const struct slabinfo *info)
{
	/* Data from a recording has no text. */
	return info->from != SLABINFO_PROC || (info->text && !info->lists);
}

int64_t slab_cache_used(const struct slab_cache *cache)
{
	return cache->kb_used ? mul64(cache->kb_used, 1024) :
	       mul64(cache->active, cache->object_size);
}

int64_t slabinfo_object_bytes(const struct slabinfo *info)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < info->count; i++)
		bytes = add64(bytes, slab_cache_used(&info->cache[i]));
	return bytes;
}

void slabinfo_free(struct slabinfo *info)
{
	free(info->cache);
	free(info->text);
	arena_free(&info->strings);
	*info = (struct slabinfo){ 0 };
}
