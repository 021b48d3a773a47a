/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations shared by many files. A file's own header has its name. For the allocators:
 * context.h, fault.h, slab_ref.h, traced.h, recount.h, this file.
 */
#ifndef _MM_CODETAG_INTERNAL_H
#define _MM_CODETAG_INTERNAL_H

#include <linux/fs.h>
#include <linux/gfp_types.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>

struct dentry;

/*
 * For memory that a write asks for: it is accounted to the writer, and the write fails
 * before the OOM killer kills a task.
 */
#define CODETAG_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/* access.c: access rights */
int codetag_may_change(void);
int codetag_may_open(const struct file *file);
extern const struct kernel_param_ops codetag_param_ops;

/* control.c: the sites that are chosen at boot */
void codetag_control_init(void);

/* debugfs.c: the directory of the profiler's files */
struct dentry *codetag_debugfs_dir(void);
int codetag_copy_text(char *to, size_t size, const char __user *from, size_t len);

/* Define NAME_fops: SHOW prints the whole file. WRITE handles a write; NULL: none is allowed. */
#define CODETAG_DEFINE_FILE(_name, _show, _write)				\
static int _name##_open(struct inode *inode, struct file *file)		\
{										\
	return codetag_may_open(file) ?:					\
	       single_open(file, _show, inode->i_private);			\
}										\
										\
static const struct file_operations _name##_fops = {				\
	.owner		= THIS_MODULE,						\
	.open		= _name##_open,						\
	.read		= seq_read,						\
	.write		= _write,						\
	.llseek		= seq_lseek,						\
	.release	= single_release,					\
}

/* ../percpu.c: the ids of percpu objects */
void pcpu_codetag_init(void);
void pcpu_codetag_show_stats(struct seq_file *m);

#endif /* _MM_CODETAG_INTERNAL_H */
