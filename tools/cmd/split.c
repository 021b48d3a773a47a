// SPDX-License-Identifier: GPL-2.0-only
/* codetag split: count the allocations of call sites by stack, age, size, task … */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "change.h"
#include "command.h"
#include "splitting.h"
#include "words.h"
#include "base/message.h"
#include "codetag/query.h"
#include "read/control.h"

struct options {
	struct change change;
	struct text keys;	/* "stack,age" */
	struct text settings;	/* " depth=8 max=64" */
	bool restore;
	bool value;		/* the word before takes this one as its value */
};

static bool is_key(const char *word)
{
	const struct words keys = { codetag_key_names, sizeof(*codetag_key_names), CODETAG_NR_KEYS };

	return words_find(keys, word, strcspn(word, ",")) < keys.count || !strcmp(word, "none");
}

/* The words of a query come first; the words after them are keys and settings. */
static bool take_word(struct options *o, const char *word)
{
	bool value = o->value;

	o->value = false;
	if (strncmp(word, "depth=", 6) == 0 || strncmp(word, "max=", 4) == 0) {
		text_printf(&o->settings, " %s", word);
		return true;
	}
	if (!o->keys.len && query_name_part(word))
		return false;
	if (!o->keys.len && (value || strpbrk(word, " ;\n"))) {
		return false;
	} else if (!o->keys.len && !is_key(word) && query_keyword(word, strlen(word))) {
		o->value = strcmp(word, "not");
		return false;
	}
	text_printf(&o->keys, "%s%s", o->keys.len ? "," : "", word);
	return true;
}

/* The parser of the kernel checks the words and writes the message about a bad one. */
static void finish(struct options *o, struct argp_state *state)
{
	const struct change *change = &o->change;
	const struct conflict conflicts[] = {
		{ o->restore && (o->keys.len || o->settings.len || change->every ||
				 change->choice.words.len || change->dry_run ||
				 change->allocinfo || output_chosen(&change->choice.output)),
		  "--restore goes alone: the run that was killed has noted its sites", NULL },
		{ !o->restore && !o->keys.len,
		  "the keys are missing, for example: stack age, or none", NULL },
	};
	struct query_error error;

	CHECK_CONFLICTS(conflicts, state);
	if (o->restore)
		return;
	text_printf(&o->keys, "%s", o->settings.len ? o->settings.s : "");
	text_clear(&o->settings);
	text_printf(&o->settings, "keys=%s", o->keys.s);
	if (!control_action_check(o->settings.s, &error))
		argp_error(state, "%s: '%s'", error.why, error.token);
}

enum { KEY_RESTORE = 0x300 };

static const struct argp_option options[] = {
	{ "restore", KEY_RESTORE, NULL, 0,
	  "Undo the splits of a run of 'leaks --stacks' that was killed", 0 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &change_argp, 0, NULL, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->change;
		return 0;
	case KEY_RESTORE:
		o->restore = o->change.none = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_word(o, arg) ? 0 : ARGP_ERR_UNKNOWN;
	case ARGP_KEY_END:
		finish(o, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

#define KEY_HELP(id, word, column, number, meaning) word " (" meaning "), "

static const struct argp argp = {
	options, parse, "QUERY… KEY… [depth=N] [max=N]\nQUERY… none\n--all none\n--restore",
	"Counts later allocations of the chosen call sites separately for each "
	"value of the keys, or stops doing so."
	"\vKeys: " CODETAG_KEY_LIST(KEY_HELP) "or none. depth=N is the number of frames of a stack "
	"(16) or of a caller (2, the first in the function of the call site). A site has at most "
	"max=N contexts (1024). The file helpers in /sys/kernel/debug/codetag lists the helpers. "
	"'codetag contexts' shows the contexts. A context keeps its memory until "
	"that is freed, also after none. Other sites do not become slower. The kernel remembers a "
	"query that names a module, and applies it whenever that module is loaded, see codetag "
	"remembered.\n\n"
	"Examples:\n"
	"  codetag split func kvasprintf caller\n"
	"  codetag split func alloc_inode stack age\n"
	"  codetag split file 'fs/*' func alloc_inode stack depth=8\n"
	"  codetag split --dry-run module ext4 size accounted\n"
	"  codetag split --all none\n"
	"  codetag split --restore\n\n"
	CHANGE_STATUS,
	children, NULL, NULL
};

static int restore(const struct debugfs_dir *dir)
{
	switch (splitting_restore(dir)) {
	case LEFT_NOTHING:
		puts("nothing to put back: no run of 'leaks --stacks' was killed");
		return STATUS_OK;
	case LEFT_PUT_BACK:
		puts("the call sites are split as they were before");
		return STATUS_OK;
	case LEFT_RUNNING:
	case LEFT_FAILED:
		break;
	}
	return STATUS_TROUBLE;
}

int cmd_split(int argc, char **argv)
{
	struct options o = { .change = CHANGE_INIT };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	status = o.restore ? restore(&o.change.choice.dir) : change_run(&o.change, o.settings.s);
	change_free(&o.change);
	text_free(&o.keys);
	text_free(&o.settings);
	return status;
}
