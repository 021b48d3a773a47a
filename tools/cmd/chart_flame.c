// SPDX-License-Identifier: GPL-2.0-only
#include "chart_flame.h"

#include <errno.h>
#include <string.h>

#include "base/message.h"
#include "base/number.h"
#include "chart/page_draw.h"
#include "chart/picture.h"
#include "model/context_stacks.h"
#include "base/outfile.h"

static const char *title_of(const struct chart_flame *flame)
{
	if (flame->title)
		return flame->title;
	return flame->calls ? "Kernel allocations by stack" : "Kernel memory by stack";
}

static bool draw(const struct chart_flame *flame, const struct groups *groups, bool of_others)
{
	struct chart chart = {
		.title = title_of(flame), .width = flame->width, .height = flame->height,
		.bytes = !flame->calls,
	};
	struct text subtitle = { 0 };
	char total[SIZE_TEXT];
	struct outfile file;
	bool good = outfile_open(&file, flame->output);

	if (!good) {
		warning("cannot create %s: %s", flame->output, strerror(errno));
		return false;
	}
	text_printf(&subtitle, "%s in %lld allocations%s",
		    size_format(total, groups->now.bytes, true), (long long)groups->now.calls,
		    of_others ? "" : " of call sites that are split");
	if (flame->contexts.min_age)
		text_printf(&subtitle, ", %lld s old or older", (long long)flame->contexts.min_age);
	chart.subtitle = subtitle.s;
	good = flame->page ? page_draw_stacks(groups, &chart, file.stream) :
			     picture_draw_stacks(groups, &chart, flame->format, file.stream);
	good = outfile_end(&file, flame->output, good);
	text_free(&subtitle);
	return good;
}

int chart_flame_contexts(const struct chart_flame *flame)
{
	struct context_stacks stacks;
	struct contexts contexts;
	int status = STATUS_TROUBLE;

	if (!contexts_read_chosen(&contexts, &flame->contexts, flame->query))
		return status;
	context_stacks_make(&stacks, &contexts, &flame->contexts.helpers, !flame->contexts.min_age);
	if ((flame->calls ? stacks.groups.now.calls : stacks.groups.now.bytes) <= 0)
		warning("there is nothing to draw");
	else if (draw(flame, &stacks.groups, contexts.of_others) &&
		 contexts_complete(&contexts, contexts_name(&flame->contexts)))
		status = STATUS_OK;
	context_stacks_free(&stacks);
	contexts_free(&contexts);
	return status;
}
