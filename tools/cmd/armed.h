/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts that fault and guard share: both arm something at call sites, with settings, remove
 * it with --off, and list it with --list.
 */
#ifndef CODETAG_ARMED_H
#define CODETAG_ARMED_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "change.h"
#include "write/table.h"

/* A kind of action that can be armed */
struct armed_kind {
	const char *action;	/* as the kernel calls it: "fault" */
	const char *file;	/* the file in debugfs, which is also the word for many of them */
	const struct argp_option *options;	/* of the command, with the settings */
	const struct table_column *columns;	/* of --list: numbers, state, SITE_COLUMNS */
	size_t column_count;
	unsigned int numbers;	/* of a line of the file */
};

struct armed {
	const struct armed_kind *kind;
	struct change change;
	struct text action;	/* in the syntax of the kernel */
	bool settings;		/* any setting was given */
	bool off, list;
};

/*
 * Keys of the options. Those from ARMED_SETTING on are settings, with the names that they have
 * in a query; their values are checked together with the query.
 */
enum { ARMED_OFF = 0x200, ARMED_LIST, ARMED_CSV, ARMED_SETTING };

/* For the struct argp of a command, with its own options; the input is a struct armed. */
error_t armed_parse(int key, char *arg, struct argp_state *state);
extern const struct argp_child armed_children[];

/* Runs a command with the options of @argp. Returns its exit status. */
int armed_run(const struct armed_kind *kind, const struct argp *argp, int argc, char **argv);

#endif
