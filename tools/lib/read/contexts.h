/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file contexts of a codetag kernel: call sites that are split, and the memory
 * of each of their contexts:
 *
 *	# contexts - version: 1.0
 *	# site: BYTES CALLS LOST TAG keys=KEYS [depth=N] max=N contexts=N
 *	BYTES CALLS ALLOCS TAG KEY=VALUE …
 *	 FRAME
 *
 * A frame is "function+0x1f/0x2c [module]", the innermost comes first.
 */
#ifndef CODETAG_CONTEXTS_H
#define CODETAG_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"
#include "read/allocinfo.h"

/* A split site, and the memory that it holds in no context. */
struct split_site {
	struct site site;
	int64_t lost;		/* allocations that got no context */
	const char *keys;	/* "age,stack"; "none": not split any more */
	const char *settings;	/* "depth=16 max=1024", NULL: none */
	int64_t contexts;	/* the number of contexts, as the line says */
};

struct context_value {
	const char *key, *value;
};

struct frame {
	const char *func;	/* or an address */
	const char *offset;	/* "0x1f/0x2c", NULL: an address */
	const char *module;	/* NULL: built in */
};

struct context {
	struct site site;
	int64_t allocs;		/* not known for stacks of other tools */
	size_t value, values;	/* the first one in contexts.value, and how many */
	size_t frame, frames;
};

struct contexts {
	unsigned int major, minor;	/* 0.0: no header line */
	struct split_site *split;
	size_t splits, split_room;
	struct context *context;
	size_t count, room;
	struct context_value *value;
	size_t values, value_room;
	struct frame *frame;
	size_t frames, frame_room;

	struct bad_lines bad;
	bool incomplete;	/* parts are missing, which was reported */
	bool of_others;		/* stacks of another tool, see read/other_stacks.h … */
	size_t reports, report_line;	/* … whose file has so many reports, the last from there */
	char *text;
};

/* Whether @line is one of a stack. */
bool contexts_is_frame(const char *line);

/* Takes over @text; @contexts then always has to be freed. */
void contexts_parse(struct contexts *contexts, char *text, size_t len);

/*
 * Tells the user of a file that is none, and frees it then. @page_size is of the machine of a
 * file that counts pages, 0: of this one.
 */
bool contexts_take(struct contexts *contexts, char *text, size_t len, const char *path,
		   int64_t page_size);

/* Whether everything was understood; otherwise tells the user. */
bool contexts_complete(const struct contexts *contexts, const char *path);

/* NULL: the context has no such key. */
const char *context_value(const struct contexts *contexts, const struct context *context,
			  const char *key);

/* The age of the memory in a context, from @from to @to seconds; false if that is not known. */
bool context_age(const struct contexts *contexts, const struct context *context,
		 int64_t *from, int64_t *to);

void contexts_free(struct contexts *contexts);

#endif
