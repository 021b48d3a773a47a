// SPDX-License-Identifier: GPL-2.0
#include "trace/kmem_resolve.h"

#include "base/memory.h"
#include "base/text.h"

size_t kmem_resolve(struct kmem *kmem, struct symbols *symbols, struct arena *strings)
{
	struct text name = { 0 };
	size_t without = 0;

	for (size_t i = 0; i < kmem->callers; i++) {
		struct kmem_caller *c = &kmem->caller[i];

		/* The address tells more than the name, if there is one. */
		c->path = symbols_path(symbols, c->name);
		if (symbols_resolve(symbols, c->name, &name)) {
			c->name = arena_copy(strings, name.s, name.len);
			if (!c->path)
				c->path = symbols_path(symbols, c->name);
		}
		without += !c->path || !*c->path;
	}
	text_free(&name);
	return without;
}
