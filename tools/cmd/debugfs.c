// SPDX-License-Identifier: GPL-2.0
#include "debugfs.h"

#include <errno.h>
#include <string.h>

#include "input.h"
#include "message.h"

const struct argp_child debugfs_children[] = {
	{ &output_argp, 0, NULL, 9 },
	{ 0 }
};

error_t debugfs_parse(int key, char *arg, struct argp_state *state)
{
	struct debugfs_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case 'f':
	case ARGP_KEY_ARG:
		if (o->file.given)
			argp_error(state, "one file at a time, '%s' is a second one", arg);
		o->file.path = arg;
		o->file.given = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void debugfs_complain(const struct debugfs_file *file, int error)
{
	warning("cannot open %s: %s", input_name(file->path), strerror(error));
	if (file->given)
		return;
	if (error == EACCES || error == EPERM)
		hint("Only root may use it.");
	else if (error == ENOENT)
		hint("It needs a kernel with codetag, and debugfs:\n"
		     "mount -t debugfs none /sys/kernel/debug");
}
