// SPDX-License-Identifier: GPL-2.0
#include "trace/kmem_stack.h"

#include <string.h>

#include "base/glob.h"

/* Who allocates for others, and what allocates. */
static const char *const helpers[] = {
	"*kmalloc*", "*kzalloc*", "*kcalloc*", "*krealloc*", "kfree*", "*kvfree*", "*kmem_cache_*",
	"*kmemdup*", "kstrdup*", "kstrndup*", "k*asprintf*", "kvmalloc*", "__kvmalloc*",
	"*alloc_pages*", "*alloc_frozen_pages*", "*free_pages*", "*get_free_page*",
	"get_zeroed_page*", "*folio_alloc*", "*alloc_folio*", "*free_page", "__free_page*",
	"free_unref_*", "memdup_user*", "mempool_*", "*alloc_slab_page*", "*slab_alloc*",
	"___slab_alloc*", "__slab_*", "new_slab*", "allocate_slab*", "devm_k*", "trace_event_*",
	"perf_trace_*", "__traceiter_*", "__alloc_skb*", "*strdup_user*", "strndup_user*",
};

static bool is_helper(const char *name, size_t len)
{
	char function[128];

	len = len < sizeof(function) ? len : sizeof(function) - 1;
	memcpy(function, name, len);
	function[len] = '\0';
	function[strcspn(function, "+")] = '\0';
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++)
		if (glob_match(helpers[i], function))
			return true;
	return false;
}

void kmem_stack_end(struct kmem_stack *stack)
{
	if (stack->event.kind == KMEM_NONE)
		return;
	if (stack->got) {
		stack->event.site = stack->caller.s;
		stack->event.site_len = stack->caller.len;
		stack->event.module = NULL;
	}
	kmem_add(stack->kmem, &stack->event);
	stack->event.kind = KMEM_NONE;
	text_free(&stack->line);
	text_free(&stack->caller);
}

static void add_frame(struct kmem_stack *stack, const struct kmem_event *frame)
{
	if (stack->event.kind == KMEM_NONE || stack->got == stack->frames ||
	    is_helper(frame->site, frame->site_len))
		return;
	if (stack->got++)
		text_puts(&stack->caller, " < ");
	text_add(&stack->caller, frame->site, frame->site_len);
}

void kmem_stack_line(struct kmem_stack *stack, const char *line)
{
	struct kmem_event event;

	kmem_event_parse(&event, line);
	if (!stack->frames) {
		kmem_add(stack->kmem, &event);
		return;
	}
	if (event.kind == KMEM_FRAME) {
		add_frame(stack, &event);
		return;
	}
	/* Between an event and its stack ftrace has a line of its own. */
	if (event.kind == KMEM_NONE && strstr(line, "<stack trace>"))
		return;
	kmem_stack_end(stack);
	if (event.kind == KMEM_NONE)
		return;
	/* The event points into its line, which is overwritten by the next. */
	text_puts(&stack->line, line);
	kmem_event_parse(&stack->event, stack->line.s);
	stack->got = 0;
}
