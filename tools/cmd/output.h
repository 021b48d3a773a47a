/* SPDX-License-Identifier: GPL-2.0-only */
/* The options for the look of results, the same in every command. */
#ifndef CODETAG_OUTPUT_H
#define CODETAG_OUTPUT_H

#include <argp.h>
#include <stdbool.h>

#include "write/table.h"

struct output {
	bool json;
	bool csv;		/* only in commands that have this option */
	bool bytes, human;	/* as given on the command line; neither: depends on the terminal */
	bool no_headings;
	const char *columns;	/* as given on the command line; NULL: the default columns */
};

/* Argp children: their input is a struct output. */
extern const struct argp output_argp;
extern const struct argp output_sizeless_argp;	/* for commands that show no sizes in bytes */

/* Why --human is refused. Programs read these formats. */
#define OUTPUT_PLAIN "--human is for tables: JSON, CSV and databases have plain numbers"

/* Whether --bytes, --human or --noheadings was given: they have no effect without a table. */
bool output_styled(const struct output *output);

/* Whether any of the options was given: they have no effect if nothing is listed. */
bool output_chosen(const struct output *output);

/*
 * Ends the program if -o names a column that is not among the @count of @column. For commands
 * that have a table and the option -o.
 */
void output_check_columns(const struct output *output, const struct table_column *column,
			  size_t count, struct argp_state *state);

/* Human units only if the output is a terminal, or on request. */
bool output_human(const struct output *output);

/* Prints the table, or the columns that were asked for, and frees it. */
void output_table(struct table *table, const struct output *output);

/* Whether to write terminal attributes to standard output. */
bool output_colour(void);

#endif
