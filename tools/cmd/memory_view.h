/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a report: which part of the memory in use the call sites explain. */
#ifndef CODETAG_MEMORY_VIEW_H
#define CODETAG_MEMORY_VIEW_H

#include <argp.h>
#include <stdbool.h>

#include "output.h"
#include "analysis/reconcile.h"
#include "read/allocinfo.h"
#include "write/json.h"

struct machine_files {
	const char *meminfo, *slabinfo, *zoneinfo;	/* NULL: not given */
};

/* An argp child: its input is a struct machine_files. */
extern const struct argp machine_argp;

/*
 * Reads the files; with @live those not given are the ones of this machine.
 * *@any tells whether there is a meminfo. False after a message if a file that
 * was given cannot be read.
 */
bool machine_read(struct machine *machine, const struct machine_files *files,
		  bool live, bool *any);

void memory_view(const struct reconciliation *r, const struct output *output);
void memory_json(const struct reconciliation *r, struct json *json);

#endif
