/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of a command. Its allocations, and those of its children, may be made to fail: they
 * have 1 in /proc/PID/make-it-fail. No process of it is left afterwards.
 */
#ifndef CODETAG_TRIAL_H
#define CODETAG_TRIAL_H

#include <stdbool.h>

#include "base/text.h"

struct trial {
	int status;		/* as wait() has it */
	bool hung;		/* it took too long and was killed */
	bool stuck;		/* one of its processes cannot be killed */
	struct text said;	/* the last line that it printed */
};

/* Called once before the first run; false after a message. */
bool trial_prepare(void);

/*
 * Runs @argv for at most @seconds, without input. Returns false if the user interrupted it, or
 * after a message.
 */
bool trial_run(struct trial *trial, char **argv, double seconds);

void trial_free(struct trial *trial);

#endif
