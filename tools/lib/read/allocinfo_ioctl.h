/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ioctls of /proc/allocinfo: some of its lines, without the work of printing
 * and parsing all others. Kernels with codetag have them, and mainline from 7.3 on.
 */
#ifndef CODETAG_ALLOCINFO_IOCTL_H
#define CODETAG_ALLOCINFO_IOCTL_H

#include <stdbool.h>

#include "read/allocinfo.h"

/*
 * The running kernel's call sites in function @func and module @module, NULL: in
 * any. False, and nothing to be freed, if only the text can tell: the kernel has
 * no ioctls, the file cannot be read, or a name is longer than they have room for.
 */
bool allocinfo_read_some(struct allocinfo *info, const char *func, const char *module);

#endif
