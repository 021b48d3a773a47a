// SPDX-License-Identifier: GPL-2.0-only
#include "base/strmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

/* The characters are the coefficients of a polynomial: its value at a secret point. */
static uint64_t hash_of(const char *key, size_t len)
{
	const uint64_t prime = 0x7fffffff, point = secrets()[0] % prime;
	uint64_t hash = 0;

	for (size_t i = 0; i < len; i++)
		hash = (hash + (unsigned char)key[i] + 1) * point % prime;
	return hash;
}

/* The slot that holds @key, or that would hold it if it is new. */
static uint32_t *find_slot(const struct strmap *map, uint64_t hash,
			   const char *key, size_t len)
{
	for (size_t i = hash;; i++) {
		uint32_t *slot = &map->slot[i & (map->slots - 1)];
		const struct strmap_entry *entry;

		if (!*slot)
			return slot;
		entry = &map->entry[*slot - 1];
		if (entry->hash == hash && !strncmp(entry->key, key, len) &&
		    !entry->key[len])
			return slot;
	}
}

static void enlarge(struct strmap *map)
{
	map->slots = map->slots ? map->slots * 2 : 256;
	free(map->slot);
	map->slot = xcalloc(map->slots, sizeof(*map->slot));
	for (size_t i = 0; i < map->count; i++) {
		size_t at = map->entry[i].hash;

		while (map->slot[at & (map->slots - 1)])
			at++;
		map->slot[at & (map->slots - 1)] = i + 1;
	}
}

size_t strmap_add(struct strmap *map, const char *key, size_t len)
{
	uint64_t hash = hash_of(key, len);
	uint32_t *slot;

	if (map->count * 2 >= map->slots)
		enlarge(map);
	slot = find_slot(map, hash, key, len);
	if (!*slot) {
		GROW(map->entry, map->count, map->room);
		map->entry[map->count++] = (struct strmap_entry){
			.key = arena_copy(&map->strings, key, len),
			.hash = hash,
		};
		*slot = map->count;
	}
	return *slot - 1;
}

size_t strmap_find(const struct strmap *map, const char *key, size_t len)
{
	uint32_t *slot;

	if (!map->slots)
		return STRMAP_NONE;
	slot = find_slot(map, hash_of(key, len), key, len);
	return *slot ? *slot - 1 : STRMAP_NONE;
}

void strmap_free(struct strmap *map)
{
	free(map->slot);
	free(map->entry);
	arena_free(&map->strings);
	*map = (struct strmap){ 0 };
}
