/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the kernel's structures and their members, from BTF. */
#ifndef CODETAG_IMAGE_TYPES_H
#define CODETAG_IMAGE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* BTF of the running kernel, if it has been built with CONFIG_DEBUG_INFO_BTF. */
#define TYPES_OF_KERNEL "/sys/kernel/btf/vmlinux"

struct types;

/*
 * @path has BTF alone, or is an ELF file with BTF (vmlinux). Returns NULL, after a message if
 * @must; then types_close() is not needed.
 */
struct types *types_open(const char *path, bool must);

/*
 * Finds the structure of the slab cache @cache, whose objects have @size bytes, and its member at
 * @offset: "struct dentry" and "d_lockref.count". The name of the cache leads to the structure,
 * which must have the same size. Returns false if there is no such structure, or several. @member
 * stays empty between members.
 */
bool types_find(const struct types *types, const char *cache, uint64_t size, uint64_t offset,
		struct text *type, struct text *member);

/* The offset of a member of the only structure of a name, in bytes; -1: there is none. */
int64_t types_offset(const struct types *types, const char *structure, const char *member);

void types_close(struct types *types);

#endif
