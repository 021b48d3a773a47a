/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's limits.h includes the one of the kernel, which is this. */
#include_next <linux/limits.h>
#include <limits.h>
