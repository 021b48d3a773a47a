/* SPDX-License-Identifier: GPL-2.0 */
/* The accounts of a trace in an SQLite file, to ask again without the log. */
#ifndef CODETAG_KMEM_DB_H
#define CODETAG_KMEM_DB_H

#include <stdbool.h>

#include "trace/kmem.h"

/*
 * In @path, an empty file that this process has created. NULL if all went well, else why
 * not; the caller frees it.
 */
char *kmem_save(const struct kmem *kmem, const char *path);

/* @kmem has to be empty; objects that were alive are not in the file. */
char *kmem_load(struct kmem *kmem, const char *path);

#endif
