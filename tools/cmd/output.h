/* SPDX-License-Identifier: GPL-2.0 */
/* The options about how results look, the same in every command. */
#ifndef CODETAG_OUTPUT_H
#define CODETAG_OUTPUT_H

#include <argp.h>
#include <stdbool.h>

#include "table.h"

struct output {
	bool json;
	bool bytes, human;	/* as asked for; neither: by terminal */
	bool no_headings;
};

/* An argp child: its input is a struct output. */
extern const struct argp output_argp;

/* Human units only where a human reads. */
bool output_human(const struct output *output);

/* Prints the table to standard output and frees it. */
void output_table(struct table *table, const struct output *output);

/* Whether to write terminal attributes to standard output. */
bool output_colour(void);

#endif
