/* SPDX-License-Identifier: GPL-2.0 */
/* What a machine says about its memory by other means than call sites. */
#ifndef CODETAG_MACHINE_H
#define CODETAG_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "read/fields.h"
#include "read/slabinfo.h"

struct machine {
	struct fields meminfo, vmstat;
	struct slabinfo slabinfo;	/* empty: not known, as are the others */
	struct zone_pages {
		int64_t free;		/* pages in the free lists of zones … */
		int64_t percpu;		/* … and of CPUs */
	} pages;
};

/* Sums up the text of /proc/zoneinfo. */
void zoneinfo_parse(struct zone_pages *pages, char *text, size_t len);

void machine_free(struct machine *machine);

#endif
