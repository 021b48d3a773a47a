// SPDX-License-Identifier: GPL-2.0
#include "chart_flame.h"

#include <errno.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#ifdef HAVE_D3
#include "chart/page.h"
#endif
#include "model/context_stacks.h"
#include "model/frames.h"
#include "write/outfile.h"

static const char *title_of(const struct chart_flame *flame)
{
	if (flame->title)
		return flame->title;
	return flame->calls ? "Kernel allocations by stack" : "Kernel memory by stack";
}

#ifdef HAVE_CAIRO
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

static bool draw_picture(const struct chart_flame *flame, const struct groups *groups,
			 const char *subtitle, FILE *out)
{
	struct tree tree = { 0 };
	struct chart_tree chart = {
		.chart = {
			.title = title_of(flame), .subtitle = subtitle,
			.width = flame->width, .height = flame->height, .bytes = !flame->calls,
		},
		.tree = &tree,
	};
	bool good;

	build_tree(&tree, groups, flame->calls);
	chart.start = tree.node;
	good = chart_flame(&chart, flame->format, out);
	tree_free(&tree);
	return good;
}
#else
static bool draw_picture(const struct chart_flame *flame, const struct groups *groups,
			 const char *subtitle, FILE *out)
{
	(void)flame, (void)groups, (void)subtitle, (void)out;
	warning("this build cannot make pictures, it was made without cairo");
	hint("Try .html, or 'codetag export --contexts'.");
	return false;
}
#endif

#ifdef HAVE_D3
static bool draw_page(const struct chart_flame *flame, const struct groups *groups,
		      const char *subtitle, FILE *out)
{
	struct page page = {
		.title = title_of(flame), .subtitle = subtitle, .what = "stacks",
		.view = "flame", .shown = flame->calls,
		.attribute = { { "size", "size", true }, { "calls", "allocations", false } },
		.attributes = 2,
	};
	bool good;

	page_time(&page, 0);
	page_add_groups(&page, groups);
	good = page_write(&page, out);
	page_free(&page);
	return good;
}
#else
static bool draw_page(const struct chart_flame *flame, const struct groups *groups,
		      const char *subtitle, FILE *out)
{
	(void)flame, (void)groups, (void)subtitle, (void)out;
	warning("this build cannot make pages, it was made without d3");
	hint("Try .svg or .png.");
	return false;
}
#endif

static bool draw(const struct chart_flame *flame, const struct groups *groups)
{
	struct text subtitle = { 0 };
	char total[SIZE_TEXT];
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
	good = (flame->page ? draw_page : draw_picture)(flame, groups, subtitle.s, file.stream);
	if (!good) {
		outfile_abandon(&file);
	} else if (!outfile_finish(&file)) {
		warning("cannot write %s: %s", flame->output, strerror(errno));
		good = false;
	}
	text_free(&subtitle);
	return good;
}

int chart_flame_contexts(const struct chart_flame *flame)
{
	struct context_stacks stacks;
	struct contexts contexts;
	int status = STATUS_TROUBLE;

	if (!contexts_read(&contexts, &flame->contexts))
		return status;
	contexts_select(&contexts, flame->query, flame->contexts.min_age);
	context_stacks_make(&stacks, &contexts, &flame->contexts.helpers, !flame->contexts.min_age);
	if ((flame->calls ? stacks.groups.now.calls : stacks.groups.now.bytes) <= 0)
		warning("there is nothing to draw");
	else if (draw(flame, &stacks.groups) &&
		 contexts_complete(&contexts, contexts_name(&flame->contexts)))
		status = STATUS_OK;
	context_stacks_free(&stacks);
	contexts_free(&contexts);
	return status;
}
