// SPDX-License-Identifier: GPL-2.0-only
#include "read/control.h"

#include <string.h>

#include "base/memory.h"
#include "unit.h"

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The notes behind the tag in a line of "control" */
static void test_notes(void)
{
	static const struct {
		const char *notes;
		bool good;
		struct control_site site;
	} lines[] = {
		{ "=p id 17", true, { .id = 17, .profiled = true } },
		{ "=_ id 0", true, { .id = 0 } },
		{ "=p id 17 keys=size max=9", true,
		  { .id = 17, .profiled = true, .keys = "size max=9" } },
		{ "=p id 17 fault", true, { .id = 17, .profiled = true, .fault = "" } },
		{ "=p id 17 guard rate=100", true, { .id = 17, .profiled = true, .guard = 100 } },
		{ "=p id 17 fault guard rate=1", true,
		  { .id = 17, .profiled = true, .fault = "", .guard = 1 } },
		{ "=p id 17 keys=size max=9 guard rate=2147483647", true,
		  { .id = 17, .profiled = true, .keys = "size max=9", .guard = 2147483647 } },
		{ "=_ id 17 keys=stack depth=4 max=9 fault times=1 space=0 guard rate=7", true,
		  { .id = 17, .keys = "stack depth=4 max=9", .fault = "times=1 space=0", .guard = 7 } },
		{ "=p id 17 trace", true, { .id = 17, .profiled = true, .traced = true } },
		{ "=p id 17 keys=size max=9 fault times=1 guard rate=7 trace", true,
		  { .id = 17, .profiled = true, .keys = "size max=9", .fault = "times=1",
		    .guard = 7, .traced = true } },
		{ "=p id 17 fault trace", true,
		  { .id = 17, .profiled = true, .fault = "", .traced = true } },
		{ "=p id 17 trace guard rate=7", false, { .id = 0 } },
		{ "=p id 17 traced", false, { .id = 0 } },
		{ "=p id 17 guard", false, { .id = 0 } },
		{ "=p id 17 guard rate=0", false, { .id = 0 } },
		{ "=p id 17 guard rate=-1", false, { .id = 0 } },
		{ "=p id 17 guard rate=1x", false, { .id = 0 } },
		{ "=p id 17 guard rate=1 fault times=1", false, { .id = 0 } },
		{ "=p id 17 guards rate=1", false, { .id = 0 } },
		{ "=p id 17 faults", false, { .id = 0 } },
		{ "=p id 65536", false, { .id = 0 } },
		{ "=p", false, { .id = 0 } },
	};
	struct text text = { 0 };
	struct control control;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct control_site *want = &lines[i].site, *site;

		text_clear(&text);
		text_printf(&text, "a.c:1 [m] func:f %s\n", lines[i].notes);
		control_parse(&control, xstrdup(text.s), text.len);
		site = control.site;
		expect(control.count == lines[i].good && control.bad.count == !lines[i].good &&
		       (!control.count ||
			(site->id == want->id && site->profiled == want->profiled &&
			 same(site->keys, want->keys) && same(site->fault, want->fault) &&
			 site->guard == want->guard && site->traced == want->traced)), "control line \"%s\"", lines[i].notes);
		control_free(&control);
	}
	text_free(&text);
}

static void test_counts(void)
{
	static const char text[] =
		"a.c:1 func:f =p id 32 fault guard rate=1\n"
		"a.c:2 func:f =p id 33 keys=size max=9 guard rate=2\n"
		"a.c:3 func:f =_ id 34 guard rate=3\n";
	struct control_counts counts;
	struct control control;

	control_parse(&control, xstrdup(text), strlen(text));
	counts = control_count(&control);
	expect(counts.profiled == 2 && counts.split == 1 && counts.faults == 1 && counts.guards == 3,
	       "control counts");
	control_free(&control);
}

static void test_armed(void)
{
	static const struct {
		const char *line;
		unsigned int numbers;
		bool good;
	} lines[] = {
		{ "  3  1  0 spent    a.c:1 func:f", FAULT_NUMBERS, true },
		{ "  3  1  0  7 armed    a.c:1 [m] func:f", GUARD_NUMBERS, true },
		{ "  3  1  0 spent    a.c:1 func:f", GUARD_NUMBERS, false },
		{ "  3  1  0  7 armed", GUARD_NUMBERS, false },
		{ "  3  1  0  7", GUARD_NUMBERS, false },
	};
	struct text text = { 0 };
	struct armed_sites sites;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		text_clear(&text);
		text_printf(&text, "# a head\n%s\n", lines[i].line);
		armed_sites_parse(&sites, lines[i].numbers, xstrdup(text.s), text.len);
		expect(sites.count == lines[i].good && sites.bad.count == !lines[i].good &&
		       (!sites.count || (sites.site->number[0] == 3 &&
					 sites.site->number[lines[i].numbers - 1] ==
					 (lines[i].numbers == GUARD_NUMBERS ? 7 : 0))),
		       "%u numbers and a state: \"%s\"", lines[i].numbers, lines[i].line);
		armed_sites_free(&sites);
	}
	text_free(&text);
}

void test_control(void)
{
	test_notes();
	test_counts();
	test_armed();
}
