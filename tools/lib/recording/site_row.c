// SPDX-License-Identifier: GPL-2.0-only
#include "recording/site_row.h"

#include "base/database.h"
#include "base/memory.h"

bool site_row_add(struct allocinfo *info, sqlite3_stmt *s)
{
	struct site site = {
		.file = database_text(&info->strings, s, 0),
		.line = (uint32_t)sqlite3_column_int64(s, 1),
		.module = site_module(database_text(&info->strings, s, 2)),
		.func = database_text(&info->strings, s, 3),
		.bytes = sqlite3_column_int64(s, 4),
		.calls = sqlite3_column_int64(s, 5),
		.notes = database_text(&info->strings, s, 6),
	};

	if (!site.file || !site.func)
		return false;
	site.flags = site.notes ? site_flags(site.notes) : 0;
	GROW(info->site, info->count, info->room);
	info->site[info->count++] = site;
	return true;
}
