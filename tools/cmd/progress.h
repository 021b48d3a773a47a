/* SPDX-License-Identifier: GPL-2.0 */
/* How far a long command is: a line on a terminal, which is gone in the end. */
#ifndef CODETAG_PROGRESS_H
#define CODETAG_PROGRESS_H

#include <stddef.h>
#include <time.h>

struct progress {
	const char *what;	/* "files" */
	size_t all, done;
	struct timespec shown;	/* when last */
};

/* One more is done; says so a few times a second at most. */
void progress_step(struct progress *progress);

/* To be called before anything else is printed; what comes then begins anew. */
void progress_end(struct progress *progress);

#endif
