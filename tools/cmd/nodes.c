// SPDX-License-Identifier: GPL-2.0-only
#include "nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "base/memory.h"
#include "base/message.h"
#include "read/allocinfo.h"

/* "ffff888003a1c040" or "0xffff888003a1c040". No word of a query looks like that. */
static bool read_address(const char *s, uint64_t *value)
{
	char *end;

	if (!strncmp(s, "0x", 2))
		s += 2;
	if (strlen(s) != 16 || strspn(s, "0123456789abcdefABCDEF") != 16)
		return false;
	errno = 0;
	*value = strtoull(s, &end, 16);
	return !errno && !*end;
}

static void add_argument(struct node_choice *choice, const char *arg)
{
	uint64_t address;

	if (read_address(arg, &address)) {
		GROW(choice->address, choice->addresses, choice->room);
		choice->address[choice->addresses++] = address;
		return;
	}
	if (choice->query_text.len)
		text_puts(&choice->query_text, " ");
	text_puts(&choice->query_text, arg);
}

#define KEY_CSV 0x502

static const struct argp_option options[] = {
	IMAGE_FILE_OPTION,
	{ "top", 'n', "N", 0, "Only the first N", 2 },
	{ "csv", KEY_CSV, NULL, 0, "Write CSV", 10 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static void check(const struct node_options *o, struct argp_state *state)
{
	const struct conflict conflicts[] = {
		{ !o->input.path, "--image FILE is missing: the dump of kdump, or an image of a virtual machine", NULL },
		{ o->output.csv && o->output.json, "choose --json or --csv, not both", NULL },
		{ o->choice.addresses && o->choice.query_text.len,
		  "choose by addresses or by a query, not both", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct node_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_IMAGE_FILE:
		o->input.path = arg;
		return 0;
	case 'n':
		o->top = (size_t)argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case KEY_CSV:
		o->output.csv = true;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(&o->choice, arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		o->choice.query = argument_query(o->choice.query_text.len ? o->choice.query_text.s : "",
						 state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp node_options_argp = { options, parse, NULL, NULL, children, NULL, NULL };

bool node_choice_empty(const struct node_choice *choice)
{
	return !choice->addresses && query_is_empty(choice->query);
}

void node_choice_free(struct node_choice *choice)
{
	text_free(&choice->query_text);
	query_free(choice->query);
	free(choice->address);
}

bool node_choice_has(const struct node_choice *choice, const char *name)
{
	struct site site = { 0 };
	char *copy = xstrdup(name);
	bool has = !site_parse(&site, copy, strlen(copy)) ? query_match(choice->query, &site) :
		   query_is_empty(choice->query);

	free(copy);
	return has;
}

static bool choose_addresses(const struct node_choice *choice, const struct graph *graph,
			     uint8_t *chosen)
{
	for (size_t i = 0; i < choice->addresses; i++) {
		uint64_t address = image_untagged(graph->objects->image, choice->address[i]);
		const struct vmalloc_area *area = kobjects_area(graph->objects, address);
		uint32_t node = area ? area->node : kobjects_at(graph->objects, address);

		if (!node) {
			warning("%" PRIx64 " is in no object that a call site has allocated", address);
			return false;
		}
		chosen[node] = 1;
	}
	return true;
}

static bool choose_sites(const struct node_choice *choice, const struct graph *graph,
			 uint8_t *chosen)
{
	uint8_t *known = xcalloc(IMAGE_IDS, 1);	/* 1: not selected, 2: selected */
	bool any = false;

	for (uint32_t node = 1; node < graph->objects->nodes; node++) {
		uint32_t group = graph_group(graph, node, false);

		if (!graph->objects->id[node] || group >= GRAPH_LABELS)
			continue;
		if (!known[group]) {
			struct text name = { 0 };

			graph_group_name(graph, group, &name);
			known[group] = 1 + node_choice_has(choice, name.s);
			text_free(&name);
		}
		chosen[node] = known[group] == 2;
		any |= chosen[node];
	}
	free(known);
	if (!any)
		warning("no call site that the query selects has an object in this image");
	return any;
}

uint8_t *node_choice_make(const struct node_choice *choice, const struct graph *graph)
{
	uint8_t *chosen = xcalloc(graph->nodes, 1);

	if (choice->addresses ? choose_addresses(choice, graph, chosen) :
				choose_sites(choice, graph, chosen))
		return chosen;
	free(chosen);
	return NULL;
}
