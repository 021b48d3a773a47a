/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of options. Each function ends the program with a message if @arg is not a valid
 * value.
 */
#ifndef CODETAG_ARGUMENTS_H
#define CODETAG_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/query.h"

/* A number from @min to @max; @option is "--top" or the like. */
int64_t argument_number(const char *option, const char *arg, int64_t min, int64_t max,
			struct argp_state *state);

/* "4k", "1.5M" … */
int64_t argument_size(const char *arg, struct argp_state *state);
int64_t argument_page_size(const char *arg, struct argp_state *state);
struct query *argument_query(const char *arg, struct argp_state *state);

/* The name of a new database. SQLite takes "" and ":memory:" for no file. */
const char *argument_database(const char *arg, struct argp_state *state);
/* A file that is an image of a machine's memory. */
void argument_image(const char *arg, struct argp_state *state);
double argument_seconds(const char *arg, struct argp_state *state);

/*
 * A row of a table of options that exclude or need each other: if @holds, the program ends with
 * the message @why, after @about if that is not NULL.
 */
struct conflict {
	bool holds;
	const char *why, *about;
};

/* Ends the program with the first conflict that holds. The macro takes the array. */
void argument_conflicts(const struct conflict *conflicts, size_t count,
			struct argp_state *state);
#define CHECK_CONFLICTS(conflicts, state) \
	argument_conflicts(conflicts, sizeof(conflicts) / sizeof(*(conflicts)), state)

#endif
