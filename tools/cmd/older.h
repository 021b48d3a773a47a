/* SPDX-License-Identifier: GPL-2.0 */
/* The options and names of older tools, for people who still have these in their fingers. */
#ifndef CODETAG_OLDER_H
#define CODETAG_OLDER_H

#include <stdbool.h>

/* Says which option of @command replaces one in @argv that only an older tool has; false: none. */
bool older_option(const char *command, char *const *argv);

/* Says which command replaces the tool @name; false: it is none. */
bool older_tool(const char *name);

#endif
