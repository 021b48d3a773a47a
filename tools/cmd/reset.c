// SPDX-License-Identifier: GPL-2.0-only
/* codetag reset: all call sites become as they are without any query. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "debugfs.h"
#include "sites_view.h"
#include "base/message.h"
#include "read/control.h"

struct reset {
	struct debugfs_dir dir;
	bool dry_run;
};

enum { KEY_DRY_RUN = 0x200 };

static const struct argp_option options[] = {
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "Change nothing, say what would be changed", 1 },
	{ 0 }
};

static const struct argp_child children[] = {
	{ &debugfs_dir_argp, 0, NULL, 8 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reset *reset = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &reset->dir;
		return 0;
	case KEY_DRY_RUN:
		reset->dry_run = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': reset takes all call sites; enable, split, fault --off, "
			   "guard --off and trace --off take chosen ones", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	options, parse, "",
	"Puts back what enable, disable, split, fault, guard, trace and the boot parameter codetag= "
	"have changed: every call site is counted, none is split or traced, and none has a fault or "
	"a guard. The queries that wait for modules are forgotten."
	"\vMemory that was split stays in its contexts until it is freed. The switch "
	"vm.mem_profiling and the parameters of codetag stay as they are.\n\n"
	"Examples:\n"
	"  codetag reset --dry-run\n"
	"  codetag reset\n\n"
	"Exit status: 0 success, 2 trouble.",
	children, NULL, NULL
};

/* How many sites, faults, guards and queries differ from the state without any query. */
struct changes {
	size_t disabled, split, faults, guards, traced, queries;
};

static bool read_changes(const struct debugfs_dir *dir, struct changes *changes)
{
	struct remembered remembered;
	struct control_counts counts;
	struct control control;
	size_t len;
	char *text;
	bool good;

	if (!control_read(&control, dir))
		return false;
	counts = control_count(&control);
	changes->disabled = control.count - counts.profiled;
	changes->split = counts.split;
	changes->faults = counts.faults;
	changes->guards = counts.guards;
	changes->traced = counts.traced;
	good = !control.bad.count;
	if (!good)
		warning("%zu lines not understood", control.bad.count);
	control_free(&control);
	if (!good || !debugfs_read(dir, "queries", &text, &len))
		return false;
	remembered_parse(&remembered, text, len);
	changes->queries = remembered.count;
	remembered_free(&remembered);
	return true;
}

static bool write_to(const struct debugfs_dir *dir, const char *name, const char *text)
{
	bool opened;
	int error = debugfs_write(dir, name, text, &opened);

	if (!error)
		return true;
	if (opened)
		warning("cannot write to %s/%s: %s", dir->path, name, strerror(error));
	else
		debugfs_dir_complain(dir, name, error);
	return false;
}

/* Queries go first: otherwise a module that is loaded now would bring something back. */
static bool put_back(const struct debugfs_dir *dir, const struct changes *changes)
{
	return (!changes->queries || write_to(dir, "queries", "remove all\n")) &&
	       (!changes->disabled || write_to(dir, "control", "+p\n")) &&
	       (!changes->split || write_to(dir, "control", "keys=none\n")) &&
	       (!changes->faults || write_to(dir, "control", "fault=off\n")) &&
	       (!changes->guards || write_to(dir, "control", "guard=off\n")) &&
	       (!changes->traced || write_to(dir, "control", "trace=off\n"));
}

static void say(size_t n, const char *one, const char *many, const char *will, const char *was)
{
	if (n)
		printf("%zu %s %s\n", n, n == 1 ? one : many, will ? will : was);
}

static void report(const struct changes *changes, bool dry_run)
{
	say(changes->disabled, "call site", "call sites", dry_run ? "would be counted again" : NULL,
	    "counted again");
	say(changes->split, "call site", "call sites", dry_run ? "would no longer be split" : NULL,
	    "no longer split");
	say(changes->faults, "fault", "faults", dry_run ? "would be removed" : NULL, "removed");
	say(changes->guards, "guard", "guards", dry_run ? "would be removed" : NULL, "removed");
	say(changes->traced, "call site", "call sites", dry_run ? "would no longer be traced" : NULL,
	    "no longer traced");
	say(changes->queries, "query", "queries", dry_run ? "would be forgotten" : NULL, "forgotten");
	if (!changes->disabled && !changes->split && !changes->faults && !changes->guards &&
	    !changes->traced && !changes->queries)
		puts("everything is as usual");
}

int cmd_reset(int argc, char **argv)
{
	struct reset reset = { .dir = DEBUGFS_DIR_INIT };
	struct changes changes;

	argp_parse(&argp, argc, argv, 0, NULL, &reset);
	if (!read_changes(&reset.dir, &changes) ||
	    (!reset.dry_run && !put_back(&reset.dir, &changes)))
		return STATUS_TROUBLE;
	report(&changes, reset.dry_run);
	return STATUS_OK;
}
