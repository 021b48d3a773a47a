// SPDX-License-Identifier: GPL-2.0-only
#include "model/frames.h"

#include <string.h>

static bool has_path(enum group_by by)
{
	return by == BY_SITE || by == BY_ROW || by == BY_FILE || by == BY_DIR;
}

/* Splits the name at slashes; below the deepest level it stays one frame. */
static void cut(struct frames *frames, char *path)
{
	char *slash;

	while (frames->count < FRAMES_MAX - 2 && *path) {
		slash = strchr(path + (*path == '/'), '/');
		frames->name[frames->count++] = path;
		if (!slash)
			return;
		*slash = '\0';
		path = slash + 1;
	}
	if (*path)
		frames->name[frames->count++] = path;
}

/* If a stack is too deep, its outermost frames are left out. */
static void take(struct frames *frames, const struct stack *stack)
{
	size_t first = stack->count > FRAMES_MAX - 1 ? stack->count - (FRAMES_MAX - 1) : 0;

	for (size_t i = first; i < stack->count; i++)
		frames->name[frames->count++] = stack->name[i];
}

void frames_of(struct frames *frames, const struct groups *groups,
	       const struct group *group)
{
	enum group_by by = groups->by.by;
	struct text *text = &frames->text;
	size_t leaf;

	frames->count = 0;
	text_clear(text);
	if (by != BY_SITE && by != BY_ROW && by != BY_PLACE) {
		text_puts(text, group->name);
		if (has_path(by))
			cut(frames, text->s);
		else
			frames->name[frames->count++] = text->s;
		return;
	}
	if (!group->stack)
		text_puts(text, group->site->file);
	leaf = text->len + 1;
	text_add(text, "", 1);
	text_puts(text, group->site->func);
	if (by != BY_PLACE && group->site->line)
		text_printf(text, ":%u", group->site->line);
	if (group->stack)
		take(frames, group->stack);
	else
		cut(frames, text->s);
	if (!group->stack || !group->stack->whole || !frames->count)
		frames->name[frames->count++] = text->s + leaf;
}

void frames_free(struct frames *frames)
{
	text_free(&frames->text);
}

/* A slash would make two frames, so it becomes a character that looks like one. */
static void add_name(struct text *path, const char *name)
{
	for (; *name; name++) {
		if (*name == '/')
			text_puts(path, "\xe2\x88\x95");
		else
			text_add(path, name, 1);
	}
}

void frames_tree(struct tree *tree, const struct groups *groups, bool calls)
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
