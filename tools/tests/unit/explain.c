// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/explain.h"

#include <string.h>

#include "analysis/unusual.h"
#include "base/text.h"
#include "unit.h"

/* How much the free memory of 1 GiB changed while it was read, and whether that is told. */
void test_explain(void)
{
	static const struct {
		int64_t moved;
		const char *told;	/* NULL: nothing */
	} cases[] = {
		{ 0, NULL },
		{ 512 << 10, NULL },
		{ -(512 << 10), NULL },
		{ 2 << 20, "2.0M were freed while" },
		{ -(2 << 20), "2.0M were allocated while" },
	};
	struct explanation e = { .installed = 1 << 30, .cpu_lists_known = true, .has_sites = true, .exact = true };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct snapshot host = { .machine = { .profiling = PROFILING_ON, .moved = cases[i].moved } };
		const char *told = cases[i].told;
		struct text lines = { 0 };

		missing_find(&lines, &e, &host);
		expect(told ? strstr(lines.s, told) != NULL : !lines.len,
		       "explain: %lld bytes moved: %s", (long long)cases[i].moved, told ? told : "nothing is told");
		text_free(&lines);
	}
}
