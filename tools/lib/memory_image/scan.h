/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of graph_read() while it scans memory for pointers, for graph.c and the scan_*.c files
 * alone. These are the files, lowest first; each calls only those before it:
 *
 * - scan_words.c decides which words are pointers, and to what; reads memory and page tables.
 * - scan_objects.c decides which words of an allocation count.
 * - scan_roots.c decides what the roots are, and which memory is not searched at all.
 * - graph.c does these steps in order, and answers questions about the finished graph.
 */
#ifndef CODETAG_IMAGE_SCAN_H
#define CODETAG_IMAGE_SCAN_H

#include "memory_image/graph.h"

/* The stack of a task: a root from @sp to the end of the stack. */
struct task {
	uint64_t stack, sp;	/* its lowest address, and the stack pointer in it */
	uint32_t label;		/* as in graph->root_label */
};

/*
 * Addresses are the kernel's, unless their names have "pa" or "pfn", and sizes are bytes. The scan
 * owns @task, @area, @skip and @writes_next, which graph_read() frees. It only borrows the rest.
 */
struct scan {
	/*
	 * The graph grows by one node after the other. Nodes begin in ascending order, each of
	 * them exactly once: 0, the objects, the roots. So the edges of a node are together.
	 */
	struct graph *graph;
	uint32_t from;		/* the node that began last, which gets all edges */

	struct kernel_objects *objects;
	struct image *image;	/* of the objects */

	/* Set before the first step, and never changed. A range from 0 to 0 is empty. */
	uint64_t direct_map, max_pa;			/* of physical addresses below max_pa */
	uint64_t memory_map, memory_map_size;		/* all struct pages, of struct_page bytes */
	uint64_t struct_page;
	unsigned int page_shift;
	uint64_t text, text_size;			/* the whole image of the kernel */
	uint64_t cpu0;		/* a percpu pointer and this: its address for processor 0 */
	uint64_t area_low, area_high;			/* all areas of vmalloc space */
	uint64_t percpu_low, percpu_high;		/* small percpu pointers */
	bool hardened;		/* the pointer to the next free object is encoded */

	/* Set for registers and stacks, the last roots: one physical address counts by itself. */
	bool alone;

	/* The words that scan_words() looks at, valid until it returns */
	const uint8_t *words;
	size_t len, at;		/* bytes; offset of the current word, a multiple of 8 */
	size_t in_page;		/* the offset of the first of them in its page */

	/* Of scan_roots.c */
	struct task *task;	/* the kernel's first task is the first, if it has a stack */
	size_t tasks, task_room;
	struct frames_list skip;	/* not searched; sorted and disjoint after each step */

	/* Of scan_objects.c */
	uint8_t *writes_next;	/* a bit of each site id, see scan_find_writers() */
	struct vmalloc_area *area;	/* those of the objects, by node */
	size_t areas, next_area;	/* next_area: first one whose node has not begun */

	graph_progress *progress;	/* may be NULL */
	void *data;			/* for @progress */
	uint64_t all;			/* size of the dump, for @progress */
};

/* From here on all edges are those of @node. */
static inline void scan_begin_node(struct scan *s, uint32_t node)
{
	s->from = node;
	s->graph->first[node] = s->graph->edges;
}

#endif
