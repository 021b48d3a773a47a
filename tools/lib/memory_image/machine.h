/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files other than allocinfo that the machine in an image would have had about its memory.
 */
#ifndef CODETAG_IMAGE_MACHINE_H
#define CODETAG_IMAGE_MACHINE_H

#include "memory_image/functions.h"
#include "memory_image/recount.h"
#include "read/machine.h"

/* The texts of files, with the lines that commands need. */
struct image_machine {
	int64_t page_size;
	struct text meminfo, vmstat, zoneinfo, iomem, vmallocinfo, charged, slabinfo;
	struct holders processes;	/* anonymous memory by command */
	char host[65], release[65];
};

/*
 * Returns false if the layout table is from an older kernel and does not say where all of this
 * is.
 */
bool image_machine_read(struct image_machine *machine, const struct image_sites *sites,
			struct recount *recount, struct image_functions *functions);
void image_machine_free(struct image_machine *machine);

#endif
