/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory allocation. If there is no memory the program ends, so no caller has to check. */
#ifndef CODETAG_MEMORY_H
#define CODETAG_MEMORY_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *old, size_t count, size_t size);
char *xstrdup(const char *s);

/* Makes room for one more element of a growing array. */
void *grow(void *array, size_t count, size_t *room, size_t size);
#define GROW(array, count, room) \
	((array) = grow((array), (count), &(room), sizeof(*(array))))

/* An arena holds many strings that are freed together. */
struct arena {
	struct arena_block *block;
};

char *arena_copy(struct arena *arena, const char *s, size_t len);
void arena_free(struct arena *arena);

#endif
