// SPDX-License-Identifier: GPL-2.0
#include "chart_flame.h"

#include <errno.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "model/context_stacks.h"
#include "model/frames.h"
#include "write/outfile.h"

/* A slash would be two frames, so it becomes a sign that looks like one. */
static void add_name(struct text *path, const char *name)
{
	for (; *name; name++) {
		if (*name == '/')
			text_puts(path, "\xe2\x88\x95");
		else
			text_add(path, name, 1);
	}
}

/* The values of charts are bytes. */
static void build_tree(struct tree *tree, const struct groups *groups, bool calls)
{
	struct frames frames = { 0 };
	struct text path = { 0 };

	for (size_t i = 0; i < groups->count; i++) {
		struct sum sum = groups->group[i].now;

		if (calls)
			sum.bytes = sum.calls;
		text_clear(&path);
		frames_of(&frames, groups, &groups->group[i]);
		for (size_t f = 0; f < frames.count; f++) {
			if (f)
				text_puts(&path, "/");
			add_name(&path, frames.name[f]);
		}
		tree_add(tree, path.s, &sum);
	}
	tree_sort(tree, ORDER_SIZE);
	if (tree->count)
		tree->node[0].name = "all";
	text_free(&path);
	frames_free(&frames);
}

static bool draw(const struct chart_flame *flame, const struct groups *groups,
		 const struct tree *tree)
{
	struct text subtitle = { 0 };
	char total[SIZE_TEXT];
	struct chart_tree chart = {
		.chart = {
			.title = flame->title ? flame->title : flame->calls ?
				 "Kernel allocations by stack" : "Kernel memory by stack",
			.width = flame->width, .height = flame->height, .bytes = !flame->calls,
		},
		.tree = tree, .start = tree->node,
	};
	struct outfile file;
	bool good = outfile_open(&file, flame->output);

	if (!good) {
		warning("cannot create %s: %s", flame->output, strerror(errno));
		return false;
	}
	text_printf(&subtitle, "%s in %lld allocations of call sites that are split",
		    size_format(total, groups->now.bytes, true), (long long)groups->now.calls);
	if (flame->contexts.min_age)
		text_printf(&subtitle, ", %lld s old or older", (long long)flame->contexts.min_age);
	chart.chart.subtitle = subtitle.s;
	good = chart_flame(&chart, flame->format, file.stream);
	if (!good)
		outfile_abandon(&file);
	else
		good = outfile_finish(&file);
	if (!good)
		warning("cannot write %s: %s", flame->output, strerror(errno));
	text_free(&subtitle);
	return good;
}

int chart_flame_contexts(const struct chart_flame *flame)
{
	struct context_stacks stacks;
	struct contexts contexts;
	struct tree tree = { 0 };
	int status = STATUS_TROUBLE;

	if (!contexts_read(&contexts, &flame->contexts))
		return status;
	contexts_select(&contexts, flame->query, flame->contexts.min_age);
	context_stacks_make(&stacks, &contexts, &flame->contexts.helpers, !flame->contexts.min_age);
	build_tree(&tree, &stacks.groups, flame->calls);
	if (!tree.count || tree.node[0].sum.bytes <= 0)
		warning("there is nothing to draw");
	else if (draw(flame, &stacks.groups, &tree) &&
		 contexts_complete(&contexts, contexts_name(&flame->contexts)))
		status = STATUS_OK;
	tree_free(&tree);
	context_stacks_free(&stacks);
	contexts_free(&contexts);
	return status;
}
