// SPDX-License-Identifier: GPL-2.0-only
/* codetag enable and disable: whether what call sites allocate is counted. */
#include <argp.h>

#include "change.h"
#include "command.h"

static const struct argp_child children[] = {
	{ &change_argp, 0, NULL, 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static int run(const struct argp *argp, int argc, char **argv, const char *action)
{
	struct change change = CHANGE_INIT;
	int status;

	argp_parse(argp, argc, argv, 0, NULL, &change);
	status = change_run(&change, action);
	change_free(&change);
	return status;
}

static const struct argp enable_argp = {
	NULL, parse, "QUERY…\n--all",
	"Starts to count the allocations of the chosen call sites."
	"\vMemory that they allocate while they are disabled is never counted. The kernel remembers "
	"a query that names a module, and applies it whenever that module is loaded, see codetag "
	"remembered.\n\n"
	"Examples:\n"
	"  codetag enable --all\n"
	"  codetag enable module ext4\n"
	"  codetag enable --dry-run 'file mm/slub.c; func alloc_inode'\n\n"
	CHANGE_STATUS,
	children, NULL, NULL
};

int cmd_enable(int argc, char **argv)
{
	return run(&enable_argp, argc, argv, "+p");
}

static const struct argp disable_argp = {
	NULL, parse, "QUERY…\n--all",
	"Stops counting the allocations of the chosen call sites."
	"\vMemory that they hold already stays counted until it is freed. The kernel remembers a "
	"query that names a module, and applies it whenever that module is loaded, see codetag "
	"remembered.\n\n"
	"Examples:\n"
	"  codetag disable func alloc_slab_page\n"
	"  codetag disable --dry-run file 'drivers/*' module vmlinux\n"
	"  codetag disable --all\n\n"
	CHANGE_STATUS,
	children, NULL, NULL
};

int cmd_disable(int argc, char **argv)
{
	return run(&disable_argp, argc, argv, "-p");
}
