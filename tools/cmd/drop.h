/* SPDX-License-Identifier: GPL-2.0 */
/* Have the kernel drop what it can: page cache, inodes, dentries. It costs the machine reads. */
#ifndef CODETAG_DROP_H
#define CODETAG_DROP_H

#include <stdbool.h>

#define DROP_PATH "/proc/sys/vm/drop_caches"

/* False after a message. Returns when what waits for RCU can have been freed, too. */
bool drop_caches(const char *path);

#endif
