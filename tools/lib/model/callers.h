/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The caller of a context. Helpers (kstrdup, kmemdup, __alloc_skb …) allocate for other
 * functions: the function that called the helper is the caller.
 */
#ifndef CODETAG_CALLERS_H
#define CODETAG_CALLERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "read/contexts.h"

struct helpers {
	const char **pattern;	/* more helpers than the known ones */
	size_t count, room;
	bool fold;		/* leave their frames out of stacks */
};

/* Adds the helpers "kfoo,bar_*"; @list has to stay. */
void helpers_add(struct helpers *helpers, char *list);
bool helpers_have(const struct helpers *helpers, const char *func);
void helpers_free(struct helpers *helpers);

/* The frames of a context after the function of its site, innermost first. */
struct callers {
	const struct frame **frame;
	size_t count, room;
	const struct frame *function;	/* the caller; NULL: not known */
	const char *module;		/* nearest to the allocation in the stack, or "vmlinux" */
};

/* Valid until the next call with the same @callers. */
void callers_of(struct callers *callers, const struct contexts *contexts,
		const struct context *context, const struct helpers *helpers);
void callers_free(struct callers *callers);

/* "zram_add [zram]" */
void frame_name(struct text *text, const struct frame *frame);

/* "zram_add+0x1b8/0x230 [zram]" */
void frame_place(struct text *text, const struct frame *frame);

#endif
