// SPDX-License-Identifier: GPL-2.0-only
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

static void *checked(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return checked(reallocarray(old, count ? count : 1, size));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

void *grow(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? *room * 2 : 64;
	return xreallocarray(array, *room, size);
}

struct arena_block {
	struct arena_block *next;
	size_t used, room;
	char bytes[];
};

#define ARENA_BLOCK 65536

char *arena_copy(struct arena *arena, const char *s, size_t len)
{
	struct arena_block *block = arena->block;
	char *copy;

	if (!block || block->room - block->used <= len) {
		size_t room = len < ARENA_BLOCK ? ARENA_BLOCK : len + 1;

		block = xmalloc(sizeof(*block) + room);
		block->next = arena->block;
		block->used = 0;
		block->room = room;
		arena->block = block;
	}
	copy = block->bytes + block->used;
	memcpy(copy, s, len);
	copy[len] = '\0';
	block->used += len + 1;
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->block) {
		struct arena_block *next = arena->block->next;

		free(arena->block);
		arena->block = next;
	}
}
