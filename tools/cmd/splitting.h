/* SPDX-License-Identifier: GPL-2.0-only */
/* Call sites that are split for a while and then restored. */
#ifndef CODETAG_SPLITTING_H
#define CODETAG_SPLITTING_H

#include <stdbool.h>
#include <stddef.h>

#include "debugfs.h"
#include "read/control.h"

struct splitting {
	const struct debugfs_dir *dir;
	struct split_before {
		char *back;		/* a line for control that restores a site */
	} *site;
	size_t count, room;
	char *age_interval;		/* the former interval; NULL: not changed */
};

/* The state that a killed run left behind. */
enum left { LEFT_NOTHING, LEFT_PUT_BACK, LEFT_RUNNING, LEFT_FAILED };

/* Restores it; the last two results come after a message. */
enum left splitting_restore(const struct debugfs_dir *dir);

/*
 * Splits @control's sites by stack, age and task, in intervals of @seconds. Sites that are already
 * split by stack and age stay as they are. Returns false after a message, when nothing is changed.
 * After that they are restored however the program ends; after SIGKILL by splitting_restore().
 */
bool splitting_begin(struct splitting *splitting, const struct debugfs_dir *dir,
		     const struct control *control, unsigned int seconds);

/* Restores everything; false after a message. May be called again. */
bool splitting_end(struct splitting *splitting);

#endif
