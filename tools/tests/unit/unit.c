// SPDX-License-Identifier: GPL-2.0-only
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>

static int failures;

void expect(bool good, const char *fmt, ...)
{
	va_list args;

	failures += !good;
	fputs(good ? "ok " : "not ok ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

int main(void)
{
	/* A crash leaves the lines before it. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_memory_image();
	test_graph();
	test_number();
	test_outfile();
	test_query();
	test_activity();
	test_allocinfo();
	test_contexts();
	test_control();
	test_explain();
	test_match();
	test_message();
	test_strmap();
	test_trend();
	test_types();
	test_stack_watch();
	test_kmem();
	return failures != 0;
}
