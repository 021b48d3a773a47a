/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of the library: each expectation is one line of output. */
#ifndef CODETAG_UNIT_H
#define CODETAG_UNIT_H

#include <stdbool.h>

void expect(bool good, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void test_activity(void);
void test_allocinfo(void);
void test_contexts(void);
void test_control(void);
void test_explain(void);
void test_kmem(void);
void test_match(void);
void test_message(void);
void test_memory_image(void);
void test_graph(void);
void test_number(void);
void test_outfile(void);
void test_query(void);
void test_stack_watch(void);
void test_strmap(void);
void test_trend(void);
void test_types(void);

#endif
