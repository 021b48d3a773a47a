/* SPDX-License-Identifier: GPL-2.0-only */
/* How report and top --once print a snapshot. */
#ifndef CODETAG_SHOW_H
#define CODETAG_SHOW_H

#include "output.h"
#include "selection.h"
#include "write/json.h"

/* "4711 call sites, 96 of modules, hold 123.4M in 4567 allocations" */
void show_summary(const struct groups *groups, const struct allocinfo *info,
		  const struct selection *selection, const struct output *output);

/* Warns if the numbers of @path are not all, or not exact. */
void warn_limits(const struct allocinfo *info, const char *path);

/* Print the memory that the sums leave out, and the number of rows with a negative size, unless it is 0. */
void show_left_out(const struct sum *left_out, const struct output *output);
void show_negative(size_t rows);

/* If allocations and frees were asked for: their time. */
void show_activity_time(const struct groups *groups, const struct selection *selection);

/* The table with the default columns, or those asked for. */
void show_table(const struct groups *groups, size_t count,
		const struct selection *selection, const struct output *output);

/* Opens the object and writes all about the snapshot; the caller closes it. */
void show_json(struct json *json, const struct groups *groups, size_t count,
	       const struct allocinfo *info, const struct selection *selection);

#endif
