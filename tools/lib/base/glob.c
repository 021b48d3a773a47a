// SPDX-License-Identifier: GPL-2.0-only
#include "base/glob.h"

#include <string.h>

#include <stddef.h>

/* Iterative: its time is bounded by the product of the lengths. */
bool glob_match(const char *pattern, const char *s)
{
	const char *star = NULL, *retry = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool path_is_below(const char *path, const char *dir)
{
	size_t len;

	if (!dir)
		return true;
	len = strlen(dir);
	while (len && dir[len - 1] == '/')
		len--;
	return path && !strncmp(path, dir, len) &&
	       (!len || !path[len] || path[len] == '/' || path[len] == '.');
}
