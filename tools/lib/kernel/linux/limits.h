/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits.h of the C library includes linux/limits.h, which is this file. */
#include_next <linux/limits.h>
#include <limits.h>
