// SPDX-License-Identifier: GPL-2.0-only
/*
 * Feeds any text to the reader of contexts and to all users of its result. The first byte
 * chooses the grouping.
 */
#include "read/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "model/calltree.h"
#include "model/context_stacks.h"
#include "write/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sum_up(const struct contexts *contexts, struct helpers *helpers, uint8_t how)
{
	static const char *const words[] = { "site", "caller", "function", "stack", "age", "size" };
	struct context_groups groups = { .by = words + how % 4, .by_count = how / 4 % 3 };
	struct calltree tree = { 0 };
	struct callers callers = { 0 };

	for (size_t i = 0; i < contexts->count; i++) {
		context_groups_add(&groups, contexts, &contexts->context[i], helpers, &callers);
		calltree_add(&tree, contexts, &contexts->context[i], helpers, how & 16, &callers);
	}
	context_groups_sort(&groups, how / 32 % 4);
	calltree_sort(&tree);
	/* However contexts are summed, nothing is lost. */
	if (tree.count && (tree.node[0].sum.contexts != contexts->count ||
			   tree.node[0].sum.bytes != groups.sum.bytes))
		abort();
	calltree_free(&tree);
	context_groups_free(&groups);
	callers_free(&callers);
}

static void export_stacks(const struct contexts *contexts, const struct helpers *helpers,
			  bool rest)
{
	FILE *out = fopen("/dev/null", "w");
	struct context_stacks stacks;
	struct export export = { .groups = &stacks.groups };

	context_stacks_make(&stacks, contexts, helpers, rest);
	groups_sort(&stacks.groups, ORDER_SIZE);
	export.count = stacks.groups.count;
	export_folded(&export, out);
	export_pprof(&export, out);
	context_stacks_free(&stacks);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how = size ? data[0] : 0;
	struct helpers helpers = { .fold = how & 128 };
	struct contexts contexts;
	char *text;

	if (!size)
		return 0;
	size--;
	text = memcpy(xcalloc(size + 1, 1), data + 1, size);
	contexts_parse(&contexts, text, size);
	for (size_t i = 0; i < contexts.count; i++) {
		const struct context *context = &contexts.context[i];

		if (context->frame + context->frames > contexts.frames ||
		    context->value + context->values > contexts.values)
			abort();
	}
	sum_up(&contexts, &helpers, how);
	export_stacks(&contexts, &helpers, how & 1);
	contexts_select(&contexts, NULL, how);
	sum_up(&contexts, &helpers, how);
	contexts_free(&contexts);
	helpers_free(&helpers);
	return 0;
}
