/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers strings: the first one gets 0, the next new one 1, and so on. */
#ifndef CODETAG_STRMAP_H
#define CODETAG_STRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct strmap {
	uint32_t *slot;		/* index + 1, 0: free */
	size_t slots;		/* power of two */
	struct strmap_entry {
		const char *key;
		uint64_t hash;
	} *entry;
	size_t count, room;
	struct arena strings;
};

#define STRMAP_NONE SIZE_MAX

/* The number of @key, which is added if it is new. */
size_t strmap_add(struct strmap *map, const char *key, size_t len);
size_t strmap_find(const struct strmap *map, const char *key, size_t len);
void strmap_free(struct strmap *map);

#endif
