// SPDX-License-Identifier: GPL-2.0
/* Any text as a query; an error has to point into the text. */
#include "query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct site site = {
		.file = "fs/ext4/super.c", .line = 1384, .module = "ext4",
		.func = "ext4_alloc_inode",
	};
	struct query_error error = { 0 };
	char *text = memcpy(xcalloc(size + 1, 1), data, size);
	struct query *query = query_parse(text, &error);

	if (query)
		query_match(query, &site);
	else if (!error.why || error.at + error.len > strlen(text))
		abort();
	query_free(query);
	free(text);
	return 0;
}
