// SPDX-License-Identifier: GPL-2.0-only
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

bool archive_is_of_several(const struct unpacked *u)
{
	const char *first = NULL;
	size_t root = 0;

	for (size_t i = 0; i < u->count; i++) {
		const char *path = u->member[i].path;

		if (member_of(path) > ALLOCINFO)
			continue;
		if (first && (root_length(path) != root || strncmp(path, first, root)))
			return true;
		first = path;
		root = root_length(path);
	}
	return false;
}

/* The files of an archive in the order in which they are read */
struct archive {
	struct found *found;
	size_t count;
	const char *path;
	enum member of;		/* that a machine must have */
};

/*
 * Takes all files below the root of @first. Returns 1 if the machine has the file, -1 after a message
 * if that cannot be used, and 0 if there is none.
 */
static int read_machine(const struct archive *archive, const struct found *first, struct snapshot *s)
{
	size_t root = root_length(first->file->path);
	bool has[MEMBERS] = { false }, good = true;

	*s = (struct snapshot){ 0 };
	for (size_t i = 0; i < archive->count; i++) {
		struct unpacked_member *m = archive->found[i].file;
		enum member kind = archive->found[i].kind;
		char *text = m->text;

		if (!text || (kind == first->kind && m != first->file) || has[kind] ||
		    strncmp(m->path, first->file->path, root))
			continue;
		m->text = NULL;
		if (sections_take_file(s, kind, text, m->len, archive->path, has))
			continue;
		s->incomplete = true;
		good &= kind != archive->of;
	}
	return !good ? -1 : has[archive->of];
}

bool archive_read(struct unpacked *u, const char *path, enum member of,
		  void (*visit)(void *data, struct snapshot *s, const char *name),
		  void *data)
{
	struct archive archive = { sort_members(u), u->count, path, of };
	bool good = true, any = false;

	/* The file may also be joined to the other one of the first two, under that name. */
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < u->count; i++) {
			const struct found *first = &archive.found[i];
			struct snapshot s;
			int read;

			if (!first->file->text || first->kind > ALLOCINFO || (first->kind == of) != !pass)
				continue;
			read = read_machine(&archive, first, &s);
			if (read > 0)
				visit(data, &s, root_length(first->file->path) ? first->file->path : path);
			else
				snapshot_free(&s);
			any |= read != 0;
			good &= read >= 0;
		}
	}
	if (!any) {
		warning("%s has no file proc/%s", input_name(path), member_files[of].name);
		if (of == ALLOCINFO)
			hint("A sosreport has one only if it was told to collect it.");
	}
	free(archive.found);
	return good && any;
}
