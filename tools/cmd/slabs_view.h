/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing caches, and their changes. */
#ifndef CODETAG_SLABS_VIEW_H
#define CODETAG_SLABS_VIEW_H

#include "output.h"
#include "analysis/slab_rank.h"
#include "analysis/slab_sites.h"

struct slabs_view {
	const struct output *output;
	int64_t page_size;
	size_t top;	/* 0: all */
	size_t sites;	/* call sites below each cache, 0: none */
};

/* Ends the program if -o names an unknown column. */
void slabs_check_columns(const struct output *output, bool diff, struct argp_state *state);

void slabs_show(const struct slabinfo *info, const struct slab_holders *holders,
		const struct slabs_view *view);

/* For the textfile collector of the node_exporter. */
void slabs_prometheus(const struct slabinfo *info, int64_t page_size);
void slabs_show_changes(const struct slab_changes *changes, const struct slabs_view *view);

#endif
