/* SPDX-License-Identifier: GPL-2.0-only */
/* The slab caches on the whole terminal, as slabtop shows them. */
#ifndef CODETAG_SLABS_LIVE_H
#define CODETAG_SLABS_LIVE_H

#include "output.h"
#include "analysis/slab_rank.h"

/* Reads @path again every @delay seconds; returns an exit status. */
int slabs_live(const char *path, struct slab_choice *choice, const struct output *output,
	       double delay);

#endif
