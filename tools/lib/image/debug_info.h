/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The source files of call sites, by the DWARF of a kernel: of vmlinux, and of
 * modules that a call site names. An address has one place, a function name may
 * have several; of those only one has a call that returns to the offset.
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
	char *root;	/* what paths in the tree begin with, ends in '/' */
};

/* Of the tree @build. True if its vmlinux has DWARF; modules may have some anyway. */
bool debug_info_open(struct debug_info *info, const char *build);

/* Another object with DWARF, a file.ko. */
void debug_info_add_module(struct debug_info *info, const char *path);

/*
 * The source file of a call site such as "foo+0x33", "foo+0x33 [ext4]" or a
 * hexadecimal address: "fs/namei.c", absolute if it is not of the tree. NULL if
 * that is not known, "" if it is one of several. Modules beside @object, which
 * may be NULL, are asked if vmlinux does not know.
 */
const char *debug_info_file(struct debug_info *info, const char *site,
			    const char *object);
void debug_info_close(struct debug_info *info);

#endif
