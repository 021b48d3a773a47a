// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/frames.h"
#include "write/export.h"

/* ';' separates frames, so it cannot be in one, and a line break ends the stack. */
static void write_frame(FILE *out, const char *name)
{
	char *copy = xstrdup(name);

	text_clean(copy);
	for (const char *s = copy; *s; s++)
		putc(*s == ';' ? ',' : *s, out);
	free(copy);
}

void export_folded(struct export *export, FILE *out)
{
	struct frames frames = { 0 };

	for (size_t i = 0; i < export->count; i++) {
		const struct group *group = &export->groups->group[i];
		int64_t weight = export->calls ? group->now.calls :
						 group->now.bytes;

		/* A flame has no negative width. */
		if (weight <= 0) {
			export->left_out += weight < 0;
			continue;
		}
		frames_of(&frames, export->groups, group);
		for (unsigned int f = 0; f < frames.count; f++) {
			if (f)
				putc(';', out);
			write_frame(out, frames.name[f]);
		}
		fprintf(out, " %" PRId64 "\n", weight);
	}
	frames_free(&frames);
}
