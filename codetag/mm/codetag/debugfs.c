// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/codetag/: each source file makes its own.
 */
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/uaccess.h>
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

/**
 * codetag_copy_text - copy a short text that is written to a file
 * @to:		for the text, with a NUL byte at its end
 * @size:	bytes at @to
 * @from:	the text
 * @len:	bytes of it
 *
 * Context: Process.
 * Return: 0; -EFAULT; or -EINVAL for a text that is too long or has a NUL byte: then its begin is
 *	   at @to, for a message.
 */
int codetag_copy_text(char *to, size_t size, const char __user *from, size_t len)
{
	size_t copied = min(len, size - 1);

	if (copy_from_user(to, from, copied))
		return -EFAULT;
	to[copied] = '\0';
	return strlen(to) == len ? 0 : -EINVAL;
}
