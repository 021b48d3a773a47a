/* SPDX-License-Identifier: GPL-2.0-only */
/* Patterns: '*' stands for any characters, '?' for one, and any other character for itself. */
#ifndef CODETAG_GLOB_H
#define CODETAG_GLOB_H

#include <stdbool.h>

bool glob_match(const char *pattern, const char *s);

/*
 * Whether @path (NULL: not known) is in the directory @dir, or is the file of that name without
 * its suffix. Without @dir every path is.
 */
bool path_is_below(const char *path, const char *dir);

#endif
