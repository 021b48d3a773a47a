// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kmem_stack.h"

#include <string.h>

#include "base/glob.h"

/* Functions that allocate for others, and the allocators. */
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

	/* The entry of a function on ppc64, in front of its name. */
	if (len > 1 && *name == '.') {
		name++;
		len--;
	}
	len = len < sizeof(function) ? len : sizeof(function) - 1;
	memcpy(function, name, len);
	function[len] = '\0';
	function[strcspn(function, "+")] = '\0';
	for (size_t i = 0; i < sizeof(helpers) / sizeof(*helpers); i++)
		if (glob_match(helpers[i], function))
			return true;
	return false;
}

static struct kmem_waiting *waiting(struct kmem_stack *stack, size_t i)
{
	return &stack->waiting[(stack->first + i) % KMEM_STACK_WAITING];
}

static void take_first(struct kmem_stack *stack)
{
	struct kmem_waiting *w = waiting(stack, 0);
	struct kmem_event event;

	/* The event points into its line, so it is copied. */
	kmem_event_parse(&event, w->line.s);
	event.line = w->number;
	if (w->got) {
		event.site = w->caller.s;
		event.site_len = w->caller.len;
		event.module = NULL;
	}
	kmem_add(stack->kmem, &event);
	stack->first = (stack->first + 1) % KMEM_STACK_WAITING;
	stack->count--;
}

void kmem_stack_end(struct kmem_stack *stack)
{
	while (stack->count)
		take_first(stack);
	for (size_t i = 0; i < KMEM_STACK_WAITING; i++) {
		text_free(&stack->waiting[i].line);
		text_free(&stack->waiting[i].caller);
	}
}

static void add_frame(struct kmem_stack *stack, const struct kmem_event *frame)
{
	struct kmem_waiting *w = stack->reading;

	if (!w || w->got == stack->frames || !frame->site_len || is_helper(frame->site, frame->site_len))
		return;
	if (w->got++)
		text_puts(&w->caller, " < ");
	text_add(&w->caller, frame->site, frame->site_len);
}

/* The last event of that CPU whose stack has not come yet. */
static struct kmem_waiting *open_of(struct kmem_stack *stack, int cpu)
{
	for (size_t i = stack->count; i--;)
		if (waiting(stack, i)->cpu == cpu && waiting(stack, i)->open)
			return waiting(stack, i);
	return NULL;
}

static void add_event(struct kmem_stack *stack, const struct kmem_event *event,
		      const char *line)
{
	struct kmem_waiting *w = open_of(stack, event->cpu);

	if (w)
		w->open = false;
	while (stack->count && (!waiting(stack, 0)->open || stack->count == KMEM_STACK_WAITING))
		take_first(stack);
	w = waiting(stack, stack->count++);
	text_clear(&w->line);
	text_puts(&w->line, line);
	text_clear(&w->caller);
	w->cpu = event->cpu;
	w->number = event->line;
	w->got = 0;
	w->open = true;
	/* perf prints the stack directly after the event, without a heading. */
	stack->reading = w;
}

/* The clocks of CPUs differ by much less. */
#define TIME_BACK 1.0

/*
 * A second log follows: its objects may have the same addresses. In a copy without a heading
 * the time tells it.
 */
static bool begins_another(struct kmem_stack *stack, const struct kmem_event *event,
			   const char *line)
{
	bool another = false;

	if (!strncmp(line, "# tracer:", 9)) {
		another = stack->heads++;
		stack->newest = 0;
	} else if (event->time >= 0) {
		another = event->time < stack->newest - TIME_BACK;
		if (another || event->time > stack->newest)
			stack->newest = event->time;
	}
	return another;
}

void kmem_stack_line(struct kmem_stack *stack, const char *line)
{
	struct kmem_event event;

	kmem_event_parse(&event, line);
	event.line = ++stack->lines;
	if (begins_another(stack, &event, line))
		kmem_add(stack->kmem, &(struct kmem_event){
			.kind = KMEM_BAD, .line = event.line,
			.why = "another trace begins: give one log at a time",
		});
	if (!stack->frames) {
		kmem_add(stack->kmem, &event);
		return;
	}
	switch (event.kind) {
	case KMEM_FRAME:
		add_frame(stack, &event);
		return;
	case KMEM_STACK:
		stack->reading = open_of(stack, event.cpu);
		if (stack->reading)
			stack->reading->open = false;
		return;
	case KMEM_NONE:
		stack->reading = NULL;
		return;
	default:
		add_event(stack, &event, line);
	}
}
