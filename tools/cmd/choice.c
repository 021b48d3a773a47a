// SPDX-License-Identifier: GPL-2.0-only
#include "choice.h"

#include "arguments.h"

static const struct argp_option options[] = {
	{ "columns", 'o', "LIST", 0,
	  "Columns: profiled, id, name, file, line, module, func, keys, fault, guard, traced", 9 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ &output_sizeless_argp, 0, NULL, 9 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &choice->dir;
		state->child_inputs[1] = &choice->output;
		return 0;
	case 'o':
		choice->output.columns = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (choice->words.len)
			text_puts(&choice->words, " ");
		text_puts(&choice->words, arg);
		return 0;
	case ARGP_KEY_END:
		if (!choice->words.len)
			text_clear(&choice->words);
		choice->query = argument_query(choice->words.s, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp choice_argp = { options, parse, NULL, NULL, children, NULL, NULL };

void choice_free(struct choice *choice)
{
	query_free(choice->query);
	text_free(&choice->words);
}
