/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A text that has several files of a machine one after the other, such as the output of
 * "cat /proc/meminfo /proc/allocinfo".
 */
#ifndef CODETAG_SECTIONS_H
#define CODETAG_SECTIONS_H

#include "base/text.h"
#include "source/members.h"

/* The lines of each file; those of the others are empty, so that all keep their numbers. */
struct sections {
	struct text of[MEMBERS];
};

/* Returns false, and @sections is empty, if @text is a single file. */
bool sections_cut(struct sections *sections, const char *text, size_t len);

/*
 * Moves the files that @has lacks to @s, and marks them there. Sets @s->incomplete, after a message,
 * if one could not be used. @sections is empty then.
 */
void sections_take(struct sections *sections, struct snapshot *s, const char *path, bool has[MEMBERS]);
void sections_free(struct sections *sections);

/*
 * Takes over @text, which was read from @path as the file @m. Moves it to @s; if it joins several
 * files, those that @has lacks. Marks them in @has. Returns false after a message if a single file
 * could not be used; of several, @s->incomplete tells it.
 */
bool sections_take_file(struct snapshot *s, enum member m, char *text, size_t len, const char *path,
			bool has[MEMBERS]);

/*
 * Reads the file @m from @path, alone or joined with others. Returns false after a message; errno is
 * the reason.
 */
bool sections_read(enum member m, const char *path, char **text, size_t *len);

#endif
