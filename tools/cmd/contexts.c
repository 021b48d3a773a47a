// SPDX-License-Identifier: GPL-2.0-only
/* codetag contexts: what split call sites hold, by stack, age, size, task …. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "calltree_view.h"
#include "command.h"
#include "contexts_account.h"
#include "contexts_read.h"
#include "contexts_view.h"
#include "base/message.h"
#include "read/input.h"

struct options {
	struct contexts_choice choice;
	struct contexts_view view;
	struct text words;
	struct query *query;
	bool tree, invert, account;
	double delay;
	int64_t depth;
	char *group;		/* the words of view.groups.by */
};

enum { KEY_TREE = 0x200, KEY_INVERT, KEY_STACKS, KEY_ACCOUNT, KEY_PAGE_SIZE };

static const struct argp_option options[] = {
	{ "contexts", 'f', "FILE", 0,
	  "Read FILE, '-' is standard input (default: " CONTEXTS_PATH ")", 1 },
	IMAGE_OPTION,
	{ "group", 'g', "LIST", 0,
	  "Sum by %s (function is the caller, caller its module)", 2 },
	{ "sort", 's', "KEY", 0, "Sort by %s (default: size)", 2 },
	{ "top", 'n', "N", 0, "Only the first N, in a tree of each level", 2 },
	{ "all", 'a', NULL, 0, "Also contexts that hold nothing", 2 },
	{ "tree", KEY_TREE, "DEPTH", OPTION_ARG_OPTIONAL,
	  "A tree from the call site outwards to its callers, of DEPTH levels", 3 },
	{ "invert", KEY_INVERT, NULL, 0,
	  "The tree from the roots of the stacks inwards to the call site", 3 },
	{ "stacks", KEY_STACKS, NULL, 0, "Below each row its stack, frame by frame", 3 },
	{ "account", KEY_ACCOUNT, NULL, 0,
	  "The table of slab_account, for call sites split by size: total, slack, req, alloc/free, "
	  "caller", 3 },
	{ "page-size", KEY_PAGE_SIZE, "BYTES", 0,
	  "Of the machine that a file of page_owner is from (default: of this machine)", 4 },
	{ "delay", 'd', "SEC", 0, "Account: wait, and tell also rates of that time", 3 },
	{ "columns", 'o', "LIST", 0, "Columns: %s", 9 },
	{ 0 }
};

static const char *const orders[] = {
	[CONTEXTS_BY_SIZE] = "size", [CONTEXTS_BY_CALLS] = "calls", [CONTEXTS_BY_ALLOCS] = "allocs",
	[CONTEXTS_BY_NAME] = "name",
};

static char *help(int key, const char *text, void *input)
{
	(void)input;
	return key == 'g' ? words_help(text, contexts_view_words(), ", ") :
	       key == 's' ? words_help(text, WORDS(orders, ), ", ") :
	       key == 'o' ? words_help(text, contexts_view_columns(), ", ") : (char *)text;
}

static const struct argp_child children[] = {
	{ &contexts_choice_argp, 0, NULL, 4 },
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

static void set_group(struct options *o, const char *arg, struct argp_state *state)
{
	struct contexts_view *view = &o->view;

	free(o->group);
	o->group = xstrdup(arg);
	view->by_count = 0;
	for (char *word = strtok(o->group, ","); word; word = strtok(NULL, ",")) {
		if (view->by_count == CONTEXTS_BY_MAX)
			argp_error(state, "too many words: '%s'", arg);
		argument_word(word, contexts_view_words(), "word to sum by", state);
		view->by[view->by_count++] = word;
	}
	if (!view->by_count)
		argp_error(state, "'%s' is nothing to sum by", arg);
}

static void add_word(struct options *o, char *arg, struct argp_state *state)
{
	bool is_query = strpbrk(arg, " ;\n") || query_keyword(arg, strlen(arg));

	if (!o->words.len && !is_query) {
		if (o->choice.path)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		o->choice.path = arg;
		return;
	}
	if (o->words.len)
		text_puts(&o->words, " ");
	text_puts(&o->words, arg);
}

static void check(const struct options *o, struct argp_state *state)
{
	const struct contexts_view *view = &o->view;
	bool rows = view->by_count || view->stacks || view->output.columns;
	const struct conflict conflicts[] = {
		{ o->invert && !o->tree, "--invert goes with --tree", NULL },
		{ o->tree && (rows || view->sorted),
		  "--tree has no rows to group, to sort or to choose columns of", NULL },
		{ view->stacks && view->by_count && !contexts_view_by(view, BY_CONTEXT_STACK),
		  "--stacks needs rows that have one: --group stack,…", NULL },
		{ o->account && (o->tree || rows), "--account has its own rows and columns", NULL },
		{ o->delay > 0 && !o->account, "--delay goes with --account", NULL },
		{ o->choice.page_size && !o->choice.path,
		  "--page-size is for a file of page_owner", NULL },
		{ view->output.json && view->output.columns,
		  "JSON has all columns: --columns goes without --json", NULL },
		{ query_has_id(o->query),
		  "contexts have no ids: choose by file, func, module or line", NULL },
	};

	CHECK_CONFLICTS(conflicts, state);
}

static void finish(struct options *o, struct argp_state *state)
{
	const struct contexts_view *view = &o->view;

	if (!o->words.len)
		text_clear(&o->words);
	o->query = argument_query(o->words.s, state);
	contexts_view_check_columns(view, state);
	check(o, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->choice;
		state->child_inputs[1] = &o->view.output;
		return 0;
	case KEY_IMAGE:
		argument_image(arg, state);
		/* fall through */
	case 'f':
		if (o->choice.path)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		o->choice.path = arg;
		return 0;
	case 'g':
		set_group(o, arg, state);
		return 0;
	case 's':
		o->view.order = argument_word(arg, WORDS(orders, ), "sort key", state);
		o->view.sorted = true;
		return 0;
	case 'n':
		o->view.top = argument_number("--top", arg, 1, INT32_MAX, state);
		return 0;
	case 'a':
		o->view.all = true;
		return 0;
	case KEY_TREE:
		o->tree = true;
		o->depth = arg ? argument_number("--tree", arg, 1, INT32_MAX, state) : 0;
		return 0;
	case KEY_INVERT:
		o->invert = true;
		return 0;
	case KEY_STACKS:
		o->view.stacks = true;
		return 0;
	case KEY_ACCOUNT:
		o->account = true;
		return 0;
	case KEY_PAGE_SIZE:
		o->choice.page_size = argument_page_size(arg, state);
		return 0;
	case 'd':
		o->delay = argument_seconds(arg, state);
		return 0;
	case 'o':
		o->view.output.columns = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_word(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		finish(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "[FILE] [QUERY…]",
	"Shows the contexts of split call sites (see codetag split) and the memory of each, "
	"by stack, age, size or task. FILE can also be an image of a machine's memory, such as a "
	"dump of kdump: stacks then have the names that the kernel in it has."
	"\vThe caller is the innermost function of the stack that is neither that of the call "
	"site nor a helper that allocates for others. Its module is the one nearest to the "
	"allocation in the stack, or vmlinux. Ages are in seconds.\n\n"
	"Examples:\n"
	"  codetag contexts func alloc_inode\n"
	"  codetag contexts --tree --skip --min-age 60\n"
	"  codetag contexts --group caller,age --json\n"
	"  codetag contexts --account --delay 10\n"
	"  codetag contexts --image vmcore --stacks\n\n"
	"Exit status: 0 success, 1 no call site is split or the file has no stacks, 2 trouble.",
	children, help, NULL
};

static int show(const struct options *o)
{
	struct contexts contexts;
	int status = STATUS_TROUBLE;

	if (!contexts_read_chosen(&contexts, &o->choice, o->query))
		return status;
	if (o->tree)
		calltree_view(&contexts, &o->choice.helpers, o->invert, o->depth, &o->view);
	else
		contexts_view(&contexts, &o->choice.helpers, &o->view);
	if (contexts_complete(&contexts, contexts_name(&o->choice)))
		status = contexts.splits || (contexts.of_others && contexts.count) ?
			 STATUS_OK : STATUS_FOUND;
	if (status == STATUS_FOUND && contexts.of_others) {
		warning("%s has no stacks", input_name(contexts_name(&o->choice)));
	} else if (status == STATUS_FOUND) {
		warning("no call site is split, or none that is chosen");
		hint("To split one: codetag split QUERY stack");
	}
	contexts_free(&contexts);
	return status;
}

int cmd_contexts(int argc, char **argv)
{
	struct options o = { .choice = CONTEXTS_CHOICE_INIT };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.account)
		status = contexts_account(&(struct contexts_account){
			&o.choice, o.query, &o.view, o.delay,
		});
	else
		status = show(&o);
	contexts_choice_free(&o.choice);
	query_free(o.query);
	text_free(&o.words);
	free(o.group);
	return status;
}
