/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts that enable, disable, split, fault, guard and trace share: the kernel applies their query. */
#ifndef CODETAG_CHANGE_H
#define CODETAG_CHANGE_H

#include <argp.h>
#include <stdbool.h>

#include "choice.h"

struct change {
	struct choice choice;
	bool every;		/* --all: no query, on purpose */
	bool dry_run;
	bool none;		/* set by the command: always a dry run */
	const char *allocinfo;
};

#define CHANGE_INIT { .choice = CHOICE_INIT }

/* An argp child: its input is a struct change. */
extern const struct argp change_argp;

/* The exit statuses of these commands, for --help. */
#define CHANGE_STATUS "Exit status: 0 success, 1 no call site is chosen, 2 trouble."

/*
 * Lets the kernel do @action at the chosen sites; with --dry-run it lists them. Returns an exit
 * status.
 */
int change_run(const struct change *change, const char *action);

/* Explains why the kernel refused to do @action; returns an exit status. */
int change_refused(const struct debugfs_dir *dir, const char *action, int error);

void change_free(struct change *change);

#endif
