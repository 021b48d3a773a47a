/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of /proc/vmallocinfo:
 *
 *	0x…-0x…   20480 kernel_clone+0xa9/0x360 pages=4 vmalloc N0=4
 *	0x…-0x…   12288 load_module+0x9ae/0x1a00 [foo] pages=2 vmalloc
 */
#ifndef CODETAG_VMALLOCINFO_H
#define CODETAG_VMALLOCINFO_H

#include <stdbool.h>
#include <stdint.h>

struct vmalloc_area {
	const char *caller;	/* a function */
	const char *module;	/* NULL: built in */
	int64_t pages;
	int64_t bytes;		/* 0: it maps devices, or pages that others account for */
};

/*
 * Splits @line in place, where @area then points to. Its bytes follow from its size, which
 * has a guard page in it. False if it is no such line, which is then unchanged.
 */
bool vmalloc_area_parse(struct vmalloc_area *area, char *line);

#endif
