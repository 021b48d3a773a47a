// SPDX-License-Identifier: GPL-2.0-only
#include "base/strmap.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define KEYS 4000

/* A hash without secret numbers */
static uint64_t fnv(const char *key)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* Sum of the distances between the slots where keys belong and where they are. */
static size_t displaced(const struct strmap *map)
{
	size_t sum = 0;

	for (size_t i = 0; i < map->slots; i++)
		if (map->slot[i])
			sum += (i - map->entry[map->slot[i] - 1].hash) & (map->slots - 1);
	return sum;
}

/* Keys that were chosen to collide do not. */
void test_strmap(void)
{
	struct strmap map = { 0 };
	char key[16];

	for (unsigned int i = 0; map.count < KEYS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (!(fnv(key) & 0x1fc0))
			strmap_add(&map, key, strlen(key));
	}
	expect(displaced(&map) < 10 * KEYS, "strmap: chosen keys are %zu slots away", displaced(&map));
	strmap_free(&map);
}
