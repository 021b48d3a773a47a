/* SPDX-License-Identifier: GPL-2.0-only */
/* A word of one allocation that leads to another one, or a word that belongs to it. */
#ifndef CODETAG_IMAGE_EDGE_H
#define CODETAG_IMAGE_EDGE_H

#include <stdint.h>

struct edge {
	uint32_t to, offset;	/* offset in the holder, or EDGE_ELSEWHERE */
};

/* The word is in page tables, in a struct page, or in the percpu memory of some processor. */
#define EDGE_ELSEWHERE UINT32_MAX

#endif
