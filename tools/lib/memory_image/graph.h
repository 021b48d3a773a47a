/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pointers between objects of an image: each word of the kernel's memory that can be a pointer to an
 * allocation is an edge. Which words those are, and how pointers are written:
 *
 * - Roots are the kernel's data, memory that is the kernel's since boot, percpu variables,
 *   registers, stacks from where the stack pointer is, and modules.
 * - An address anywhere in an object leads to it, so flags in low bits do not matter: list_nulls,
 *   entries of xarrays and maple trees, rhashtable, bits of obj_cgroups.
 * - The address of a struct page leads to the pages, and pointers in a struct page belong to them.
 * - An address in the first page of a vmalloc area leads to the vm_struct, and that to the pages.
 *   In allocated memory near older addresses only the first address does. The trees of used and free
 *   areas, page tables of the kernel and its direct map lead nowhere. The tables of a process do.
 * - Percpu memory is found by the pointer that alloc_percpu() returns, with its two lowest bits
 *   clear, and by addresses of any processor. A small pointer among numbers,
 *   and near no address, is a number.
 * - A physical address or page frame number has to be that of the first byte, and to be beside
 *   another one of the same call site. A physical address in a register or on a stack does not.
 * - An object that was free still has the pointer to the next free object. It does not count,
 *   unless the call site writes to that word of its objects.
 * - Old words do not count. These are words of free block requests and of a struct net that
 *   waits for its free. Others are pages of kvfree_rcu() behind the last address, owners of
 *   free rw_semaphores, and links of slabs.
 * - Pages that were split from one allocation follow the first of them, if an address leads there.
 * - Words in memory that holds ids of codetag do not count: four ids can look like an address. This
 *   memory is never lost.
 * - Words in users' pages do not count, nor those in the page tables of the kernel and of processes.
 *   Other pages with nothing but entries of page tables hold the pages that these entries name.
 *
 * scan_words.c has the rules for the value of a word, scan_objects.c those for words of an
 * allocation, scan_roots.c those for all other memory.
 */
#ifndef CODETAG_IMAGE_GRAPH_H
#define CODETAG_IMAGE_GRAPH_H

#include "base/strmap.h"
#include "memory_image/edge.h"
#include "memory_image/kernel_objects.h"

/* Nodes are those of the objects, with their numbers, and one more for each root behind them. */
struct graph {
	struct kernel_objects *objects;
	uint32_t nodes;		/* one above the last root, behind all objects */
	uint32_t *root_label;	/* for nodes from objects->nodes on: index in @labels + 1 */
	size_t roots, root_room;
	struct strmap labels;	/* names of roots and modules */
	uint64_t *first;	/* edges of node i: first[i] to first[i + 1] */
	struct edge *edge;
	uint64_t edges, edge_room;
	uint64_t scanned;	/* bytes */
};

/* Called by graph_read() after each 64 MiB or so with the bytes that were searched, of @all. */
typedef void graph_progress(void *data, uint64_t done, uint64_t all);

/*
 * Searches the memory of an image. Never fails: memory that the dump lacks has no pointers, and an
 * image with a loop gets the edges that were found before its limit. Sets flags and labels of the
 * extents, so it is called once for @objects, which the graph uses until graph_free(). @progress
 * may be NULL.
 */
struct graph *graph_read(struct kernel_objects *objects, graph_progress *progress, void *data);
void graph_free(struct graph *graph);

/*
 * The pages that are linked to the page @node, one after the other from @i = 0 on; 0: no more.
 */
uint32_t graph_follower(const struct graph *graph, uint32_t node, unsigned int i);

/* Whether a node is one of the roots, or memory that is never lost. */
bool graph_is_root(const struct graph *graph, uint32_t node);

/*
 * Sets @reached[node] for all nodes that the roots reach without passing a node in @without (a
 * byte for each node; may be NULL).
 */
void graph_reach(const struct graph *graph, const uint8_t *without, uint8_t *reached);

/*
 * Sets @reached for @node and all nodes that it reaches without passing a node in @without.
 * @stack has space for all nodes.
 */
void graph_reach_from(const struct graph *graph, uint32_t node, const uint8_t *without,
		      uint8_t *reached, uint32_t *stack);

/* The group of a node: the id of its site, or of its context if @contexts; or a label. */
#define GRAPH_LABELS IMAGE_IDS
uint32_t graph_group(const struct graph *graph, uint32_t node, bool contexts);

/* The name of a group. */
void graph_group_name(const struct graph *graph, uint32_t group, struct text *name);

#endif
