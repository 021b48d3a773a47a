// SPDX-License-Identifier: GPL-2.0-only
#include "contexts_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "base/message.h"
#include "memory_image/report.h"
#include "model/context_group.h"
#include "read/input.h"
#include "read/query.h"
#include "source/source.h"

enum { KEY_MIN_AGE = 0x500, KEY_SKIP, KEY_CONTEXTS };

static const struct argp_option options[] = {
	{ "min-age", KEY_MIN_AGE, "SEC", 0,
	  "Only memory that is SEC seconds old or older (needs the key age)", 4 },
	{ "skip", KEY_SKIP, "LIST", OPTION_ARG_OPTIONAL,
	  "Leave frames of helpers that allocate for their callers (kstrdup, kmemdup, "
	  "__alloc_skb …) out of stacks, and those that match LIST (foo,bar_*)", 4 },
	DEBUGFS_DIR_OPTION,
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct contexts_choice *choice = state->input;

	switch (key) {
	case KEY_MIN_AGE:
		choice->min_age = argument_number("--min-age", arg, 0, INT32_MAX, state);
		break;
	case KEY_SKIP:
		choice->helpers.fold = true;
		if (arg)
			helpers_add(&choice->helpers, arg);
		break;
	case KEY_DEBUGFS:
		choice->dir.path = arg;
		choice->dir.given = true;
		break;
	case ARGP_KEY_END:
		if (choice->path && choice->dir.given)
			argp_error(state, "--debugfs is for the file that is not named");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	choice->given = true;
	return 0;
}

const struct argp contexts_choice_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

static const struct argp_option instead_options[] = {
	{ "contexts", KEY_CONTEXTS, "FILE", OPTION_ARG_OPTIONAL,
	  "Instead of call sites the stacks of those that are split: see codetag contexts", 4 },
	{ 0 }
};

static error_t parse_instead(int key, char *arg, struct argp_state *state)
{
	struct contexts_choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = choice;
		return 0;
	case KEY_CONTEXTS:
		choice->path = arg;
		choice->used = true;
		return 0;
	case ARGP_KEY_END:
		if (choice->given && !choice->used)
			argp_error(state, "--min-age, --skip and --debugfs go with --contexts");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child instead_children[] = {
	{ &contexts_choice_argp, 0, NULL, 0 },
	{ 0 }
};

const struct argp contexts_instead_argp = {
	instead_options, parse_instead, NULL, NULL, instead_children, NULL, NULL
};

const char *contexts_name(const struct contexts_choice *choice)
{
	return choice->path ? choice->path : "the kernel's contexts";
}

bool contexts_read(struct contexts *contexts, const struct contexts_choice *choice)
{
	struct text report = { 0 };
	bool incomplete = false;
	size_t len;
	char *text;

	if (choice->path && image_file(choice->path)) {
		if (!image_contexts_text(choice->path, &report, &incomplete)) {
			text_free(&report);
			return false;
		}
		if (!contexts_take(contexts, report.s, report.len, choice->path, 0))
			return false;
		contexts->incomplete = incomplete;
		return true;
	}
	if (!choice->path) {
		if (!debugfs_read(&choice->dir, "contexts", &text, &len))
			return false;
	} else if (source_is_recording(choice->path)) {
		if (!source_contexts(choice->path, &text, &len))
			return false;
	} else if (!input_read(choice->path, &text, &len)) {
		debugfs_complain(&(struct debugfs_file){ choice->path, true }, errno);
		return false;
	}
	return contexts_take(contexts, text, len, contexts_name(choice), choice->page_size);
}

static bool any_age(const struct contexts *contexts)
{
	for (size_t i = 0; i < contexts->values; i++)
		if (!strcmp(contexts->value[i].key, "age"))
			return true;
	return false;
}

bool contexts_read_chosen(struct contexts *contexts, const struct contexts_choice *choice,
			  const struct query *query)
{
	const char *name = contexts_name(choice);
	size_t ageless;

	if (!contexts_read(contexts, choice))
		return false;
	if (choice->page_size && !contexts->of_others) {
		warning("%s counts bytes: --page-size is for files that count pages, as of page_owner",
			input_name(name));
	} else if (contexts->of_others && !query_is_empty(query)) {
		warning("%s has stacks but no call sites, so a query selects nothing",
			input_name(name));
		hint("By caller: codetag contexts --group function %s", name);
	} else if (choice->min_age && contexts->count && !any_age(contexts)) {
		warning("no ages in %s", input_name(name));
		if (!contexts->of_others)
			hint("To have them: codetag split QUERY stack age");
	} else {
		ageless = contexts_select(contexts, query, choice->min_age);
		if (ageless)
			warning("%s: contexts of call sites that are not split by age, which are left out: %zu",
				input_name(name), ageless);
		return true;
	}
	contexts_free(contexts);
	return false;
}

void contexts_choice_free(struct contexts_choice *choice)
{
	helpers_free(&choice->helpers);
}
