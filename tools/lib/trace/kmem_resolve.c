// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_resolve.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "image/symbols.h"

static void resolve(struct kmem_caller *caller, struct symbols *symbols,
		    struct arena *strings, struct text *name)
{
	/* The address is more precise than the name, if there is one. */
	const char *path = symbols_path(symbols, caller->name);

	if (symbols_resolve(symbols, caller->name, name)) {
		caller->name = arena_copy(strings, name->s, name->len);
		if (!path)
			path = symbols_path(symbols, caller->name);
	}
	/* The strings of paths belong to the symbols. */
	caller->path = path ? arena_copy(strings, path, strlen(path)) : NULL;
}

bool kmem_resolve(struct kmem *kmem, const char *build, struct arena *strings,
		  struct kmem_resolved *resolved)
{
	struct symbols symbols = { 0 };
	struct text name = { 0 };

	*resolved = (struct kmem_resolved){ 0 };
	if (!symbols_read(&symbols, build)) {
		int why = errno;

		symbols_free(&symbols);
		errno = why;
		return false;
	}
	for (size_t i = 0; i < kmem->callers; i++) {
		struct kmem_caller *c = &kmem->caller[i];

		resolve(c, &symbols, strings, &name);
		resolved->without += !c->path || !*c->path;
	}
	resolved->unreadable = symbols.unreadable;
	text_free(&name);
	symbols_free(&symbols);
	return true;
}
