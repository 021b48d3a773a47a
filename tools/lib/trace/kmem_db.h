/* SPDX-License-Identifier: GPL-2.0-only */
/* The accounts of a trace in an SQLite file, for later questions without the log. */
#ifndef CODETAG_KMEM_DB_H
#define CODETAG_KMEM_DB_H

#include <stdbool.h>

#include "trace/kmem.h"

/*
 * Writes to @path, an empty file that this process has created. Returns NULL, or an error
 * message that the caller frees.
 */
char *kmem_save(const struct kmem *kmem, const char *path);

/* @kmem has to be empty; the file does not contain the live objects. */
char *kmem_load(struct kmem *kmem, const char *path);

#endif
