/* SPDX-License-Identifier: GPL-2.0-only */
/* The progress of a long command: a line on a terminal, which is removed at the end. */
#ifndef CODETAG_PROGRESS_H
#define CODETAG_PROGRESS_H

#include <stddef.h>
#include <time.h>

struct progress {
	const char *what;	/* "files" */
	size_t all, done;
	struct timespec shown;	/* when last */
};

/* One more is done. Refreshes the line a few times a second at most. */
void progress_step(struct progress *progress);

/* Removes the line before anything else is printed; the next call starts a new one. */
void progress_end(struct progress *progress);

#endif
