/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layout table: numbers of this kernel for programs that read an image of the machine's
 * memory. With these a program finds call sites, their counters, and the call site of each page
 * and object.
 *
 * Described in Documentation/ABI/testing/vmcore-codetag.
 */
#ifndef _LINUX_CODETAG_LAYOUT_H
#define _LINUX_CODETAG_LAYOUT_H

#include <linux/types.h>

#define CODETAG_LAYOUT_MAGIC	"codetag layout\n"
#define CODETAG_LAYOUT_VERSION	2

/**
 * struct codetag_layout_entry - one number
 * @name:	what it is: "SYMBOL", "sizeof STRUCT", "STRUCT.MEMBER" or a name of its own
 * @value:	the address, size, offset or constant
 */
struct codetag_layout_entry {
	const char *name;
	unsigned long value;
};

/**
 * struct codetag_layout - where to begin, and what is known only at run time
 * @magic:	CODETAG_LAYOUT_MAGIC; a table is one if @self is right, too
 * @version:	CODETAG_LAYOUT_VERSION
 * @word:	bytes of an unsigned long, and of a pointer
 * @self:	physical address of this
 * @tables:	physical address of the kernel's top page table
 * @top_shift:	bits of an address that an entry of it stands for
 * @top_bits:	how many bits of an address are the index in that table
 * @page_shift:	bits of an address within a page
 * @entries:	address of the entries
 * @nr:		how many entries there are
 * @direct_map:	what to add to a physical address to get that of the direct map
 * @memory_map:	address of the struct page of page frame 0, wherever there is one
 * @vmalloc:	where vmalloc space begins
 * @vmalloc_end: where it ends
 * @counters:	address of the per-CPU counters of built-in call sites
 * @nr_cpus:	one more than the highest possible CPU
 * @nr_nodes:	one more than the highest possible node
 * @objects:	the bits of slab.counters that say how many objects a slab has
 * @block_order: pages of a block that has one migratetype, as a power of two
 * @flags_shift: where in page->flags an id is
 * @flags_bits:	how many bits it has there
 * @section_roots: elements of mem_section
 *
 * All of it is 0 but the magic and the version until the table is filled in.
 */
struct codetag_layout {
	char magic[16];
	u32 version;
	u32 word;
	u64 self;
	u64 tables;
	u64 top_shift;
	u64 top_bits;
	u64 page_shift;
	u64 entries;
	u64 nr;
	u64 direct_map;
	u64 memory_map;
	u64 vmalloc;
	u64 vmalloc_end;
	u64 counters;
	u64 nr_cpus;
	u64 nr_nodes;
	u64 objects;
	u64 block_order;
	u64 flags_shift;
	u64 flags_bits;
	u64 section_roots;
};

extern struct codetag_layout codetag_layout;

#endif /* _LINUX_CODETAG_LAYOUT_H */
