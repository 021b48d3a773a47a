/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slab_ref.c: the ids of slabs that have one page and need a vector.
 */
#ifndef _MM_CODETAG_SLAB_FAR_H
#define _MM_CODETAG_SLAB_FAR_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct seq_file;
struct slab;

/**
 * struct far_vector - the ids of a slab that has one page and needs a vector
 * @node:	in a hash table of these
 * @slab:	the slab, NULL once that is gone
 * @rcu:	to unlink it, and to free it once no lookup can pass it
 * @ids:	the ids
 *
 * Read under RCU; @node changes with codetag_far_lock() held. @slab is set before linking and
 * cleared once.
 */
struct far_vector {
	struct hlist_node node;
	const struct slab *slab;
	struct rcu_head rcu;
	u16 ids[];
};

#define CODETAG_FEW_FAR_VECTORS	512
extern struct hlist_head codetag_few_far_vectors[CODETAG_FEW_FAR_VECTORS];
extern struct hlist_head *codetag_many_far_vectors;
extern unsigned int codetag_many_far_vectors_bits;
unsigned long codetag_far_lock(void);
void codetag_far_unlock(unsigned long flags);
void codetag_slab_show_stats(struct seq_file *m);

#endif /* _MM_CODETAG_SLAB_FAR_H */
