// SPDX-License-Identifier: GPL-2.0-only
#include "change.h"

#include <errno.h>
#include <string.h>

#include "arguments.h"
#include "sites_view.h"
#include "base/message.h"

enum { KEY_DRY_RUN = 0x410, KEY_ALLOCINFO };

static const struct argp_option options[] = {
	{ "all", 'a', NULL, 0, "All call sites, without a query", 1 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0,
	  "Change nothing, list the call sites that are chosen", 1 },
	{ "allocinfo", KEY_ALLOCINFO, "FILE", 0,
	  "With --dry-run: choose among the call sites of FILE, such as the " ALLOCINFO_PATH
	  " of a kernel that cannot switch them", 1 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &choice_argp, 0, NULL, 8 },
	{ 0 }
};

/* The query has already been parsed. */
static void finish(const struct change *change, struct argp_state *state)
{
	const struct choice *choice = &change->choice;
	const struct conflict conflicts[] = {
		{ change->every && choice->words.len, "--all takes no query", NULL },
		{ !change->every && query_is_empty(choice->query),
		  "which call sites? --all is all of them", NULL },
		{ change->allocinfo && !change->dry_run, "--allocinfo goes with --dry-run", NULL },
		{ change->allocinfo && query_has_id(choice->query),
		  "this data has no ids: choose by file, func, module or line", NULL },
		{ choice->output.json && !change->dry_run, "--json goes with --dry-run", NULL },
		{ choice->output.columns && !change->dry_run, "--columns goes with --dry-run", NULL },
		{ choice->output.no_headings && !change->dry_run,
		  "--noheadings goes with --dry-run", NULL },
	};

	if (change->none)
		return;
	sites_check_columns(&choice->output, state);
	CHECK_CONFLICTS(conflicts, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct change *change = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &change->choice;
		return 0;
	case 'a':
		change->every = true;
		return 0;
	case KEY_DRY_RUN:
		change->dry_run = true;
		return 0;
	case KEY_ALLOCINFO:
		change->allocinfo = arg;
		return 0;
	case ARGP_KEY_END:
		finish(change, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp change_argp = { options, parse, NULL, NULL, children, NULL, NULL };

static int list(const struct change *change)
{
	const struct choice *choice = &change->choice;
	struct allocinfo info = { 0 };
	struct control control;
	int status;

	if (!change->allocinfo) {
		if (!control_read(&control, &choice->dir))
			return STATUS_TROUBLE;
	} else {
		if (!allocinfo_read(&info, change->allocinfo))
			return STATUS_TROUBLE;
		control_from_allocinfo(&control, &info);
	}
	control_select(&control, choice->query);
	if (choice->output.json) {
		struct json json = { .out = stdout };

		json_object(&json, NULL);
		sites_counts_json(&control, &json);
		sites_json(&control, &json, &choice->output);
		json_end_object(&json);
	} else if (control.count) {
		sites_table(&control, &choice->output);
	}
	status = sites_status(control.count, control.bad.count);
	control_free(&control);
	allocinfo_free(&info);
	return status;
}

/* The actions that need an option of the kernel */
static void unsupported(const char *action)
{
	static const struct {
		const char *action, *what, *option;
	} needs[] = {
		{ "keys=", "split call sites", "CONTEXTS" },
		{ "fault", "inject faults", "FAULT_INJECTION" },
		{ "guard", "guard call sites", "GUARD" },
		{ "trace", "trace call sites", "CONTEXTS, or without CONFIG_TRACEPOINTS" },
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if (strncmp(action, needs[i].action, strlen(needs[i].action)))
			continue;
		warning("this kernel cannot %s", needs[i].what);
		hint("It is built without CONFIG_CODETAG_%s.", needs[i].option);
	}
}

int change_refused(const struct debugfs_dir *dir, const char *action, int error)
{
	bool guard = !strncmp(action, "guard", strlen("guard"));

	/* The words were checked before: KFENCE is the likely reason. */
	if (guard && (error == EINVAL || error == EBUSY)) {
		warning("the kernel has no pool of KFENCE for guards, or does not know guards");
		hint("Its log says which: dmesg | grep -e 'codetag: control' -e kfence");
		return STATUS_TROUBLE;
	}
	switch (error) {
	case ENOENT:
		warning("no call site is chosen");
		hint("'codetag status --all' lists them. A query with 'module NAME' is "
		     "remembered\nuntil that module is loaded.");
		return STATUS_FOUND;
	case EINVAL:
		warning("the kernel does not understand that");
		hint("Its log says which word is wrong: dmesg | grep 'codetag: control'");
		break;
	case E2BIG:
		warning("that is too long for the kernel, which takes 64 KiB and 1,024 queries at once");
		break;
	case ENOSPC:
		warning("the kernel remembers as many queries for modules as it can: 1,024, or 64 KiB of text");
		hint("'codetag remembered' lists them, and with --forget it forgets some.");
		break;
	case EOPNOTSUPP:
		unsupported(action);
		break;
	case ENOMEM:
		warning("the kernel has no memory for that and has changed nothing");
		break;
	default:
		warning("cannot write to %s/control: %s", dir->path, strerror(error));
	}
	return STATUS_TROUBLE;
}

int change_run(const struct change *change, const char *action)
{
	const struct debugfs_dir *dir = &change->choice.dir;
	struct text text = { 0 };
	bool opened;
	int error;

	if (change->dry_run)
		return list(change);
	query_with_action(change->choice.query, action, &text);
	error = debugfs_write(dir, "control", text.s, &opened);
	text_free(&text);
	if (!error)
		return STATUS_OK;
	if (opened)
		return change_refused(dir, action, error);
	debugfs_dir_complain(dir, "control", error);
	return STATUS_TROUBLE;
}

void change_free(struct change *change)
{
	choice_free(&change->choice);
}
