/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of memory that are pointers, by their value and the words beside them. Each of them becomes
 * an edge of the current node, scan->from. Memory that the dump lacks has no words. Functions that
 * read memory end early if the image is exhausted.
 */
#ifndef CODETAG_IMAGE_SCAN_WORDS_H
#define CODETAG_IMAGE_SCAN_WORDS_H

#include "memory_image/scan.h"

/* Sets scan->percpu_low and scan->percpu_high, for the functions below. */
void scan_find_small_percpu(struct scan *s);

/*
 * Adds an edge to the node @to. @offset is that of the word in its holder, or EDGE_ELSEWHERE. Neither
 * node 0, which stands for no object, nor the current node gets one.
 */
void scan_add_edge(struct scan *s, uint32_t to, uint32_t offset);

/*
 * Looks at @len bytes that were read, of which the first is at @in_page in its page, and at @offset
 * in its holder. A part of a word at the end does not count. Some words are pointers only beside
 * others, and only these @len bytes are searched for those.
 */
void scan_words(struct scan *s, const uint8_t *words, size_t len, size_t in_page, uint32_t offset);

/*
 * Reads @len bytes of memory, page by page, and looks at their words. The first byte is at @offset
 * in its holder. Whole pages can also be page tables. Counts in graph->scanned, and shows the
 * progress.
 */
void scan_physical(struct scan *s, uint64_t pa, uint64_t len, uint32_t offset);
void scan_virtual(struct scan *s, uint64_t va, uint64_t len, uint32_t offset);

/* Called with the physical address of a page table, or of a mapped page if not @table. */
typedef void scan_entry(struct scan *s, uint64_t pa, bool table);

/*
 * Calls @function for all tables and pages below the top table at physical address @table: those of
 * the kernel, or those of a process. Larger mapped memory counts once.
 */
void scan_tables(struct scan *s, uint64_t table, bool kernel, scan_entry *function);

#endif
