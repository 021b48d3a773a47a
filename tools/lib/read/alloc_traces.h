/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call sites of the objects of a slab cache, as the kernel lists them with slab_debug=U:
 * /sys/kernel/debug/slab/CACHE/alloc_traces, before 5.14 /sys/kernel/slab/CACHE/alloc_calls.
 *
 *	   1085 populate_list+0x97/0x110 waste=5208/8 age=1/20/46 pid=1 cpus=1
 *		populate_list+0x97/0x110
 */
#ifndef CODETAG_ALLOC_TRACES_H
#define CODETAG_ALLOC_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "read/lines.h"

struct alloc_traces {
	struct alloc_trace {
		const char *site;	/* "populate_list+0x97", "foo+0x1 [module]" */
		int64_t objects;
	} *trace;
	size_t count, room;
	struct bad_lines bad;
	char *text;
};

/* Takes over @text; afterwards @traces has to be freed in any case. */
void alloc_traces_parse(struct alloc_traces *traces, char *text, size_t len);
void alloc_traces_free(struct alloc_traces *traces);

#endif
