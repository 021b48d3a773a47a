/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lets the kernel drop its caches: page cache, inodes, dentries. The machine then has to read
 * them again.
 */
#ifndef CODETAG_DROP_H
#define CODETAG_DROP_H

#include <stdbool.h>

#define DROP_PATH "/proc/sys/vm/drop_caches"

/*
 * Returns false after a message. Otherwise it returns when memory that waits for RCU has had
 * time to be freed, too.
 */
bool drop_caches(const char *path);

#endif
