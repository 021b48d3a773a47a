/* SPDX-License-Identifier: GPL-2.0-only */
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
	struct kmem_callers callers;	/* the number of callers that are shown */
	const char *heading;		/* the kind of groups; NULL: callers */
	bool files;			/* has a column for the file of a caller */
	bool slab_account;		/* has the columns of slab_account */
};

/* Ends the program if -o names an unknown column. */
void trace_check_columns(const struct output *output, bool files, struct argp_state *state);
void trace_view(const struct trace_view *view);

#endif
