/* SPDX-License-Identifier: GPL-2.0-only */
/* Options and names of older tools. A message names the new ones. */
#ifndef CODETAG_OLDER_H
#define CODETAG_OLDER_H

#include <stdbool.h>

/*
 * Names the option of @command that replaces an option in @argv of an older tool; false: there
 * is none.
 */
bool older_option(const char *command, char *const *argv);

/* Names the command that replaces the tool @name; false: it is not known. */
bool older_tool(const char *name);

#endif
