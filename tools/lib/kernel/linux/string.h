/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CODETAG_LINUX_STRING_H
#define _CODETAG_LINUX_STRING_H

#include <errno.h>
#include <string.h>

static inline int match_string(const char *const *array, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(array[i], s))
			return i;
	return -EINVAL;
}

#endif
