/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of call sites with their switches. */
#ifndef CODETAG_SITES_VIEW_H
#define CODETAG_SITES_VIEW_H

#include "debugfs.h"
#include "output.h"
#include "read/control.h"
#include "read/profiling.h"
#include "write/json.h"

/* Returns false after a message. */
bool control_read(struct control *control, const struct debugfs_dir *dir);

/* Counts those that are not profiled: all, while profiling as a whole is off. */
void sites_profiled(const struct control *control, const struct debugfs_dir *dir, struct profiled *profiled);

/* Prints a table with ids, and with keys, faults and guards if there are any, or with the columns of -o. */
void sites_table(const struct control *control, const struct output *output);

/* Writes into an object that the caller opened: the number of sites, and "rows". */
void sites_counts_json(const struct control *control, struct json *json);
void sites_json(const struct control *control, struct json *json,
		const struct output *output);

/* For commands with such a table: ends the program if -o names an unknown column. */
void sites_check_columns(const struct output *output, struct argp_state *state);

/* The columns name, file, line, module and func, for tables of call sites, and their cells */
#define SITE_COLUMNS \
	{ "NAME", false, "name", false }, { "FILE", false, "file", true }, \
	{ "LINE", true, "line", true }, { "MODULE", false, "module", true }, \
	{ "FUNC", false, "func", true }
void sites_cells(struct table *table, const struct site *site);

/* "name", "file", "line", "module" and "func" of an object. */
void site_json(const struct site *site, struct json *json);

/* Warns about sites that are missing or not understood; returns an exit status. */
int sites_status(size_t chosen, size_t bad_lines);

/* "1268 call sites, 1260 profiled, 1 with a fault, 1 with a guard" */
void sites_summary(const struct control *control);

#endif
