/* SPDX-License-Identifier: GPL-2.0 */
/* The accounts of a trace, as text and as JSON. */
#ifndef CODETAG_TRACE_VIEW_H
#define CODETAG_TRACE_VIEW_H

#include "output.h"
#include "trace/kmem_rank.h"

struct trace_view {
	const struct output *output;
	const char *source;		/* its name */
	const struct kmem *kmem;
	const struct kmem *ranked;	/* its callers, or groups of them */
	const struct kmem_order *order;
	struct kmem_caller total;
	struct kmem_callers callers;	/* that are in it */
	const char *heading;		/* of what was summed; NULL: callers */
	bool files;			/* a column for the file of a caller */
	bool slab_account;		/* the columns of that tool */
};

/* Ends the program if columns were asked for that there are not. */
void trace_check_columns(const struct output *output, bool files, struct argp_state *state);
void trace_view(const struct trace_view *view);

#endif
