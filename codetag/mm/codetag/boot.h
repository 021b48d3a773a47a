/* SPDX-License-Identifier: GPL-2.0-only */
/* The lines that have taken memory at boot. */
#ifndef _MM_CODETAG_BOOT_H
#define _MM_CODETAG_BOOT_H

#include <linux/codetag_boot.h>

/**
 * struct codetag_boot_area - memory that one line has taken
 * @start:	address of its first byte
 * @end:	address of the byte after its last
 * @site:	the line
 */
struct codetag_boot_area {
	phys_addr_t start;
	phys_addr_t end;
	const struct codetag_boot_site *site;
};

/**
 * struct codetag_boot_areas - areas in the order of their addresses
 * @area:	the areas, none of which overlap
 * @nr:		how many they are
 * @max:	how many there is room for
 */
struct codetag_boot_areas {
	struct codetag_boot_area *area;
	unsigned int nr;
	unsigned int max;
};

void codetag_boot_take(struct codetag_boot_areas *areas, phys_addr_t start, phys_addr_t end,
		       const struct codetag_boot_site *site);
void codetag_boot_give(struct codetag_boot_areas *areas, phys_addr_t start, phys_addr_t end);

const struct codetag_boot_areas *codetag_boot_kept(void);

/* Pages that several areas share count as a whole; this is what they have besides the areas. */
extern const struct codetag_boot_site codetag_boot_parts;

#endif /* _MM_CODETAG_BOOT_H */
