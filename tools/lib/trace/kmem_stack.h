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

struct kmem_stack {
	struct kmem *kmem;
	unsigned int frames;	/* how many of a stack make a caller, 0: its call site */
	/* the event whose stack is being read */
	struct kmem_event event;
	struct text line, caller;
	unsigned int got;
};

/* @line is NUL-terminated, without its newline. */
void kmem_stack_line(struct kmem_stack *stack, const char *line);

/* After the last line. */
void kmem_stack_end(struct kmem_stack *stack);

#endif
