/* SPDX-License-Identifier: GPL-2.0 */
/* What enable, disable, split and fault share: having the kernel do it. */
#ifndef CODETAG_CHANGE_H
#define CODETAG_CHANGE_H

#include <argp.h>
#include <stdbool.h>

#include "choice.h"

struct change {
	struct choice choice;
	bool every;		/* no query, and that is meant */
	bool dry_run;
	bool none;		/* set by the command: it changes nothing */
	const char *allocinfo;
};

#define CHANGE_INIT { .choice = CHOICE_INIT }

/* An argp child: its input is a struct change. */
extern const struct argp change_argp;

/* How such commands exit. */
#define CHANGE_STATUS "Exit status: 0 success, 1 no call site is chosen, 2 trouble."

/*
 * Has the kernel do @action with the chosen sites, or lists them for --dry-run.
 * Returns an exit status.
 */
int change_run(const struct change *change, const char *action);

void change_free(struct change *change);

#endif
