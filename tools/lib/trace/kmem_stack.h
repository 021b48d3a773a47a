/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lines of a log, whose events are charged to the functions on the stack behind
 * them: who called kstrdup() is of more interest than that kstrdup() allocates.
 */
#ifndef CODETAG_KMEM_STACK_H
#define CODETAG_KMEM_STACK_H

#include <stdbool.h>

#include "base/text.h"
#include "trace/kmem.h"

/* Events of other CPUs that may be between an event and its stack. */
#define KMEM_STACK_WAITING 256

struct kmem_stack {
	struct kmem *kmem;
	unsigned int frames;	/* how many of a stack make a caller, 0: its call site */
	/* In the order of the log; the first ones go when their stacks are known. */
	struct kmem_waiting {
		struct text line, caller;
		int cpu;
		int64_t number;		/* of the line */
		unsigned int got;	/* frames */
		bool open;		/* its stack may come */
	} waiting[KMEM_STACK_WAITING];
	size_t first, count;
	int64_t lines;
	size_t heads;	/* "# tracer:" */
	double newest;	/* time of an event */
	struct kmem_waiting *reading;	/* whose frames come now */
};

/* @line is NUL-terminated, without its newline. */
void kmem_stack_line(struct kmem_stack *stack, const char *line);

/* After the last line; frees what it has. */
void kmem_stack_end(struct kmem_stack *stack);

#endif
