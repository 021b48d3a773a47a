/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack of an allocation, and what is left of it as text: for contexts.
 */
#ifndef _MM_CODETAG_CONTEXT_STACK_H
#define _MM_CODETAG_CONTEXT_STACK_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/types.h>
#include "context.h"

/* Frames of the allocator, at most, and room for these and a stack. */
#define CODETAG_STACK_INNER	12
#define CODETAG_STACK_ENTRIES	(CODETAG_DEPTH_MAX + CODETAG_STACK_INNER)

/* ---- saved --------------------------------------------------------------------- */

/**
 * struct codetag_stack_walk - a stack that is being walked
 * @site:	call site of the allocation
 * @depth:	frames to save, the call of @site included
 * @pass_helpers: leave out helpers between that call and the first other function
 * @entries:	return addresses found, with those of the allocator
 * @nr:		their number
 * @at:		index of that call
 * @end:	number of addresses to find, 0 before the call is found
 */
struct codetag_stack_walk {
	const struct codetag_site *site;
	unsigned int depth;
	bool pass_helpers;
	unsigned long *entries;
	unsigned int nr;
	unsigned int at;
	unsigned int end;
};

bool codetag_stack_step(void *cookie, unsigned long entry);
unsigned int codetag_stack_search(struct codetag_site *site, unsigned int split_by,
				  unsigned long *entries, const unsigned long **stack);

/**
 * codetag_stack_save - the stack of the current allocation
 * @site:	its site
 * @split_by:	keys that the site is split by, with the number of frames, at most
 * @entries:	room for CODETAG_STACK_ENTRIES addresses
 * @stack:	on return where in @entries it begins, with the call site
 *
 * Inlined, and calls arch_stack_walk() directly: each further function is a frame to
 * unwind, which costs hundreds of instructions.
 *
 * Context: Any but NMI, with preemption disabled.
 * Return: How many frames it has.
 */
static __always_inline unsigned int codetag_stack_save(struct codetag_site *site,
						       unsigned int split_by,
						       unsigned long *entries,
						       const unsigned long **stack)
{
#if defined(CONFIG_STACKTRACE) && defined(CONFIG_ARCH_STACKWALK)
	struct codetag_stack_walk walk = {
		.site = site,
		.depth = split_by >> CODETAG_SPLIT_DEPTH,
		.pass_helpers = split_by & BIT(CODETAG_KEY_CALLER),
		.entries = entries,
	};

	arch_stack_walk(codetag_stack_step, &walk, current, NULL);
	/* The stack of an interrupt ends where the interrupt began. */
	if (!in_task())
		walk.nr = filter_irq_stacks(entries, walk.nr);
	if (likely(walk.end && walk.at < walk.nr)) {
		*stack = entries + walk.at;
		return walk.nr - walk.at;
	}
#endif
	return codetag_stack_search(site, split_by, entries, stack);
}

/* ---- as text ------------------------------------------------------------------- */

/**
 * struct codetag_stack_text - a stack as it is listed
 * @node:	in those that there are
 * @users:	contexts that have it
 * @bytes:	memory for all of this
 * @text:	a line for each frame
 */
struct codetag_stack_text {
	struct hlist_node node;
	unsigned int users;
	unsigned int bytes;
	char text[];
};

/* One frame as it is listed: a blank, at most this of the symbol, a newline. */
#define CODETAG_FRAME_TEXT	(KSYM_SYMBOL_LEN + 2)

unsigned int codetag_frame_text(char *s, unsigned long address);
struct codetag_stack_text *codetag_stack_text_get(const unsigned long *stack, unsigned int nr);
void codetag_stack_text_put(struct codetag_stack_text *text);
size_t codetag_stack_text_bytes(void);

#endif /* _MM_CODETAG_CONTEXT_STACK_H */
