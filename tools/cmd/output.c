// SPDX-License-Identifier: GPL-2.0-only
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "words.h"

#define OPTION_JSON { "json", 'j', NULL, 0, "Write JSON", 10 }
#define OPTION_NOHEADINGS \
	{ "noheadings", 'N', NULL, 0, "No column headings and no summary", 10 }

static const struct argp_option options[] = {
	OPTION_JSON,
	{ "bytes", 'b', NULL, 0, "Sizes as plain numbers of bytes", 10 },
	{ "human", 'H', NULL, 0,
	  "Sizes as 1.5K, 2.0M … (the default on a terminal)", 10 },
	OPTION_NOHEADINGS,
	{ 0 }
}, sizeless_options[] = {
	OPTION_JSON,
	OPTION_NOHEADINGS,
	{ 0 }
};

/* --bytes is what JSON and CSV do anyway. */
static void finish(const struct output *output, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ output->human && (output->json || output->csv), OUTPUT_PLAIN, NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct output *output = state->input;

	(void)arg;
	switch (key) {
	case 'j':
		output->json = true;
		return 0;
	case 'b':
		output->bytes = true;
		output->human = false;
		return 0;
	case 'H':
		output->human = true;
		output->bytes = false;
		return 0;
	case 'N':
		output->no_headings = true;
		return 0;
	case ARGP_KEY_END:
		finish(output, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp output_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
const struct argp output_sizeless_argp = { sizeless_options, parse, NULL, NULL, NULL, NULL, NULL };

bool output_styled(const struct output *output)
{
	return output->bytes || output->human || output->no_headings;
}

bool output_chosen(const struct output *output)
{
	return output_styled(output) || output->json || output->csv || output->columns;
}

bool output_human(const struct output *output)
{
	if (output->csv)
		return false;
	return output->human || (!output->bytes && isatty(STDOUT_FILENO));
}

void output_check_columns(const struct output *output, const struct table_column *column,
			  size_t count, struct argp_state *state)
{
	struct table table = { .column = column, .columns = count };
	const char *bad;

	if (!output->columns || table_choose(&table, output->columns, &bad))
		return;
	words_refuse((struct words){ &column->name, sizeof(*column), count }, bad,
		     strcspn(bad, ","), "column or one too many", state);
}

void output_table(struct table *table, const struct output *output)
{
	const char *bad;

	if (output->columns)
		table_choose(table, output->columns, &bad);
	if (output->csv)
		table_csv(table, stdout, !output->no_headings);
	else
		table_print(table, stdout, !output->no_headings, output_colour());
	table_free(table);
}

bool output_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") &&
	       isatty(STDOUT_FILENO);
}
