/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of a binary trace, decoded by libtraceevent. */
#ifndef CODETAG_KMEM_TEP_H
#define CODETAG_KMEM_TEP_H

#include <event-parse.h>

#include "base/text.h"
#include "trace/kmem_event.h"

#define KMEM_TEP_SITES 4096	/* power of two */

struct kmem_tep {
	kmem_sink *sink;
	void *context;
	struct tep_handle *tep;
	struct text task, line;	/* members of the current event */
	struct kmem_tep_site {
		uint64_t address;
		char *name;	/* "foo+0x33"; NULL: a free slot */
	} site[KMEM_TEP_SITES];	/* names of callers that occurred lately */
};

/* Hands the event on if it is of interest. */
void kmem_tep_read(struct kmem_tep *reader, struct tep_record *record, int cpu);
void kmem_tep_free(struct kmem_tep *reader);

#endif
