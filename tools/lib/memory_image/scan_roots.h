/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Roots of the graph: the kernel's data, percpu variables, memory since boot, registers, stacks of
 * tasks, and other memory without an id. Modules and the kernel's own bookkeeping are extents that
 * are never lost. The functions are called in this order.
 */
#ifndef CODETAG_IMAGE_SCAN_ROOTS_H
#define CODETAG_IMAGE_SCAN_ROOTS_H

#include "memory_image/scan.h"

/*
 * Sets EXTENT_QUIET and EXTENT_USED for memory that is neither searched nor lost: struct pages, ids
 * of pages, percpu chunks (scan_objects() searches the allocations in them), KFENCE's metadata and
 * page tables of the kernel. Pages in no extent go to scan->skip. Sorts that, and the lists of page
 * frames without an id.
 */
void scan_set_aside(struct scan *s);

/* Fills scan->task, and sets EXTENT_QUIET for all stacks. */
void scan_find_tasks(struct scan *s);

/* Sets the labels of the extents of modules. */
void scan_find_modules(struct scan *s);

/* Begins a node for each root behind those of scan_objects(), and adds its edges. */
void scan_roots(struct scan *s);

#endif
