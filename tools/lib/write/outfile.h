/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that appears complete under its name or not at all. What is there and is no
 * ordinary file, such as a device or a pipe, is written to; symbolic links are followed.
 */
#ifndef CODETAG_OUTFILE_H
#define CODETAG_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *stream;
	char *path;		/* NULL: standard output */
	char *temporary;	/* beside it; NULL: written in place */
};

/* @path NULL or "-" is standard output. False with errno. */
bool outfile_open(struct outfile *file, const char *path);

/* Gives it its name if all could be written; false with errno if not. */
bool outfile_finish(struct outfile *file);

/*
 * The same, with a message that calls it @name if it could not be written. If it is not
 * @good for another reason, which has been told, no trace is left of it.
 */
bool outfile_end(struct outfile *file, const char *name, bool good);

/* Leaves no trace of it. */
void outfile_abandon(struct outfile *file);

#endif
