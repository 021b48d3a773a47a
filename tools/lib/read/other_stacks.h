/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stacks that other tools have found, as contexts: the file page_owner of debugfs and what
 * page_owner_sort makes of it, page_owner_stacks/show_stacks, and what memleak of bcc prints.
 *
 *	Page allocated via order 0, mask 0xcc0(GFP_KERNEL), pid 1, tgid 1 (init), ts 1 ns
 *	PFN 0x1000 type Unmovable …
 *	 post_alloc_hook+0x1b/0x30
 *
 *	 foo+0x33/0x80
 *	nr_base_pages: 12
 *
 *		45 bytes in 3 allocations from stack
 *			foo+0x33 [kernel]
 */
#ifndef CODETAG_OTHER_STACKS_H
#define CODETAG_OTHER_STACKS_H

#include "read/contexts.h"

/* Whether @text has such stacks; its lines may have been cut apart. */
bool other_stacks_are(const char *text, size_t len);

/*
 * Fills @contexts, which then owns @text. Equal stacks are one context. Of several reports of
 * memleak the last one counts. A page has @page_size bytes, 0: as on this machine.
 */
void other_stacks_parse(struct contexts *contexts, char *text, size_t len, int64_t page_size);

#endif
