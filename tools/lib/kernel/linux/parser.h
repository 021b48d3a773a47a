/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_PARSER_H
#define _LINUX_PARSER_H

#include "base/glob.h"

static inline bool match_wildcard(const char *pattern, const char *s)
{
	return glob_match(pattern, s);
}

#endif
