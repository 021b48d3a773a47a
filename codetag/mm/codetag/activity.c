// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/activity: how often each call site has allocated, and how often
 * that memory was freed.
 *
 * /proc/allocinfo shows memory that is held, and cannot tell a busy site from a quiet one.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/seq_file.h>
#include "allocinfo.h"
#include "internal.h"

static int activity_show(struct seq_file *m, void *v)
{
	const struct codetag_info *info = v;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, "# activity - version: 1.0\n"
			 "# <allocs>    <frees>    <parts> <tag info>\n");
	else
		allocinfo_show_line(m, info, "%10u %10u %10u", info->sum.allocs, info->sum.frees,
				    info->sum.parts);
	return 0;
}

static const struct seq_operations activity_ops = {
	.start	= allocinfo_start,
	.next	= allocinfo_next,
	.stop	= allocinfo_stop,
	.show	= activity_show,
};

static int activity_open(struct inode *inode, struct file *file)
{
	int ret = codetag_may_open(file);

	return ret ?: seq_open_private(file, &activity_ops, sizeof(struct allocinfo_iter));
}

static const struct file_operations activity_fops = {
	.owner		= THIS_MODULE,
	.open		= activity_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= seq_release_private,
};

static int __init activity_init(void)
{
	if (!mem_alloc_profiling_permanently_disabled())
		debugfs_create_file("activity", 0400, codetag_debugfs_dir(), NULL, &activity_fops);
	return 0;
}
late_initcall(activity_init);
