// SPDX-License-Identifier: GPL-2.0-only
#include "live_contexts.h"

#include <inttypes.h>

#include "base/number.h"
#include "model/context_group.h"
#include "read/contexts.h"

static void add_line(struct text *lines, const struct contexts *contexts,
		     const struct context_group *group, const struct helpers *helpers,
		     struct callers *callers, bool human)
{
	const struct context *context = group->context;
	char size[SIZE_TEXT];

	text_printf(lines, "%12s %8" PRId64 " %8" PRId64 " ",
		    size_format(size, group->sum.bytes, human), group->sum.calls,
		    group->sum.allocs);
	for (size_t i = 0; i < context->values; i++) {
		const struct context_value *value = &contexts->value[context->value + i];

		text_printf(lines, " %s=%s", value->key, value->value);
	}
	text_puts(lines, " ");
	context_word(lines, contexts, context, BY_CONTEXT_STACK, helpers, callers);
	text_puts(lines, "\n");
}

static void add_lines(struct text *lines, const struct contexts *contexts, bool human)
{
	struct helpers helpers = { 0 };
	struct callers callers = { 0 };
	struct context_groups groups = { 0 };

	for (size_t i = 0; i < contexts->count; i++)
		context_groups_add(&groups, contexts, &contexts->context[i], &helpers, &callers);
	context_groups_sort(&groups, CONTEXTS_BY_SIZE);
	text_printf(lines, "%12s %8s %8s  %s\n", "SIZE", "CALLS", "ALLOCS", "CONTEXT");
	for (size_t i = 0; i < groups.count; i++)
		add_line(lines, contexts, &groups.group[i], &helpers, &callers, human);
	context_groups_free(&groups);
	callers_free(&callers);
}

bool live_contexts(struct text *lines, char *text, size_t len, const struct site *site,
		   bool human)
{
	struct contexts contexts;
	bool any;

	contexts_parse(&contexts, text, len);
	contexts_select_site(&contexts, site);
	any = contexts.count;
	if (any)
		add_lines(lines, &contexts, human);
	if (any && (contexts.bad.count || contexts.bad.cut))
		text_puts(lines, "some lines were not understood and are not shown\n");
	contexts_free(&contexts);
	return any;
}
