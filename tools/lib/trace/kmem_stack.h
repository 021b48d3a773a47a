/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the lines of a log and charges events to the functions of the stack after them: the
 * caller of kstrdup() is of more interest than kstrdup() itself.
 */
#ifndef CODETAG_KMEM_STACK_H
#define CODETAG_KMEM_STACK_H

#include <stdbool.h>

#include "base/text.h"
#include "trace/kmem.h"

/* Events of other CPUs that can come between an event and its stack. */
#define KMEM_STACK_WAITING 256

struct kmem_stack {
	struct kmem *kmem;
	unsigned int frames;	/* of a stack that make a caller; 0: its call site */
	/* In the order of the log; the first ones are handed on when their stacks are known. */
	struct kmem_waiting {
		struct text line, caller;
		int cpu;
		int64_t number;		/* of the line */
		unsigned int got;	/* frames */
		bool open;		/* its stack may follow */
	} waiting[KMEM_STACK_WAITING];
	size_t first, count;
	int64_t lines;
	size_t heads;	/* "# tracer:" */
	double newest;	/* time of an event */
	struct kmem_waiting *reading;	/* the event whose frames are being read */
};

/* @line is NUL-terminated, without its newline. */
void kmem_stack_line(struct kmem_stack *stack, const char *line);

/* Called after the last line; frees its memory. */
void kmem_stack_end(struct kmem_stack *stack);

#endif
