// SPDX-License-Identifier: GPL-2.0
#include "source/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "read/input.h"
#include "source/sections.h"

/*
 * Length of the path before /proc/, or of its directory: the same for all files of a machine.
 */
static size_t root_length(const char *path)
{
	const char *proc = strstr(path, "/proc/");
	const char *slash = strrchr(path, '/');

	if (proc)
		return (size_t)(proc - path) + 1;
	return slash && strncmp(path, "proc/", 5) ? (size_t)(slash - path) + 1 : 0;
}

/* A file of an archive */
struct found {
	enum member kind;
	size_t number;		/* in the archive */
	struct unpacked_member *file;
};

/* In the order in which they are read. */
static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct found *sort_members(const struct unpacked *u)
{
	struct found *found = xcalloc(u->count, sizeof(*found));

	for (size_t i = 0; i < u->count; i++)
		found[i] = (struct found){ member_of(u->member[i].path), i, &u->member[i] };
	qsort(found, u->count, sizeof(*found), compare_found);
	return found;
}

bool archive_read(struct unpacked *u, const char *path, enum member of,
		  void (*visit)(void *data, struct snapshot *s, const char *name),
		  void *data)
{
	struct found *found = sort_members(u);
	bool good = true, any = false;

	for (size_t i = 0; i < u->count; i++) {
		const struct unpacked_member *first = found[i].file;
		size_t root = root_length(first->path);
		bool read = true, has[MEMBERS] = { false };
		struct snapshot s = { 0 };

		if (found[i].kind != of)
			continue;
		any = true;
		for (size_t k = 0; k < u->count; k++) {
			struct unpacked_member *m = found[k].file;
			enum member kind = found[k].kind;
			char *text = m->text;

			if (!text || (kind == of && m != first) || has[kind] ||
			    strncmp(m->path, first->path, root))
				continue;
			m->text = NULL;
			if (sections_take_file(&s, kind, text, m->len, path, has))
				continue;
			s.incomplete = true;
			read &= kind != of;
		}
		if (read)
			visit(data, &s, root ? first->path : path);
		else
			snapshot_free(&s);
		good = good && read;
	}
	if (!any) {
		warning("%s has no file proc/%s", input_name(path), member_files[of].name);
		if (of == ALLOCINFO)
			hint("A sosreport has one only if it was told to collect it.");
	}
	free(found);
	return good && any;
}
