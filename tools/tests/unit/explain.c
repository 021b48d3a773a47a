// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/explain.h"

#include <string.h>

#include "analysis/unusual.h"
#include "base/text.h"
#include "unit.h"

/* Messages about free memory that changed by @moved bytes during the reading, on 1 GiB */
void test_explain(void)
{
	static const struct {
		int64_t moved;
		const char *message;	/* NULL: none */
	} cases[] = {
		{ 0, NULL },
		{ 512 << 10, NULL },
		{ -(512 << 10), NULL },
		{ 2 << 20, "2.0M were freed while" },
		{ -(2 << 20), "2.0M were allocated while" },
	};
	struct explanation e = {
		.installed = 1 << 30, .cpu_lists_known = true, .has_sites = true, .exact = true,
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct snapshot host = {
			.machine = { .profiling = PROFILING_ON, .moved = cases[i].moved },
		};
		const char *message = cases[i].message;
		struct text lines = { 0 };

		missing_find(&lines, &e, &host);
		expect(message ? strstr(lines.s, message) != NULL : !lines.len, "explain: %lld bytes moved: %s",
		       (long long)cases[i].moved, message ? message : "no message");
		text_free(&lines);
	}
}
