// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access rights to the files and parameters of the profiler.
 *
 * The mode of a file only tests the user id. User 0 of a container has the id of the
 * machine's root, but not its capabilities.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/moduleparam.h>
#include "internal.h"

/**
 * codetag_may_change - may the current task change the state of the profiler?
 *
 * Call it at each write, too: another task may have opened the file.
 *
 * Context: Process.
 * Return: 0, or -EPERM without CAP_SYS_ADMIN.
 */
int codetag_may_change(void)
{
	return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

/**
 * codetag_may_open - may the current task open a file of the profiler?
 * @file: the file, which is being opened
 *
 * The mode is not enough: user 0 of a container owns /proc/allocinfo. It can change the mode
 * of the file and then read it as another user.
 *
 * Context: Process.
 * Return: 0, or -EPERM: to write takes CAP_SYS_ADMIN, to read CAP_PERFMON or
 *	   CAP_SYS_ADMIN.
 */
int codetag_may_open(const struct file *file)
{
	if (file->f_mode & FMODE_WRITE)
		return codetag_may_change();
	return perfmon_capable() ? 0 : -EPERM;
}

static int set_param(const char *value, const struct kernel_param *kp)
{
	return codetag_may_change() ?: param_set_uint(value, kp);
}

/* Numeric parameters of the profiler. A write needs codetag_may_change(). */
const struct kernel_param_ops codetag_param_ops = {
	.set = set_param,
	.get = param_get_uint,
};
