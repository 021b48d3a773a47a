/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges of allocations: percpu memory, pages and objects of slabs. These functions decide which of
 * their words count, since some are older than the allocation; scan_words.h does the rest.
 */
#ifndef CODETAG_IMAGE_SCAN_OBJECTS_H
#define CODETAG_IMAGE_SCAN_OBJECTS_H

#include "memory_image/scan.h"

/* Sets EXTENT_KEPT or EXTENT_RECORDS for the pages of kvfree_rcu(). */
void scan_find_kept_pages(struct scan *s);

/*
 * Sets scan->writes_next: the call sites whose objects have another pointer where a free object has
 * the pointer to the next free one.
 */
void scan_find_writers(struct scan *s);

/*
 * Begins all nodes below objects->nodes, and adds their edges. Before this, the functions above and
 * all others of scan_roots.h than scan_roots() are called.
 */
void scan_objects(struct scan *s);

#endif
