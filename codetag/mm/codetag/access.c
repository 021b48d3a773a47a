// SPDX-License-Identifier: GPL-2.0
/*
 * Who may read what the profiler knows, and who may change what it does.
 *
 * The mode of a file only asks for the user. User 0 of a container has the same
 * number as the machine's, but not its capabilities.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/moduleparam.h>
#include "internal.h"

/**
 * codetag_may_change - may the current task change what the profiler does?
 *
 * To be asked again at each write: a file may have been opened by somebody else.
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
 * Whoever it is: user 0 of a container owns /proc/allocinfo, so it can change the
 * file's mode, and read as somebody else then.
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

/* Parameters of the profiler: numbers, that only codetag_may_change() may write. */
const struct kernel_param_ops codetag_param_ops = {
	.set = set_param,
	.get = param_get_uint,
};
