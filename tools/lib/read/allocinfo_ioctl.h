/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls of /proc/allocinfo, which return some of its lines without printing and parsing
 * all others. Kernels with codetag have them, and mainline from 7.3 on.
 */
#ifndef CODETAG_ALLOCINFO_IOCTL_H
#define CODETAG_ALLOCINFO_IOCTL_H

#include <stdbool.h>

#include "read/allocinfo.h"

/*
 * The running kernel's call sites in function @func and module @module (NULL: in any). Returns
 * false, with nothing to be freed, if the text has to be read: the kernel has no ioctls, the
 * file cannot be read, or a name is too long for them.
 */
bool allocinfo_read_some(struct allocinfo *info, const char *func, const char *module);

#endif
