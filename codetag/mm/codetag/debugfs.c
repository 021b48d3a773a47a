// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/: each source file makes its own.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include "internal.h"

/**
 * codetag_debugfs_dir - the directory of the profiler's files
 *
 * Context: Initcalls from subsys_initcall() on, which run one at a time.
 * Return: The directory; it need not be checked, like all that debugfs returns.
 */
struct dentry * __init codetag_debugfs_dir(void)
{
	static struct dentry *dir __initdata;

	if (!dir)
		dir = debugfs_create_dir("codetag", NULL);
	return dir;
}
