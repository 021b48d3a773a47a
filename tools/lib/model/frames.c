// SPDX-License-Identifier: GPL-2.0
#include "model/frames.h"

#include <string.h>

static bool has_path(enum group_by by)
{
	return by == BY_SITE || by == BY_ROW || by == BY_FILE || by == BY_DIR;
}

/* Cuts at slashes; what is too deep stays one frame. */
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

/* Of what is too deep the roots are left out. */
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
	frames->name[frames->count++] = text->s + leaf;
}

void frames_free(struct frames *frames)
{
	text_free(&frames->text);
}
