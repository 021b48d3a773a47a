/* SPDX-License-Identifier: GPL-2.0-only */
/* All memory of a machine by kinds, for the end of a report and for codetag where. */
#ifndef CODETAG_MEMORY_VIEW_H
#define CODETAG_MEMORY_VIEW_H

#include <argp.h>
#include <stdbool.h>

#include "output.h"
#include "analysis/explain.h"
#include "read/allocinfo.h"
#include "write/json.h"

struct machine_files {
	const char *meminfo, *slabinfo, *zoneinfo;	/* NULL: not given */
};

/* An argp child: its input is a struct machine_files. */
extern const struct argp machine_argp;

/*
 * Reads the files; with @live, those not given are the files of this machine. *@any says
 * whether there is a meminfo. *@one is false, after a message, if a file has several copies, of
 * which the last is taken. Returns false after a message if a file that was given cannot be
 * read.
 */
bool machine_read(struct machine *machine, const struct machine_files *files,
		  bool live, bool *any, bool *one);

void memory_view(const struct explanation *e, const struct output *output);
void memory_json(const struct explanation *e, struct json *json);

/*
 * The fields of the object, and of one of its kinds, for callers that add fields of their own.
 */
void memory_fields_json(const struct explanation *e, struct json *json);
void memory_kind_json(const struct explanation *e, enum memory_kind_id id, struct json *json);

#endif
