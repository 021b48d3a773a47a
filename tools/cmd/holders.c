// SPDX-License-Identifier: GPL-2.0-only
/* codetag holders: which memory points to objects of an image. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "command.h"
#include "nodes.h"
#include "base/message.h"
#include "base/number.h"
#include "memory_image/holders.h"
#include "write/json.h"


static const struct argp_child children[] = {
	{ &node_options_argp, 0, NULL, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct node_options *o = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o;
		return 0;
	case ARGP_KEY_END:
		if (node_choice_empty(&o->choice))
			argp_error(state, "QUERY or ADDRESS is missing");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	NULL, parse, "QUERY…|ADDRESS…",
	"Lists which memory of an image points to the objects of the call sites that QUERY "
	"selects, or to the object at ADDRESS (16 hexadecimal digits): memory of call sites, and "
	"the kernel's data, percpu variables, stacks, registers and modules. OBJECTS counts the "
	"objects that a row points to, HOLDERS those that do. EXAMPLE is the address of one "
	"holder and where in it the pointer is; data, stacks and other roots have '-' there."
	"\vExamples:\n"
	"  codetag holders --image vmcore file fs/inode.c func alloc_inode\n"
	"  codetag holders --image vmcore ffff888003a1c040\n\n"
	"Exit status: 0 success, 1 nothing points to any of them, 2 trouble.",
	children, NULL, NULL
};

static void example_text(const struct pointers_row *row, char text[40])
{
	if (!row->example)
		snprintf(text, 40, "-");
	else if (row->example_offset == EDGE_ELSEWHERE)
		snprintf(text, 40, "%" PRIx64, row->example);
	else
		snprintf(text, 40, "%" PRIx64 "+%u", row->example, row->example_offset);
}

static void print_json(const struct node_options *o, const struct graph *graph,
		       const struct pointers *holders)
{
	struct json json = { .out = stdout };
	char example[40];

	json_object(&json, NULL);
	json_int(&json, "objects", (int64_t)holders->chosen);
	json_int(&json, "size", (int64_t)holders->bytes);
	json_int(&json, "unheld", (int64_t)holders->unheld);
	json_rows(&json, "rows", o->output.columns);
	for (size_t i = 0; i < rows_shown(holders->rows, o->top); i++) {
		const struct pointers_row *row = &holders->row[i];
		struct text name = { 0 };

		graph_group_name(graph, row->group, &name);
		example_text(row, example);
		json_object(&json, NULL);
		json_int(&json, "objects", (int64_t)row->objects);
		json_int(&json, "pointers", (int64_t)row->pointers);
		json_int(&json, "holders", (int64_t)row->holders);
		if (row->example)
			json_string(&json, "example", example);
		else
			json_null(&json, "example");
		json_string(&json, "name", name.s);
		json_end_object(&json);
		text_free(&name);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct node_options *o, const struct graph *graph,
			const struct pointers *holders)
{
	static const struct table_column columns[] = {
		{ "OBJECTS", true, "objects", false }, { "POINTERS", true, "pointers", false },
		{ "HOLDERS", true, "holders", false }, { "EXAMPLE", false, "example", false },
		{ "NAME", false, "name", false },
	};
	struct table table = { .column = columns, .columns = sizeof(columns) / sizeof(*columns) };
	char number[SIZE_TEXT], example[40];

	for (size_t i = 0; i < rows_shown(holders->rows, o->top); i++) {
		const struct pointers_row *row = &holders->row[i];
		struct text name = { 0 };

		graph_group_name(graph, row->group, &name);
		example_text(row, example);
		table_cell(&table, size_format(number, (int64_t)row->objects, false));
		table_cell(&table, size_format(number, (int64_t)row->pointers, false));
		table_cell(&table, size_format(number, (int64_t)row->holders, false));
		table_cell(&table, example);
		table_cell(&table, name.s);
		text_free(&name);
	}
	output_table(&table, &o->output);
	if (!o->output.no_headings && !o->output.csv)
		printf("\n%s in %" PRIu64 " objects; no pointer leads to %" PRIu64 " of them\n",
		       size_format(number, (int64_t)holders->bytes, output_human(&o->output)),
		       holders->chosen, holders->unheld);
}

int cmd_holders(int argc, char **argv)
{
	struct node_options o = { 0 };
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (image_input_open(&o.input)) {
		struct graph *graph = image_input_graph(&o.input);
		uint8_t *chosen = node_choice_make(&o.choice, graph);

		if (chosen) {
			struct pointers *holders = pointers_find(graph, chosen, false);

			if (o.output.json)
				print_json(&o, graph, holders);
			else
				print_table(&o, graph, holders);
			status = image_input_status(&o.input);
			if (status == STATUS_OK && !holders->rows)
				status = STATUS_FOUND;
			pointers_free(holders);
		}
		free(chosen);
		graph_free(graph);
	}
	image_input_close(&o.input);
	node_choice_free(&o.choice);
	return status;
}
