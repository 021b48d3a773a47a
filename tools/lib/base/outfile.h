/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that appears under its name complete or not at all. An existing device, pipe or the
 * like is written to.
 *
 * A file that is replaced keeps its owner, mode and extended attributes; if the new one cannot
 * have them, the old one is written to. Symbolic links of other users except root are not
 * followed, wherever they are in the path. In a sticky directory such as /tmp, no file of
 * another user except root is written to, nor one with several names.
 */
#ifndef CODETAG_OUTFILE_H
#define CODETAG_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

struct outfile {
	FILE *stream;
	char *name;		/* in its directory; NULL: standard output */
	char *temporary;	/* path of the new file beside it; NULL: written in place */
	int dir;		/* of both, if there is a temporary */
	bool must_be_new;
};

/* @path NULL or "-" is standard output. False with errno. */
bool outfile_open(struct outfile *file, const char *path);

/* Whether that seems possible, without touching the file. False with errno. */
bool outfile_can_open(const char *path);

/* Readable by its owner alone. The name must not exist, also not when the file is finished. */
bool outfile_create(struct outfile *file, const char *path);

/* The same, but the file has its name from the start: a descriptor, or -1 with errno. */
int outfile_create_now(const char *path);

/* A file that is there, to read and to write: a descriptor, or -1 with errno. */
int outfile_open_now(const char *path);

/*
 * To append to a file that nobody else can have written: a descriptor, also to read, or -1
 * with errno. If there is none it is made, for its owner alone.
 */
int outfile_append(const char *path);

/* Gives it its name if all could be written; false with errno if not. */
bool outfile_finish(struct outfile *file);

/*
 * The same, with a message that calls it @name if it could not be written. If it is not @good
 * for another reason, which was reported, no trace of it is left.
 */
bool outfile_end(struct outfile *file, const char *name, bool good);

/* Writes again to find out why an earlier write failed, and returns that errno. The output is damaged anyway. */
int outfile_error(FILE *stream);

/* Leaves no trace of it. */
void outfile_abandon(struct outfile *file);

#endif
