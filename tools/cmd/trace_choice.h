/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that choose events of a trace and their callers, for all commands that read one.
 */
#ifndef CODETAG_TRACE_CHOICE_H
#define CODETAG_TRACE_CHOICE_H

#include <argp.h>
#include <stdbool.h>

#include "contexts_read.h"
#include "trace/kmem.h"

struct trace_choice {
	struct kmem_filter filter;
	unsigned int frames;	/* of a stack that make a caller; 0: call sites are callers */
	bool pages;		/* count pages instead of slab objects */
	int64_t page_size;	/* 0: of this machine */
	const struct contexts_choice *contexts;	/* the size can be for a file of these; may be NULL */
	bool given;		/* any of these options was given */
};

/* An argp child: its input is a struct trace_choice. */
extern const struct argp trace_choice_argp;

/* An empty account that counts the chosen events. */
void trace_choice_start(const struct trace_choice *choice, struct kmem *kmem);

#endif
