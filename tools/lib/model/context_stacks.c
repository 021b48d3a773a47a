// SPDX-License-Identifier: GPL-2.0-only
#include "model/context_stacks.h"

#include <stdlib.h>

#include "base/memory.h"

static const char *keep(struct context_stacks *stacks, const struct text *text)
{
	size_t i = strmap_add(&stacks->names, text->s, text->len);

	return stacks->names.entry[i].key;
}

static void add_frame(struct context_stacks *stacks, struct stack *stack, size_t *room,
		      const struct text *name)
{
	GROW(stack->name, stack->count, *room);
	stack->name[stack->count++] = keep(stacks, name);
}

/* Root first. */
static struct stack frames_of_context(struct context_stacks *stacks,
				      const struct contexts *contexts,
				      const struct context *context, const struct callers *callers)
{
	struct stack stack = { .whole = contexts->of_others };
	struct text name = { 0 };
	size_t room = 0;

	for (size_t i = callers->count; i--; ) {
		text_clear(&name);
		frame_name(&name, callers->frame[i]);
		add_frame(stacks, &stack, &room, &name);
	}
	for (size_t i = 0; i < context->values && !context->frames; i++) {
		const struct context_value *value = &contexts->value[context->value + i];

		text_clear(&name);
		text_printf(&name, "%s=%s", value->key, value->value);
		add_frame(stacks, &stack, &room, &name);
	}
	text_free(&name);
	return stack;
}

/* Contexts with the same site and frames are one group. */
static void add(struct context_stacks *stacks, const struct site *site, struct stack stack,
		const struct sum *sum)
{
	struct groups *groups = &stacks->groups;
	struct text name = { 0 };
	size_t i;

	group_name(&name, groups->by, site);
	for (i = 0; i < stack.count; i++)
		text_printf(&name, "\n%s", stack.name[i]);
	i = strmap_add(&groups->names, name.s, name.len);
	if (i == groups->count) {
		GROW(groups->group, groups->count, groups->room);
		stacks->stack = xreallocarray(stacks->stack, groups->room, sizeof(stack));
		stacks->stack[groups->count] = stack;
		groups->group[groups->count++] = (struct group){
			.name = groups->names.entry[i].key, .site = site,
		};
	} else {
		free(stack.name);
	}
	sum_add(&groups->group[i].now, sum);
	sum_add(&groups->now, sum);
	text_free(&name);
}

static void add_rest(struct context_stacks *stacks, const struct split_site *split)
{
	struct sum sum = { split->site.bytes, split->site.calls, 1 };
	struct text name = { 0 };
	struct stack stack = { 0 };
	size_t room = 0;

	if (!sum.bytes && !sum.calls)
		return;
	text_puts(&name, "(of no context)");
	add_frame(stacks, &stack, &room, &name);
	add(stacks, &split->site, stack, &sum);
	text_free(&name);
}

void context_stacks_make(struct context_stacks *stacks, const struct contexts *contexts,
			 const struct helpers *helpers, bool rest)
{
	struct callers callers = { 0 };

	*stacks = (struct context_stacks){ .groups.by = { BY_SITE, 0 } };
	for (size_t i = 0; i < contexts->count; i++) {
		const struct context *context = &contexts->context[i];
		struct sum sum = { context->site.bytes, context->site.calls, 1 };

		callers_of(&callers, contexts, context, helpers);
		add(stacks, &context->site,
		    frames_of_context(stacks, contexts, context, &callers), &sum);
	}
	for (size_t i = 0; i < contexts->splits && rest; i++)
		add_rest(stacks, &contexts->split[i]);
	/* The array of stacks grew with the array of groups, and stays in place from now on. */
	for (size_t i = 0; i < stacks->groups.count; i++)
		stacks->groups.group[i].stack = &stacks->stack[i];
	callers_free(&callers);
}

void context_stacks_free(struct context_stacks *stacks)
{
	/* Sorting may have changed the order of the groups. */
	for (size_t i = 0; i < stacks->groups.names.count; i++)
		free(stacks->stack[i].name);
	free(stacks->stack);
	groups_free(&stacks->groups);
	strmap_free(&stacks->names);
}
