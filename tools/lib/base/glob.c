// SPDX-License-Identifier: GPL-2.0
#include "base/glob.h"

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
