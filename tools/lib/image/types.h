/* SPDX-License-Identifier: GPL-2.0 */
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
 * Names what is at @offset in objects of @size bytes of the slab cache @cache: *@type becomes
 * "struct dentry", *@member "d_lockref.count". The cache is named like its structure, or nearly;
 * a structure of another size is none. Returns false if the type is not known. @member stays
 * empty where the structure has none.
 */
bool types_find(const struct types *types, const char *cache, uint64_t size, uint64_t offset,
		struct text *type, struct text *member);

/* The offset of a member of a structure, in bytes; -1: there is none. */
int64_t types_offset(const struct types *types, const char *structure, const char *member);

void types_close(struct types *types);

#endif
