/* SPDX-License-Identifier: GPL-2.0-only */
/* A word of one allocation that leads to another one. */
#ifndef CODETAG_IMAGE_EDGE_H
#define CODETAG_IMAGE_EDGE_H

#include <stdint.h>

struct edge {
	uint32_t to, offset;	/* offset in the holder; EDGE_MAPPED: in its page table */
};

#define EDGE_MAPPED UINT32_MAX

#endif
