/* SPDX-License-Identifier: GPL-2.0 */
/* Call sites that are split for a while, and put back as they were. */
#ifndef CODETAG_SPLITTING_H
#define CODETAG_SPLITTING_H

#include <stdbool.h>
#include <stddef.h>

#include "debugfs.h"
#include "read/control.h"

struct splitting {
	const struct debugfs_dir *dir;
	struct split_before {
		char *back;		/* what makes it as it was: a line for control */
	} *site;
	size_t count, room;
	char *age_interval;		/* as it was; NULL: not changed */
};

/* What a run that was killed left behind. */
enum left { LEFT_NOTHING, LEFT_PUT_BACK, LEFT_RUNNING, LEFT_FAILED };

/* Puts that back; the last two come after a message. */
enum left splitting_restore(const struct debugfs_dir *dir);

/*
 * Splits @control's sites by stack and age, in intervals of @seconds. Those that are split
 * by these already stay as they are. False after a message, when nothing is changed.
 * However the program ends after that they are put back; after SIGKILL by
 * splitting_restore().
 */
bool splitting_begin(struct splitting *splitting, const struct debugfs_dir *dir,
		     const struct control *control, unsigned int seconds);

/* Puts all back; false after a message. May be called again. */
bool splitting_end(struct splitting *splitting);

#endif
