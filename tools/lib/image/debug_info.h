/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source files of call sites, from the DWARF of a kernel: of vmlinux, and of modules that a
 * call site names. An address has one source file. A function name may have several, of which
 * only one has a call that returns to the offset.
 */
#ifndef CODETAG_DEBUG_INFO_H
#define CODETAG_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strmap.h"

struct debug_info {
	struct debug_image *image;	/* the first is vmlinux */
	size_t count, room;
	struct strmap files;
	char *root;	/* the prefix of paths in the tree, ends in '/' */
};

/*
 * Opens the DWARF of the tree @build. Returns true if its vmlinux has any; modules may have
 * some in any case.
 */
bool debug_info_open(struct debug_info *info, const char *build);

/* Adds another object with DWARF, a file.ko. */
void debug_info_add_module(struct debug_info *info, const char *path);

/*
 * The source file of a call site such as "foo+0x33", "foo+0x33 [ext4]" or a hexadecimal
 * address: "fs/namei.c", absolute if it is outside the tree. NULL if it is not known, "" if
 * several are possible. If vmlinux does not know it, the modules beside @object are asked,
 * which may be NULL.
 */
const char *debug_info_file(struct debug_info *info, const char *site,
			    const char *object);
void debug_info_close(struct debug_info *info);

#endif
