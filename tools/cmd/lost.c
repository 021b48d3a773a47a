// SPDX-License-Identifier: GPL-2.0-only
/* codetag lost: objects in an image to which no pointer leads. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "nodes.h"
#include "base/message.h"
#include "base/number.h"
#include "memory_image/lost.h"
#include "write/json.h"

#define KEY_CONTEXTS 0x500
#define KEY_EXAMPLES 0x501

struct options {
	struct node_options nodes;
	bool contexts;
	uint32_t examples;
};

static const struct argp_option options[] = {
	{ "contexts", KEY_CONTEXTS, NULL, 0, "A row for each context of a call site that is split", 2 },
	{ "examples", KEY_EXAMPLES, "N", 0, "Name up to N of the objects of each row, 16 at most "
	  "(default: 1)", 2 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &node_options_argp, 0, NULL, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->nodes;
		return 0;
	case KEY_CONTEXTS:
		o->contexts = true;
		return 0;
	case KEY_EXAMPLES:
		o->examples = (uint32_t)argument_number("--examples", arg, 0, LOST_EXAMPLES, state);
		return 0;
	case ARGP_KEY_END:
		if (o->nodes.choice.addresses)
			argp_error(state, "call sites are chosen by a query, not by an address");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[QUERY…]",
	"Lists objects in an image of memory to which no pointer leads from the kernel's data, "
	"stacks or registers, by call site. With QUERY it lists only those of the call sites that "
	"QUERY selects. Most are leaks. A kernel can also keep an object that it will never need "
	"again, and so not keep its address. HEADS counts the objects that no other lost "
	"object leads to. An object that is still on a list or in a cache is not lost."
	"\vExamples:\n"
	"  codetag lost --image vmcore\n"
	"  codetag lost --image vmcore --examples 5 module nf_conntrack\n"
	"  codetag whose --image vmcore ffff888003a1c040\n\n"
	"Exit status: 0 nothing of these call sites is lost, 1 something is, 2 trouble: also if "
	"no call site that QUERY selects has an object.",
	children, NULL, NULL
};

/* Keeps the call sites that the query selects. */
static void keep_chosen(struct lost *lost, const struct graph *graph, const struct node_choice *choice)
{
	size_t kept = 0;

	for (size_t i = 0; i < lost->sites; i++) {
		struct text name = { 0 };

		graph_group_name(graph, lost->site[i].group, &name);
		if (node_choice_has(choice, name.s))
			lost->site[kept++] = lost->site[i];
		text_free(&name);
	}
	lost->sites = kept;
}

static void print_json(const struct options *o, const struct graph *graph, const struct lost *lost)
{
	struct json json = { .out = stdout };

	json_object(&json, NULL);
	json_int(&json, "objects", (int64_t)lost->live);
	json_rows(&json, "rows", o->nodes.output.columns);
	for (size_t i = 0; i < rows_shown(lost->sites, o->nodes.top); i++) {
		const struct lost_site *site = &lost->site[i];
		struct text name = { 0 };

		graph_group_name(graph, site->group, &name);
		json_object(&json, NULL);
		json_int(&json, "size", (int64_t)site->bytes);
		json_int(&json, "calls", (int64_t)site->objects);
		json_int(&json, "heads", (int64_t)site->heads);
		if (o->contexts)
			json_int(&json, "id", site->group);
		json_array(&json, "examples");
		for (uint32_t k = 0; k < site->examples && k < o->examples; k++) {
			char address[24];

			snprintf(address, sizeof(address), "%" PRIx64,
				 kobjects_address(graph->objects, site->example[k]));
			json_string(&json, NULL, address);
		}
		json_end_array(&json);
		json_string(&json, "name", name.s);
		json_end_object(&json);
		text_free(&name);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct options *o, const struct graph *graph, const struct lost *lost)
{
	static const struct table_column columns[] = {
		{ "SIZE", true, "size", false }, { "CALLS", true, "calls", false },
		{ "HEADS", true, "heads", false }, { "EXAMPLES", false, "examples", false },
		{ "NAME", false, "name", false },
	};
	struct table table = { .column = columns, .columns = sizeof(columns) / sizeof(*columns) };
	bool human = output_human(&o->nodes.output);
	uint64_t bytes = 0, objects = 0;
	char number[SIZE_TEXT];

	for (size_t i = 0; i < lost->sites; i++) {
		bytes += lost->site[i].bytes;
		objects += lost->site[i].objects;
	}
	for (size_t i = 0; i < rows_shown(lost->sites, o->nodes.top); i++) {
		const struct lost_site *site = &lost->site[i];
		struct text name = { 0 }, examples = { 0 };

		graph_group_name(graph, site->group, &name);
		if (o->contexts)
			text_printf(&name, " (id %u)", site->group);
		table_cell(&table, size_format(number, (int64_t)site->bytes, human));
		table_cell(&table, size_format(number, (int64_t)site->objects, false));
		table_cell(&table, size_format(number, (int64_t)site->heads, false));
		for (uint32_t k = 0; k < site->examples && k < o->examples; k++)
			text_printf(&examples, "%s%" PRIx64, k ? "," : "",
				    kobjects_address(graph->objects, site->example[k]));
		table_cell(&table, examples.len ? examples.s : "-");
		table_cell(&table, name.s);
		text_free(&examples);
		text_free(&name);
	}
	output_table(&table, &o->nodes.output);
	if (!o->nodes.output.no_headings && !o->nodes.output.csv)
		printf("\n%s in %" PRIu64 " of %" PRIu64 " objects: no pointer leads to them\n",
		       size_format(number, (int64_t)bytes, human), objects, lost->live);
}

int cmd_lost(int argc, char **argv)
{
	struct options o = { .examples = 1 };
	int status = STATUS_TROUBLE;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (image_input_open(&o.nodes.input)) {
		struct graph *graph = image_input_graph(&o.nodes.input);
		bool all = node_choice_empty(&o.nodes.choice);
		uint8_t *chosen = all ? NULL : node_choice_make(&o.nodes.choice, graph);

		if (all || chosen) {
			struct lost *lost = lost_find(graph, o.contexts);

			keep_chosen(lost, graph, &o.nodes.choice);
			if (o.nodes.output.json)
				print_json(&o, graph, lost);
			else
				print_table(&o, graph, lost);
			status = image_input_status(&o.nodes.input);
			if (status == STATUS_OK && lost->sites)
				status = STATUS_FOUND;
			lost_free(lost);
		}
		free(chosen);
		graph_free(graph);
	}
	image_input_close(&o.nodes.input);
	node_choice_free(&o.nodes.choice);
	return status;
}
