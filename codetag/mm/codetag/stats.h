/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters that only the file stats shows, each defined where it is counted. They are
 * not static, because the layout table says where they are.
 */
#ifndef _MM_CODETAG_STATS_H
#define _MM_CODETAG_STATS_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* page_tag.c: memory of the slots; pages that have no place for an id */
extern size_t page_tag_slot_bytes;
extern atomic_long_t page_tag_nr_lost;

/* pgalloc_tag.c */
extern atomic_long_t pgalloc_tag_nr_not_representable;
extern atomic_long_t pgalloc_tag_nr_freed_in_parts;

/* slab_ref.c: memory for the ids of objects, in slabs and in vectors */
DECLARE_PER_CPU(long, codetag_slab_vector_bytes);
DECLARE_PER_CPU(long, codetag_slab_inline_bytes);
extern atomic_long_t codetag_slab_vectors_failed;

/* ids.c: one above the highest id that may be given out, blocks that are given out */
extern atomic_long_t codetag_ids_damaged;
extern u32 codetag_id_end;
extern unsigned long codetag_blocks_used[];

/* tags.c */
extern unsigned long codetag_modules_without_id;
extern unsigned long codetag_names_lost;

/* context.c */
DECLARE_PER_CPU(unsigned long, codetag_contexts_nr_lost);

#endif /* _MM_CODETAG_STATS_H */
